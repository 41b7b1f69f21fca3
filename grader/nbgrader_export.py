"""nbgrader's gradebook as CSV: a line for each question, or the columns that Canvas or Moodle import.

    nbgrader export --exporter=grader.nbgrader_export.Questions --to=questions.csv
    nbgrader export --exporter=grader.nbgrader_export.Canvas --to=canvas.csv
    nbgrader export --exporter=grader.nbgrader_export.Moodle --to=moodle.csv

Points given by hand and late penalties are in them: these are the grades of the gradebook.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Gradebook, MissingEntry, SubmittedAssignment
from nbgrader.plugins import ExportPlugin

from grader.classroom.columns import as_canvas, as_moodle, written
from grader.report import number

HEADER = ("student_id", "assignment", "notebook", "question", "score", "max_score", "needs_manual_grade")


class _Export(ExportPlugin):
    """What the three share: which assignments and students are asked for, and where the table goes."""

    usual = ""  # the file, where none is named

    def export(self, gradebook: Gradebook) -> None:
        Path(self.to or self.usual).write_text(self.table(gradebook), "utf-8")

    def table(self, gradebook: Gradebook) -> str:
        raise NotImplementedError

    def assignments(self, gradebook: Gradebook) -> list[Assignment]:
        """Those that are asked for; all, where none is."""
        return [each for each in gradebook.assignments if not self.assignment or each.name in map(str, self.assignment)]

    def submissions(self, gradebook: Gradebook) -> Iterator[tuple[str, str, SubmittedAssignment | None]]:
        """Each student and assignment, with what was handed in."""
        for assignment in self.assignments(gradebook):
            for student in gradebook.students:
                if self.student and student.id not in map(str, self.student):
                    continue
                try:
                    yield student.id, assignment.name, gradebook.find_submission(assignment.name, student.id)
                except MissingEntry:
                    yield student.id, assignment.name, None

    def scores(self, gradebook: Gradebook) -> dict[str, dict[str, float]]:
        """Points by student and assignment, late penalties taken off; nothing where nothing was handed in."""
        found: dict[str, dict[str, float]] = {}
        for student, assignment, handed_in in self.submissions(gradebook):
            of_student = found.setdefault(student, {})
            if handed_in is not None:
                of_student[assignment] = max(0.0, handed_in.score - handed_in.late_submission_penalty)
        return found


class Questions(_Export):
    """A line for each graded cell of each notebook that was handed in."""

    usual = "questions.csv"

    def table(self, gradebook: Gradebook) -> str:
        rows = [
            [student, assignment, notebook.name, *_question(grade)]
            for student, assignment, handed_in in self.submissions(gradebook)
            for notebook in (handed_in.notebooks if handed_in else ())
            for grade in sorted(notebook.grades, key=lambda grade: grade.name)
        ]
        return written([HEADER, *rows])


class Canvas(_Export):
    """Canvas's columns; a student's id is the SIS Login ID."""

    usual = "canvas.csv"

    def table(self, gradebook: Gradebook) -> str:
        maximum = {each.name: each.max_score for each in self.assignments(gradebook)}
        return as_canvas(self.scores(gradebook), maximum)


class Moodle(_Export):
    """Moodle's columns; a student's id is the username."""

    usual = "moodle.csv"

    def table(self, gradebook: Gradebook) -> str:
        return as_moodle(self.scores(gradebook))


def _question(grade: Any) -> list[str]:
    waits = "yes" if grade.needs_manual_grade else ""
    return [grade.name, number(grade.score), number(grade.max_score), waits]
