"""Waiting on an mbarrier: test_wait answers, try_wait may suspend; whoever is told True knows what the phase knew.

The first failing wait of a thread in each phase returns False at once, so that a wait which is not repeated is found.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tmalab.mbarrier import MBarrierError
from tmalab.simulator.context import current_thread
from tmalab.simulator.mbarrier_objects import SIZE, Barrier, Waited
from tmalab.simulator.waits import MbarrierWait

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

PATIENCE = 16  # turns that the user of a barrier gives others to initialise it


class MbarrierWaits:
    """The waits on the barriers of one CTA. The methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self.objects: dict[int, Barrier] = {}  # by address
        self._looked_at: set = set()  # calls of a wait whose result is known to be used, or was told of

    def test_wait(self, bar: int, state: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.test_wait, by state"""
        return self._asked(bar, acquire, state=state)

    def try_wait(self, bar: int, state: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.try_wait, by state"""
        return self._asked(bar, acquire, state=state)

    def test_wait_parity(self, bar: int, parity: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.test_wait.parity"""
        return self._asked(bar, acquire, parity=parity)

    def try_wait_parity(self, bar: int, parity: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.try_wait.parity"""
        return self._asked(bar, acquire, parity=parity)

    def wait_parity(self, bar: int, parity: int) -> None:
        """A try_wait.parity that is repeated until it succeeds."""
        thread = current_thread()
        barrier = self._live(thread, bar)
        while barrier is not None and not self._over(thread, barrier, None, parity):
            self._suspend(thread, barrier, parity, may_refuse=False)
        if barrier is not None:
            self._succeeded(thread, barrier, parity, True)

    def _asked(self, bar: int, acquire: bool, state: int | None = None, parity: int | None = None) -> bool:
        """A test or try: True when the phase is over. Each first failing one in a phase returns False at once; later
        ones suspend the thread, or return False, as the scheduler has it."""
        thread = current_thread()
        self._look_at_result(thread)
        barrier = self._live(thread, bar)
        if barrier is None:
            return True
        if not self._over(thread, barrier, state, parity):
            if self._refuses(thread, barrier):
                return False
            self._suspend(thread, barrier, parity, may_refuse=True)
            if not self._over(thread, barrier, state, parity):
                return False
        self._succeeded(thread, barrier, parity, acquire)
        return True

    def _refuses(self, thread: SimThread, barrier: Barrier) -> bool:
        """Whether a failing test or try returns False at once."""
        phase = barrier.machine.phase
        if thread.refusals:
            thread.refusals -= 1
            return True
        if thread.refused.get(barrier.address) == phase and not thread.run.policy.refuses():
            return False
        thread.refused[barrier.address] = phase
        if not thread.run.policy.orderly:  # meanwhile others run, and copies land
            thread.cut()
            thread.run.scheduler.stand_back(thread)
        return True

    def _over(self, thread: SimThread, barrier: Barrier, state: int | None, parity: int | None) -> bool:
        if state is None:
            return barrier.machine.test_wait_parity(parity)
        try:
            return barrier.machine.test_wait(state)
        except MBarrierError as error:
            if error.rule != "stale-state":
                raise
            thread.tell("phase-alias", barrier=barrier, by_state=True)
            return True

    def _suspend(self, thread: SimThread, barrier: Barrier, parity: int | None, may_refuse: bool) -> None:
        barrier.waiting.append(thread)
        thread.cut()
        woken = thread.wait(MbarrierWait(barrier, barrier.machine.phase, parity, may_refuse=may_refuse))
        if not woken:
            barrier.waiting.remove(thread)

    def _succeeded(self, thread: SimThread, barrier: Barrier, parity: int | None, acquire: bool) -> None:
        """A wait has returned True: the thread knows what the completed phases were given."""
        clocks, phase = self._cta.clocks, barrier.machine.phase
        thread.cut()
        news = not clocks.knows(thread.row, barrier.dimension, phase)
        thread.waits[barrier.address] = Waited(parity, phase, news, thread.run.place_number())
        if news:
            thread.fences.take(thread, barrier.published, acquire)
        if parity is not None and phase:
            barrier.parity_waits.append((thread, clocks.segment(thread.row), thread.run.place_number()))
        barrier.woken.discard(thread)
        thread.run.note(thread, "mbarrier_wait", barrier, parity)

    def _look_at_result(self, thread: SimThread) -> None:
        """A test or try whose result nobody uses waits for nothing."""
        source = thread.run.source
        frame = source.frame(sys._getframe(2))
        key = frame and (frame.f_code, frame.f_lasti)
        if key in self._looked_at:
            return
        self._looked_at.add(key)
        if key and source.result_is_dropped(key):
            thread.tell("wait-ignored")

    # Places.

    def _live(self, thread: SimThread, bar: int) -> Barrier | None:
        """The barrier at an address, if it was initialised before; otherwise that is told. Where it was not yet, others
        may do it now, so that what follows is not reported as a mistake of its own."""
        if bar not in self.objects:
            if not self._is_place(thread, bar):
                return None
            for _ in range(PATIENCE):
                thread.cut()
                thread.run.scheduler.stand_back(thread)
        barrier = self.objects.get(bar)
        if barrier is None or not self._cta.clocks.knows(thread.row, barrier.made_by, barrier.made_in):
            thread.tell("barrier-not-initialised", address=bar, barrier=barrier)
        return barrier

    def _is_place(self, thread: SimThread, bar: int) -> bool:
        if bar % SIZE:
            thread.tell("misaligned", address=bar, size=SIZE)
        return not bar % SIZE
