"""What a class gets wrong: causes counted by exercise, from what is noted in the journal of what was graded.

A cause is a hazard's name or a known mistake; a notebook counts once for each cause that an exercise of it failed at.

>>> outcome = {"report": {"exercises": [{"exercise": "copy-2d.kernel", "points": 1, "maximum": 5,
...     "parts": [{"passed": False, "cause": "read-before-wait"}]}], "versions": {"tmalab": "1", "student": ""}}}
>>> counted({"a.ipynb": outcome})["copy-2d.kernel"].causes
{'read-before-wait': 1}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from grader import exercises
from grader.aims import aims_for
from grader.classroom.grading import JOURNAL, name_in
from grader.classroom.journal import history
from grader.report import number
from grader.texts import text

Outcomes = Mapping[str, Mapping[str, Any]]


@dataclass
class Counted:
    """An exercise over a class: notebooks, their points together, how many earned all, why the others did not."""

    notebooks: int = 0
    points: float = 0.0
    maximum: float = 0.0
    solved: int = 0
    causes: dict[str, int] = field(default_factory=dict)


def latest(folder: Path) -> dict[str, Mapping[str, Any]]:
    """The last outcome of every notebook that was graded in a folder, by its name."""
    found = {name_in(key): outcome for key, outcome in history(folder / JOURNAL)}
    return {name: found[name] for name in sorted(found)}


def counted(outcomes: Outcomes) -> dict[str, Counted]:
    """The class's exercises, in the order of the course."""
    found: dict[str, Counted] = {}
    for outcome in outcomes.values():
        for graded in outcome.get("report", {}).get("exercises", ()):
            exercise = found.setdefault(graded["exercise"], Counted(maximum=graded["maximum"]))
            exercise.notebooks += 1
            exercise.points += graded["points"]
            exercise.solved += graded["points"] == graded["maximum"]
            causes = {part.get("cause") for part in graded["parts"] if part["passed"] is False and part.get("cause")}
            exercise.causes = dict((Counter(exercise.causes) + Counter(causes)).most_common())
    order = exercises.ids()
    return dict(sorted(found.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def versions(outcomes: Outcomes) -> dict[str, dict[str, int]]:
    """How many notebooks each version of tmalab graded, and how many say that each one checked them."""
    used = [outcome["report"]["versions"] for outcome in outcomes.values() if "report" in outcome]
    return {who: dict(Counter(each.get(who, "") for each in used).most_common()) for who in ("tmalab", "student")}


def as_dict(outcomes: Outcomes) -> dict[str, Any]:
    """For JSON."""
    unreadable = {name: outcome["error"] for name, outcome in outcomes.items() if "error" in outcome}
    plain = {id: asdict(exercise) | {"aims": aims_for(id)} for id, exercise in counted(outcomes).items()}
    return {"exercises": plain, "unreadable": unreadable, "versions": versions(outcomes)}


def as_lines(outcomes: Outcomes) -> str:
    """For people: each exercise, and under it its aims, and its causes with the hint that learners get."""
    lines = []
    for id, exercise in counted(outcomes).items():
        mean = number(exercise.points / exercise.notebooks)
        said = {"mean": mean, "maximum": number(exercise.maximum), "solved": exercise.solved}
        lines.append(text("classroom.exercise", id=f"{id:<24}", count=exercise.notebooks, **said))
        lines += ["  " + text("classroom.aim", aim=aim) for aim in aims_for(id)]
        lines += [f"  {count:>4}  {cause:<22} {_hint(id, cause)}".rstrip() for cause, count in exercise.causes.items()]
    unreadable = sum("error" in outcome for outcome in outcomes.values())
    if unreadable:
        lines.append(text("classroom.unreadable", count=unreadable))
    for who, used in versions(outcomes).items():
        named = ", ".join(f"{version or '?'} ({count})" for version, count in used.items())
        if named:
            lines.append(text(f"classroom.versions-{who}", versions=named))
    return "\n".join(lines)


def _hint(exercise_id: str, cause: str) -> str:
    exercise = exercises.find(exercise_id)
    stem = exercise.hints.get(cause) if exercise else None
    return text(f"{stem}-nudge") if stem else ""
