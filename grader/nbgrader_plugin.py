"""nbgrader with grades that can be believed: two preprocessors for `nbgrader autograde`, in place of running notebooks.

`MendCells` makes a submission one that nbgrader can read, whatever was deleted, copied or edited. `TrustedGrades`
grades the answers in a sandbox (`grader.trusted`) and puts points and the check's words where nbgrader looks for them,
in the outputs of the graded cells. The gradebook, formgrader, feedback and export then work as they always do.

What `grader grade submitted` has graded before, by many processes or on a cluster, is not graded again: its journal is
read, and this one process writes to the gradebook.

In `nbgrader_config.py`:

    from grader.nbgrader_plugin import trust
    trust(c)
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    IgnorePattern,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from traitlets import Float, Integer

from grader.checking import class_seed
from grader.classroom.gradebook import only_writer
from grader.classroom.graded_before import file_of, graded_before
from grader.classroom.grading import JOURNAL, entry_key
from grader.classroom.journal import add
from grader.lesson import Lesson, grade_id_of, lessons
from grader.sandbox.allowance import SECONDS
from grader.sandbox.host import Sandbox
from grader.submission import Unreadable, note_version
from grader.texts import text
from grader.trusted import regrade, versions_in_words


def trust(config: Any) -> None:
    """Have `nbgrader autograde` grade with this course's checks, in a sandbox."""
    before = [MendCells, ClearOutput, DeduplicateIds, OverwriteKernelspec, OverwriteCells, CheckCellMetadata]
    after = [TrustedGrades, IgnorePattern, LimitOutput, SaveAutoGrades, AssignLatePenalties, CheckCellMetadata]
    config.Autograde.sanitize_preprocessors, config.Autograde.autograde_preprocessors = before, after


class MendCells(NbGraderPreprocessor):
    """Give every cell of the assignment back what nbgrader must find in it, once, and no other cell any of that."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        note_version(nb)
        told = resources["nbgrader"]
        only_writer(told["db_url"])
        _handed_in[_which(told)] = file_of(resources)
        with Gradebook(told["db_url"]) as book:
            known = _known_cells(book.find_notebook(told["notebook"], told["assignment"]))
        seen: set[str] = set()
        for cell in reversed(nb.cells):  # the last of several copies counts, as for nbgrader
            if not isinstance(cell.get("metadata"), dict):
                cell["metadata"] = {}
            grade_id = grade_id_of(cell)
            cell.metadata.pop("nbgrader", None)
            if grade_id in known and grade_id not in seen:
                seen.add(grade_id)
                cell.metadata["nbgrader"] = dict(known[grade_id][1])
        nb.cells += [_added(*known[grade_id]) for grade_id in known if grade_id not in seen]
        return nb, resources


class TrustedGrades(NbGraderPreprocessor):
    """Write the points that answers earn into the outputs of the graded cells. The notebook itself is not run.

    What was found is noted in the course's journal too, for `grader report` and `grader changes`.
    """

    seed = Integer(None, allow_none=True, help="The class's seed; by default TMALAB_CLASS_SEED, or 0.").tag(config=True)
    limit = Float(SECONDS, help="Seconds for all that one submission runs.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        told = resources["nbgrader"]
        lesson = _lesson(told["assignment"], nb.cells)
        seed = class_seed() if self.seed is None else self.seed
        found: dict[str, Any]
        try:
            report = graded_before(_handed_in.get(_which(told)), seed, lesson)
            report = report or self._regraded(nb, seed, lesson)
            said, found = _said(report), {"report": report}
        except Unreadable as reason:
            said = {check.grade_id: (0.0, str(reason), "") for check in lesson.checks}
            found = {"error": str(reason)}
        for cell in nb.cells:
            if grade_id_of(cell) in said or _is_a_test(cell):
                no_check = 0.0, text("classroom.no-check"), ""
                cell.outputs, cell.execution_count = _outputs(*said.get(grade_id_of(cell), no_check)), 1
        name = f"{told['student']}/{told['assignment']}/{told['notebook']}.ipynb"
        content = found["report"]["notebook_hash"] if "report" in found else found["error"]
        add(
            Path(JOURNAL), entry_key(name, content, seed, lesson.assignment), found
        )  # nbgrader works in the course's folder
        return nb, resources

    def _regraded(self, nb: Any, seed: int, lesson: Lesson) -> dict[str, Any]:
        report = regrade(nb, lesson.assignment, seed, _sandbox(), lesson, figures=True, limit=self.limit)
        return report.as_dict()


def _lesson(assignment: str, cells: Any) -> Lesson:
    """The checks that the notebook holds, as nbgrader has put them back; the course's own cells as released."""
    known = lessons().get(assignment)
    return replace(Lesson.of(assignment, cells), sources=known.sources if known else frozenset())


