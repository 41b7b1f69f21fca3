"""A class's grades as gradebooks of learning platforms import them: a row for each student, a column for each lesson.

Canvas wants Student, ID, SIS User ID, SIS Login ID and Section before the grades, and finds a student by ID or SIS
Login ID; the row "Points Possible" sets the maximum of a new column. Moodle lets its user map any column, so its own
export of participants comes back with the grades beside it. An empty cell changes nothing in either.

>>> print(as_moodle({"astrid": {"01-copy-2d": 25.0}}), end="")
username,01-copy-2d
astrid,25
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from grader.classroom.table import harmless
from grader.report import number

CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
POSSIBLE = "    Points Possible"  # as Canvas itself writes it
Scores = Mapping[str, Mapping[str, float]]  # by student and lesson
People = Mapping[str, Mapping[str, str]]  # by student: what a platform's own list says of them


def scores_of(outcomes: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Points by student and lesson, and the maximum of each lesson.

    Of several notebooks of a student for one lesson the best counts. A student is the first folder of a notebook's
    path, as nbgrader keeps submissions, or the name of the file itself.
    """
    scores: dict[str, dict[str, float]] = {}
    maximum: dict[str, float] = {}
    for name, outcome in outcomes.items():
        path = PurePosixPath(name)
        of_student = scores.setdefault(path.parts[0] if len(path.parts) > 1 else path.stem, {})
        if "report" in outcome:
            lesson, points = outcome["report"]["assignment"], outcome["report"]["points"]
            of_student[lesson] = max(points, of_student.get(lesson, 0.0))
            maximum[lesson] = outcome["report"]["maximum"]
    return scores, maximum


def people_of(roster: str, students: Sequence[str]) -> dict[str, dict[str, str]]:
    """The rows of a platform's list (CSV) by student: the column in which most students are found tells who is who."""
    rows = [dict(row) for row in csv.DictReader(io.StringIO(roster.removeprefix("\ufeff")))]
    known = set(students)
    names = [name for name in rows[0] if name is not None] if rows else []
    found = {name: sum((row.get(name) or "").strip() in known for row in rows) for name in names}
    best = max(found, key=lambda name: found[name], default=None)
    if best is None or not found[best]:
        return {}
    return {row[best].strip(): {name: row.get(name) or "" for name in names} for row in rows if row.get(best)}


def as_canvas(scores: Scores, maximum: Mapping[str, float], people: People | None = None) -> str:
    """For Canvas. `people` come from its own export of the gradebook; without it a student is their SIS Login ID."""
    lessons = sorted(maximum)
    rows = [[*CANVAS, *lessons], [POSSIBLE, "", "", "", "", *(number(maximum[lesson]) for lesson in lessons)]]
    for student in _order(scores, people):
        told = people.get(student) if people else None
        row = [told.get(name, "") for name in CANVAS] if told else [student, "", "", student, ""]
        rows.append([*row, *_grades(scores, student, lessons)])
    return written(rows)


def as_moodle(scores: Scores, people: People | None = None) -> str:
    """For Moodle. `people` come from its own list of participants; without it a student is their username."""
    lessons = sorted({lesson for grades in scores.values() for lesson in grades})
    heads = list(next(iter(people.values()))) if people else ["username"]
    rows = [[*heads, *lessons]]
    for student in _order(scores, people):
        told = people.get(student) if people else None
        row = [told.get(name, "") for name in heads] if told else [student, *[""] * (len(heads) - 1)]
        rows.append([*row, *_grades(scores, student, lessons)])
    return written(rows)


def _order(scores: Scores, people: People | None) -> list[str]:
    """Who is on the list, in its order, then who handed in and is not on it."""
    listed = [student for student in people or () if student in scores]
    return [*listed, *sorted(set(scores) - set(listed))]


def _grades(scores: Scores, student: str, lessons: Sequence[str]) -> list[str]:
    return [number(scores[student][lesson]) if lesson in scores[student] else "" for lesson in lessons]


def written(rows: Sequence[Sequence[str]]) -> str:
    """Rows as CSV in which no cell is a formula."""
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows(map(harmless, row) for row in rows)
    return table.getvalue()
