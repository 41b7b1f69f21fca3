"""Boxes: how a tensor copy names the part of the tensor that it moves, tiled or im2col.

A tiled copy names the corner of a box by one coordinate for each dimension, innermost first. An im2col copy names a
channel, a pixel and an image; the pixels that follow are the map's business, and a load shifts them all by offsets that
are the place in the filter.

>>> Box(2).place, Box(4, im2col=True).coordinates, Box(4, im2col=True).offsets
('[$tensor_map, {$x, $y}]', ('c', 'w', 'h', 'n'), ('w_offset', 'h_offset'))
"""

from __future__ import annotations

from dataclasses import dataclass

from tmalab.copy_checks import TILED as _TILED
from tmalab.im2col import OFFSET_BITS, SPATIAL
from tmalab.ptx.operands import I32, Kind, unsigned


@dataclass(frozen=True)
class Box:
    """The coordinates of a copy of a `rank`-dimensional map, by name and in PTX's order."""

    rank: int
    im2col: bool = False

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Their names, innermost first."""
        return ("c", *SPATIAL[: self.rank - 2], "n") if self.im2col else tuple(_TILED[: self.rank])

    @property
    def offsets(self) -> tuple[str, ...]:
        """The names of an im2col load's offsets, in pixels; none for a tiled copy."""
        return tuple(f"{name}_offset" for name in SPATIAL[: self.rank - 2]) if self.im2col else ()

    @property
    def place(self) -> str:
        """The map and the coordinates as PTX writes them."""
        return f"[$tensor_map, {registers(self.coordinates)}]"

    @property
    def suffix(self) -> str:
        """What the mode adds to an instruction's name."""
        return "_im2col" if self.im2col else ""

    @property
    def operands(self) -> dict[str, Kind]:
        """The coordinates as operands."""
        return dict.fromkeys(self.coordinates, I32)

    @property
    def offset_operands(self) -> dict[str, Kind]:
        """The offsets as operands."""
        return dict.fromkeys(self.offsets, unsigned(OFFSET_BITS[self.rank])) if self.im2col else {}

    @property
    def words(self) -> str:
        """What an instruction's description calls it."""
        mode = "im2col map" if self.im2col else "map"
        return f"({', '.join(self.coordinates)}) of a {self.rank}-D {mode}"


def registers(names: tuple[str, ...]) -> str:
    """Operands as a vector of PTX."""
    return f"{{{', '.join('$' + name for name in names)}}}"


TILED = tuple(Box(rank) for rank in range(1, 6))
IM2COL = tuple(Box(rank, im2col=True) for rank in range(3, 6))
