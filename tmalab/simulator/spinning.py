"""Threads that watch memory in a loop, until another thread or a copy changes it.

Threads take turns where the kernel synchronizes, so such a loop would be alone for ever. Many atomics in a row
therefore let others run. Plain reads are too many to be counted; where a thread makes a million accesses without
letting go, the run begins again, patiently: every so many accesses others run. Whether it does so follows from the
kernel and the seed alone, so runs repeat.

A thread is stuck that has done the same again and again while nothing changed. When all who could run are, copies land;
when none is left, the loop has no end.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from tmalab.ptx.instruction import Instruction
from tmalab.simulator.arrays import ATOMIC, KIND_BITS, READ
from tmalab.simulator.context import now
from tmalab.simulator.errors import NeverChanges
from tmalab.simulator.source import picture, same_picture

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.threads import SimThread

TURN = 64  # accesses, or atomics, of a thread before others run
AGAIN = 4  # atomics of a thread that has seen nothing new in its last turn
SOON = 4  # turns for each thread in which nothing changed, before other clusters are let in
REPEATS = 100  # turns in which a thread did what it had done before: it is stuck
RECENT = 8  # looks of a thread that are kept: a loop may begin each turn at another of its accesses


class Spinning:
    """Who watches memory in one run, and whether that can still change."""

    def __init__(self, run: Simulation):
        self._run = run
        self._changes, self._left = 0, TURN
        self._tried: Counter[SimThread] = Counter()  # atomics since the thread last let others run because of them
        self.in_vain = False  # whether a thread waited for what no thread that runs could change
        self._state: tuple[int, int] | None = None  # progress and changes when the looks below were taken
        self._in_a_row = 0  # looks since then
        self._looks: dict[SimThread, deque[Any]] = defaultdict(lambda: deque(maxlen=RECENT))
        self._repeats: Counter[SimThread] = Counter()

    def patiently(self, note: Callable[[int], None]) -> Callable[[int], None]:
        """A way to log an access that lets others run from time to time."""

        def noting(entry: int) -> None:
            note(entry)
            if entry & KIND_BITS not in (READ, ATOMIC):
                self._changes += 1
            self._left -= 1
            if self._left <= 0 and not _in_instruction(sys._getframe(1)):
                self._left = TURN
                assert now.thread is not None  # nobody else makes accesses
                self._let_others_run(now.thread)

        return noting

    def tried(self, thread: SimThread, changed: bool) -> None:
        """A thread has executed an atomic, which changed the element or not."""
        self._changes += changed
        self._tried[thread] += 1
        if self._tried[thread] >= TURN and not self._run.policy.scripted:
            self._let_others_run(thread)
            self._tried[thread] = TURN - AGAIN if self._repeats[thread] else 0

    def _let_others_run(self, thread: SimThread) -> None:
        run, state = self._run, (self._run.scheduler.progress, self._changes)
        if state != self._state:
            self._state, self._in_a_row = state, 0
            self._looks.clear()
            self._repeats.clear()
        looks, look = self._looks[thread], picture(run.source.stack(sys._getframe(1)))
        self._repeats[thread] += any(same_picture(before, look) for before in looks)
        looks.append(look)
        self._in_a_row += 1
        if run.others_may_help and self._in_a_row > SOON * len(self._who_could()):  # though it may count its looks
            self._give_up()
        if self._repeats[thread] >= REPEATS and self._all_are_stuck():
            if not run.copies_in_flight:
                self._give_up()
            run.land_one()
        thread.cut()
        run.scheduler.stand_back(thread)

    def _give_up(self) -> None:
        self.in_vain = True
        raise NeverChanges

    def _all_are_stuck(self) -> bool:
        """Whether no thread could run that has not just repeated itself."""
        return all(self._repeats[thread] >= REPEATS for thread in self._who_could())

    def _who_could(self) -> list[SimThread]:
        """The threads that wait for nothing but what they watch."""
        return [thread for thread in self._run.cluster.threads if thread.waiting is None and not thread.exited]


def _in_instruction(frame: FrameType | None) -> bool:
    """Whether the access is part of an instruction, which is not to be interrupted."""
    while frame is not None and frame.f_code is not Instruction.__call__.__code__:
        frame = frame.f_back
    return frame is not None
