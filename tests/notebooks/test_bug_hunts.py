"""The hunted kernels of the lessons, and the hangs of lesson 4: each is wrong in the way its check holds to be right."""

from __future__ import annotations

import linecache
import re
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from grader.exercises import clusters, gemm, grouping, maps, mbarrier, pipelines, stores, swizzle
from grader.overlap import copies_under_way
from grader.percent import parse
from tests.lessons import COURSE
from tmalab import DataType, Swizzle, TensorMap


@lru_cache(maxsize=8)
def lesson(assignment: str, name: str) -> dict[str, Any]:
    """What a lesson's setup and the cell with its hunted kernels define."""
    scope: dict[str, Any] = {}
    for cell in parse((COURSE / "source" / assignment / f"{name}.py").read_text("utf-8")):
        if cell.id in ("setup", "each-setup", "hunt-kernels", "hangs-kernels"):
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


def mbarrier_run(name: str, columns: int = 32, rows: int = 48, seed: int = 0, block: int = 160):
    scope = lesson("04-mbarrier", "mbarrier")
    out = np.zeros((rows, columns), np.float32)
    run = scope[name].run(block=block, args=(scope["tile_map"], out), seed=seed)
    return run, out == scope["tensor"][:rows, :columns]


def stores_run(bug: str, tiles: int = 1, columns: int = 32, seed: int = 0):
    scope = lesson("05-stores", "stores")
    source = np.arange(1, 8 * 32 * tiles + 1, dtype=np.int32).reshape(8 * tiles, 32)
    stored = np.full((8 * tiles, 32), -1, np.int32)
    tensor_map = TensorMap(DataType.INT32, 0x10000000, (columns, 8 * tiles), (128,), (32, 8)).bind(stored)
    run = scope[bug].run(block=128, args=(source, tiles, tensor_map, stored.reshape(-1)), seed=seed)
    return run, stored == source


def maps_run(bug: str, step: int = 1, seed: int = 0):
    scope = lesson("06-maps", "maps")
    photos, stack, wrote = scope["photos"], scope["stack"], np.full((2, 4, 4, 16), -1, np.float32)
    if bug in ("bug_a", "bug_b"):
        sizes, strides, box = scope["photo_map"].global_dim, scope["photo_map"].global_strides, (16, 4 * step, 4 * step, 1)
        its_map = TensorMap(DataType.FLOAT32, 0x10000000, sizes, strides, box, (1, step, step, 1)).bind(photos)
        run = scope[bug].run(block=64, args=(its_map, 1, 1, 3, wrote), seed=seed)
        return run, wrote[:1] == photos[1:, 1 : 1 + 4 * step : step, 3 : 3 + 4 * step : step]
    run = scope[bug].run(block=64, args=(scope["first_map"], scope["own"], stack, 1, 3, wrote), seed=seed)
    return run, wrote == stack[:2, 1:5, 3:7]


def pipelines_run(bug: str, seed: int = 0):
    scope = lesson("07-pipelines", "pipelines")
    out = np.full(64, -1, np.float32)
    run = scope[bug].run(block=64, args=(scope["tile_map"], 10, out), seed=seed)
    return run, out == scope["tensor"].sum(axis=0)


def test_swizzle_bug_a_begins_in_the_middle_of_the_pattern():
    run, same = swizzle_run("bug_a")
    assert swizzle.HUNT.culprits["bug_a"] == "c"
    assert run.ok
    assert not same.any()
    assert "rows into the pattern" in run.warnings[0]


def test_swizzle_bug_b_promises_bytes_that_never_come():
    run, _ = swizzle_run("bug_b", columns=48)
    assert swizzle.HUNT.culprits["bug_b"] == "a"
    assert run.hazards[0].name == "too-many-bytes"
    assert run.deadlock


def test_swizzle_bug_c_is_right_and_has_its_lanes_wait():
    run, same = swizzle_run("bug_c", mode=Swizzle.NONE)
    assert swizzle.HUNT.culprits["bug_c"] == "d"
    assert run.ok
    assert same.all()
    assert run.bank_conflicts.ways == 8


