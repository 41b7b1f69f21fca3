"""What the GPU can tell of a deadlock: which threads gave up waiting on which barrier, for which parity.

>>> from tmalab.gpu.bounded_waits import GivenUp, Notes
>>> notes = Notes(2, (GivenUp(1024, False, 0, 0, 1), GivenUp(1024, False, 5, 0, 1)))
>>> print(deadlock_of(notes, threads=128).message)
deadlock: 2 threads gave up
  CTA 0: threads 0, 5 waited on the mbarrier at 0x400 for parity 1
"""

from __future__ import annotations

from itertools import groupby

from tmalab.gpu.bounded_waits import GivenUp, Notes
from tmalab.simulator.deadlock import Deadlock, Waiter
from tmalab.simulator.hazards import Hazard
from tmalab.texts import text

SHOWN = 8  # lines of a report


def deadlock_of(notes: Notes, threads: int) -> Deadlock:
    """The report of a launch whose waits gave up; `threads` is the number of threads of a CTA."""
    groups = [list(waits) for _, waits in groupby(sorted(notes.given_up, key=_barrier), key=_barrier)]
    lines = [text("gpu.deadlock", count=notes.count), *map(_line, groups[:SHOWN])]
    if len(groups) > SHOWN:
        lines.append(text("gpu.deadlock-more", count=len(groups) - SHOWN))
    return Deadlock("\n  ".join(lines), [_waiter(waits, threads) for waits in groups])


def as_hazard(deadlock: Deadlock) -> Hazard:
    """The same as a hazard, by the name that it has in the simulator."""
    return Hazard("deadlock", deadlock.message, [], text("gpu.deadlock-fix"))


def _barrier(wait: GivenUp) -> tuple:
    return wait.cta, wait.barrier, wait.is_state, wait.waited_for


def _waiter(waits: list[GivenUp], threads: int) -> Waiter:
    first = waits[0]
    return Waiter(
        what="mbarrier",
        threads=tuple(sorted(wait.cta * threads + wait.thread for wait in waits)),
        file=None,
        line=None,
        barrier=hex(first.barrier),
        parity=None if first.is_state else first.waited_for,
    )


def _line(waits: list[GivenUp]) -> str:
    first = waits[0]
    threads = _ranges(sorted(wait.thread for wait in waits))
    key = "gpu.deadlock-state" if first.is_state else "gpu.deadlock-parity"
    return text(key, cta=first.cta, threads=threads, barrier=first.barrier, parity=first.waited_for)


def _ranges(numbers: list[int]) -> str:
    """Sorted numbers as a learner reads them.

    >>> _ranges([0, 1, 2, 3, 7])
    '0-3, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
