"""The mbarriers of a CTA: `tmalab.MBarrier` objects in shared memory, what their phases collect, and who waits.

The state machine itself is tmalab.mbarrier. Added here is what threads and copies make of it: a phase collects the
clocks of those who arrive and hands them to those who wait, so that what was before an arrive is before what follows
the wait; and every use is held against the rules of PTX.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.mbarrier import MBarrier, MBarrierError
from tmalab.simulator import mbarrier_rules
from tmalab.simulator.context import current_thread
from tmalab.simulator.mbarrier_objects import SIZE, Barrier
from tmalab.simulator.mbarrier_waits import MbarrierWaits
from tmalab.simulator.records import BARRIER, GENERIC, put, record

if TYPE_CHECKING:
    from tmalab.simulator.copies import LateArrive
    from tmalab.simulator.loads import Load
    from tmalab.simulator.threads import SimThread


class Mbarriers(MbarrierWaits):
    """The barriers of one CTA: life, arrivals, bytes. The methods are the instructions, for the running thread.

    `scope` tells how far an arrive or a wait orders: within one CTA every scope reaches far enough.
    """

    # Life.

    def init(self, bar: int, count: int) -> None:
        """mbarrier.init"""
        thread = current_thread()
        if not self._is_place(thread, bar):
            return
        again = bar in self.objects
        if again:
            thread.tell("barrier-reinit", barrier=self.objects[bar])
        thread.cut()
        self.objects[bar] = Barrier(self._cta, bar, count, thread)
        self._mark(thread, bar, again)
        thread.run.note(thread, "mbarrier_init", self.objects[bar], count)

    def inval(self, bar: int) -> None:
        """mbarrier.inval"""
        thread = current_thread()
        barrier = self._live(thread, bar)
        if barrier is not None:
            mbarrier_rules.look_at_end(barrier, thread)
            thread.run.note(thread, "mbarrier_inval", barrier)
            thread.cut()  # what it accessed before is checked while the barrier still lies there
            del self.objects[bar]
            thread.run.log.check()
            put(self._cta.cluster.shadow.writers, self._units(bar), self._record(thread, GENERIC))

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
        if barrier is not None:
            self.expect(barrier, thread, bytes)

    def complete_tx(self, bar: int, bytes: int) -> None:
        """mbarrier.complete_tx: a credit by hand."""
        thread = current_thread()
        barrier = self._live(thread, bar)
        if barrier is not None:
            self.complete(barrier, thread, bytes)

    # What the instructions do, to barriers of this CTA or by threads of another.

    def expect(self, barrier: Barrier, thread: SimThread, bytes: int) -> None:
        """A promise."""
        mbarrier_rules.promised(barrier, thread)
        barrier.promised += bytes
        self._change(barrier, lambda machine: machine.expect_tx(bytes))
        thread.run.note(thread, "mbarrier_expect_tx", barrier, bytes)
        thread.give_way()

    def complete(self, barrier: Barrier, thread: SimThread, bytes: int) -> None:
        """A credit by hand."""
        thread.cut()
        barrier.credited_after.append(self._cta.clocks.executed(thread.row))  # it orders nothing, but the phase waits
        thread.release()
        self.credit(barrier, bytes)
        thread.run.note(thread, "mbarrier_complete_tx", barrier, bytes)
        thread.give_way()

    def credit(self, barrier: Barrier, bytes: int) -> None:
        """Bytes have landed."""
        barrier.delivered += bytes
        self._change(barrier, lambda machine: machine.complete_tx(bytes))

    def arrive_for(self, asked: LateArrive) -> None:
        """The arrive that cp.async.mbarrier.arrive triggers: it tells of that thread's cp.async, and orders nothing
        else, though it shows what the thread had seen when it asked for it."""
        barrier, thread, place, clocks = asked.barrier, asked.thread, asked.place, self._cta.clocks
        if asked.issued_after[barrier.dimension] < barrier.machine.phase:
            self._over_arrival(thread, barrier, place=place)
        clocks.learn(barrier.collecting, asked.dimension, asked.order)
        if asked.counted:
            clocks.learn_executed(barrier.collecting, asked.issued_after)
        else:  # the phase did not wait for it from the beginning
            barrier.credited_after.append(asked.issued_after)
        barrier.arrivals += 1
        barrier.arrived_from[thread.cta.rank] += 1
        barrier.arrived_by[thread] += 1
        self._change(barrier, lambda machine: machine.arrive(), thread, place=place)

    def arrived(
        self,
        barrier: Barrier,
        thread: SimThread,
        form: str,
        amount: int,
        release: bool,
        scope: str,
    ) -> int:
        """An arrive by a thread of this CTA, or of another."""
        machine, clocks = barrier.machine, self._cta.clocks
        thread.cut()
        if not clocks.executed_after(thread.row, barrier.dimension, machine.phase):
            self._over_arrival(thread, barrier)
        if thread.cta is self._cta:
            thread.fences.give(thread, barrier.collecting, release)
        else:
            thread.fences.give_to_peer(thread, barrier, release, scope)
        thread.release()
        if form == "arrive_expect_tx":
            barrier.promised += amount
        if form == "arrive_no_complete":
            mbarrier_rules.must_not_be_last(barrier, thread)
        count = 1 if form == "arrive_expect_tx" else amount
        if mbarrier_rules.lacks_promises(barrier, count):
            self.too_few(barrier)
        barrier.arrivals += count
        barrier.arrived_from[thread.cta.rank] += count
        again = thread in barrier.arrived_by
        barrier.arrived_by[thread] += count
        state = self._change(barrier, lambda machine: getattr(machine, form)(amount), thread, again=again)
        thread.run.note(thread, f"mbarrier_{form}", barrier, amount)
        thread.give_way()
        return state

    def _arrive(self, bar: int, form: str, amount: int, release: bool) -> int:
        thread = current_thread()
        barrier = self._live(thread, bar)
        return 0 if barrier is None else self.arrived(barrier, thread, form, amount, release, "cta")

    def _change(
        self,
        barrier: Barrier,
        change: Callable[[MBarrier], int | None],
        thread: SimThread | None = None,
        **arrival: Any,
    ) -> int:
        """Change a barrier's state, and do what follows from it. Returns the state that an arrive gives; `arrival`:
        what to tell of it should it be one too many."""
        machine = barrier.machine
        phase = machine.phase
        try:
            state = change(machine)
        except MBarrierError as error:
            if error.rule not in ("over-arrival", "no-complete") or thread is None:
                raise
            if error.rule == "over-arrival":  # else it is told as the phase completes
                self._over_arrival(thread, barrier, **arrival)
            state = machine.arrive(machine.pending_count) if machine.pending_count else barrier.last_state
        barrier.last_state = state or barrier.last_state
        self._cta.run.scheduler.progress += 1
        if machine.phase != phase:
            self._completed(barrier)
        return barrier.stamped(state) if state else 0

    def _over_arrival(self, thread: SimThread, barrier: Barrier, **arrival: Any) -> None:
        barrier.over_arrived = True
        thread.tell("over-arrival", barrier=barrier, **arrival)

    def _completed(self, barrier: Barrier) -> None:
        """A phase is complete: publish what it collected, and let the waiters look again."""
        run, clocks, phase = self._cta.run, self._cta.clocks, barrier.machine.phase
        if barrier.loads:
            self.too_few(barrier)
        mbarrier_rules.look_at_promises(barrier)
        mbarrier_rules.look_at_no_completes(barrier)
        self._show_credits(barrier)
        self._look_for_alias(barrier)
        for rows in filter(None, (barrier, barrier.from_peers)):
            clocks.join(rows.published, rows.collecting)
            clocks.clear(rows.collecting)
        clocks.learn(barrier.published, barrier.dimension, phase)
        barrier.begin_phase()
        waiting, barrier.waiting = barrier.waiting, []
        barrier.woken = set(waiting)
        run.scheduler.wake(waiting)

    def _show_credits(self, barrier: Barrier) -> None:
        """Credits show what the threads had seen by then who gave them by hand, or issued a copy. A thread that arrives
        as well has told that itself."""
        for copy in barrier.credited:
            if copy.thread not in barrier.arrived_by and copy.issued_after is not None:
                barrier.credited_after.append(copy.issued_after)
            copy.issued_after = None  # reports may keep the copy
        for clock in barrier.credited_after:
            self._cta.clocks.learn_executed(barrier.collecting, clock)
        barrier.credited_after.clear()

    def _look_for_alias(self, barrier: Barrier) -> None:
        """One more phase is complete: whoever waited for the one before by parity must have seen it by then."""
        executed_after, hazards = self._cta.clocks.executed_after, self._cta.run.hazards
        given = [rows.collecting for rows in (barrier, barrier.from_peers) if rows is not None]
        for thread, segment, place in barrier.parity_waits:
            seen = any(executed_after(row, thread.row, segment) for row in given)
            if not seen and not barrier.copies_came_after(thread, segment):
                hazards.tell("phase-alias", thread=thread, barrier=barrier, place=place)
                return
        for thread in sorted(barrier.woken, key=lambda thread: thread.number):
            hazards.tell("phase-alias", thread=thread, barrier=barrier)
            return

    def exited(self) -> None:
        """The CTA is gone: bytes that no phase was promised were waited for by nobody."""
        for barrier in self.objects.values():
            if barrier.machine.tx_count < sum(load.bytes - load.landed for load in barrier.loads):
                self.too_few(barrier)

    def too_few(self, barrier: Barrier) -> None:
        """Copies bring more bytes than a barrier was promised; with multicast, perhaps nobody armed it for them."""
        hazards = self._cta.run.hazards
        if barrier.over_arrived:  # its promises have gone astray with the arrivals, which was told
            return
        if self.is_unarmed(barrier):
            hazards.tell("multicast-mask", barrier=barrier)
        hazards.tell("too-few-bytes", barrier=barrier)
        barrier.came_short = True

    def came_late(self, copy: Load) -> None:
        """A copy brings bytes for which its phase did not wait."""
        barrier = copy.barrier
        hazards = self._cta.run.hazards
        if barrier.over_arrived:
            return
        if not barrier.was_promised and self._is_multicast_of_another(copy):
            hazards.tell("multicast-mask", barrier=barrier)
        hazards.tell("too-few-bytes", barrier=barrier, late=copy)
        barrier.came_short = True

    def is_unarmed(self, barrier: Barrier) -> bool:
        """Whether multicasts of other CTAs reach a barrier that was promised nothing, and not too little before."""
        copies = (*barrier.loads, *barrier.credited)
        strangers = any(map(self._is_multicast_of_another, copies))
        return strangers and not barrier.promised and not barrier.came_short

    def _is_multicast_of_another(self, copy: Load) -> bool:
        return copy.mask is not None and copy.thread.cta is not self._cta

    def pending_count(self, state: int) -> int:
        """mbarrier.pending_count"""
        return MBarrier.pending_count_of(state)

    def _units(self, bar: int) -> np.ndarray:
        """The units of the shadow memory that a barrier takes."""
        start = np.array([bar + self._cta.note_offset])
        return self._cta.cluster.shadow.units(start, start + SIZE)

    def _record(self, thread: SimThread, how: int) -> np.ndarray:
        run, row = thread.run, thread.row
        segment = self._cta.clocks.segment(row)
        return record(row, segment, self._cta.cluster.number, how, 0, thread.number, run.place_number())

    def _mark(self, thread: SimThread, bar: int, again: bool) -> None:
        """Tell the shadow memory that these 8 bytes are no ordinary memory now. The init writes them, as the end of a
        barrier does, so what others did there must come before."""
        cta, shadow = self._cta, self._cta.cluster.shadow
        thread.run.log.check()
        cta.cluster.look_at_elements_of(SIZE)
        if thread.run.log.tracking and not again:
            issuer = cta.clocks.issuing(thread.row, cta.space)
            shadow.issue_write(self._units(bar), self._record(thread, GENERIC), issuer)
        put(shadow.writers, self._units(bar), self._record(thread, BARRIER))
