"""Every exercise, from both sides: its wrong answers are refused for their named reasons, other right ones pass."""

from __future__ import annotations

import time
from collections import Counter

import pytest

import grader
from grader import exercises
from grader.report import number
from tests.lessons import LESSONS, answers
from tests.pace import within
from tmalab.launch import Kernel


def pairs(kind: str) -> list:
    """(exercise, answer) for all answers of a kind."""
    by_exercise = [item for lesson in LESSONS for item in getattr(answers(lesson), kind).items()]
    return [(exercise, answer) for exercise, kept in by_exercise for answer in kept]


WRONG, RIGHT = pairs("WRONG"), pairs("RIGHT")


def name_of(value: object) -> str:
    answer = getattr(value, "answer", value)
    return getattr(answer, "__name__", str(answer))[:60]


def first_ones(pairs: list, most: int) -> list:
    """All of them, those beyond the first few of each exercise among the slow tests; of kernels beyond the first."""
    numbers = Counter()
    marked = []
    for exercise, answer in pairs:
        numbers[exercise] += 1
        is_kernel = isinstance(getattr(answer, "answer", answer), Kernel)
        slow = [pytest.mark.slow] if numbers[exercise] > (1 if is_kernel else most) else []
        marked.append(pytest.param(exercise, answer, marks=slow, id=f"{exercise}-{name_of(answer)}"))
    return marked


def part_of(report: str, part: str) -> str:
    """The lines of one part of a report, in one line."""
    lines = report.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"  {part} "))
    rest = lines[start + 1 :]
    until = next((i for i, line in enumerate(rest) if not line.startswith(" " * 20)), len(rest))
    return " ".join(line.strip() for line in lines[start : start + 1 + until])


@pytest.mark.parametrize(("exercise", "wrong"), first_ones(WRONG, 4))
def test_a_wrong_answer_is_refused_for_its_reason(exercise, wrong, capsys):
    started = time.process_time()
    points = grader.check(exercise, wrong.answer)
    report = capsys.readouterr().out
    assert within(time.process_time() - started, 5)
    assert points < exercises.find(exercise).points
    part = part_of(report, wrong.part)
    assert "✘" in part
    assert wrong.reason in part, report


@pytest.mark.parametrize(("exercise", "right"), first_ones(RIGHT, 2))
def test_another_right_answer_earns_all_points(exercise, right, capsys):
    started = time.process_time()
    points = grader.check(exercise, right)
    report = capsys.readouterr().out
    assert within(time.process_time() - started, 5)
    assert points == exercises.find(exercise).points, report
    assert f"{number(points)} of {number(points)} points" in report
    assert "hint" not in report


@pytest.mark.parametrize("exercise", exercises.all_exercises(), ids=lambda exercise: exercise.id)
def test_an_exercise_has_four_wrong_and_two_right_answers_at_least(exercise):
    assert sum(exercise_id == exercise.id for exercise_id, _ in WRONG) >= 4
    assert sum(exercise_id == exercise.id for exercise_id, _ in RIGHT) >= 2
