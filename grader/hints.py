"""One hint for what failed, in three steps: a nudge, the concept, the shape of the code.

Failing at the same thing again leads to the next step; the count lives as long as the notebook's kernel.

>>> ladder = HintLadder()
>>> [ladder.next_step("copy-2d.kernel", "read-before-wait") for _ in range(4)]
[0, 1, 2, 2]
"""

from __future__ import annotations

from collections import Counter

from grader.exercise import Exercise, Finding
from grader.texts import text

STEPS = ("nudge", "concept", "shape")


class HintLadder:
    """How far down the hints of each (exercise, cause) a learner has come."""

    def __init__(self) -> None:
        self._failures: Counter[tuple[str, str]] = Counter()

    def next_step(self, exercise_id: str, cause: str) -> int:
        """The step for one more failure, 0 to 2."""
        self._failures[exercise_id, cause] += 1
        return min(self._failures[exercise_id, cause], len(STEPS)) - 1

    def forget(self, exercise_id: str) -> None:
        """The exercise is solved: the next failure starts with a nudge again."""
        for key in [key for key in self._failures if key[0] == exercise_id]:
            del self._failures[key]


LADDER = HintLadder()


def hint_for(exercise: Exercise, findings: list[Finding], ladder: HintLadder = LADDER) -> tuple[int, str] | None:
    """The step (1 to 3) and the text for the first finding that failed with a known cause; None where none did."""
    failed = [finding.cause for finding in findings if finding.passed is False]
    causes = [cause for cause in failed if cause in exercise.hints]
    if not any(finding.passed is False for finding in findings):
        ladder.forget(exercise.id)
    if not causes or failed[0] == "form":  # what is in no form to be judged must be put right first
        return None
    step = ladder.next_step(exercise.id, causes[0])
    return step + 1, text(f"{exercise.hints[causes[0]]}-{STEPS[step]}")
