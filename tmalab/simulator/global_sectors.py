"""Sectors of global memory that a run touches: what its warps read and write themselves, without the copy engine.

Global memory comes and goes in sectors of 32 bytes. Lanes that touch one sector share it, so a warp that goes along a
row of fp32 needs four, one that goes down a column 32, of which it uses an eighth.

>>> import numpy as np
>>> from numba import cuda
>>> from tmalab import kernel
>>> @kernel
... def down(out):
...     out[8 * cuda.threadIdx.x] = 1
>>> run = down.run(block=32, args=(np.zeros(256, np.int32),))
>>> print(run.global_sectors)
cell:3 write: 1 accesses, 32 sectors at most, 32 sectors (4 if all of each were used)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from tmalab.simulator.warp_accesses import WarpAccess, by_line
from tmalab.texts import text

SECTOR = 32  # bytes


class LineTraffic(NamedTuple):
    """All accesses of one kind that one line of a kernel makes to global memory."""

    place: str  # "cell:12"
    kind: str
    count: int  # type: ignore[assignment]  # accesses of warps
    most: int  # sectors that one of them touches
    sectors: int  # that they touch in all, each access by itself
    least: int  # sectors that as many bytes fill

    def __str__(self) -> str:
        return text("accesses.sectors", **self._asdict() | {"kind": text(f"accesses.{self.kind}")})


@dataclass(frozen=True)
class GlobalSectors:
    """All accesses of a run's threads to global memory."""

    accesses: tuple[WarpAccess, ...]

    def lines(self) -> list[LineTraffic]:
        """The accesses by line of the kernel."""
        return [_traffic(*line, made) for line, made in by_line(self.accesses).items()]

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines())) or text("accesses.none-global")


def _traffic(place: str, kind: str, made: list[WarpAccess]) -> LineTraffic:
    touched = [{address // SECTOR for address in access.addresses} for access in made]
    least = sum(-(-len(set(access.addresses)) * access.size // SECTOR) for access in made)
    return LineTraffic(place, kind, len(made), max(map(len, touched)), sum(map(len, touched)), least)
