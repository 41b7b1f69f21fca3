"""A check prints to stdout, returns a plain float in range, and never raises, whatever the answer is or does."""

from __future__ import annotations

import itertools
import logging
import math
import re
import sys
import time
import warnings

import numpy as np
import pytest

import grader
from grader import exercises
from grader.exercise import Exercise, wrong
from grader.exercises.copy_2d import predict_questions

IDS = exercises.ids()


class Hostile:
    """Raises at whatever is done with it."""

    def _refuse(self, *arguments):
        raise RuntimeError("refused")

    __eq__ = __iter__ = __len__ = __getitem__ = __call__ = __index__ = __repr__ = __str__ = _refuse
    __hash__ = None


class EqualToEverything(int):
    """Says that it equals whatever it is compared with."""

    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def exits(*arguments):
    sys.exit(0)


STRANGE = [
    0,
    1.5,
    float("nan"),
    "text",
    b"bytes",
    [1],
    {},
    {"a": 1},
    object(),
    len,
    int,
    Hostile(),
    [Hostile()] * 6,
    np.zeros(3),
    exits,
    lambda: 1,
    {1: Hostile()},
    range(10**12),
    [10**5000] * 3,
    [10**5000] * 6,
    lambda row, sector, span: 10**5000,
    Exercise,
]


@pytest.mark.parametrize("exercise_id", IDS)
def test_a_strange_answer_gives_no_points_and_one_clear_message(exercise_id, capfd):
    for number, answer in enumerate(STRANGE):
        points, which = grader.check(exercise_id, answer), f"answer {number}, of type {type(answer).__name__}"
        printed, trouble = capfd.readouterr()
        assert type(points) is float, which
        assert points == 0.0, which
        assert trouble == "", which
        assert "Traceback" not in printed, which
        assert "the check itself" not in printed.lower(), which
        assert printed.startswith(exercise_id), which


@pytest.mark.parametrize("exercise_id", IDS)
def test_none_gives_no_points_and_says_what_to_do(exercise_id, capsys):
    assert grader.check(exercise_id, None) == 0.0
    assert re.search("Fill in|Write|Define", capsys.readouterr().out)


def test_an_unknown_exercise_is_told_in_one_sentence_with_all_ids(capsys):
    points = grader.check("copy-2d.kernle", None)
    printed = capsys.readouterr().out
    assert type(points) is float
    assert points == 0.0
    assert printed.count("\n") == 1
    assert all(exercise_id in printed for exercise_id in IDS)


def test_points_are_a_plain_float_with_partial_credit(capsys):
    points = grader.check("copy-2d.count", [4096, 1024, 64])
    assert type(points) is float
    assert points == 2.0


def test_an_object_that_equals_everything_is_judged_by_its_value(capsys):
    assert grader.check("copy-2d.count", [EqualToEverything(0)] * 3) == 0.0


def test_warnings_prints_and_logs_of_an_answer_stay_inside(capfd):
    def physical_sector(row, sector, span):
        warnings.warn("deprecated", DeprecationWarning, stacklevel=1)
        print("row", row)
        print("trouble", file=sys.stderr)
        logging.getLogger("learner").error("trouble")
        np.float32(1e38) * np.float32(1e38)
        return sector ^ (row * span // 128) % (span // 16)

    with warnings.catch_warnings(record=True) as escaped:
        warnings.simplefilter("always")
        assert grader.check("copy-2d.swizzle", physical_sector) == 4.0
    printed, trouble = capfd.readouterr()
    assert escaped == []
    assert trouble == ""
    assert "row 0" not in printed


def test_a_fault_of_the_check_is_told_from_the_learners(capsys, monkeypatch):
    def broken(answer, seed):
        raise ZeroDivisionError("ours")

    exercise = Exercise("demo", {"part": 2}, broken, {}, "copy-2d.count-untouched")
    monkeypatch.setattr(exercises, "all_exercises", lambda: (exercise,))
    assert grader.check("demo", 1) == 0.0
    assert "a fault of the check, not of your" in capsys.readouterr().out


@pytest.mark.parametrize("points", [math.nan, math.inf, -1.0, 7.0])
def test_points_out_of_range_never_reach_nbgrader(points, capsys, monkeypatch):
    exercise = Exercise("demo", {"part": 2}, lambda answer, seed: [wrong("part", 2, "", "x", points=points)], {}, "x")
    monkeypatch.setattr(exercises, "all_exercises", lambda: (exercise,))
    assert 0.0 <= grader.check("demo", 1) <= 2.0


def test_the_class_seed_draws_other_questions(monkeypatch, capsys):
    public = grader.questions("copy-2d.predict")
    monkeypatch.setenv("TMALAB_CLASS_SEED", "7")
    drawn = grader.questions("copy-2d.predict")
    assert public != drawn
    assert grader.check("copy-2d.predict", [sector ^ row for row, sector in drawn]) == 3.0
    assert grader.check("copy-2d.predict", [sector ^ row for row, sector in public]) < 3.0


def test_every_class_gets_six_questions_that_no_likely_guess_answers():
    for seed in range(50):
        questions = predict_questions(seed)
        assert len(set(questions)) == 6
        assert all((sector + row) % 8 != sector ^ row for row, sector in questions)


def test_questions_of_an_exercise_without_any_names_those_that_have_some():
    with pytest.raises(ValueError, match=r"copy-2d\.predict"):
        grader.questions("copy-2d.swizzle")


def test_a_count_that_came_out_of_a_division_is_the_whole_number_that_it_is(capsys):
    assert grader.check("copy-2d.count", [64 * 64, 64 * 64 * 4 / 16, np.float64(1)]) == 3.0
    assert grader.check("copy-2d.count", [4096, 1024.5, float("inf")]) == 1.0
    assert "1024.5 is no whole number; TMA: inf is no whole number" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("endless", [itertools.count(), range(10**12), (i for i in (128, 16)), (10**5000, 16)])
def test_a_field_of_a_map_that_is_no_short_tuple_loses_its_point_and_is_not_gone_through(endless, capsys):
    fields = {
        "data_type": np.float16,
        "global_dim": endless,
        "global_strides": (256,),
        "box_dim": (64, 8),
        "swizzle": 3,
    }
    assert grader.check("copy-2d.map", fields) == 3.0
    printed = capsys.readouterr().out
    assert "data_type: <class 'numpy.float16'> is none of DataType" in printed
    assert "global_dim: " in printed
    assert "check itself" not in printed


class LeavesTheNotebook(dict):
    def get(self, *arguments):
        raise SystemExit(0)


def test_an_answer_that_asks_python_to_exit_gets_a_sentence(capsys):
    assert grader.check("copy-2d.map", LeavesTheNotebook(swizzle=3)) == 0.0
    assert "SystemExit" in capsys.readouterr().out


def test_all_tables_of_a_function_together_have_one_limit_of_time(capsys):
    def slow(row, sector, span):
        if row in (0, 1) and sector == 0:
            time.sleep(0.6)  # a table takes 1.2 seconds, of 2 for all
        return sector ^ (row * span // 128) % (span // 16)

    assert grader.check("copy-2d.swizzle", slow) == 2.0
    assert "still running" in capsys.readouterr().out
