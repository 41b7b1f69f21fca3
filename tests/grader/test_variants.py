"""A class's variants: every exercise has several; the lesson's solution is right for each, the public answer is not."""

from __future__ import annotations

import linecache
import os
import re
from functools import cache
from typing import Any
from unittest.mock import patch

import pytest

from grader import checking, exercises, recorded_variants
from grader.judges.kernels import KernelJudge
from grader.percent import parse
from grader.recorded_variants import digest
from grader.slices import Cell, needed
from grader.variants import VARIANTS, variant_of
from tests.lessons import COURSE, LESSONS
from tests.variants import kernel_tasks, on

ANSWERED = [each for each in exercises.all_exercises() if not isinstance(each.judge, KernelJudge)]
FUNCTIONS = (
    "copy-2d.swizzle",
    "swizzle.place",
    "swizzle.widest",
    "grouping.address",
    "mbarrier.machine",
    "mbarrier.parity",
)
FUNCTIONS += ("pipelines.finish", "pipelines.depth", "gemm.descriptor")
PREDICTED = [each for each in ANSWERED if each.id not in FUNCTIONS and ".mend-" not in each.id]
CLASSES = (1, 2, 5, 2026)  # some seeds


@cache
def lesson_of(exercise: str) -> tuple[list[Cell], str]:
    """The code cells of its lesson up to its check, and the name that is checked."""
    for lesson in LESSONS:
        for text in (COURSE / "source" / lesson).glob("*.py"):
            cells = [] if text.name == "answers.py" else parse(text.read_text("utf-8"))
            place = next((i for i, cell in enumerate(cells) if cell.marks.get("check") == exercise), None)
            if place is not None:
                code = [Cell.of(cell.id, cell.source) for cell in cells[:place] if not cell.markdown]
                return code, re.search(r", (\w+)\)", cells[place].source)[1]
    raise KeyError(exercise)


@cache
def solution(exercise: str, seed: int) -> Any:
    """What the lesson's own solution gives in a class with this seed."""
    cells, name = lesson_of(exercise)
    scope: dict[str, Any] = {"__name__": "lesson"}
    with patch.dict(os.environ, {checking.CLASS_SEED: str(seed)}):
        for cell in needed(cells, {name}):
            file = f"<{exercise} {cell.name} {seed}>"
            linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(keepends=True), file)
            exec(compile(cell.source, file, "exec"), scope)
    return scope[name]


def points(exercise: Any, answer: Any, seed: int) -> float:
    """What an answer earns in a class."""
    return checking.total(exercise, checking.judge(exercise, answer, seed))


def test_a_seed_draws_one_of_the_variants_and_seed_0_alone_the_public_one():
    drawn = [variant_of(seed) for seed in range(-50, 1000)]
    assert set(drawn) == set(range(VARIANTS))
    assert drawn.count(0) == 1


@pytest.mark.parametrize("exercise", PREDICTED, ids=lambda each: each.id)
def test_the_solution_is_right_in_every_class_and_the_public_answer_in_the_public_course_alone(exercise):
    public = solution(exercise.id, 0)
    assert points(exercise, public, 0) == exercise.points
    for seed in CLASSES:
        own = solution(exercise.id, seed)
        assert points(exercise, own, seed) == exercise.points, seed
        if str(own) != str(public):
            assert points(exercise, public, seed) < exercise.points, seed
    assert any(str(solution(exercise.id, seed)) != str(public) for seed in CLASSES)
    assert len({str(exercise.questions(variant_of(seed))) for seed in (0, *CLASSES)}) > 2


@pytest.mark.parametrize("id", FUNCTIONS)
def test_a_function_is_tried_on_other_numbers_in_another_class(id):
    exercise, right = exercises.find(id), solution(id, 0)
    known = {}

    def noted(*arguments):
        known[arguments] = right(*arguments)
        return known[arguments]

    assert points(exercise, noted, 0) == exercise.points
    for seed in CLASSES:
        assert points(exercise, right, seed) == exercise.points
        assert points(exercise, lambda *arguments: known.get(arguments, -1), seed) < exercise.points


@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", kernel_tasks())
def test_a_kernel_is_tried_on_other_inputs_in_every_class_all_of_which_an_h200_has_seen(name, part):
    variants = range(VARIANTS) if part else range(0, VARIANTS, 10)
    recorded, seen = recorded_variants.read()["tasks"][name], set()
    for variant in variants:
        public, *hidden = kernel_tasks()[name].cases(variant)
        for case in (public, *hidden):
            assert recorded[digest(case.arguments)] == digest([case.expected]), (variant, case.name)
        seen.add(tuple(digest(case.arguments) for case in hidden))
    assert len(seen) == len(variants)


SOME = ("copy-2d.rim", "maps.rows", "hunt.mend-rings/rings_3", "hunt.mend-stores/stores_4")


@pytest.mark.parametrize("name", [pytest.param(x, marks=[] if x in SOME else pytest.mark.slow) for x in kernel_tasks()])
def test_a_right_kernel_leaves_in_the_simulator_what_it_left_on_the_h200(name):
    left, bad = on("simulator", name, 2)
    assert bad == []
    assert left.items() <= recorded_variants.read()["tasks"][name].items()
