"""A lesson as grading needs it: its checks, in order, with the variable that each is given; and its own cells.

The lessons are those that were released; a submission is matched with one by what it says of itself, else by the cells
that it still has of it, so that a notebook may be renamed.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tmalab.lab import released
from tmalab.translation import languages, translated


@dataclass(frozen=True)
class CheckCell:
    """A cell that checks an exercise: its id in nbgrader, the exercise, the variable that is the answer."""

    grade_id: str
    exercise: str
    variable: str


@dataclass(frozen=True)
class Lesson:
    """A lesson's checks and the sources of the course's own code cells."""

    assignment: str
    checks: Sequence[CheckCell]
    sources: frozenset[str]  # in every language

    @classmethod
    def of(cls, assignment: str, cells: Sequence[Mapping[str, Any]]) -> Lesson:
        """The lesson that a notebook's cells are."""
        code = [cell for cell in cells if cell.get("cell_type") == "code"]
        checks = (_check_cell(cell) for cell in code)
        return cls(assignment, tuple(filter(None, checks)), frozenset(source_of(cell).strip() for cell in code))


def source_of(cell: Mapping[str, Any]) -> str:
    """A cell's source, which a file may hold as a list of lines."""
    source = cell.get("source", "")
    return "".join(filter(str.__instancecheck__, source)) if isinstance(source, list) else str(source)


@lru_cache(maxsize=1)
def lessons() -> Mapping[str, Lesson]:
    """The released lessons, by the name of their assignment."""
    found = {}
    for path in sorted(released().glob("*/*.ipynb")):
        notebook, name = json.loads(path.read_text("utf-8")), path.parent.name
        versions = [translated(notebook, name, language)["cells"] for language in languages()]
        sources = [Lesson.of(name, cells).sources for cells in versions]
        found[name] = replace(Lesson.of(name, notebook["cells"]), sources=frozenset().union(*sources))
    return found


def assignment_of(metadata: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> str | None:
    """The assignment that a notebook is an answer to; None where it is none of the released ones."""
    named = metadata.get("tmalab")
    named = named.get("assignment") if isinstance(named, dict) else None
    if isinstance(named, str) and named in lessons():
        return named
    everything = "\n".join(source_of(cell) for cell in cells)
    kept = {name: _kept(lesson, cells, everything) for name, lesson in lessons().items()}
    best = max(kept, key=lambda name: kept[name], default=None)
    return best if best is not None and kept[best] else None


def _kept(lesson: Lesson, cells: Sequence[Mapping[str, Any]], everything: str) -> int:
    """How many of a lesson's checks a notebook still has, by the id of a cell or by its text."""
    ids = {grade_id_of(cell) for cell in cells}
    return sum(check.grade_id in ids or f'"{check.exercise}"' in everything for check in lesson.checks)


def grade_id_of(cell: Mapping[str, Any]) -> str:
    """nbgrader's id of a cell, empty where it has none."""
    metadata = cell.get("metadata")
    told = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = told.get("grade_id", "") if isinstance(told, dict) else ""
    return grade_id if isinstance(grade_id, str) else ""


def _check_cell(cell: Mapping[str, Any]) -> CheckCell | None:
    """A cell of the form grader.check("exercise", variable) that nbgrader grades."""
    metadata = cell.get("metadata", {}).get("nbgrader", {})
    if not metadata.get("grade"):
        return None
    try:
        tree = ast.parse(source_of(cell))
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a graded cell that students write themselves
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_check(node.func) and len(node.args) == 2:
            exercise, variable = node.args
            if isinstance(exercise, ast.Constant) and isinstance(variable, ast.Name):
                return CheckCell(metadata["grade_id"], str(exercise.value), variable.id)
    return None


def _is_check(called: ast.expr) -> bool:
    """Whether it is written grader.check."""
    return isinstance(called, ast.Attribute) and called.attr == "check" and getattr(called.value, "id", "") == "grader"
