"""Exploration: one kernel in many orders, or, where it is small, in all of them.

With seeds, as many interleavings are tried as there are seeds. `exhaustive=True` takes every order that can make a
difference: tmalab.simulator.operations says which ones differ, tmalab.simulator.search how they are found.

>>> import numpy as np, tmalab
>>> from numba import cuda
>>> @tmalab.kernel
... def take_turns(out):
...     out[cuda.atomic.add(out, 3, 1)] = cuda.threadIdx.x
>>> found = tmalab.explore(take_turns, block=3, args=(np.zeros(4, np.int32),), exhaustive=True)
>>> found.explored, found.complete, len(found.outcomes)
(6, True, 6)
"""

from __future__ import annotations

import operator
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tmalab.buffers import GlobalLayout
from tmalab.launch import Dim, Kernel, Launch
from tmalab.maps_in_memory import placed
from tmalab.progress_bar import Progress, display
from tmalab.run import Run
from tmalab.simulator import exploration_report, orders
from tmalab.simulator.arguments import arrays_of
from tmalab.simulator.context import running
from tmalab.simulator.errors import KernelError
from tmalab.simulator.outcomes import Found, Hazards, Outcome, Outcomes
from tmalab.simulator.simulation import ONE_AT_A_TIME
from tmalab.simulator.tries import AllOrders, Replay, Seeds, Tries, Try, clean
from tmalab.texts import text

MOST_RUNS = 10_000  # of an exhaustive exploration, if no other limit is set


def explore(
    kernel: Kernel,
    grid: Dim = 1,
    block: Dim = 128,
    args: Sequence[Any] = (),
    cluster: Dim = 1,
    *,
    seeds: int | Iterable[int] = 100,
    exhaustive: bool = False,
    limit: int | None = None,
    time_limit: float | None = None,
    strict: bool = False,
) -> Exploration:
    """Run a kernel in the simulator in many orders. Each run finds the arguments as they are, and afterwards they still
    are so: results are in `.outcomes`, or come with `.replay()`.

    grid, block, args, cluster, strict   as `kernel.run` has them
    seeds        how many, from 0 on, or which
    exhaustive   all distinct orders instead: for kernels with little to choose from
    limit        runs at most; of an exhaustive exploration 10,000 unless said otherwise
    time_limit   seconds at most

    Ctrl-C ends it early, with what was found so far. Raises TypeError or ValueError for a launch that is no launch.
    What the kernel does wrong is in the Exploration.
    """
    if not isinstance(kernel, Kernel):
        raise TypeError(text("explore.kernel", given=type(kernel).__name__))
    launch = Launch.of(kernel, grid, block, args, cluster, 0, strict)
    limit, time_limit = _limit("limit", limit), _limit("time_limit", time_limit)
    tried = None if exhaustive else _seeds(seeds)
    if running() is not None:
        raise KernelError(text("simulator.nested"))
    layout = GlobalLayout(arrays_of(launch))
    found = Exploration(
        kernel.__name__, tried, launch, layout, limit or (MOST_RUNS if exhaustive else None), time_limit
    )
    with ONE_AT_A_TIME, placed(launch.args, layout), Progress(display()) as progress:
        found._take(AllOrders(launch, layout) if exhaustive else Seeds(launch, layout, tried or []), progress)
    return found


@dataclass
class Failing:
    """The shortest of the orders in which something was wrong.

    run      its Run (its results are not in the arguments: `Exploration.replay` puts them there)
    turns    how long it is: how often the turn passed to another thread or copy
    seed     with which it runs again, `order` None; or
    order    in writing, whose turn it was (tmalab.simulator.orders), `seed` None
    """

    run: Run
    turns: int
    seed: int | None = None
    order: str | None = None


