"""What an exercise is: parts with points, a judge that looks at an answer, and hints for what can fail.

A judge returns one `Finding` for each part. An exercise module is a list of `Exercise`; a later notebook adds a module.

>>> half = wrong("bytes", 2, "512 of 1,024 bytes are right", cause="bytes", points=1)
>>> half.passed, half.points
(False, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    """What one part of a check found.

    `maximum` 0 makes it evidence: it is shown and gives no points. `passed` None means that nothing could be judged.
    `cause` names what failed, for the hints; empty where nothing did. `shown` is a run that shows it, a
    `grader.picture.WrongRun`, where there is one that a learner may see.
    """

    part: str
    maximum: float
    points: float
    message: str
    passed: bool | None
    cause: str = ""
    shown: object = None


def right(part: str, maximum: float, message: str) -> Finding:
    """A part that is as it should be."""
    return Finding(part, maximum, maximum, message, True)


def wrong(part: str, maximum: float, message: str, cause: str, points: float = 0, shown: object = None) -> Finding:
    """A part that is not: `points` is the partial credit, `cause` what the hints go by, `shown` a run to look at."""
    return Finding(part, maximum, points, message, False, cause, shown)


def evidence(part: str, message: str, passed: bool | None = None) -> Finding:
    """Something shown beside the points: a recorded run, a live one (then with `passed`)."""
    return Finding(part, 0, 0, message, passed)


@dataclass(frozen=True)
class Exercise:
    """One exercise of a notebook.

    `judge(answer, seed)` gives the findings; `seed` is the number of the class's variant, 0 in the public course.
    `parts` are the parts that give points, in the order in which they are printed.
    `hints` maps causes to the stem of a text key: `stem-nudge`, `stem-concept` and `stem-shape` are the three steps.
    `untouched` is the key of the sentence for a stub that nobody has filled in.
    `questions(seed)` is what the exercise asks about, where that depends on the seed.
    """

    id: str
    parts: Mapping[str, float]
    judge: Callable[[object, int], Sequence[Finding]]
    hints: Mapping[str, str]
    untouched: str
    questions: Callable[[int], object] | None = field(default=None)

    @property
    def points(self) -> float:
        """The most that an answer can earn."""
        return sum(self.parts.values())


def is_untouched(answer: object, depth: int = 2) -> bool:
    """Whether an answer is still the release's stub: None, or a dict or list of None, or of pairs of None."""
    if type(answer) is dict:
        return is_untouched(list(answer.values()), depth)
    if type(answer) in (list, tuple) and depth:
        return all(is_untouched(value, depth - 1) for value in answer)  # type: ignore[attr-defined]
    return answer is None or answer is Ellipsis
