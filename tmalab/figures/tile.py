"""Figure 1: a tile of a tensor, and where each of its 16-byte sectors lies in shared memory.

On the left the tensor and the box that one copy takes from it, which can be dragged or moved by keys; on the right
shared memory in 128-byte lines, under any swizzle. A sector that is pointed at or focused is shown on both sides,
with its address bit by bit.

>>> figure = TileFigure(coordinates=(8, 2))
>>> print(figure.sentence(0, 1))
Row 0, sector 1 of the tile holds row 2, elements 16 to 23 of the tensor. At 0x0010 address bits 9 to 7 are 000, \
so the XOR changes nothing: it lies there, line 0, sector 1.
>>> figure.swizzle = "B32"
>>> print(figure.places)                 # rows of 128 bytes do not fit into a 32-byte span
None
>>> figure.narrowed = True
>>> figure.places.tensor_map.box_dim
(16, 8)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import traitlets

from tmalab.data_types import NOMINAL_ADDRESS, DataType, Swizzle
from tmalab.figures.base import script, style
from tmalab.figures.placed import PlacedFigure
from tmalab.figures.tile_places import Places
from tmalab.figures.tile_svg import tile_svg, tile_table
from tmalab.figures.tile_tables import mode_data
from tmalab.figures.tile_words import destination, fill_name, mode_name, source
from tmalab.swizzle import SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

MOST_ROWS, MOST_SECTORS = 140, 36  # drawn of a tensor
LESSON: dict[str, Any] = {
    "data_type": DataType.FLOAT16,
    "global_dim": (128, 16),
    "global_strides": (256,),
    "box_dim": (64, 8),
}


class TileFigure(PlacedFigure):
    """The tile of a rank-2 map at `coordinates` (elements, innermost first), copied to `shared_address` (bytes).

    Traits, in both directions: `coordinates`, `swizzle`, `narrowed` (whether a box that is too wide for the swizzle is
    drawn as wide as it takes) and `selected`, (row, sector) of the tile or None. Without a map it draws the first
    lesson's: 16x128 fp16, a box of 8x64, the 128B swizzle. `note` is said with shared memory.
    """

    RANK = 2

    _esm = script("tile")
    _css = style("tile")

    coordinates = traitlets.Tuple(traitlets.Int(), traitlets.Int()).tag(sync=True)
    selected = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=None, allow_none=True).tag(sync=True)

    def __init__(
        self,
        tensor_map: TensorMap | None = None,
        coordinates: Sequence[int] = (0, 0),
        shared_address: int = 0,
        note: str = "",
    ):
        tensor_map = tensor_map or TensorMap(global_address=NOMINAL_ADDRESS, swizzle=Swizzle.B128, **LESSON)
        if tensor_map.rank != self.RANK:
            raise ValueError(text("figures.not-rank-2", rank=tensor_map.rank))
        super().__init__(tensor_map, coordinates, shared_address, WORDS, note)

    def sentence(self, row: int, sector: int) -> str:
        """What the figure says of a sector of the tile."""
        self._check_sector(row, sector)
        places = self.places
        if places is None:
            where = text("figures.place-refused", name=mode_name(self.swizzle))
            return f"{source(self.tensor_map, self.coordinates, row, sector)} {where}"
        return f"{source(places.tensor_map, self.coordinates, row, sector)} {destination(places, row, sector)}"

    def svg(self) -> str:
        return tile_svg(self.tensor_map, self.modes[self.swizzle], self.places, self.coordinates, self.selected)

    def table(self) -> str:
        return tile_table(self.tensor_map, self.modes[self.swizzle], self.places, self.coordinates)

    def _shown(self) -> Places:
        """The tile that the sectors' numbers count in: a refused box is drawn with its numbers all the same."""
        return self.places or self.unswizzled

    def _has(self, *place: int) -> bool:
        row, sector = place
        shown = self._shown()
        return 0 <= row < len(shown.physical) and 0 <= sector < shown.sectors

    def _check_sector(self, *place: int) -> None:
        row, sector = place
        if not self._has(row, sector):
            shown = self._shown()
            limits = {"last_row": len(shown.physical) - 1, "last_sector": shown.sectors - 1}
            raise ValueError(text("figures.no-sector", row=row, sector=sector, **limits))

    def _data(self) -> dict[str, object]:
        """All that the browser needs; it works out no address itself."""
        tm = self.tensor_map
        columns, rows = tm.global_dim
        return {
            "type": tm.data_type.name,
            "rows": rows,
            "columns": columns,
            "sectors": -(-columns * tm.element_size // SECTOR),  # of a row of the tensor
            "per": SECTOR // tm.element_size,  # elements of a sector
            "row_step": tm.element_strides[1],
            "fill": fill_name(tm),
            "shared_address": self.shared_address,
            "most_rows": MOST_ROWS,
            "most_sectors": MOST_SECTORS,
            "modes": [mode_data(mode) for mode in self.modes],
        }


WORDS = (  # the sentences that the browser fills in
    "figures.figure",
    "figures.tensor-title",
    "figures.shared-title",
    "figures.box-caption",
    "figures.shared-caption",
    "figures.switch",
    "figures.refused-note",
    "figures.hint",
    "figures.tensor-grid",
    "figures.shared-grid",
    "figures.tensor-corner",
    "figures.shared-corner",
    "figures.tensor-cell",
    "figures.shared-cell",
    "figures.box-role",
    "figures.box-label",
    "figures.drawn-part",
    "figures.refused-title",
    "figures.narrow",
    "figures.widen",
    "figures.moved",
    "figures.switched",
    "figures.sector-inside",
    "figures.sector-partly",
    "figures.sector-outside",
    "figures.place-plain",
    "figures.place-moved",
    "figures.place-kept",
    "figures.place-refused",
    "figures.not-in-tile",
    "figures.nothing-there",
    "figures.gap",
    "figures.bits-number",
    "figures.bits-logical",
    "figures.bits-physical",
    "figures.legend-sector",
    "figures.legend-filled",
    "figures.legend-before",
    "figures.legend-gap",
)
