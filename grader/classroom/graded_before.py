"""What `grader grade submitted` has found before of the file that nbgrader is at: so nothing is graded twice.

Many processes, or a cluster, grade a class fast; the one `nbgrader autograde` that comes after writes the gradebook.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader import submission
from grader.classroom.grading import JOURNAL, entry_key
from grader.classroom.journal import entries_of
from grader.lesson import Lesson


def file_of(resources: Mapping[str, Any]) -> Path:
    """The file that a preprocessor of nbgrader is given, from what it is told."""
    return Path(resources["metadata"]["path"], resources["nbgrader"]["notebook"] + ".ipynb").absolute()


def graded_before(file: Path | None, seed: int, lesson: Lesson) -> Mapping[str, Any] | None:
    """The report on this very file, SUBMITTED/STUDENT/ASSIGNMENT/NAME.ipynb, by these versions, for these checks."""
    if file is None:
        return None
    folder = file.parents[2]
    try:
        digest = submission.digest_of(submission.content_of(file))
    except submission.Unreadable:
        return None
    entries, name = _entries(folder / JOURNAL), file.relative_to(folder).as_posix()
    checks = [(check.grade_id, check.exercise) for check in lesson.checks]
    for assignment in (None, lesson.assignment):
        report = entries.get(entry_key(name, digest, seed, assignment), {}).get("report")
        if report and checks == [(graded["grade_id"], graded["exercise"]) for graded in report["exercises"]]:
            return report
    return None


@lru_cache(maxsize=1)
def _entries(journal: Path) -> Mapping[str, Any]:
    return entries_of(journal)