def test_swizzle_bug_d_undoes_another_swizzle():
    run, same = swizzle_run("bug_d")
    assert swizzle.HUNT.culprits["bug_d"] == "b"
    assert run.ok
    assert same.all(axis=1).tolist() == [True] + [False] * 7
    assert run.bank_conflicts.ways == 1


def test_grouping_bug_a_lies_outside_of_the_view():
    run, out, _ = grouping_run("bug_a")
    assert grouping.HUNT.culprits["bug_a"] == "e"
    assert run.ok
    assert not out.any()


def test_grouping_bug_b_promises_too_few_bytes():
    run, _, _ = grouping_run("bug_b")
    assert grouping.HUNT.culprits["bug_b"] == "b"
    assert "too-few-bytes" in [hazard.name for hazard in run.hazards]


def test_grouping_bug_c_is_right_in_its_first_group_alone():
    run, _, same = grouping_run("bug_c", rows=12)
    assert grouping.HUNT.culprits["bug_c"] == "d"
    assert run.ok
    assert same[:, :64].all()
    assert not same[:, 64:].all(axis=1).any()


def test_grouping_bug_d_takes_the_slice_for_long_rows():
    run, _, same = grouping_run("bug_d")
    assert grouping.HUNT.culprits["bug_d"] == "c"
    assert run.ok
    assert same[0, :64].all()
    assert same.mean() < 0.1


def test_mbarrier_bug_a_goes_wrong_with_its_second_column():
    run, same = mbarrier_run("bug_a", columns=64)
    assert mbarrier.HUNT.culprits["bug_a"] == "a"
    assert run.hazards[0].name == "wrong-parity"
    assert same[:, :32].all()
    assert not same[:16, 32:].any()


def test_mbarrier_bug_b_promises_one_of_two_loads():
    run, _ = mbarrier_run("bug_b", columns=64)
    assert mbarrier.HUNT.culprits["bug_b"] == "c"
    assert run.hazards[0].name == "too-few-bytes"


def test_mbarrier_bug_c_counts_128_and_gets_four_arrivals():
    run, same = mbarrier_run("bug_c")
    assert mbarrier.HUNT.culprits["bug_c"] == "d"
    assert {hazard.name for hazard in run.hazards} == {"missing-arrival", "deadlock"}
    assert "124 of 128 arrivals" in str(run)
    assert same[:32].all()


@pytest.mark.parametrize("seed", range(4))
def test_mbarrier_bug_d_hands_a_stage_back_before_it_is_read(seed):
    run, _ = mbarrier_run("bug_d", seed=seed)
    assert mbarrier.HUNT.culprits["bug_d"] == "b"
    assert "overwrite-in-use" in [hazard.name for hazard in run.hazards]
    assert run.deadlock is None


def test_stores_bug_a_fences_after_the_store():
    run, same = stores_run("bug_a")
    assert stores.HUNT.culprits["bug_a"] == "b"
    assert {hazard.name for hazard in run.hazards} == {"missing-proxy-fence"}
    assert same.all()


def test_stores_bug_b_fills_a_buffer_that_is_still_read():
    run, same = stores_run("bug_b", tiles=5)
    assert stores.HUNT.culprits["bug_b"] == "a"
    assert {hazard.name for hazard in run.hazards} == {"store-source-reuse"}
    assert not same.all()
    assert stores_run("bug_b", tiles=2)[0].ok


def test_stores_bug_c_commits_nothing():
    run, _ = stores_run("bug_c")
    assert stores.HUNT.culprits["bug_c"] == "e"
    assert run.hazards[0].name == "store-not-committed"


def test_stores_bug_d_counts_up_what_may_not_have_arrived():
    run, _ = stores_run("bug_d")
    assert stores.HUNT.culprits["bug_d"] == "c"
    assert {hazard.name for hazard in run.hazards} == {"store-not-waited"}


def test_stores_bug_e_is_right_where_rows_end_with_a_sector_and_overwrites_what_follows_others():
    assert stores.HUNT.culprits["bug_e"] == "d"
    assert stores_run("bug_e")[0].ok
    run, same = stores_run("bug_e", columns=30)
    assert {hazard.name for hazard in run.hazards} == {"clip-overwrites"}
    assert same.all()  # the two columns that are not the tensor's were written as well


