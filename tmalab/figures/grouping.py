"""Figure 2: groups of columns, copied by one rank-3 box so that each is swizzled by itself.

A row of 128 fp16 is 256 bytes, too long for any swizzle. Seen as a tensor of rank 3 (groups of 64 columns, rows,
columns of a group), the same memory gives a box of (2, 16, 64): the copy lays one group after the other into shared
memory, each with rows of 128 bytes and its own swizzle atoms. Three views are linked: the matrix, the box as an array,
and shared memory.

>>> figure = GroupingFigure()
>>> print(figure.sentence(1, 3, 5))
Group 1, row 3, sector 5 of the tile is view[1, 3, 40:48]: row 3, columns 104 to 111 of the matrix. Without the \
swizzle it would lie at 0x09D0. There address bits 9 to 7 are 011, and 101 XOR 011 = 110: it lies at 0x09E0, line 19, \
sector 6.
>>> figure.coordinates = (0, 0, 2)                      # the second half of the columns
>>> figure.sentence(0, 0, 0)[:77]
'Group 0, row 0, sector 0 of the tile is view[2, 0, 0:8]: row 0, columns 128 t'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tmalab.data_types import NOMINAL_ADDRESS, DataType, Swizzle
from tmalab.figures.base import script, style
from tmalab.figures.grouping_places import groups_and_atoms, in_one_matrix, slices, source
from tmalab.figures.grouping_svg import grouping_svg, grouping_table
from tmalab.figures.placed import PlacedFigure
from tmalab.figures.tile_tables import mode_data
from tmalab.figures.tile_words import destination, fill_name, mode_name
from tmalab.im2col_map import Im2colMap
from tmalab.swizzle import SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

EXAMPLE: dict[str, Any] = {  # 16x256 fp16 as (4, 16, 64): the next row is 512 bytes on, the next group 128
    "data_type": DataType.FLOAT16,
    "global_dim": (64, 16, 4),
    "global_strides": (512, 128),
    "box_dim": (64, 16, 2),
}


class GroupingFigure(PlacedFigure):
    """The tile of a rank-3 map at `coordinates` (elements, innermost first), copied to `shared_address` (bytes).

    Traits, in both directions: `coordinates`, `swizzle`, `narrowed` (whether a box that is too wide for the swizzle is
    drawn as wide as it takes) and `selected`, (group, row, sector) of the tile or None. Without a map it draws a
    16x256 fp16 matrix as (4, 16, 64), and a box of (2, 16, 64) under the 128B swizzle: a 16x128 slice. `note` is said
    with shared memory.
    """

    RANK = 3

    _esm = script("grouping")
    _css = style("tile", "grouping")

    coordinates = traitlets.Tuple(*[traitlets.Int()] * RANK).tag(sync=True)
    selected = traitlets.Tuple(*[traitlets.Int()] * RANK, default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        tensor_map: TensorMap | None = None,
        coordinates: Sequence[int] = (0, 0, 0),
        shared_address: int = 0,
        note: str = "",
    ):
        tensor_map = tensor_map or TensorMap(global_address=NOMINAL_ADDRESS, swizzle=Swizzle.B128, **EXAMPLE)
        if tensor_map.rank != self.RANK or tensor_map.interleave or isinstance(tensor_map, Im2colMap):
            raise ValueError(text("grouping.not-rank-3", rank=tensor_map.rank))
        super().__init__(tensor_map, coordinates, shared_address, WORDS, note)

    def sentence(self, group: int, row: int, sector: int) -> str:
        """What the figure says of a sector of the tile."""
        self._check_sector(group, row, sector)
        places, tm = self.places, self.tensor_map
        held = source(places.tensor_map if places else tm, self.coordinates, group, row, sector)
        if places is None:
            return f"{held} {text('figures.place-refused', name=mode_name(self.swizzle))}"
        return f"{held} {destination(places, group * tm.delivered_dim[1] + row, sector)}"

    def svg(self) -> str:
        return grouping_svg(self.tensor_map, self.modes[self.swizzle], self.places, self.coordinates, self.selected)

    def table(self) -> str:
        return grouping_table(self.tensor_map, self.modes[self.swizzle], self.places, self.coordinates)

    def _limits(self) -> tuple[int, int, int]:
        """Groups, rows of a group and sectors of a row that the tile has; a refused box keeps its own."""
        columns, rows, groups = (self.places or self.unswizzled).tensor_map.delivered_dim
        return groups, rows, columns * self.tensor_map.element_size // SECTOR

    def _has(self, *place: int) -> bool:
        return all(0 <= number < limit for number, limit in zip(place, self._limits(), strict=True))

    def _check_sector(self, *place: int) -> None:
        if not self._has(*place):
            last = [limit - 1 for limit in self._limits()]
            raise ValueError(text("grouping.no-sector", place=place, groups=last[0], rows=last[1], sectors=last[2]))

    def _data(self) -> dict[str, object]:
        """All that the browser needs; it works out no address itself."""
        tm = self.tensor_map
        columns, rows, groups = tm.global_dim
        return {
            "type": tm.data_type.name,
            "columns": columns,
            "rows": rows,
            "groups": groups,
            "sectors": -(-columns * tm.element_size // SECTOR),  # of a row of a group of the tensor
            "per": SECTOR // tm.element_size,  # elements of a sector
            "steps": tm.element_strides[1:],  # rows and groups of the tensor that the next one of the tile is on
            "box": tm.box_dim,
            "beside": in_one_matrix(tm),  # whether the groups are columns of one matrix
            "all_columns": columns * groups,
            "slices": slices(tm),
            "fill": fill_name(tm),
            "shared_address": self.shared_address,
            "modes": [self._mode(swizzle) for swizzle in Swizzle],
        }

    def _mode(self, swizzle: Swizzle) -> dict[str, object]:
        mode = self.modes[swizzle]
        data: dict[str, Any] = mode_data(mode)
        for name in ("given", "narrowed"):
            if data[name]:
                data[name]["marks"] = [mark._asdict() for mark in groups_and_atoms(getattr(mode, name))]
        return data


WORDS = (  # the sentences that the browser fills in
    "grouping.figure",
    "grouping.matrix-title",
    "grouping.planes-title",
    "grouping.matrix-caption",
    "grouping.planes-caption",
    "grouping.view-title",
    "grouping.view-caption",
    "grouping.view-part",
    "grouping.slice",
    "grouping.slice-groups",
    "grouping.slice-columns",
    "grouping.group",
    "grouping.hint",
    "grouping.matrix-grid",
    "grouping.view-grid",
    "grouping.matrix-cell",
    "grouping.view-cell",
    "grouping.drawn-part",
    "grouping.moved",
    "grouping.sector-matrix",
    "grouping.sector-planes",
    "grouping.sector-partly",
    "grouping.sector-outside",
    "grouping.not-in-tile",
    "grouping.coordinate",
    "grouping.legend-sector",
    "figures.shared-title",
    "figures.shared-caption",
    "figures.switch",
    "figures.refused-note",
    "figures.shared-grid",
    "figures.shared-corner",
    "figures.shared-cell",
    "figures.tensor-corner",
    "figures.refused-title",
    "figures.narrow",
    "figures.widen",
    "figures.switched",
    "figures.place-plain",
    "figures.place-moved",
    "figures.place-kept",
    "figures.place-refused",
    "figures.gap",
    "figures.bits-number",
    "figures.bits-logical",
    "figures.bits-physical",
    "figures.legend-filled",
    "figures.legend-before",
    "figures.legend-gap",
)
