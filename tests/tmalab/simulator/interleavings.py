"""All interleavings of a small kernel by brute force, and how many orders they are: an oracle for the search.

Nothing here knows which operations commute. Two interleavings that differ only by the exchange of two neighbours, and
in which everybody meets the same all the same, are one order, by what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tmalab.buffers import GlobalLayout
from tmalab.launch import Launch
from tmalab.simulator.arguments import arrays_of
from tmalab.simulator.polls import Sites
from tmalab.simulator.tries import fingerprint
from tmalab.simulator.turn_by_turn import TurnByTurn

MOST = 3000  # interleavings


class Interleaving:
    """The script of one of them: `turns` first, then whoever comes first. It keeps who could have gone instead."""

    def __init__(self, turns: list):
        self.turns, self.possible, self.steps = list(turns), [], []

    def choose(self, possible: list) -> tuple:
        if len(self.steps) == len(self.turns):
            self.turns.append((possible[0], 0))
        self.possible.append(list(possible))
        return self.turns[len(self.steps)]

    def happened(self, step: Any) -> None:
        self.steps.append(step)


class Interleavings:
    """All of them, from the first time on that all threads have met: what is before that is before all else."""

    def __init__(self, kernel: Any, block: int, args: tuple, grid: int = 1, cluster: int = 1):
        self._launch = Launch.of(kernel, grid, block, args, cluster, 0, False)
        self._layout = GlobalLayout(arrays_of(self._launch))
        self._sites = Sites()
        self.runs = self._all()

    @property
    def fingerprints(self) -> set:
        """What the search tells orders apart by."""
        return {fingerprint(steps, leaders) for steps, leaders in self.runs}

    @property
    def orders(self) -> int:
        """How many are left when those that differ by an exchange nobody noticed are one."""
        found = {}
        for steps, leaders in self.runs:
            met = tuple((step.agent, made.label) for step in steps for made in step.operations if made.tells)
            found.setdefault((met, tuple(sorted(leaders.items()))), len(found))
        parent = list(range(len(found)))

        def root(of: int) -> int:
            while parent[of] != of:
                of = parent[of]
            return of

        for (met, leaders), number in found.items():
            for exchanged in _exchanges(met):
                if (exchanged, leaders) in found:
                    parent[root(number)] = root(found[exchanged, leaders])
        return len({root(number) for number in found.values()})

    def _all(self) -> list[tuple[list, dict]]:
        """The steps of each, and whom elect.sync elected. A try_wait whose False leads to something else than the same
        question again begins it all anew."""
        waiting, runs = [[]], []
        while waiting:
            turns = waiting.pop()
            script = Interleaving(turns)
            run = TurnByTurn(self._launch, self._layout, script, self._sites)
            run.run()
            if run.scheduler.poll is not None:
                self._sites.polls.add(run.scheduler.poll)
                waiting, runs = [[]], []
                continue
            runs.append((script.steps, dict(run.policy.leaders)))
            assert len(runs) <= MOST, "too many interleavings for brute force"
            waiting += _others(script, max(len(turns), _first_meeting(script.steps)))
        return runs


def _first_meeting(steps: list) -> int:
    """How many steps it takes until a meeting is complete, but for the last one; 0 if none ever is."""
    for number, step in enumerate(steps):
        for made in step.operations:
            if made.what == "cluster_wait" or (made.what == "meets" and made.completes):
                return number
    return 0


def _others(script: Interleaving, given: int) -> Iterator[list]:
    """What else could have happened: at the last of the given turns another choice, after it another turn."""
    for at in range(max(0, given - 1), len(script.steps)):
        agent, choice = script.turns[at]
        before = script.turns[:at]
        if choice == 0:
            for other in range(1, script.steps[at].options):
                yield [*before, (agent, other)]
        if at >= given:
            for other in script.possible[at]:
                if other != agent:
                    yield [*before, (other, 0)]


def _exchanges(met: tuple) -> Iterator[tuple]:
    for at in range(len(met) - 1):
        if met[at][0] != met[at + 1][0]:
            yield (*met[:at], met[at + 1], met[at], *met[at + 2 :])
