"""Grades that can be believed: the answers of a notebook judged by the checks' own code, outside of the notebook.

The notebook's checks are not run and its outputs are not read. From its cells come answers, as plain data, out of a
sandbox; they are judged by the same exercises as in the notebook (`grader.checking`), with a runner that does the
learner's part in the sandbox. Expected values never go in there, and inputs one call at a time.

>>> report = regrade({"cells": [], "metadata": {}}, "01-copy-2d")
>>> report.points, report.maximum
(0.0, 25.0)
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader import checking, exercises, submission
from grader.alone import PATIENCE
from grader.exercise import Exercise, Finding, evidence
from grader.graded import SCHEMA, Graded, Part, Report
from grader.hints import HintLadder, hint_for
from grader.lesson import CheckCell, Lesson, assignment_of, lessons
from grader.limits import Failed, HostFault
from grader.picture import WrongRun, drawn
from grader.quiet import quiet
from grader.report import render
from grader.runner import using
from grader.sandbox.allowance import SECONDS, Allowance
from grader.sandbox.answers import read
from grader.sandbox.calls import Calls, entry
from grader.sandbox.exported import Untrue, taken
from grader.sandbox.host import Sandbox, Used
from grader.sandbox.limits import Limits
from grader.sandbox.runner import InSandbox
from grader.second_look import contradicts, is_said, may_be_lacking, same
from grader.slices import Cell
from grader.texts import text
from grader.variants import variant_of

LONGEST = 20_000  # characters of a message, which may repeat what a learner wrote
CALL = Limits(wall=80, cpu=15)  # for an answer's cells and all calls of a function
WHOLE = Limits(wall=180, cpu=45)  # for all cells of a notebook


def regrade(
    notebook: Mapping[str, Any] | submission.Submission | Path | str,
    assignment: str | None = None,
    seed: int = 0,
    sandbox: Sandbox | None = None,
    lesson: Lesson | None = None,
    live: bool = False,
    figures: bool = False,
    limit: float = SECONDS,
) -> Report:
    """Grade a notebook: its JSON, or a path to it.

    assignment   its name; None: found out from the notebook
    seed         the class's seed, which draws hidden inputs; 0 in the public course
    sandbox      one that is running; None: one is started for this notebook
    lesson       the checks, where they are not the released ones
    live         whether right kernels also run on this computer's GPU, as evidence, outside of the sandbox: nothing
                 but the kernel language runs there, in a process of its own
    figures      draw a run that went wrong, for feedback; it is run again for that
    limit        seconds for all that the notebook's cells and kernels run, shared by its exercises: one that is judged
                 within its share keeps its points, whatever the others do

    Raises submission.Unreadable for what is no notebook of the course, NoSandbox where no sandbox can be started,
    HostFault where this computer failed twice while it graded: the notebook has no grade then.
    """
    handed_in = _submission(notebook)
    lesson = lesson or _lesson(assignment, handed_in)
    with contextlib.ExitStack() as stack:
        sandbox = sandbox or stack.enter_context(Sandbox())
        grade = lambda: _Grading(handed_in, lesson, seed, sandbox, live, figures, limit).all()  # noqa: E731
        try:
            graded = grade()
        except HostFault:  # from the start once more
            graded = grade()
        level = sandbox.level
    used = versions() | {"student": submission.version_told(handed_in.cells, handed_in.metadata)}
    digest = handed_in.digest
    return Report(SCHEMA, lesson.assignment, level.name, level.statement, used, seed, digest, limit, graded)


def versions() -> dict[str, str]:
    """The versions that a grade depends on."""
    import numpy

    import tmalab

    return {"tmalab": tmalab.__version__, "grader": tmalab.__version__, "numpy": numpy.__version__}


def versions_in_words(used: Mapping[str, str]) -> str:
    """The versions of a report, for people."""
    named = [f"{name} {version}" for name, version in used.items() if name != "student"]
    told = used.get("student")
    return ", ".join(named) + "; " + text("classroom.student" if told else "classroom.student-not", version=told)


def _submission(notebook: object) -> submission.Submission:
    if isinstance(notebook, submission.Submission):
        return notebook
    return submission.read(Path(notebook)) if isinstance(notebook, (str, Path)) else submission.of(notebook)


def _lesson(assignment: str | None, handed_in: submission.Submission) -> Lesson:
    name = assignment or assignment_of(handed_in.metadata, handed_in.cells)
    if name is None:
        raise submission.Unreadable(text("submission.no-lesson"))
    if name not in lessons():
        raise ValueError(text("report.unknown-assignment", name=name, names=", ".join(lessons())))
    return lessons()[name]


@lru_cache(maxsize=16)
def _course_cells(sources: frozenset[str]) -> Mapping[str, Cell]:
    """The course's own cells by their source, read once for all submissions."""
    found = {source: read("", source) for source in sources}
    return {source: cell for source, cell in found.items() if cell}