def test_maps_bug_a_exchanges_row_and_column():
    run, same = maps_run("bug_a")
    assert maps.HUNT.culprits["bug_a"] == "a"
    assert run.ok
    assert not same.any()


def test_maps_bug_b_promises_what_the_steps_leave_out():
    run, _ = maps_run("bug_b", step=2)
    assert maps.HUNT.culprits["bug_b"] == "c"
    assert run.hazards[0].name == "too-many-bytes"
    assert "promised 4,096 bytes, delivered 1,024" in str(run)


def test_maps_bug_c_does_not_release_its_edit():
    run, _ = maps_run("bug_c")
    assert maps.HUNT.culprits["bug_c"] == "d"
    assert {hazard.name for hazard in run.hazards} == {"map-not-acquired"}
    assert "missing: a release" in str(run)


@pytest.mark.parametrize("seed", range(3))
def test_maps_bug_d_edits_a_map_that_is_in_use(seed):
    run, _ = maps_run("bug_d", seed=seed)
    assert maps.HUNT.culprits["bug_d"] == "f"
    assert {hazard.name for hazard in run.hazards} == {"map-edited"}


def test_pipelines_bug_a_is_right_and_never_has_two_copies_under_way():
    run, same = pipelines_run("bug_a")
    assert pipelines.HUNT.culprits["bug_a"] == "c"
    assert run.ok
    assert same.all()
    assert copies_under_way(run.trace) == 1
    assert len(run.timeline.bubbles()) >= 9


def test_pipelines_bug_b_waits_for_the_wrong_parity():
    run, _ = pipelines_run("bug_b")
    assert pipelines.HUNT.culprits["bug_b"] == "d"
    assert run.hazards[0].name == "wrong-parity"


@pytest.mark.parametrize("seed", range(3))
def test_pipelines_bug_c_overwrites_what_others_still_read(seed):
    run, _ = pipelines_run("bug_c", seed=seed)
    assert pipelines.HUNT.culprits["bug_c"] == "a"
    assert "overwrite-in-use" in {hazard.name for hazard in run.hazards}  # and what follows from it


def test_pipelines_bug_d_loads_past_the_end():
    run, same = pipelines_run("bug_d")
    assert pipelines.HUNT.culprits["bug_d"] == "e"
    assert {hazard.name for hazard in run.hazards} == {"exit-in-flight"}
    assert same.all()


@pytest.mark.parametrize(
    ("hang", "letter", "name"),
    [
        ("hang_a", "a", "missing-arrival"),
        ("hang_b", "b", "too-many-bytes"),
        ("hang_c", "c", "wrong-parity"),
        ("hang_d", "d", "missing-arrival"),
    ],
)
def test_a_hang_lacks_as_many_arrivals_of_full_as_its_check_holds_to_be_right(hang, letter, name):
    run, _ = mbarrier_run(hang, rows=16, block=128)
    missing, reason = mbarrier.MISSING[hang]
    assert reason == letter
    assert run.hazards[0].name == name
    reported = re.search(r"waiting on full, phase 0 .*\n\s*(all|\d+)( of)? \d+ arrivals", run.deadlock.message)[1]
    assert reported == (str(missing) if missing else "all")


def lesson_text(name: str) -> str:
    return next((COURSE / "source").glob(f"*-{name}/{name}.py")).read_text("utf-8")


@pytest.mark.parametrize("module", [swizzle, grouping, mbarrier, stores, maps, pipelines, clusters, gemm])
def test_each_letter_of_a_hunt_is_explained_in_the_lesson_whatever_class_it_is(module):
    hunt = module.HUNT
    text = lesson_text(hunt.exercise.split(".")[0])
    assert f'causes = grader.questions("{hunt.exercise}")' in text
    public, other = hunt.questions(0), hunt.questions(3)
    assert list(public) == sorted(other) == list("abcdef")
    assert set(public.values()) == set(other.values())
    assert all(public[hunt.right(0)[bug]] == other[hunt.right(3)[bug]] for bug in hunt.culprits)
