"""The choices that the hardware leaves open, made by a seed: who runs next, when copies land, whom elect.sync elects.

Seed 0 lands copies as late as can be and runs threads in their order, so that a missing wait shows at once; the other
seeds take turns between landing late, at once and at random, and run threads in random order.

>>> [Policy(seed).landing for seed in range(4)]
['latest', 'earliest', 'mixed', 'latest']
"""

from __future__ import annotations

import random
from collections import deque
from typing import Any

LANDINGS = ("latest", "earliest", "mixed")
LAND_NOW = 0.3  # mixed: how often a step lands a part of a copy instead of running a thread
PREEMPT = 0.2  # how often another thread runs after an operation that need not wait
HURRY = 0.5  # how often a thread whose waits return False leaves others no time
REFUSE = 0.25  # how often a failing try_wait comes back with False instead of suspending


class Policy:
    """The choices of one run. `backwards` turns the order of the threads around."""

    scripted = False  # a script says who runs next, and whether a failing try_wait returns False

    def __init__(self, seed: int, backwards: bool = False):
        self._seed, self.orderly, self._backwards = seed, seed == 0, backwards
        self.landing = LANDINGS[seed % len(LANDINGS)]
        self._random = random.Random(seed)
        self.leaders: dict[tuple[int, ...], int] = {}  # lanes: which of them elect.sync elects

    def fresh(self) -> Policy:
        """The same policy, before its first choice."""
        return Policy(self._seed, self._backwards)

    def next_of(self, ready: deque[Any]) -> Any:
        """Take one of those that could run."""
        if not self.orderly:
            ready.rotate(-self._random.randrange(len(ready)))
        return ready.popleft()

    def shuffle(self, items: list[Any]) -> None:
        """Put into the order in which they happen."""
        if not self.orderly:
            self._random.shuffle(items)
        if self._backwards:
            items.reverse()

    def one_of(self, items: list[Any]) -> Any:
        """Pick one."""
        return items[self.pick(len(items))]

    def leader_of(self, lanes: tuple[int, ...]) -> int:
        """Which of some lanes elect.sync elects: for the same lanes always the same (PTX ISA, elect.sync)."""
        if lanes not in self.leaders:
            self.leaders[lanes] = self.pick(len(lanes))
        return self.leaders[lanes]

    def pick(self, count: int) -> int:
        """One of so many, by its number."""
        return 0 if self.orderly else self._random.randrange(count)

    def some_of(self, count: int) -> int:
        """How many of `count` pieces land together, at least one."""
        return count if self.landing != "mixed" else self._random.randint(1, count)

    def lands_now(self) -> bool:
        """Whether a copy makes progress although threads could run."""
        return self.landing == "mixed" and self._random.random() < LAND_NOW

    def preempts(self) -> bool:
        """Whether another thread runs now although this one could go on."""
        return not self.orderly and self._random.random() < PREEMPT

    def hurries(self) -> bool:
        """Whether a thread goes on at once after a wait that returned False, before others run."""
        return self.orderly or self._random.random() < HURRY

    def refuses(self) -> bool:
        """Whether a failing try_wait returns False at once."""
        return not self.orderly and self._random.random() < REFUSE
