"""Where a tile of rank 3 comes from and what it becomes: groups and atoms in shared memory, what figure 2 draws.

>>> from tmalab import DataType, Swizzle, TensorMap
>>> tm = TensorMap(DataType.FLOAT16, 0x1000, (64, 16, 4), (512, 128), (64, 16, 2), swizzle=Swizzle.B128)
>>> in_one_matrix(tm), slices(tm)
(True, [0, 2])
>>> [mark.name for mark in groups_and_atoms(Places.of(tm))]
['group 0', 'group 1', 'atom 0', 'atom 1', 'atom 2', 'atom 3']
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from tmalab.figures.tile_places import Places
from tmalab.figures.tile_words import fill_name
from tmalab.swizzle import LINE, PATTERNS, SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

MOST_SLICES = 4  # that a switch can offer


class Mark(NamedTuple):
    """A part of shared memory with a name. In 128-byte lines from the tile's base; atoms stand beside the groups."""

    name: str
    first: float
    lines: float
    atom: bool


def in_one_matrix(tensor_map: TensorMap) -> bool:
    """Whether the groups lie side by side in memory, as columns of one matrix."""
    row, group = tensor_map.global_strides
    width = tensor_map.global_dim[0] * tensor_map.element_size
    return group == width and row >= width * tensor_map.global_dim[2]


def slices(tensor_map: TensorMap) -> list[int]:
    """Outermost coordinates at which boxes of whole groups follow each other, where they are few; else none."""
    (columns, rows, groups), (width, height, depth) = tensor_map.global_dim, tensor_map.box_dim
    starts = list(range(0, groups, depth))
    whole = (width, height) == (columns, rows) and groups % depth == 0
    return starts if whole and 2 <= len(starts) <= MOST_SLICES else []


def groups_and_atoms(places: Places) -> list[Mark]:
    """The groups of a tile, and the atoms: what its swizzle repeats after, counted from an aligned address."""
    tm, base = places.tensor_map, places.shared_address
    size = tm.delivered_dim[1] * tm.pitch
    end = base + tm.delivered_dim[2] * size
    marks = [
        Mark(text("grouping.group", group=group), group * size / LINE, size / LINE, False)
        for group in range(tm.delivered_dim[2])
    ]
    period = PATTERNS[tm.swizzle].period
    if period >= LINE:
        for number, start in enumerate(range(base - base % period, end, period)):
            low, high = max(start, base), min(start + period, end)
            marks.append(Mark(text("grouping.atom", atom=number), (low - base) / LINE, (high - low) / LINE, True))
    return marks


def position(
    tensor_map: TensorMap, coordinates: Sequence[int], group: int, row: int, sector: int
) -> tuple[int, int, int]:
    """(z, y, x): the tensor's group and row, and the first element, that a sector of the tile holds."""
    x, y, z = coordinates
    _, rows, groups = tensor_map.element_strides
    return z + group * groups, y + row * rows, x + sector * SECTOR // tensor_map.element_size


def outside(tensor_map: TensorMap, coordinates: Sequence[int], group: int, row: int, sector: int) -> Fraction:
    """How much of a sector's 16 bytes lies outside the tensor, 0 to 1."""
    z, y, x = position(tensor_map, coordinates, group, row, sector)
    columns, rows, groups = tensor_map.global_dim
    per = SECTOR // tensor_map.element_size
    if not (0 <= z < groups and 0 <= y < rows) or x < 0:
        return Fraction(1)
    return Fraction(min(max(x + per - columns, 0), per), per)


def source(tensor_map: TensorMap, coordinates: Sequence[int], group: int, row: int, sector: int) -> str:
    """What a sector of the tile holds."""
    tm = tensor_map
    z, y, x = position(tm, coordinates, group, row, sector)
    per, columns = SECTOR // tm.element_size, tm.global_dim[0]
    values = {"group": group, "row": row, "sector": sector, "z": z, "y": y, "x": x, "end": x + per}
    share = outside(tm, coordinates, group, row, sector)
    if share == 1:
        return text("grouping.sector-outside", fill=fill_name(tm), **values)
    if share:
        return text("grouping.sector-partly", fill=fill_name(tm), columns=columns, **values)
    if not in_one_matrix(tm):
        return text("grouping.sector-planes", **values)
    first = z * columns + x
    return text("grouping.sector-matrix", first=first, last=first + per - 1, **values)