def _is_a_test(cell: Any) -> bool:
    """Whether nbgrader would read a score from the cell's outputs: without any it would give all points."""
    told = cell.metadata.get("nbgrader", {})
    return cell.cell_type == "code" and told.get("grade", False) and not told.get("solution", False)


_handed_in: dict[tuple[str, ...], Path] = {}  # the file that was handed in, by what nbgrader calls the notebook


def _which(told: Mapping[str, str]) -> tuple[str, ...]:
    return told["db_url"], told["assignment"], told["student"], told["notebook"]


def _said(report: Mapping[str, Any]) -> dict[str, tuple[float, str, str]]:
    """Points, words and figure by the id of the graded cell; how it was graded is said once, with the first."""
    said = {each["grade_id"]: (each["points"], each["report"], each["figure"]) for each in report["exercises"]}
    for grade_id, (points, words, figure) in list(said.items())[:1]:
        graded_with = text("classroom.graded-with", versions=versions_in_words(report["versions"]))
        said[grade_id] = points, f"{words}\n{graded_with}\n{report['statement']}", figure
    return said


def _outputs(points: float, words: str, figure: str) -> list[Any]:
    """What nbgrader reads, in the order in which it does: words, perhaps a figure, the points."""
    drawing = {
        "text/html": figure,
        "text/plain": text("classroom.figure"),
    }  # as an image it would not answer to hovering
    shown = [new_output("display_data", drawing)] if figure else []
    result = new_output("execute_result", {"text/plain": repr(float(points))}, execution_count=1)
    return [new_output("stream", name="stdout", text=words + "\n"), *shown, result]


def _known_cells(notebook: Any) -> dict[str, tuple[Any, Mapping[str, Any]]]:
    """The assignment's cells by nbgrader's id, each with the metadata that it has in the instructor's notebook."""
    graded = {cell.name: cell for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name: cell for cell in notebook.task_cells}
    known: dict[str, tuple[Any, Mapping[str, Any]]] = {}
    for cell in notebook.source_cells:
        metadata: dict[str, Any] = {
            "grade": cell.name in graded,
            "grade_id": cell.name,
            "locked": cell.locked,
            "schema_version": 3,
            "solution": cell.name in solutions,
            "task": cell.name in tasks,
            "checksum": cell.checksum,
            "cell_type": cell.cell_type,
        }
        worth = graded.get(cell.name) or tasks.get(cell.name)
        known[cell.name] = cell, metadata | ({"points": worth.max_score} if worth else {})
    return known


def _added(cell: Any, metadata: Mapping[str, Any]) -> Any:
    """A cell of the assignment that a submission lacks, as it was released."""
    make = new_code_cell if cell.cell_type == "code" else new_markdown_cell
    return make(cell.source, metadata={"nbgrader": dict(metadata)})


@lru_cache(maxsize=1)
def _sandbox() -> Sandbox:
    """One for all submissions of a run."""
    sandbox = Sandbox()
    atexit.register(sandbox.close)
    return sandbox
