"""The scheduler: one thread runs until it waits, then the policy says who is next, or which copy makes progress.

Threads are greenlets, so a switch costs half a microsecond and happens only where the kernel synchronizes: between two
synchronizing operations the order of threads changes nothing that the hazard checks do not find anyway.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent

from tmalab.simulator.context import now
from tmalab.simulator.errors import KernelStopped
from tmalab.simulator.fibers import Fibers

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.threads import SimThread

STUBBORN = 5  # how often a thread that swallows the order to stop is told again


class Scheduler:
    """Runs the threads of one cluster at a time.

    steps      turns taken so far; the watchdog watches it
    progress   things that happened and may let a waiting thread go on
    """

    def __init__(self, run: Simulation):
        self._run = run
        self._ready: deque[SimThread] = deque()
        self._hub: Any = None
        self._fibers: Any = None
        self._world: Any = None  # from its beginning on
        self._names: Any = None
        self._next_ready: Callable[[], SimThread] = self._ready.popleft
        self._unstarted = 0  # threads
        self._hands_over = False  # whether a thread that waits goes on with the next one itself, past the hub
        self.steps = self.progress = self._alive = 0
        self.stopping = False

    def run_threads(self, threads: list[SimThread]) -> None:
        """Run until every thread has exited, or the run is over."""
        run, ready, policy = self._run, self._ready, self._run.policy
        self._begin(threads)
        order = list(threads)
        policy.shuffle(order)
        ready.extend(order)
        self._next_ready = next_ready = ready.popleft if policy.orderly else partial(policy.next_of, ready)
        lands_now = policy.lands_now if policy.landing == "mixed" else None
        try:
            while self._alive and not self.stopping:
                if (not ready or (lands_now and lands_now())) and run.copies_in_flight:
                    run.land_one()
                elif ready:
                    self._step(next_ready())
                elif not self._ask_again(threads):
                    run.deadlocked([thread for thread in threads if not thread.exited])
                    break
        finally:
            now.thread = None
            ready.clear()
            self._end(threads)

    def _begin(self, threads: list[SimThread]) -> None:
        self._hub, self._fibers = getcurrent(), self._fibers or Fibers(self._run.context)
        self._world, self._names = self._run.world, self._run.world.names
        self._alive = self._unstarted = len(threads)

    def leave(self, thread: SimThread) -> Any:
        """Called in a thread: let others run. Returns when somebody wakes it: True; or False: ask again later."""
        if not self._ready or not self._hands_over or self.stopping:
            return self._hub.switch()
        chosen = self._next_ready()  # from here on as in _hand_to: to call it takes a tenth of the whole
        self.steps += 1
        now.thread = chosen
        self._names["threadIdx"] = chosen.index3
        if self._world.cta is not chosen.cta:
            self._world.enter(chosen.cta)
        return chosen.greenlet.switch(True)

    def close(self) -> None:
        """The run is over: there are no more clusters."""
        if self._fibers is not None:
            self._fibers.close()

    def stand_back(self, thread: SimThread) -> None:
        """Called in a thread: let others run, and come back some time."""
        self._ready.append(thread)
        self.leave(thread)

    def wake(self, threads: list[SimThread]) -> None:
        """What they waited for may have come. The running thread may be among them: it is not waiting."""
        for thread in threads:
            if thread.waiting is not None:
                thread.waiting = None
                self._ready.append(thread)
        self.progress += 1

    def ended(self, thread: SimThread) -> None:
        """Called in a thread, at its end."""
        self._alive -= 1
        self._fibers.give_back(thread.greenlet)
        thread.greenlet = None

    def _step(self, thread: SimThread, answer: bool = True) -> None:
        """Run a thread to its next wait, or to its end."""
        if thread.greenlet is not None:
            self._hand_to(thread, answer)
        else:
            thread.greenlet = self._fibers.take()
            self._unstarted -= 1  # a fiber's stack begins where it is started: all begin at the hub's
            self._hands_over = not self._unstarted and self._run.policy.landing != "mixed"
            self._hand_to(thread, thread)
        now.thread = None

    def _hand_to(self, thread: SimThread, answer: Any = True) -> Any:
        """Go on with a thread. Returns when somebody goes on with who called."""
        self.steps += 1
        now.thread = thread
        self._names["threadIdx"] = thread.index3
        if self._world.cta is not thread.cta:
            self._world.enter(thread.cta)
        return thread.greenlet.switch(answer)

    def _ask_again(self, threads: list[SimThread]) -> bool:
        """Nobody can run and nothing is in flight: a thread whose try_wait may come back with False has that answer.

        Returns whether one of them did something else than to ask the same again.
        """
        for thread in threads:
            wait = thread.waiting
            if wait is not None and wait.may_refuse and not wait.gave_up(thread, self.progress):
                thread.waiting = None
                self._step(thread, answer=False)
                return True
        return False

    def _end(self, threads: list[SimThread]) -> None:
        """Stop whoever still lives. A thread that swallows the order to stop keeps its fiber, and is left behind."""
        self._hands_over = False
        for thread in threads:
            for _ in range(STUBBORN):
                if thread.greenlet is None or thread.greenlet.dead:
                    break
                now.thread = thread
                thread.greenlet.throw(KernelStopped)
        now.thread = None
