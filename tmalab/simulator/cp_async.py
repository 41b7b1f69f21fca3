"""cp.async and its groups: the per-thread copy, which the course compares TMA with.

What it writes is an ordinary write of its thread, except that it comes late: known to the thread after its wait_group,
or to others through the mbarrier on which cp.async.mbarrier.arrive arrives. In the clocks it is a dimension of the
thread, whose ticks count its cp.async.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator import mbarrier_rules
from tmalab.simulator.context import current_thread
from tmalab.simulator.copies import LateArrive
from tmalab.simulator.waits import GroupWait

if TYPE_CHECKING:
    from tmalab.simulator.copies import CpAsync
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread


class ThreadCopies:
    """The cp.async of one thread."""

    def __init__(self, dimension: int):
        self.dimension = dimension
        self.issued = 0
        self.ends: list[int] = []  # for each committed group: the number of its last copy
        self.flying: list[CpAsync] = []


class CpAsyncGroups:
    """The cp.async groups of one CTA's threads. The methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._threads: dict[SimThread, ThreadCopies] = {}

    def issue(self, copy: CpAsync) -> None:
        """A copy that no group holds yet."""
        copies = self._of(copy.thread)
        copies.issued += 1
        copy.order, copy.dimension = copies.issued, copies.dimension
        copies.flying.append(copy)

    def commit(self) -> None:
        """cp.async.commit_group"""
        copies = self._of(current_thread())
        copies.ends.append(copies.issued)

    def wait(self, n: int) -> None:
        """cp.async.wait_group: all but the n newest groups have landed."""
        thread = current_thread()
        copies = self._of(thread)
        until = copies.ends[len(copies.ends) - n - 1] if len(copies.ends) > n else 0
        if self.in_flight_until(thread, until):
            thread.cut()
            thread.wait(GroupWait("cp.async", copies, until))
        thread.cut()
        self._cta.clocks.learn(thread.row, copies.dimension, until)

    def mbarrier_arrive(self, bar: int, noinc: bool) -> None:
        """cp.async.mbarrier.arrive: arrives when the thread's earlier cp.async have landed."""
        thread = current_thread()
        barrier = self._cta.mbarriers.for_thread(thread, bar)
        if barrier is None:
            return
        if not noinc:
            mbarrier_rules.promised(barrier, thread, of_copies=True)
            barrier.machine.pending_count += 1
        copies = self._of(thread)
        late = LateArrive(thread, barrier, copies.dimension, copies.issued, counted=noinc)
        self._cta.cluster.in_flight.append(late)
        if self._cta.run.policy.landing == "earliest":
            self._cta.run.land(late)
        thread.run.note(thread, "cp_async_mbarrier_arrive", barrier, int(noinc), copy=late)

    def in_flight_until(self, thread: SimThread, number: int) -> bool:
        """Whether one of a thread's cp.async up to a number has not landed."""
        return any(copy.order <= number for copy in self._of(thread).flying)

    def landed(self, copy: CpAsync) -> None:
        """A copy has landed."""
        copies, thread = self._threads[copy.thread], copy.thread
        copies.flying.remove(copy)
        wait = thread.waiting
        if isinstance(wait, GroupWait) and wait.groups is copies and not self.in_flight_until(thread, wait.until):
            self._cta.run.scheduler.wake([thread])
        self._cta.run.scheduler.progress += 1

    def awaits(self, copy: CpAsync) -> bool:
        """Whether its thread waits for this copy."""
        wait = copy.thread.waiting
        return isinstance(wait, GroupWait) and wait.groups is self._threads[copy.thread] and copy.order <= wait.until

    def _of(self, thread: SimThread) -> ThreadCopies:
        if thread not in self._threads:
            self._threads[thread] = ThreadCopies(self._cta.clocks.new_dimension())
        return self._threads[thread]