class Exploration:
    """What came of an exploration. Print it to read it.

    kernel     its name
    exhaustive whether all distinct orders were asked for; `seeds`: the seeds, or None
    explored   distinct orders that were run to their end (with seeds: interleavings)
    runs       all runs that were made; of an exhaustive exploration some only show that they repeat an order
    complete   whether these are all seeds, or all distinct orders
    stopped    if not, why: "runs", "seconds" (the limits), "interrupted", "endless" (an order that has no end)
    failures   in how many orders something was wrong
    failing    the shortest of them, or None
    warnings   sentences about what is legal but doubtful
    seconds    that it took
    """

    def __init__(
        self,
        kernel: str,
        seeds: list[int] | None,
        launch: Launch,
        layout: GlobalLayout,
        limit: int | None,
        time_limit: float | None,
    ):
        self.kernel, self.seeds, self.exhaustive = kernel, seeds, seeds is None
        self.limit, self.time_limit = limit, time_limit
        self.stopped: str | None = None
        self.runs, self.seconds = 0, 0.0
        self._launch, self._layout, self._replay = launch, layout, Replay(launch, layout)
        self._some_run: Run | None = None
        self._begin()

    def _begin(self) -> None:
        """Nothing is known yet, or what was known is void."""
        self.explored = self.failures = 0
        self.failing: Failing | None = None
        self.warnings: list[str] = []
        self._hazards, self._outcomes = Hazards(), Outcomes(self._launch, self._layout)

    @property
    def complete(self) -> bool:
        return self.stopped is None

    @property
    def hazards(self) -> list[Found]:
        """What was wrong, by name: in how many orders, the first of them, and the report. The most frequent first."""
        return self._hazards.all()

    @property
    def outcomes(self) -> list[Outcome]:
        """The different results: in how many orders, the first of them, and the arrays."""
        return self._outcomes.all()

    @property
    def depends_on_order(self) -> bool:
        """Whether orders in which nothing is wrong come to different results."""
        return sum(outcome.ok for outcome in self.outcomes) > 1

    @property
    def compile_error(self) -> Exception | None:
        """Why the GPU's compiler refuses the kernel, as `Run.compile_error`."""
        return self._some_run.compile_error if self._some_run is not None else None

    @property
    def ok(self) -> bool:
        """Nothing was wrong in any order, and the kernel compiles for sm_90a where numba-cuda is installed."""
        return not self.failures and self.compile_error is None

    def replay(self, order: int | str | None = None) -> Run:
        """Run an order again: the shortest failing one, or that of a seed, or one in writing.

        The arguments begin as they were when the exploration did, and change in place as with `kernel.run`.
        """
        if order is None:
            if self.failing is None:
                raise ValueError(text("explore.no-order"))
            order = self.failing.order if self.failing.seed is None else self.failing.seed
        assert order is not None  # what failed has the one or the other
        return self._replay.run(orders.read(order) if isinstance(order, str) else operator.index(order))

    def as_data(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        names = ("kernel", "exhaustive", "explored", "runs", "complete", "stopped", "failures", "warnings", "seconds")
        failing = self.failing
        return {
            **{name: getattr(self, name) for name in names},
            "hazards": [{"name": each.name, "count": each.count, "first": each.first} for each in self.hazards],
            "outcomes": [{"count": each.count, "first": each.first, "ok": each.ok} for each in self.outcomes],
            "failing": failing and {"turns": failing.turns, "seed": failing.seed, "order": failing.order},
        }

    def __repr__(self) -> str:
        return f"<Exploration {exploration_report.head(self)}>"

    def __str__(self) -> str:
        return exploration_report.report(self)

    # How it comes to be.

    def _take(self, tries: Tries, progress: Progress) -> None:
        """Try orders until there are no more, or a limit is reached, or the user has seen enough."""
        began, anew = time.monotonic(), tries.anew
        try:
            for tried in tries:
                if tries.anew != anew:
                    anew = tries.anew
                    self._begin()
                if tried is not None:
                    self._add(tried)
                self.runs, self.seconds = tries.runs, time.monotonic() - began
                progress.tell(self._part(tries), self._progress)
                if tries.part < 1 and (reached := self._reached()):
                    self.stopped = reached
                    break
            else:
                self.stopped = "endless" if tries.endless else None
        except KeyboardInterrupt:
            self.stopped = "interrupted"
        self.runs, self.seconds = tries.runs, time.monotonic() - began

    def _add(self, tried: Try) -> None:
        run, right = tried.run, clean(tried.run)
        shortest = not right and (self.failing is None or tried.length < self.failing.turns)
        self._some_run = self._some_run or run
        self.explored += 1
        self._outcomes.add(tried.memory, tried.number, right)
        self.warnings += [warning for warning in run.warnings if warning not in self.warnings]
        if right:
            return
        self.failures += 1
        self._hazards.add(run, tried.number, shortest)
        if shortest:
            written = None if tried.turns is None else orders.spelled(tried.turns)
            self.failing = Failing(run, tried.length, tried.number if written is None else None, written)

    def _reached(self) -> str | None:
        if self.limit is not None and self.runs >= self.limit:
            return "runs"
        return "seconds" if self.time_limit is not None and self.seconds >= self.time_limit else None

    def _progress(self, left: str) -> str:
        """How far it is, for the bar."""
        counts = {"explored": f"{self.explored:,}", "failing": f"{self.failures:,}"}
        return text("explore.progress", left=left, **counts) if left else text("explore.progress-unknown", **counts)

    def _part(self, tries: Tries) -> float:
        """About which part is done, of all orders or of what the limits allow."""
        runs = self.runs / self.limit if self.limit else 0.0
        seconds = self.seconds / self.time_limit if self.time_limit else 0.0
        return max(tries.part, runs, seconds)


def _limit(name: str, given: Any) -> Any:
    """A limit, or None; ValueError, in one sentence, for what is none."""
    if given is None or (isinstance(given, (int, float)) and not isinstance(given, bool) and given > 0):
        return given
    raise ValueError(text("explore.limit", name=name, given=repr(given)))


def _seeds(given: Any) -> list[int]:
    """Seeds by their number, or as they are listed."""
    try:
        seeds = list(map(operator.index, given)) if isinstance(given, Iterable) else list(range(operator.index(given)))
    except TypeError:
        raise TypeError(text("explore.seeds", given=repr(given))) from None
    if isinstance(given, bool) or not seeds or min(seeds) < 0:
        raise ValueError(text("explore.seeds", given=repr(given)))
    return seeds