def _shortened(message: str) -> str:
    return message if len(message) <= LONGEST else message[:LONGEST] + " ..."


class _Grading:
    """One notebook being graded."""

    def __init__(
        self,
        handed_in: submission.Submission,
        lesson: Lesson,
        seed: int,
        sandbox: Sandbox,
        live: bool,
        figures: bool,
        limit: float,
    ):
        self.lesson, self.seed, self.sandbox, self.figures = lesson, seed, sandbox, figures
        self.code = handed_in.code()
        self.runner = InSandbox(sandbox, discreet=seed != 0, live=live)
        self.allowance = Allowance(limit)
        self.ran: set[str] = set()
        asking = [exercises.find(check.exercise) for check in lesson.checks]
        self.questions = {each.id: each.questions(variant_of(seed)) for each in asking if each and each.questions}

    def all(self) -> Sequence[Graded]:
        """Every exercise: first from the cells that its answer needs; where that was not enough, from all cells.

        An answer that is said in full is not looked for again: that would be a second guess.
        """
        with self.sandbox.within(self.allowance):
            first = self._first_look()
            lacking = [check for check, (graded, tree) in first.items() if may_be_lacking(graded, tree)]
            second = self._second_look(lacking, first) if lacking and self._left_out() else {}
        return tuple(second.get(check, graded) for check, (graded, _) in first.items())

    def _first_look(self) -> dict[CheckCell, tuple[Graded, Any]]:
        checks = self.lesson.checks
        self.allowance.share(len(checks) + 1)
        trees = self._together()
        found = {}
        for left, check in zip(range(len(checks), 0, -1), checks, strict=True):
            self.allowance.share(left)
            found[check] = self._exercise(check, trees.get(check.exercise))
        return found

    def _second_look(
        self, lacking: Sequence[CheckCell], first: Mapping[CheckCell, tuple[Graded, Any]]
    ) -> dict[CheckCell, Graded]:
        self.allowance.share(2)
        others, found = self._from_all_cells(), {}
        for left, check in zip(range(len(lacking), 0, -1), lacking, strict=True):
            self.allowance.share(left)
            (graded, tree), again = first[check], others.get(check.exercise)
            if again is not None and not same(again, tree):
                second = self._judged(check, again, whole=True)
                stands = second.points > graded.points or is_said(again) or contradicts(tree, again)
                better = second if stands else graded
                found[check] = replace(better, time_s=round(graded.time_s + second.time_s, 3))
        return found

    def _together(self) -> dict[str, Any]:
        """The answers from one process; none, if one of them spoils it for the others."""
        try:
            return self._answers(self.lesson.checks, whole=False)
        except Failed:
            return {}

    def _exercise(self, check: CheckCell, tree: Any) -> tuple[Graded, Any]:
        """One exercise, and its answer; it is asked for alone where it did not come with the others."""
        before, self.sandbox.used = self.sandbox.used, Used()
        self.allowance.was_short = False
        try:
            tree = tree or self._answers([check], whole=False)[check.exercise]
        except Failed as failed:
            exercise = self._find(check)
            findings = checking.failure(exercise, str(failed), failed.reason)
            return self._as_graded(check, exercise, findings), None
        finally:
            used, self.sandbox.used = self.sandbox.used, before + self.sandbox.used
        graded = self._judged(check, tree, whole=False)
        return replace(graded, time_s=round(graded.time_s + used.seconds, 3)), tree

    def _judged(self, check: CheckCell, tree: Any, whole: bool) -> Graded:
        """Judge an answer, in the way that the notebook does."""
        exercise = self._find(check)
        before, self.sandbox.used = self.sandbox.used, Used()
        self.allowance.was_short = False
        request = self.request([check], whole)
        calls = Calls(lambda: self.sandbox.open("answers", WHOLE if whole else CALL, **request), check.exercise)
        try:
            with using(self.runner), quiet():
                findings = checking.judge(exercise, taken(tree, calls), self.seed)
        except Untrue:
            findings = checking.failure(exercise, text("sandbox.malformed"), "malformed")
        finally:
            calls.close()
            used, self.sandbox.used = self.sandbox.used, before + self.sandbox.used
        return replace(self._as_graded(check, exercise, findings), time_s=round(used.seconds, 3), memory=used.memory)

    def _as_graded(self, check: CheckCell, exercise: Exercise, findings: list[Finding]) -> Graded:
        findings = [replace(each, message=_shortened(each.message)) for each in findings]
        cut_short = self.allowance.was_short
        if cut_short:
            findings.append(evidence("time", text("sandbox.over-limit", seconds=self.allowance.seconds)))
        report = render(exercise.id, exercise.points, findings, hint_for(exercise, findings, HintLadder()))
        parts = tuple(
            Part(each.part, each.points, each.maximum, each.passed, each.message, each.cause) for each in findings
        )
        points, figure = checking.total(exercise, findings), self._figure(findings)
        maximum = float(exercise.points)
        return Graded(exercise.id, check.grade_id, points, maximum, parts, report, 0.0, 0, figure, cut_short)

    def _figure(self, findings: Sequence[Finding]) -> str:
        """The drawing of a run that went wrong: best of one that was reported, which tells more than wrong bytes."""
        runs = [each.shown for each in findings if each.passed is False and isinstance(each.shown, WrongRun)]
        return drawn(runs[-1], self.sandbox, PATIENCE) if runs and self.figures else ""

    def _find(self, check: CheckCell) -> Exercise:
        exercise = exercises.find(check.exercise)
        if exercise is None:
            raise ValueError(text("report.unknown-exercise", id=check.exercise, ids=", ".join(exercises.ids())))
        return exercise

    def _answers(self, checks: Sequence[CheckCell], whole: bool) -> dict[str, Any]:
        record = self.sandbox.ask("answers", WHOLE if whole else CALL, **self.request(checks, whole))
        self.ran |= {name for name in entry(record, "ran", list) if type(name) is str}
        answers = entry(record, "answers", dict)
        if set(answers) != {check.exercise for check in checks}:
            raise Failed("malformed", text("sandbox.malformed"))
        return answers

    def request(self, checks: Sequence[CheckCell], whole: bool) -> dict[str, Any]:
        """What a task needs to give answers."""
        return {
            "cells": self.code,
            "wanted": {check.exercise: check.variable for check in checks},
            "questions": self.questions,
            "environment": {checking.CLASS_SEED: str(self.seed)},
            "whole": whole,
            "known": _course_cells(self.lesson.sources),
        }

    def _from_all_cells(self) -> dict[str, Any]:
        try:
            return self._answers(self.lesson.checks, whole=True)
        except Failed:
            return {}

    def _left_out(self) -> bool:
        """Whether a cell that the learner wrote took no part in any answer."""
        return any(name not in self.ran and source.strip() not in self.lesson.sources for name, source in self.code)
