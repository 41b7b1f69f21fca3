"""The time of one submission: all of its tasks together have so many seconds, shared out among its exercises.

An exercise has an equal share of what is left, and what it does not need the next ones have. So one whose cells sleep,
or never end, costs its own points and no other's, and the submission ends near its limit, however many do.

>>> allowance = Allowance(100)
>>> allowance.share(4)
>>> allowance.cut(Limits(wall=80)).wall
25.0
>>> allowance.spend(10)
>>> allowance.share(3)
>>> allowance.cut(Limits(wall=80)).wall
30.0
"""

from __future__ import annotations

from dataclasses import replace

from grader.sandbox.limits import Limits

SECONDS = 600.0  # for one submission: many times what the longest lesson needs
LEAST = 1.0  # seconds that a task is given in any case: what is judged without a task to the end is not judged better


class Allowance:
    """What a submission's tasks may take: `seconds` of the clock, but for those in which they wanted a processor."""

    def __init__(self, seconds: float = SECONDS):
        self.seconds = self._left = seconds
        self._for_others = 0.0
        self.was_short = False  # whether a task was ended by its share; to be set back by who asks

    def share(self, parts: int) -> None:
        """From now on tasks have, together, one of so many equal parts of what is left."""
        self._for_others = self._left - self._left / parts

    def cut(self, limits: Limits) -> Limits:
        """A task's own limits, within what is left of the share."""
        return replace(limits, wall=min(limits.wall, max(self._left - self._for_others, LEAST)))

    def spend(self, seconds: float) -> None:
        """A task has taken so long."""
        self._left = max(self._left - seconds, 0.0)
