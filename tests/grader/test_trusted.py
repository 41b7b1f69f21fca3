"""A grade is what the notebook's own check says: the same points and parts, with the learner's part in a sandbox."""

from __future__ import annotations

import json

import pytest

from grader import exercises, trusted
from grader.checking import judge
from grader.quiet import quiet
from grader.runner import current, using
from grader.sandbox.exported import exported, taken
from grader.sandbox.host import Sandbox
from grader.sandbox.runner import InSandbox
from tests.lessons import COURSE, LESSONS, answers
from tests.portion import portion
from tmalab.launch import Kernel


def kept_answers() -> list:
    """Each exercise with each answer that lessons keep. CI runs a few kernels of each lesson, and more of what is
    quicker: of each exercise a right answer, a wrong one and every fourth after these."""
    kernels, others = [], []
    for lesson in LESSONS:
        module = answers(lesson)
        wrong = [(id, each.answer) for id, kept in module.WRONG.items() for each in kept]
        right = [(id, each) for id, kept in module.RIGHT.items() for each in kept]
        for kind, kept in (("right", right), ("wrong", wrong)):
            for id, answer in kept:
                whole = holds_kernels(answer)
                (kernels if whole else others).append((id, answer, lesson if whole else (id, kind)))
    of_kind = lambda id, answer, kind: kind  # noqa: E731
    both = [*portion(kernels, 24, kind=of_kind), *portion(others, 4, kind=of_kind)]
    return [pytest.param(*each.values[:2], marks=each.marks) for each in both]


def holds_kernels(answer: object) -> bool:
    """Whether an answer is a kernel, or several."""
    several = answer.values() if isinstance(answer, dict) else answer if isinstance(answer, (list, tuple)) else [answer]
    return any(isinstance(each, Kernel) for each in several)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        yield sandbox


def name_of(value: object) -> str:
    return getattr(value, "__name__", str(value))[:50]


@pytest.mark.parametrize(("exercise", "answer"), kept_answers(), ids=name_of)
def test_an_answer_is_judged_in_the_sandbox_as_in_the_notebook(exercise, answer, sandbox):
    with quiet():
        here = judge(exercises.find(exercise), answer, 0)
        runner = InSandbox(sandbox, discreet=False)
        runner.patience = 1.0
        with using(runner):
            there = judge(exercises.find(exercise), taken(exported(answer), lambda arguments: answer(*arguments)), 0)
    assert [(each.part, each.points, each.passed, each.cause) for each in there] == [
        (each.part, each.points, each.passed, each.cause) for each in here
    ]


def test_judges_run_here_unless_another_runner_is_named(sandbox):
    runner, usual = InSandbox(sandbox, discreet=True), current()
    with using(runner):
        assert current() is runner
    assert current() is usual


def test_a_report_is_plain_data_with_all_that_a_grade_rests_on(sandbox):
    report = trusted.regrade({"cells": []}, "01-copy-2d", seed=3, sandbox=sandbox).as_dict()
    assert json.loads(json.dumps(report)) == json.loads(json.dumps(report, sort_keys=True))
    assert (report["points"], report["maximum"], report["seed"]) == (0, 25, 3)
    assert report["isolation"] == sandbox.level.name
    for graded in report["exercises"]:
        assert {
            "exercise",
            "grade_id",
            "points",
            "maximum",
            "parts",
            "report",
            "time_s",
            "memory",
            "figure",
            "cut_short",
        } == graded.keys()
        assert sum(part["maximum"] for part in graded["parts"]) == graded["maximum"]


def test_the_same_notebook_has_the_same_report_each_time_but_for_what_it_took(sandbox):
    def told(report: trusted.Report) -> dict:
        plain = report.as_dict()
        for graded in plain["exercises"]:
            graded["time_s"] = graded["memory"] = 0
        return plain

    cells = [{"cell_type": "code", "source": "counts = [4096, 1, 1]\nfields = {'swizzle': 3}"}]
    first, second = (told(trusted.regrade({"cells": cells}, "01-copy-2d", sandbox=sandbox)) for _ in range(2))
    assert first == second
    assert first["points"] == 3


def test_an_assignment_that_there_is_not_is_refused_with_those_that_there_are(sandbox):
    with pytest.raises(ValueError, match="01-copy-2d"):
        trusted.regrade({"cells": []}, "17-nope", sandbox=sandbox)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lessons_solution_earns_everything_and_its_release_nothing_with_any_seed(lesson, seed, sandbox):
    (solution,) = (COURSE / "source" / lesson).glob("*.ipynb")
    report = trusted.regrade(solution, seed=seed, sandbox=sandbox)
    assert [(graded.exercise, graded.points) for graded in report.exercises] == [
        (graded.exercise, graded.maximum) for graded in report.exercises
    ]
    assert trusted.regrade(COURSE / "release" / lesson / solution.name, seed=seed, sandbox=sandbox).points == 0
