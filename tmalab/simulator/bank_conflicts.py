"""Bank conflicts of a run: in how many turns shared memory served what its warps asked of it; see tmalab.banks.

>>> import numpy as np
>>> from numba import cuda
>>> from tmalab import kernel
>>> @kernel
... def turn(out):
...     words = cuda.shared.array(1024, np.int32)
...     words[cuda.threadIdx.x] = 1
...     out[8 * cuda.threadIdx.x] = words[32 * cuda.threadIdx.x]
>>> run = turn.run(block=32, args=(np.zeros(256, np.int32),))
>>> print(run.bank_conflicts)
cell:4 write: 1 accesses, 1-way at most, 1 turns (1 without conflicts)
cell:5 read: 1 accesses, 32-way at most, 32 turns (1 without conflicts)
>>> run.bank_conflicts.ways
32
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tmalab.banks import Conflicts, conflicts
from tmalab.simulator.warp_accesses import WarpAccess, by_line
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.figures.banks import BanksFigure


class LineUse(NamedTuple):
    """All accesses of one kind that one line of a kernel makes to shared memory."""

    place: str  # "cell:12"
    kind: str
    count: int  # type: ignore[assignment]  # accesses of warps
    ways: int  # of the worst of them
    wavefronts: int  # turns in all
    least: int  # turns that they would take without conflicts

    def __str__(self) -> str:
        return text("accesses.turns", **self._asdict() | {"kind": text(f"accesses.{self.kind}")})


@dataclass(frozen=True)
class BankConflicts:
    """All accesses of a run to shared memory."""

    accesses: tuple[WarpAccess, ...]

    @cached_property
    def conflicts(self) -> tuple[Conflicts, ...]:
        """The turns of each access."""
        return tuple(conflicts(access.addresses, access.size) for access in self.accesses)

    @property
    def ways(self) -> int:
        """The worst conflict of any access: 1 where there is none, 0 where nothing was accessed."""
        return max((found.ways for found in self.conflicts), default=0)

    @property
    def wavefronts(self) -> int:
        """Turns of all accesses together."""
        return sum(found.wavefronts for found in self.conflicts)

    def lines(self) -> list[LineUse]:
        """The accesses by line of the kernel."""
        return [_use(place, kind, BankConflicts(tuple(made))) for (place, kind), made in by_line(self.accesses).items()]

    def show(self) -> BanksFigure:
        """The access with the worst conflict as a figure; see tmalab.figures.BanksFigure. ValueError without any."""
        if not self.conflicts:
            raise ValueError(text("accesses.none-shared"))
        return max(self.conflicts, key=lambda found: found.ways).show()

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines())) or text("accesses.none-shared")


def _use(place: str, kind: str, made: BankConflicts) -> LineUse:
    least = sum(len(found.phases) for found in made.conflicts)
    return LineUse(place, kind, len(made.accesses), made.ways, made.wavefronts, least)
