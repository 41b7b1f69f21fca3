"""The mbarriers of a CTA: `tmalab.MBarrier` objects in shared memory, what their phases collect, and who waits.

The state machine itself is tmalab.mbarrier. Added here is what threads and copies make of it: a phase collects the
clocks of those who arrive and hands them to those who wait, so that what was before an arrive is before what follows
the wait; and every use is held against the rules of PTX.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tmalab.mbarrier import MBarrier, MBarrierError
from tmalab.simulator.context import current_thread
from tmalab.simulator.records import BARRIER, record
from tmalab.simulator.waits import MbarrierWait

if TYPE_CHECKING:
    from tmalab.simulator.copies import Load
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

SIZE = 8  # bytes of an mbarrier, and its alignment
PATIENCE = 16  # turns that the user of a barrier gives others to initialise it


class Barrier:
    """One live mbarrier object.

    machine      its state
    dimension    in the clocks: a tick is a completed phase
    collecting, published    rows of the clocks: what the current phase has been given, what the completed ones have
    promised, delivered, arrivals    bytes and arrivals of the current phase so far
    loads        copies in flight that credit it
    """

    def __init__(self, cta: Cta, address: int, count: int, thread: SimThread):
        clocks = cta.clocks
        self.cta, self.address = cta, address
        self.machine = MBarrier(count)
        self.dimension = clocks.new_dimension()
        self.collecting, self.published = clocks.new_row(), clocks.new_row()
        self.made_by, self.made_in = thread.row, clocks.segment(thread.row)
        self.made_at = thread.run.place_number()
        self.promised = self.delivered = self.arrivals = 0
        self.over_arrived = False
        self.loads: list[Load] = []
        self.credited: list[Load] = []  # that have credited the current phase
        self.waiting: list[SimThread] = []
        self.woken: set[SimThread] = set()  # who waited for the last phase by parity and has not yet seen that it is complete
        self.parity_waits: list[tuple[SimThread, int, int]] = []  # who saw the last phase complete, its segment, its line

    @property
    def name(self) -> str:
        return self.cta.name_of(self.address)

    @property
    def at_rest(self) -> bool:
        """Whether nothing has happened in the current phase."""
        machine = self.machine
        return machine.pending_count == machine.expected_count and not (self.promised or self.delivered or machine.tx_count)


class Waited(NamedTuple):
    """A successful wait: what was asked, the barrier's phase then, whether the thread learned anything, and where."""

    parity: int | None
    phase: int
    news: bool
    place: int


