"""Scripts of a run by turns: who says whose turn it is. The search is one; an order that is known is another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Protocol

from tmalab.simulator.operations import Agent, Step
from tmalab.texts import text


class Script(Protocol):
    """Who says whose turn it is."""

    def choose(self, possible: list[Agent]) -> tuple[Agent, int] | None:
        """An agent of those that could go, and its choice; None ends the run."""

    def happened(self, step: Step) -> None:
        """What came of the turn."""


class Recited:
    """The script of a known order. Whoever comes first goes after its end, and instead of one who cannot go: a kernel
    may take another course with other garbage in memory. A `strict` one raises ValueError then."""

    def __init__(self, turns: Iterable[tuple[Agent, int]], strict: bool = False):
        self._turns, self._strict = deque(turns), strict

    def choose(self, possible: list[Agent]) -> tuple[Agent, int]:
        turn = self._turns.popleft() if self._turns else (possible[0], 0)
        if turn[0] in possible:
            return turn
        if self._strict:
            raise ValueError(text("explore.impossible", agent=turn[0]))
        return possible[0], 0

    def happened(self, step: Step) -> None:
        """It is known already."""
