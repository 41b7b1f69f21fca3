"""Running a launch turn by turn: every synchronizing operation is a turn of its own, and a script says whose is next.

An agent's turn goes from its last operation up to and including its next one: an arrive, a wait that succeeds, the
issue of a copy, the coming to a barrier, an atomic. The landing of a copy that credits an mbarrier is a turn of the
copy. What no other agent can notice is no turn: stores and cp.async land when their thread waits for them, or at last.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from tmalab.simulator.context import now
from tmalab.simulator.copies import LateArrive
from tmalab.simulator.errors import NeverChanges
from tmalab.simulator.happenings import Happenings
from tmalab.simulator.operations import Agent, Step
from tmalab.simulator.polls import Asked, Sites, look_of, site_of
from tmalab.simulator.scheduler import Scheduler
from tmalab.simulator.spins import Spins, element
from tmalab.simulator.waits import GroupWait, MbarrierWait

if TYPE_CHECKING:
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.scripts import Script
    from tmalab.simulator.threads import SimThread
    from tmalab.simulator.turn_by_turn import TurnByTurn

MOST_TURNS = 20_000  # of one run: threads that wait for each other by atomics may go on for ever
END_A_TURN = ("mbarrier_init", "mbarrier_wait", "cp_async_mbarrier_arrive")  # events after which no other thread runs


class Turns(Scheduler):
    """The scheduler of a run by turns.

    poll       a place in the source that makes something of a False, and was not known to: the run is void
    step       the turn that is being taken; `moving`: the copy that lands
    endless    whether the run was ended because it went on and on
    """

    def __init__(self, run: TurnByTurn, script: Script, sites: Sites, counts_seen: bool):
        super().__init__(run)
        self._script, self._sites = script, sites
        self._happenings = Happenings(counts_seen)
        self._names: dict[int, Agent] = {}  # of copies in flight that are agents, by number
        self._issued: Counter[int] = Counter()  # by thread
        self._in_groups: list[SimThread] = []  # they wait for copies of their own
        self._asked: Asked | None = None  # what the running thread was told False to
        self._refused: set[tuple[int, Barrier, int, Any]] = set()  # thread, barrier, phase, and where in the source
        self._spins, self._spinning = Spins(), False  # whether the running thread does
        self._cluster, self._slept = -1, False  # whether the running thread has waited in this turn
        self.turns = 0
        self.step, self.poll, self.endless = Step(None), None, False
        self.moving: Any = None

    # The run.

    def run_threads(self, threads: list[SimThread]) -> None:
        """Run until every thread has exited and every copy that is an agent has landed, or the run is over."""
        self._begin(threads)
        self._ready.extend(threads)
        self._cluster += 1
        try:
            while not self.stopping and self._turn(threads):
                pass
        finally:
            now.thread = None
            self._ready.clear()
            self._in_groups.clear()
            self._end(threads)

    def _turn(self, threads: list[SimThread]) -> bool:
        """Take a turn. False where there is none to take."""
        possible = self._possible(threads)
        if not possible:
            self._nobody_can(threads)
            return False
        turn = self._script.choose(list(possible))
        self.endless = self.turns == MOST_TURNS
        if turn is None or self.endless:
            self.stopping = True
            return False
        self.turns += 1
        self.step, self._slept = Step(*turn, cluster=self._cluster), False
        try:
            self._take(possible[turn[0]])
        finally:
            self._name_copies()
            self._script.happened(self.step)
        return True

    def _nobody_can(self, threads: list[SimThread]) -> None:
        """All have exited; or some wait for ever, or only poll by atomics."""
        if any(thread.waiting is not None for thread in threads):
            self._run.deadlocked([thread for thread in threads if not thread.exited])
        elif self._spins.waiting:
            now.thread = self._spins.waiting[0]
            now.thread.greenlet.throw(NeverChanges)

    def _possible(self, threads: list[SimThread]) -> dict[Agent, SimThread | Copy]:
        """Who could go: threads, then copies; where nobody could, a thread whose try_wait may return False."""
        possible: dict[Agent, Any] = {thread.number: thread for thread in (*self._ready, *self._in_groups)}
        for copy in self._run.cluster.in_flight:
            if copy.number in self._names:
                possible[self._names[copy.number]] = copy
        if not possible:
            for thread in threads:
                wait = thread.waiting
                if wait is not None and wait.may_refuse and not wait.gave_up(thread, self.progress):
                    return {thread.number: thread}
        return possible

    def _take(self, agent: SimThread | Copy) -> None:
        if agent in self._in_groups:
            self._in_groups.remove(agent)
            while agent.waiting is not None:
                in_flight = self._run.cluster.in_flight
                self._run.land(next(copy for copy in in_flight if copy.thread is agent and copy.awaited))
        if agent in self._ready:
            self._ready.remove(agent)
            self._step(agent)
            self.step.exits = agent.exited
        elif self.step.agent in self._names.values():
            self._land(agent)
        else:
            self._happenings.refused(self.step, agent.waiting.barrier, at_last=True)
            agent.waiting = None
            self._step(agent, answer=False)
            self.step.exits = agent.exited
        self._uses_answer()

    def _land(self, copy: Copy) -> None:
        """A copy that credits a barrier makes progress; before the arrive of cp.async, those that it waits for do."""
        while not copy.can_move:
            others = (other for other in self._run.cluster.in_flight if other.thread is copy.thread and other.can_move)
            self._run.land(next(others))
        self.moving = copy
        self._run.land_part(copy)
        if isinstance(copy, LateArrive):
            self._happenings.counts(self.step, "late_arrive", copy.barrier, 1, 0)

    def _name_copies(self) -> None:
        """Copies that were issued in this turn, and credit a barrier, are agents from now on."""
        for copy in self._run.cluster.in_flight:
            if getattr(copy, "barrier", None) is not None and copy.number not in self._names:
                self._issued[copy.thread.number] += 1
                self._names[copy.number] = name = (copy.thread.number, self._issued[copy.thread.number])
                self.step.issues.append(name)

    # What happens in a turn: called by the thread, or by what it does.

    def stand_back(self, thread: SimThread) -> None:
        """The turn is over; unless the thread was just told False, and is expected to ask the same again."""
        if self._asked is not None and self._asked.segments is None:
            self._asked = self._asked._replace(segments=thread.segments)
            return
        self._uses_answer()
        if self._spinning:
            self._spinning = False
        elif self.step.operations:
            self._ready.appendleft(thread)
        else:
            self._ready.append(thread)
        self._hub.switch()

    def leave(self, thread: SimThread) -> Any:
        """The turn is over: the thread waits."""
        wait = thread.waiting
        if isinstance(wait, MbarrierWait):
            self._asks_again(thread, wait.barrier)
            self._sites.waits.add(site_of(thread))
        self._uses_answer()
        if isinstance(wait, GroupWait):
            self._in_groups.append(thread)
        self._happenings.suspended(self.step, thread)
        woken = self._hub.switch()
        if isinstance(wait, MbarrierWait) and woken:
            self._slept = True
            if wait.may_refuse and wait.has_been_missed:
                self._tell_false(thread, wait.barrier, thread.segments)
        return woken

    def wake(self, threads: list[SimThread]) -> None:
        self._happenings.woken(self.step, threads, now.thread)
        super().wake(threads)

    def refuses(self, thread: SimThread, barrier: Barrier) -> bool:
        """Whether a failing try_wait returns False at once. The first one at each place and in each phase does."""
        asked = thread.number, barrier, barrier.machine.phase, site_of(thread)
        if asked in self._refused:
            return False
        self._refused.add(asked)
        self._asks_again(thread, barrier)
        self._uses_answer()
        self._tell_false(thread, barrier)
        thread.cut()
        self.stand_back(thread)
        return True

    def noted(
        self, thread: SimThread, what: str, barrier: Barrier | None, operand: Any = None, copy: Copy | None = None
    ) -> None:
        """An event of the trace."""
        self._uses_answer()
        if what == "mbarrier_wait":
            waits = self._slept or self._sites.waits_at(site_of(thread))
            self._happenings.succeeded(self.step, barrier, operand is not None, waits)
        else:
            self._happenings.noted(self.step, thread, what, barrier, operand, copy)
        if what in END_A_TURN:
            thread.cut()
            self.stand_back(thread)

    def updated(self, name: str, array: Array, index: Any, before: Any) -> None:
        """An atomic was executed. One that reads the same as the last time is none: its thread waits for a change."""
        self._uses_answer()
        thread, found = now.thread, element(now.thread, array, index)
        if found is None:
            return
        if found.value != before:
            self._ready.extend(self._spins.changed(found.place))
        elif self._spins.reads(thread, found.place, look_of(thread)):
            self._spins.waits(thread, found.place)
            self._spinning = True
            return
        commutes = array.dtype.kind in "iu" and self._result_is_dropped()
        self._happenings.updated(self.step, name, found.place, commutes, reads=found.value == before)

    def absent(self, cta: int, address: int) -> None:
        """An mbarrier was used before it was initialised."""
        self._happenings.absent(self.step, cta, address)

    def _tell_false(self, thread: SimThread, barrier: Barrier, segments: int | None = None) -> None:
        """A try_wait returns False: where that leads to something, it is an operation."""
        self._asked = Asked(barrier, look_of(thread), segments)
        if self._asked.site in self._sites.polls:
            self._asked = None
            self._happenings.refused(self.step, barrier)

    def pick(self, options: int) -> int:
        """The turn's choice among so many."""
        self.step.options = options
        return self.step.choice

    def _result_is_dropped(self) -> bool:
        """Whether the kernel does nothing with the result of the call that it is in."""
        source = self._run.source
        frame = source.frame(sys._getframe(1))
        return frame is not None and source.result_is_dropped(frame.f_code, frame.f_lasti)

    def _asks_again(self, thread: SimThread, barrier: Barrier) -> None:
        """The thread asks. If it was told False, and only asks again, it waits."""
        if self._asked is not None and self._asked.is_asked_again(thread, barrier):
            self._sites.waits.add(self._asked.site)
            self._asked = None

    def _uses_answer(self) -> None:
        """A thread that was told False did something else than to ask again: this run has left that choice out."""
        if self._asked is not None:
            self.poll, self._asked, self.stopping = self._asked.site, None, True
