"""The 16 barriers of a CTA: syncthreads (number 0) and named barriers, which some of its warps meet in.

bar.sync counts and waits, bar.arrive only counts. Those who wait know afterwards what all participants knew. Whoever
comes to the next use of a named barrier must know that the last one is over, or its arrival may count for that one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.context import current_thread, now
from tmalab.simulator.errors import KernelError
from tmalab.simulator.threads import WARP
from tmalab.simulator.waits import CtaBarrierWait
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

BARRIERS = 16


class Meeting:
    """One use of one barrier."""

    __slots__ = ("arrived", "came", "row", "sites", "threads", "wait", "waiting")

    def __init__(self, id: int, threads: int | None):
        self.threads = threads  # how many it is for; None: all that live
        self.wait = CtaBarrierWait(id, threads)
        self.waiting: list[SimThread] = []
        self.arrived = 0  # by bar.arrive
        self.came: dict[SimThread, int] = {}  # each in which of its segments
        self.sites: dict[SimThread, Any] = {}  # where in the source each waits, if that may differ within a warp
        self.row: int | None = None  # of the clocks: what those have given


class CtaBarriers:
    """The barriers of one CTA."""

    def __init__(self, cta: Cta):
        self._cta, self._log = cta, cta.run.log
        self._pause, self._leave = cta.run.log.pause, cta.run.scheduler.leave
        self._looks_at_sites = cta.run.branches_at_barriers
        self._meetings: dict[int, Meeting] = {}
        self._plain: Meeting | None = None  # that of syncthreads, where whoever comes next need only be counted
        self._rows: dict[int, int] = {}
        self._over: dict[int, tuple[int, int]] = {}  # named barriers: a dimension of the clocks, and uses that are over
        self._last: dict[int, Meeting] = {}  # named barriers: their last use that is over
        self._in_vain: dict[int, tuple[SimThread, int]] = {}  # named barriers that nobody waits in: who came, where
        self._waited: set[int] = set()  # named barriers in which a thread has waited

    def sync_all(self) -> None:
        """syncthreads: wait for all threads of the CTA that have not exited."""
        thread, meeting = now.thread, self._plain
        if meeting is None or len(meeting.waiting) + 1 == self._cta.alive:
            self._sync(thread, 0, None)
        else:  # the common case, as short as can be: others are still to come
            self._pause(thread)
            meeting.waiting.append(thread)
            thread.refusals = 0
            thread.waiting = meeting.wait
            self._leave(thread)

    def sync(self, id: int, threads: int) -> None:
        """bar.sync id, threads."""
        self._sync(current_thread(), *_checked(id, threads))

    def arrive(self, id: int, threads: int) -> None:
        """bar.arrive id, threads."""
        thread, (id, threads) = current_thread(), _checked(id, threads)
        meeting = self._meeting(thread, id, threads)
        thread.cut()
        meeting.arrived += 1
        self._plain = None if id == 0 else self._plain
        if id not in self._waited:
            self._in_vain[id] = thread, thread.run.place_number()
        meeting.row = self._row(id)
        self._cta.clocks.join(meeting.row, thread.row)
        thread.release()
        thread.run.note(thread, "barrier_arrive", None, id)
        self._finish_if_complete(id)
        thread.give_way()

    def exited(self, thread: SimThread) -> None:
        """A thread is gone: syncthreads no longer waits for it."""
        self._finish_if_complete(0)
        if not self._cta.alive:
            self._look_at_what_is_left(thread)

    def _look_at_what_is_left(self, thread: SimThread) -> None:
        """The CTA's last thread is gone: arrives at named barriers in which nobody waits, ever or in the end."""
        told = {id for id in self._in_vain if not thread.run.may_wait_in(id)}
        for id in told:
            last, place = self._in_vain[id]
            last.tell("barrier-mismatch", id=id, unwaited=True, place=place)
        left = {id: meeting for id, meeting in self._meetings.items() if meeting.arrived and id not in told}
        if left:
            shown = ", ".join(f"{id} ({meeting.arrived} of {meeting.threads})" for id, meeting in sorted(left.items()))
            thread.run.doubt("arrives-left", None, cta=self._cta.name, left=shown)

    def missing(self, id: int) -> int:
        """How many threads a barrier still waits for."""
        meeting = self._meetings[id]
        return self._wanted(meeting) - len(meeting.waiting) - meeting.arrived

    def _meeting(self, thread: SimThread, id: int, threads: int | None) -> Meeting:
        """The use of a barrier that a thread comes to; whether it may is looked at."""
        if id not in self._meetings:
            self._meetings[id] = Meeting(id, threads)
        meeting = self._meetings[id]
        if (meeting.threads or len(self._cta.threads)) != (threads or len(self._cta.threads)):
            thread.tell("barrier-mismatch", id=id, threads=meeting.threads or len(self._cta.threads), given=threads)
        elif threads is not None:
            if thread in meeting.came or not self._knows_end_of_last(thread, id):
                thread.tell("barrier-mismatch", id=id)
            meeting.came[thread] = self._cta.clocks.segment(thread.row)
        return meeting

    def _knows_end_of_last(self, thread: SimThread, id: int) -> bool:
        """Whether a thread knows that the last use of a named barrier is over: was told, or knows that all had come."""
        if id not in self._over:
            return True
        executed_after, came = self._cta.clocks.executed_after, self._last[id].came
        told = executed_after(thread.row, *self._over[id])
        return told or all(executed_after(thread.row, other.row, segment) for other, segment in came.items())

    def _sync(self, thread: SimThread, id: int, threads: int | None) -> None:
        meeting = self._meeting(thread, id, threads)
        self._pause(thread)
        waiting = meeting.waiting
        waiting.append(thread)
        if threads is not None:
            self._waited.add(id)
            self._in_vain.pop(id, None)
        elif self._looks_at_sites:
            meeting.sites[thread] = thread.run.source.site()
        elif not meeting.threads and not meeting.arrived:
            self._plain = meeting
        if len(waiting) + meeting.arrived < self._wanted(meeting):
            thread.wait(meeting.wait)
        else:
            self._finish(id)
            self._cta.run.scheduler.stand_back(thread)  # those who came before go first

    def _wanted(self, meeting: Meeting) -> int:
        return self._cta.alive if meeting.threads is None else meeting.threads

    def _finish_if_complete(self, id: int) -> None:
        meeting = self._meetings.get(id)
        if meeting is not None and len(meeting.waiting) + meeting.arrived >= self._wanted(meeting):
            self._finish(id)

    def _finish(self, id: int) -> None:
        meeting = self._meetings.pop(id)
        self._plain = None if id == 0 else self._plain
        if meeting.sites:
            self._look_for_branches(meeting)
        self._exchange(meeting)
        self._cta.run.scheduler.wake(meeting.waiting)

    def _look_for_branches(self, meeting: Meeting) -> None:
        """syncthreads is bar.sync, for whole warps at one place of the program; barrier.sync is not."""
        sites: dict[int, Any] = {}  # by warp
        for thread, site in meeting.sites.items():
            if sites.setdefault(thread.warp, site) != site:
                thread.tell("partial-warp", operation="syncthreads", apart=True)
                return

    def _exchange(self, meeting: Meeting) -> None:
        """Those who wait learn what all participants know, and begin a new segment."""
        cta, clocks, log = self._cta, self._cta.clocks, self._log
        rows = [thread.row for thread in meeting.waiting]
        everybody = 0 < len(rows) == cta.alive and cta.cluster.company.alone
        where = cta.rows if len(rows) == len(cta.threads) else rows
        if everybody:
            log.all_meet(cta.cluster.has_unknown_copies(where))
        log.settle()
        if meeting.threads is not None:
            self._last[meeting.wait.id] = meeting
            self._one_more_is_over(meeting.wait.id, rows[:1])
        if meeting.row is not None:
            for row in rows[:1]:
                clocks.join(row, meeting.row)
            clocks.clear(meeting.row)
        if not rows:  # all have only arrived: nobody learns anything
            return
        if cta.fences.has_seen:
            cta.fences.take_at_barrier(meeting.waiting)
        clocks.meet(where)
        clocks.tick_all(where)
        if everybody:
            log.all_met(cta.cluster.has_unknown_copies(where))

    def _one_more_is_over(self, id: int, rows: list[int]) -> None:
        """A use of a named barrier is over, as some rows learn."""
        dimension, over = self._over.get(id) or (self._cta.clocks.new_dimension(), 0)
        self._over[id] = dimension, over + 1
        for row in rows:
            self._cta.clocks.learn(row, dimension, over + 1)

    def _row(self, id: int) -> int:
        if id not in self._rows:
            self._rows[id] = self._cta.clocks.new_row()
        return self._rows[id]


def _checked(id: int, threads: int) -> tuple[int, int]:
    if not 0 <= id < BARRIERS:
        raise KernelError(text("simulator.barrier-id", id=id, limit=BARRIERS - 1))
    if threads <= 0 or threads % WARP:
        raise KernelError(text("simulator.barrier-threads", threads=threads))
    return id, threads
