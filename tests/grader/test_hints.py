"""Hints: one at a time, by what failed, plainer each time, from the start again once solved."""

from __future__ import annotations

import pytest

import grader
from grader import exercises
from grader.exercise import Exercise, right, wrong
from grader.hints import LADDER, STEPS, HintLadder, hint_for
from grader.texts import text
from tmalab.simulator.hazards import CATALOGUE

DEMO = Exercise("demo", {"part": 1}, lambda answer, seed: [], {"add": "copy-2d.predict-added"}, "x")


def test_failing_again_at_the_same_thing_leads_from_nudge_to_concept_to_shape():
    ladder, failed = HintLadder(), [wrong("part", 1, "no", "add")]
    given = [hint_for(DEMO, failed, ladder) for _ in range(4)]
    assert [step for step, _ in given] == [1, 2, 3, 3]
    assert [hint for _, hint in given[:3]] == [text(f"copy-2d.predict-added-{step}") for step in STEPS]


def test_failing_at_something_else_starts_with_its_nudge():
    ladder = HintLadder()
    exercise = exercises.find("copy-2d.map")
    hint_for(exercise, [wrong("fields", 1, "", "order")], ladder)
    assert hint_for(exercise, [wrong("fields", 1, "", "strides")], ladder)[0] == 1


def test_solving_an_exercise_forgets_its_failures():
    ladder, failed = HintLadder(), [wrong("part", 1, "no", "add")]
    hint_for(DEMO, failed, ladder)
    assert hint_for(DEMO, [right("part", 1, "yes")], ladder) is None
    assert hint_for(DEMO, failed, ladder)[0] == 1


def test_a_cause_without_a_hint_gives_none():
    assert hint_for(DEMO, [wrong("part", 1, "no", "unheard-of")], HintLadder()) is None


@pytest.mark.parametrize("name", CATALOGUE)
def test_whatever_the_simulator_reports_of_a_kernel_there_is_a_hint_for_it(name):
    kernels = [exercise for exercise in exercises.all_exercises() if "order" in exercise.parts]
    assert len(kernels) > 10
    for exercise in kernels:
        assert hint_for(exercise, [wrong("order", 1, "", name)], HintLadder()) is not None


def test_the_hint_is_chosen_by_what_failed(capsys):
    LADDER.forget("copy-2d.map")
    fields = {"data_type": 6, "global_dim": (128, 16), "global_strides": (256,), "box_dim": (64, 8), "swizzle": 3}
    grader.check("copy-2d.map", fields | {"global_dim": (16, 128)})
    assert text("copy-2d.map-order-nudge") in capsys.readouterr().out
    grader.check("copy-2d.map", fields | {"global_strides": (128,)})
    assert text("copy-2d.map-strides-nudge") in capsys.readouterr().out


def test_every_hint_has_its_three_steps():
    for exercise in exercises.all_exercises():
        for stem in exercise.hints.values():
            assert len({text(f"{stem}-{step}") for step in STEPS}) == 3
