"""`check`: judge an answer, print the report, return the points."""

from __future__ import annotations

import math
import os

import tmalab
from grader import exercises
from grader.exercise import Exercise, Finding, is_untouched, wrong
from grader.hints import hint_for
from grader.limits import Failed, HostFault
from grader.quiet import quiet
from grader.report import render
from grader.texts import text
from grader.variants import variant_of

CLASS_SEED = "TMALAB_CLASS_SEED"


def check(exercise_id: str, answer: object) -> float:
    """Print what the check of an exercise finds in `answer`; return the points, a plain float from 0 to the maximum.

    Never raises for anything that an answer is or does. `TMALAB_CLASS_SEED` draws the class's variant of an exercise.
    """
    exercise = exercises.find(exercise_id)
    if exercise is None:
        print(text("report.unknown-exercise", id=exercise_id, ids=", ".join(exercises.ids())))
        return 0.0
    with quiet():
        findings = judge(exercise, answer, class_seed())
        hint = hint_for(exercise, findings)
    print(render(exercise.id, exercise.points, findings, hint))
    if exercise.id == _first(exercise.id):
        print(text("report.checked-with", version=tmalab.__version__))
    return total(exercise, findings)


_checked: list[str] = []


def _first(exercise_id: str) -> str:
    """The exercise that was checked first in this process: its report names the version, for whoever reads it later."""
    _checked[:] = _checked or [exercise_id]
    return _checked[0]


def questions(exercise_id: str) -> object:
    """What an exercise asks about, where the class seed draws it."""
    exercise = exercises.find(exercise_id)
    if exercise is None or exercise.questions is None:
        asking = [each.id for each in exercises.all_exercises() if each.questions]
        raise ValueError(text("report.no-questions", id=exercise_id, ids=", ".join(asking)))
    return exercise.questions(variant_of(class_seed()))


def judge(exercise: Exercise, answer: object, seed: int) -> list[Finding]:
    """The findings about an answer. A stub gets one sentence; a fault of the check is told from the learner's.

    `seed` is the class's, which draws one of `grader.variants`.

    Raises HostFault where the computer is at fault: nothing has been found out about the answer then.
    """
    if is_untouched(answer):
        return [
            wrong(part, points, text(exercise.untouched if i == 0 else "report.not-looked-at"), "untouched")
            for i, (part, points) in enumerate(exercise.parts.items())
        ]
    try:
        return list(exercise.judge(answer, variant_of(seed)))
    except Failed as failed:
        return failure(exercise, str(failed), failed.reason)
    except HostFault:
        raise
    except (Exception, SystemExit) as error:  # KeyboardInterrupt is the learner's own: it stops the check
        message = text("report.check-failed", error=f"{type(error).__name__}: {error}")
        return [wrong("check", exercise.points, message, "check-failed")]


def failure(exercise: Exercise, message: str, cause: str) -> list[Finding]:
    """The findings about an answer that gave nothing to judge: no part earns anything, for one reason."""
    messages = [message] + [text("report.not-looked-at")] * (len(exercise.parts) - 1)
    parts = zip(exercise.parts.items(), messages, strict=True)
    return [wrong(part, points, said, cause) for (part, points), said in parts]


def total(exercise: Exercise, findings: list[Finding]) -> float:
    """The points as nbgrader can read them: a float, finite, from 0 to the exercise's maximum."""
    points = float(sum(finding.points for finding in findings))
    return min(max(points, 0.0), float(exercise.points)) if math.isfinite(points) else 0.0


def class_seed() -> int:
    """The class's seed from the environment; 0, the public course, where it is not set or no whole number."""
    value = os.environ.get(CLASS_SEED, "0").strip()
    return int(value) if value.lstrip("-").isdigit() else 0
