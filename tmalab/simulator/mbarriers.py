"""The mbarriers of a CTA: `tmalab.MBarrier` objects in shared memory, what their phases collect, and who waits.

The state machine itself is tmalab.mbarrier. Added here is what threads and copies make of it: a phase collects the
clocks of those who arrive and hands them to those who wait, so that what was before an arrive is before what follows
the wait; and every use is held against the rules of PTX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tmalab.mbarrier import MBarrier, MBarrierError
from tmalab.simulator.context import current_thread
from tmalab.simulator.mbarrier_objects import SIZE, Barrier
from tmalab.simulator.mbarrier_waits import MbarrierWaits
from tmalab.simulator.records import BARRIER, record

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread


class Mbarriers(MbarrierWaits):
    """The barriers of one CTA: life, arrivals, bytes. The methods are the instructions, for the running thread.

    `scope` tells how far an arrive or a wait orders; within one CTA every scope reaches far enough.
    """

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
        """The arrive that cp.async.mbarrier.arrive triggers: it tells of that thread's cp.async, of nothing else."""
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

    def _change(
        self, barrier: Barrier, change: Callable[[MBarrier], int | None], thread: SimThread | None = None
    ) -> int:
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
        run.scheduler.wake(waiting)

    def _look_for_alias(self, barrier: Barrier) -> None:
        """One more phase is complete: whoever waited for the one before by parity must have seen it by then."""
        executed_after, row = self._cta.clocks.executed_after, barrier.collecting
        hazards = self._cta.run.hazards
        for thread, segment, place in barrier.parity_waits:
            if not executed_after(row, thread.row, segment):
                hazards.tell("phase-alias", thread=thread, barrier=barrier, place=place)
                return
        for thread in barrier.woken:
            hazards.tell("phase-alias", thread=thread, barrier=barrier)
            return

    def exited(self) -> None:
        """The CTA is gone: bytes that no phase was promised were waited for by nobody."""
        for barrier in self.objects.values():
            if barrier.machine.tx_count < sum(load.bytes - load.landed for load in barrier.loads):
                self._cta.run.hazards.tell("too-few-bytes", barrier=barrier)

    def pending_count(self, state: int) -> int:
        """mbarrier.pending_count"""
        return MBarrier.pending_count_of(state)

    def _unit(self, bar: int) -> int:
        return (bar + self._cta.note_offset) // self._cta.cluster.shadow.grain

    def _mark(self, thread: SimThread, bar: int) -> None:
        """Tell the shadow memory that these 8 bytes are no ordinary memory now."""
        run, row = thread.run, thread.row
        run.log.check()
        self._cta.cluster.look_at_elements_of(SIZE)
        made = record(
            row, self._cta.clocks.segment(row), self._cta.cluster.number, BARRIER, 0, thread.number, run.place_number()
        )
        self._cta.cluster.shadow.mark_barrier(self._unit(bar), made)
