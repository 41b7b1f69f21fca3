"""What grading a notebook gives: points and words for each part of each exercise, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA = 3


@dataclass(frozen=True)
class Part:
    """One part of a check. `maximum` 0 is evidence; `passed` None: nothing could be judged; `cause`: what failed."""

    part: str
    points: float
    maximum: float
    passed: bool | None
    message: str
    cause: str


@dataclass(frozen=True)
class Graded:
    """One exercise: its parts, the check's own words, what the sandbox used for it (seconds; bytes at most).

    `figure` is the drawing (SVG) of a run that went wrong, where figures were asked for and there is one. `cut_short`:
    it was not judged to the end, as the submission's time was up.
    """

    exercise: str
    grade_id: str
    points: float
    maximum: float
    parts: Sequence[Part]
    report: str
    time_s: float
    memory: int
    figure: str = ""
    cut_short: bool = False


@dataclass(frozen=True)
class Report:
    """What a notebook earned, and how that was found out. Plain data. `limit_s`: the seconds that it had in all."""

    schema: int
    assignment: str
    isolation: str
    statement: str
    versions: Mapping[str, str]
    seed: int
    notebook_hash: str
    limit_s: float
    exercises: Sequence[Graded]

    @property
    def points(self) -> float:
        """The sum over all exercises."""
        return sum(graded.points for graded in self.exercises)

    @property
    def maximum(self) -> float:
        """The most that could be earned."""
        return sum(graded.maximum for graded in self.exercises)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "points": self.points, "maximum": self.maximum}