class Mbarriers:
    """The barriers of one CTA, by address; the methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self.objects: dict[int, Barrier] = {}
        self._looked_at: set = set()  # calls of a wait whose result is known to be used, or was told of

    # Life.

    def init(self, bar: int, count: int) -> None:
        """mbarrier.init"""
        thread = current_thread()
        if not self._is_place(thread, bar):
            return
        if bar in self.objects:
            thread.tell("barrier-reinit", barrier=self.objects[bar])
        thread.cut()
        self.objects[bar] = Barrier(self._cta, bar, count, thread)
        self._mark(thread, bar)
        thread.run.note(thread, "mbarrier_init", self.objects[bar], count)

    def inval(self, bar: int) -> None:
        """mbarrier.inval"""
        thread = current_thread()
        barrier = self._live(thread, bar)
        if barrier is not None:
            thread.run.note(thread, "mbarrier_inval", barrier)
            del self.objects[bar]
            thread.run.log.check()
            self._cta.cluster.shadow.forget(self._unit(bar))

    # Arrivals and bytes.

    def arrive(self, bar: int, count: int = 1, release: bool = True, scope: str = "cta") -> int:
        """mbarrier.arrive: returns the state."""
        return self._arrive(bar, "arrive", count, release)

    def arrive_drop(self, bar: int, count: int = 1, release: bool = True, scope: str = "cta") -> int:
        """mbarrier.arrive_drop: returns the state."""
        return self._arrive(bar, "arrive_drop", count, release)

    def arrive_no_complete(self, bar: int, count: int) -> int:
        """mbarrier.arrive.noComplete: returns the state."""
        return self._arrive(bar, "arrive_no_complete", count, True)

    def arrive_expect_tx(self, bar: int, bytes: int, release: bool = True, scope: str = "cta") -> int:
        """mbarrier.arrive.expect_tx: returns the state."""
        return self._arrive(bar, "arrive_expect_tx", bytes, release)

    def expect_tx(self, bar: int, bytes: int) -> None:
        """mbarrier.expect_tx: a promise, no arrival."""
        thread = current_thread()
        barrier = self._live(thread, bar)
        if barrier is None:
            return
        barrier.promised += bytes
        self._change(barrier, lambda machine: machine.expect_tx(bytes))
        thread.run.note(thread, "mbarrier_expect_tx", barrier, bytes)
        thread.give_way()

    def complete_tx(self, bar: int, bytes: int) -> None:
        """mbarrier.complete_tx: a credit by hand."""
        thread = current_thread()
        barrier = self._live(thread, bar)
        if barrier is None:
            return
        self.credit(barrier, bytes)
        thread.run.note(thread, "mbarrier_complete_tx", barrier, bytes)
        thread.give_way()

    def credit(self, barrier: Barrier, bytes: int) -> None:
        """Bytes have landed."""
        barrier.delivered += bytes
        self._change(barrier, lambda machine: machine.complete_tx(bytes))

    def arrive_for(self, barrier: Barrier, thread: SimThread, dimension: int, tick: int) -> None:
        """The arrive that cp.async.mbarrier.arrive triggers: it tells of that thread's cp.async, and of nothing else."""
        self._cta.clocks.learn(barrier.collecting, dimension, tick)
        barrier.arrivals += 1
        self._change(barrier, lambda machine: machine.arrive(), thread)

    def for_copy(self, thread: SimThread, bar: int) -> Barrier | None:
        """The barrier that a copy is to credit."""
        return self._live(thread, bar)

    def _arrive(self, bar: int, form: str, amount: int, release: bool) -> int:
        thread = current_thread()
        barrier = self._live(thread, bar)
        if barrier is None:
            return 0
        machine, clocks = barrier.machine, self._cta.clocks
        thread.cut()
        if not clocks.executed_after(thread.row, barrier.dimension, machine.phase):
            self._over_arrival(thread, barrier)
        thread.fences.give(thread, barrier.collecting, release)
        thread.release()
        if form == "arrive_expect_tx":
            barrier.promised += amount
        barrier.arrivals += 1 if form == "arrive_expect_tx" else amount
        state = self._change(barrier, lambda machine: getattr(machine, form)(amount), thread)
        thread.run.note(thread, f"mbarrier_{form}", barrier, amount)
        thread.give_way()
        return state

    def _change(self, barrier: Barrier, change: Callable[[MBarrier], int | None], thread: SimThread | None = None) -> int:
        """Change a barrier's state, and do what follows from it. Returns the state that an arrive gives."""
        machine = barrier.machine
        phase = machine.phase
        try:
            state = change(machine)
        except MBarrierError as error:
            if error.rule != "over-arrival" or thread is None:
                raise
            self._over_arrival(thread, barrier)
            state = machine.arrive(machine.pending_count) if machine.pending_count else phase << 20
        self._cta.run.scheduler.progress += 1
        if machine.phase != phase:
            self._completed(barrier)
        return state or 0

    def _over_arrival(self, thread: SimThread, barrier: Barrier) -> None:
        barrier.over_arrived = True
        thread.tell("over-arrival", barrier=barrier)

    def _completed(self, barrier: Barrier) -> None:
        """A phase is complete: publish what it collected, and let the waiters look again."""
        run, clocks, phase = self._cta.run, self._cta.clocks, barrier.machine.phase
        if barrier.loads:
            run.hazards.tell("too-few-bytes", barrier=barrier)
        self._look_for_alias(barrier)
        clocks.join(barrier.published, barrier.collecting)
        clocks.clear(barrier.collecting)
        clocks.learn(barrier.published, barrier.dimension, phase)
        barrier.promised = barrier.delivered = barrier.arrivals = 0
        barrier.parity_waits.clear()
        barrier.credited.clear()
        waiting, barrier.waiting = barrier.waiting, []
        barrier.woken = {thread for thread in waiting if thread.waiting.parity is not None}
        for thread in waiting:
            run.scheduler.wake(thread)

    def _look_for_alias(self, barrier: Barrier) -> None:
        """One more phase is complete: whoever waited for the one before by parity must have seen it by then."""
        executed_after, row = self._cta.clocks.executed_after, barrier.collecting
        hazards = self._cta.run.hazards
        for thread, segment, place in barrier.parity_waits:
            if not executed_after(row, thread.row, segment):
                hazards.tell("phase-alias", thread=thread, barrier=barrier, waiter=thread, place=place)
                return
        for thread in barrier.woken:
            hazards.tell("phase-alias", thread=thread, barrier=barrier, waiter=thread, place=0)
            return

    # Waits.

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

    def pending_count(self, state: int) -> int:
        """mbarrier.pending_count"""
        return MBarrier.pending_count_of(state)

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
        thread.give_way()
        return True

    def _over(self, thread: SimThread, barrier: Barrier, state: int | None, parity: int | None) -> bool:
        if state is None:
            return barrier.machine.test_wait_parity(parity)
        try:
            return barrier.machine.test_wait(state)
        except MBarrierError as error:
            if error.rule != "stale-state":
                raise
            thread.tell("phase-alias", barrier=barrier, waiter=None, place=0)
            return True

    def _suspend(self, thread: SimThread, barrier: Barrier, parity: int | None, may_refuse: bool) -> None:
        barrier.waiting.append(thread)
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

    def _unit(self, bar: int) -> int:
        return (bar + self._cta.note_offset) // self._cta.cluster.shadow.grain

    def _mark(self, thread: SimThread, bar: int) -> None:
        """Tell the shadow memory that these 8 bytes are no ordinary memory now."""
        run, row = thread.run, thread.row
        run.log.check()
        self._cta.cluster.look_at_elements_of(SIZE)
        made = record(row, self._cta.clocks.segment(row), self._cta.cluster.number, BARRIER, 0, thread.number, run.place_number())
        self._cta.cluster.shadow.mark_barrier(self._unit(bar), made)
