"""What can be said of a notebook without running it: what would cost its author points, or surprise them."""

from __future__ import annotations

import ast
import contextlib
import re
from collections import Counter
from pathlib import Path

from grader import submission
from grader.lesson import Lesson, assignment_of, grade_id_of, lessons
from grader.texts import text

COMMAND = re.compile(r"(?m)^\s*[%!?]")


def remarks(path: Path) -> list[str]:
    """Sentences about the notebook in a file; none where there is nothing to say."""
    try:
        handed_in = submission.read(path)
    except submission.Unreadable as reason:
        return [str(reason)]
    name = assignment_of(handed_in.metadata, handed_in.cells)
    if name is None:
        return [text("submission.no-lesson")]
    return [*_of_checks(handed_in, lessons()[name]), *_of_code(handed_in)]


def _of_checks(handed_in: submission.Submission, lesson: Lesson) -> list[str]:
    ids = Counter(filter(None, map(grade_id_of, handed_in.cells)))
    twice = [text("lint.copied", id=grade_id) for grade_id, count in ids.items() if count > 1]
    gone = [text("lint.gone", id=check.exercise) for check in lesson.checks if not ids[check.grade_id]]
    return twice + gone


def _of_code(handed_in: submission.Submission) -> list[str]:
    """Cells that are no Python. A cell with a command of IPython's is left alone."""
    found = []
    for name, source in handed_in.code():
        if COMMAND.search(source):
            continue
        try:
            compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError as error:
            found.append(text("lint.syntax", cell=name, line=error.lineno or 0, reason=error.msg))
        except (ValueError, RecursionError, MemoryError) as error:
            found.append(text("lint.syntax", cell=name, line=0, reason=str(error) or type(error).__name__))
    with contextlib.suppress(RecursionError):
        found += [text("lint.huge", cell=name) for name, source in handed_in.code() if len(source) > 50_000]
    return found
