"""The orders that an exploration tries, one after the other: those of some seeds, or all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tmalab.maps_in_memory import placed
from tmalab.simulator.again import Again
from tmalab.simulator.operations import Agent, Step
from tmalab.simulator.polls import Sites
from tmalab.simulator.scripts import Recited
from tmalab.simulator.search import Search, Turn
from tmalab.simulator.simulation import ONE_AT_A_TIME, REPLAY_SECONDS, Simulation
from tmalab.simulator.turn_by_turn import TurnByTurn
from tmalab.simulator.verdict import verdict
from tmalab.simulator.watchdog import limits, patience

if TYPE_CHECKING:
    from tmalab.buffers import GlobalLayout
    from tmalab.launch import Launch
    from tmalab.run import Run


class Try(NamedTuple):
    """One order that was tried.

    memory   global memory afterwards
    number   its seed, or its number among all orders
    turns    whose turn it was; None where the seed says it
    length   how often another one's turn came
    """

    run: Run
    memory: np.ndarray
    number: int
    turns: tuple[Turn, ...] | None
    length: int


class Tries:
    """Orders to be tried. Where one fails others will, so the next is run with its lines noted at once.

    runs     made so far; `part`: about which part of all that is, from 0 to 1, which is the end
    anew     how often all began again, and what had been tried until then was void
    endless  whether an order went on and on, so that there is no end of orders
    """

    def __init__(self, launch: Launch, layout: GlobalLayout):
        self.launch, self.layout = launch, layout
        self.runs, self.part, self.anew, self.endless = 0, 0.0, 0, False
        self._noting = launch.strict
        self._patience = limits()[0]

    def __iter__(self) -> Iterator[Try | None]:
        """The orders; None for a run that showed none that is new."""
        raise NotImplementedError

    def run(self, simulation: Simulation) -> None:
        """Run a simulation, with less patience once a kernel was found to be endless."""
        self.runs += 1
        with patience(self._patience, limits()[1]):
            simulation.run()
        if simulation.fault is not None and simulation.fault.kind == "endless_loop":
            self._patience = min(self._patience, REPLAY_SECONDS)

    def judge(self, simulation: Simulation, again: Any, seed: int | None) -> Run:
        """How a run went; `again` makes another one of the same order, with its lines noted."""
        run = verdict(simulation, again, seed)
        self._noting = self._noting or not clean(run)
        return run


class Seeds(Tries):
    """The orders of some seeds."""

    def __init__(self, launch: Launch, layout: GlobalLayout, seeds: list[int]):
        super().__init__(launch, layout)
        self._seeds = seeds

    def __iter__(self) -> Iterator[Try]:
        for seed in self._seeds:
            launch = replace(self.launch, seed=seed)
            first = Simulation(launch, self.layout, self._noting)
            self.run(first)
            run = self.judge(first, lambda: Simulation(launch, self.layout, noting=True), seed)  # noqa: B023
            Again(launch, self.layout).offered_by(run, first.scheduler.steps)
            self.part = self.runs / len(self._seeds)
            yield Try(run, first.memory.bytes, seed, None, first.scheduler.steps)


class AllOrders(Tries):
    """All distinct orders, by the search."""

    def __init__(self, launch: Launch, layout: GlobalLayout):
        super().__init__(launch, layout)
        self._sites = Sites()
        self._last: TurnByTurn  # from the first execution on

    def __iter__(self) -> Iterator[Try | None]:
        search = Search(self._execute)
        seen: set[Any] = set()
        while search.next():
            last = self._last
            if last.scheduler.poll is not None:  # a False of try_wait that leads to something was left out until now
                self._sites.polls.add(last.scheduler.poll)
                search, seen, self.anew = Search(self._execute), set(), self.anew + 1
                yield None
                continue
            self.part = search.done
            if last.scheduler.endless:
                self.endless = True
                return
            order = None if search.cut else fingerprint(search.steps, last.policy.leaders)
            if order is None or order in seen:
                yield None
                continue
            seen.add(order)
            turns = tuple((step.agent, step.choice) for step in search.steps)
            run = self.judge(last, lambda: self._make(Recited(turns), noting=True), None)  # noqa: B023
            Again(self.launch, self.layout, turns=turns).offered_by(run)
            yield Try(run, last.memory.bytes, len(seen) - 1, turns, length(turns))

    def _execute(self, search: Search) -> None:
        self._last = self._make(search, self._noting)
        self.run(self._last)

    def _make(self, script: Any, noting: bool) -> TurnByTurn:
        return TurnByTurn(self.launch, self.layout, script, self._sites, noting)


class Replay:
    """Runs an order of a launch again, on the arguments as they were when this was made."""

    def __init__(self, launch: Launch, layout: GlobalLayout):
        self._launch, self._layout = launch, layout
        self._before = np.zeros(layout.size, np.uint8)
        layout.upload(self._before)

    def run(self, order: int | tuple[Turn, ...]) -> Run:
        """Run a seed, or turns. The arguments change in place."""
        layout = self._layout
        layout.download(self._before)
        with ONE_AT_A_TIME, placed(self._launch.args, layout):
            simulation, run = self._by_seed(order) if isinstance(order, int) else self._by_turns(order)
            layout.download(simulation.memory.bytes)
        return run

    def _by_seed(self, seed: int) -> tuple[Simulation, Run]:
        launch = replace(self._launch, seed=seed)
        first = Simulation(launch, self._layout, launch.strict)
        again = Again(launch, self._layout, first.memory.bytes)
        first.run()
        run = verdict(first, lambda: Simulation(launch, self._layout, noting=True), seed)
        return first, again.offered_by(run, first.scheduler.steps)

    def _by_turns(self, turns: tuple[Turn, ...]) -> tuple[Simulation, Run]:
        sites = Sites()

        def make(noting: bool, strict: bool) -> TurnByTurn:
            return TurnByTurn(self._launch, self._layout, Recited(turns, strict), sites, noting)

        while True:
            first = make(self._launch.strict, strict=True)
            first.run()
            if first.scheduler.poll is None:
                run = verdict(first, lambda: make(noting=True, strict=False), None)
                return first, Again(self._launch, self._layout, self._before, turns).offered_by(run)
            sites.polls.add(first.scheduler.poll)


def clean(run: Run) -> bool:
    """Whether nothing was found in a run; whether it compiles is another question."""
    return not run.hazards and run.deadlock is None and run.fault is None


def length(turns: tuple[Turn, ...]) -> int:
    """How often another agent's turn came."""
    agents = [agent for agent, _ in turns]
    return sum(before != after for before, after in zip([None, *agents], agents))


def fingerprint(steps: list[Step], leaders: dict[Any, int]) -> frozenset[Any]:
    """What executions of one order have in common, and those of different orders have not."""
    labels: dict[Agent, list[Any]] = {}
    for step in steps:
        labels.setdefault(step.agent, []).extend(made.label for made in step.operations if made.tells)
    return frozenset((agent, *told) for agent, told in labels.items()) | {tuple(sorted(leaders.items()))}
