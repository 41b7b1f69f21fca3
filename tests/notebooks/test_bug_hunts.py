"""The bug hunts of lessons 2 and 3: each kernel is wrong in the way that its check holds to be right, and no other."""

from __future__ import annotations

import linecache
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from grader.exercises import grouping, swizzle
from grader.percent import parse
from tests.lessons import COURSE
from tmalab import Swizzle, TensorMap


@lru_cache(maxsize=2)
def lesson(assignment: str, name: str) -> dict[str, Any]:
    """What a lesson's setup and the cell with its hunted kernels define."""
    scope: dict[str, Any] = {}
    for cell in parse((COURSE / "source" / assignment / f"{name}.py").read_text("utf-8")):
        if cell.id in ("setup", "hunt-kernels"):
            file = f"<{assignment} {cell.id}>"
            linecache.cache[file] = (len(cell.source), None, [f"{line}\n" for line in cell.source.splitlines()], file)
            exec(compile(cell.source, file, "exec"), scope)
    return scope


def swizzle_run(bug: str, columns: int = 64, mode: Swizzle = Swizzle.B128):
    scope = lesson("02-swizzle", "swizzle")
    tensor_map = TensorMap.from_array(scope["tensor"], (8, columns), swizzle=mode)
    out = np.zeros((8, columns), np.float16)
    run = scope[bug].run(block=128, args=(tensor_map, 64, 8, out))
    return run, out == scope["tensor"][8:16, 64 : 64 + columns]


def grouping_run(bug: str, rows: int = 16):
    scope = lesson("03-grouping", "grouping")
    matrix = scope["matrix"]
    groups = matrix.reshape(32, 8, 64).transpose(1, 0, 2)
    out = np.full((rows, 128), -1, np.float16)
    tensor_map = TensorMap.from_array(groups, (2, rows, 64), swizzle=Swizzle.B128)
    run = scope[bug].run(block=128, args=(tensor_map, 16, 128, out))
    return run, out, out == matrix[16 : 16 + rows, 128:256]


def test_swizzle_bug_a_begins_in_the_middle_of_the_pattern():
    run, same = swizzle_run("bug_a")
    assert swizzle.CULPRITS["bug_a"] == "c"
    assert run.ok
    assert not same.any()
    assert "rows into the pattern" in run.warnings[0]


def test_swizzle_bug_b_promises_bytes_that_never_come():
    run, _ = swizzle_run("bug_b", columns=48)
    assert swizzle.CULPRITS["bug_b"] == "a"
    assert run.hazards[0].name == "too-many-bytes"
    assert run.deadlock


def test_swizzle_bug_c_is_right_and_has_its_lanes_wait():
    run, same = swizzle_run("bug_c", mode=Swizzle.NONE)
    assert swizzle.CULPRITS["bug_c"] == "d"
    assert run.ok
    assert same.all()
    assert run.bank_conflicts.ways == 8


def test_swizzle_bug_d_undoes_another_swizzle():
    run, same = swizzle_run("bug_d")
    assert swizzle.CULPRITS["bug_d"] == "b"
    assert run.ok
    assert same.all(axis=1).tolist() == [True] + [False] * 7
    assert run.bank_conflicts.ways == 1


def test_grouping_bug_a_lies_outside_of_the_view():
    run, out, _ = grouping_run("bug_a")
    assert grouping.CULPRITS["bug_a"] == "e"
    assert run.ok
    assert not out.any()


def test_grouping_bug_b_promises_too_few_bytes():
    run, _, _ = grouping_run("bug_b")
    assert grouping.CULPRITS["bug_b"] == "b"
    assert "too-few-bytes" in [hazard.name for hazard in run.hazards]


def test_grouping_bug_c_is_right_in_its_first_group_alone():
    run, _, same = grouping_run("bug_c", rows=12)
    assert grouping.CULPRITS["bug_c"] == "d"
    assert run.ok
    assert same[:, :64].all()
    assert not same[:, 64:].all(axis=1).any()


def test_grouping_bug_d_takes_the_slice_for_long_rows():
    run, _, same = grouping_run("bug_d")
    assert grouping.CULPRITS["bug_d"] == "c"
    assert run.ok
    assert same[0, :64].all()
    assert same.mean() < 0.1


@pytest.mark.parametrize(("name", "letters"), [("02-swizzle/swizzle", "abcdef"), ("03-grouping/grouping", "abcdef")])
def test_each_letter_of_a_hunt_is_explained_in_the_lesson(name, letters):
    text = (COURSE / "source" / f"{name}.py").read_text("utf-8")
    hunt = text[text.index('id="hunt"') :]
    assert all(f'- `"{letter}"` ' in hunt for letter in letters)
