"""Each exercise is for an aim that its lesson names, and each aim has an exercise."""

from __future__ import annotations

import pytest

from grader.aims import SERVES, WITHOUT_EXERCISE, aims_for, aims_of
from grader.lesson import lessons
from tests.lessons import LESSONS


def test_the_lessons_are_those_that_are_written():
    assert sorted(lessons()) == LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_exercise_has_an_aim_and_each_aim_an_exercise(lesson):
    numbers = {check.exercise: SERVES[check.exercise] for check in lessons()[lesson].checks}
    assert all(numbers.values())
    asked = {number for several in numbers.values() for number in several} | {*WITHOUT_EXERCISE.get(lesson, ())}
    assert asked == set(range(1, len(aims_of(lesson)) + 1))
    assert all(aim == aim.strip() and len(aim) > 10 for exercise in numbers for aim in aims_for(exercise))


def test_no_exercise_is_named_that_there_is_not():
    assert set(SERVES) == {check.exercise for lesson in lessons().values() for check in lesson.checks}


def test_an_exercise_of_an_instructors_own_has_none():
    assert aims_for("mine.own") == []
