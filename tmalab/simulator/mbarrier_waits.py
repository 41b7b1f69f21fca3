"""Waiting on an mbarrier: test_wait answers, try_wait may suspend; whoever is told True knows what the phase knew.

A test or try that fails returns False at once, as long as the thread may give up asking by itself: the first one in
each phase, and the next ones where something has changed since, as in a loop that counts. So a wait that is not
repeated until it succeeds is found. A thread that only asks the same again is suspended until the answer changes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tmalab.mbarrier import MBarrierError, is_state
from tmalab.simulator.context import current_thread
from tmalab.simulator.mbarrier_objects import SIZE, Barrier, Refused, Waited
from tmalab.simulator.mbarrier_rules import used
from tmalab.simulator.source import picture, same_picture
from tmalab.simulator.waits import MbarrierWait

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

PATIENCE = 16  # turns that the user of a barrier gives others to initialise it
REFUSALS = 64  # False answers in a phase to a thread that is not seen to only wait


class MbarrierWaits:
    """The waits on the barriers of one CTA. The methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self.objects: dict[int, Barrier] = {}  # by address
        self._looked_at: set = set()  # calls of a wait whose result is known to be used, or was told of
        self._spinning: set = set()  # places in the source that have been seen to ask the same again

    def test_wait(self, bar: int, state: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.test_wait, by state"""
        return self._asked(bar, acquire, scope, state=state)

    def try_wait(self, bar: int, state: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.try_wait, by state"""
        return self._asked(bar, acquire, scope, state=state)

    def test_wait_parity(self, bar: int, parity: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.test_wait.parity"""
        return self._asked(bar, acquire, scope, parity=parity)

    def try_wait_parity(self, bar: int, parity: int, acquire: bool = True, scope: str = "cta") -> bool:
        """mbarrier.try_wait.parity"""
        return self._asked(bar, acquire, scope, parity=parity)

    def wait_parity(self, bar: int, parity: int, scope: str = "cta") -> None:
        """A try_wait.parity that is repeated until it succeeds."""
        thread = current_thread()
        barrier = self._live(thread, bar)
        while barrier is not None and not self._over(thread, barrier, None, parity):
            self._suspend(thread, barrier, parity, may_refuse=False)
        if barrier is not None:
            self._succeeded(thread, barrier, parity, True, scope)

    def _asked(self, bar: int, acquire: bool, scope: str, state: int | None = None, parity: int | None = None) -> bool:
        """A test or try: True when the phase is over. A failing one returns False at once, or suspends the thread."""
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
        self._succeeded(thread, barrier, parity, acquire, scope)
        return True

    def _refuses(self, thread: SimThread, barrier: Barrier) -> bool:
        """Whether a failing test or try returns False at once."""
        if thread.refusals:
            thread.refusals -= 1
            return True
        if thread.run.policy.scripted:
            turns: Any = thread.run.scheduler  # as each scripted run has
            return turns.refuses(thread, barrier)
        if self._only_waits(thread, barrier) and not thread.run.policy.refuses():
            return False
        if not thread.refused[barrier.address].hasty:  # meanwhile others run, and copies land
            thread.cut()
            thread.run.scheduler.stand_back(thread)
        return True

    def _only_waits(self, thread: SimThread, barrier: Barrier) -> bool:
        """Whether the thread has been refused in this phase and asks the same again, with nothing changed."""
        last = thread.refused.get(barrier.address)
        if last is None or last.phase != barrier.machine.phase:
            thread.refused[barrier.address] = Refused(barrier.machine.phase, 1, None, thread.run.policy.hurries())
            return False
        site = thread.run.source.site()
        if site in self._spinning:
            return True
        now = (thread.segments, picture(thread.run.source.stack()))
        if last.look is not None and last.look[0] == now[0] and same_picture(last.look[1], now[1]):
            self._spinning.add(site)
        thread.refused[barrier.address] = last._replace(count=last.count + 1, look=now)
        return site in self._spinning or last.count > REFUSALS

    def _over(self, thread: SimThread, barrier: Barrier, state: int | None, parity: int | None) -> bool:
        if state is None:
            assert parity is not None
            return barrier.machine.test_wait_parity(parity)
        if not barrier.is_of(state) and is_state(barrier.unstamped(state)):
            thread.tell("wrong-parity", barrier=barrier, state=state)
            return barrier.machine.test_wait_parity(state >> 63 & 1)  # as it is answered on the GPU
        try:
            return barrier.machine.test_wait(barrier.unstamped(state))
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

    def _succeeded(self, thread: SimThread, barrier: Barrier, parity: int | None, acquire: bool, scope: str) -> None:
        """A wait has returned True: the thread knows what the completed phases were given."""
        clocks, phase = self._cta.clocks, barrier.machine.phase
        thread.cut()
        news = not clocks.knows(thread.row, barrier.dimension, phase)
        last = thread.waits.get(barrier.address)
        skipped = phase > 1 + (last.phase if last is not None else 0) or (last is not None and last.skipped)
        refused = thread.refused.get(barrier.address)
        gave_up = not news and refused is not None and refused.phase == phase
        thread.waits[barrier.address] = Waited(
            parity, phase, news, thread.run.place_number(), clocks.segment(thread.row), skipped, gave_up
        )
        if news or barrier.from_peers is not None:
            thread.fences.take(thread, barrier.published, acquire)
            thread.fences.take_from_peers(thread, barrier, acquire, scope)
        if thread.run.launch.strict and news and scope == "cta" and barrier.bytes_from_peers:
            thread.run.hazards.doubt("narrow-wait", barrier=barrier.title, line=thread.place())
        if phase:
            thread.release()  # so that what was issued before shows nothing of this
            barrier.parity_waits.append((thread, clocks.segment(thread.row), thread.run.place_number()))
        barrier.woken.discard(thread)
        thread.run.note(thread, "mbarrier_wait", barrier, parity)

    def _look_at_result(self, thread: SimThread) -> None:
        """A test or try whose result nobody uses waits for nothing."""
        source = thread.run.source
        frame = source.frame(sys._getframe(2))
        if frame is None or (key := (id(frame.f_code), frame.f_lasti)) in self._looked_at:
            return
        self._looked_at.add(key)
        if source.result_is_dropped(frame.f_code, frame.f_lasti):
            thread.tell("wait-ignored")

    # Places.

    def _live(self, thread: SimThread, bar: int) -> Barrier | None:
        """The barrier at an address, if it was initialised before; otherwise that is told."""
        barrier = self._found(thread, bar)
        if not self._is_place(thread, bar):
            return None
        if barrier is None or not self._knows_init(thread, barrier):
            thread.tell("barrier-not-initialised", address=bar, barrier=barrier, cta=self._cta)
        if barrier is not None:
            used(barrier, thread)
        return barrier

    def _found(self, thread: SimThread, bar: int) -> Barrier | None:
        """The barrier at an address. Where it was not initialised yet, others may do it now, so that what follows is
        not reported as a mistake of its own."""
        if bar not in self.objects and not bar % SIZE:
            for _ in range(PATIENCE):
                thread.cut()
                thread.run.scheduler.stand_back(thread)
        return self.objects.get(bar)

    def _knows_init(self, thread: SimThread, barrier: Barrier) -> bool:
        """Whether a thread of this CTA is ordered after the init, or was told of it by the cluster barrier."""
        clocks, init = self._cta.clocks, (thread.row, barrier.made_by, barrier.made_in)
        return clocks.knows(*init) or (self._cta.cluster.has_peers and clocks.knows_init(*init))

    def _is_place(self, thread: SimThread, bar: int) -> bool:
        if bar % SIZE:
            thread.tell("misaligned", address=bar, size=SIZE)
        return not bar % SIZE
