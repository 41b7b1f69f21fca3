"""A report is what a learner reads: who, where, what is missing, what to write; and the same as data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import WIDE, tile_map
from tmalab import device, kernel, ptx

LOAD, READ = 11, 13  # lines of the kernel below, from its decorator


@kernel
def pipeline(tensor_map, out):
    ring = cuda.shared.array((2, 8, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(2)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(full[1], 1)
    cuda.syncthreads()
    if t == 0:
        ptx.mbarrier_arrive_expect_tx(full[1], 1024)
        ptx.cp_async_bulk_tensor_2d(ring[1], tensor_map, 0, 0, full[1])
    for i in range(t, 512, cuda.blockDim.x):
        out[i // 64, i % 64] = ring[1, i // 64, i % 64]


FIRST = pipeline.function.__code__.co_firstlineno


@pytest.fixture
def hazard():
    run = pipeline.run(block=64, args=(tile_map(WIDE), np.zeros((8, 64), np.float16)))
    (found,) = run.hazards
    return found


def test_a_report_has_who_where_what_is_missing_and_what_to_write(hazard):
    assert str(hazard).splitlines() == [
        "read before wait",
        f"  thread 0 reads ring[1, 0, 0]                             test_reports.py:{FIRST + READ - 1}",
        f"  the load of ring[1] may still be writing ring[1, 0, 0]   test_reports.py:{FIRST + LOAD - 1}",
        "  missing: a wait on full[1], phase 0, between the two",
        f"  write:   ptx.mbarrier_wait_parity(full[1], 0)  before line {FIRST + READ - 1}, in every thread that reads",
    ]


def test_a_report_is_data_as_well(hazard):
    data = json.loads(json.dumps(hazard.as_data()))
    read, load = data["accesses"]
    assert data["name"] == "read-before-wait"
    assert data["count"] == 512
    assert (read["kind"], read["thread"], read["space"], read["array"], read["index"]) == (
        "read", 0, "shared", "ring", [1, 0, 0],
    )  # fmt: skip
    assert (load["kind"], load["who"], load["line"]) == ("load", "the load of ring[1]", FIRST + LOAD - 1)
    assert read["file"] == __file__


def test_a_pair_of_lines_is_one_hazard_whatever_threads_and_bytes_it_meets():
    @kernel
    def two_lines(tensor_map, out):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 1024)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        out[0] = tile[0, cuda.threadIdx.x]
        out[1] = tile[1, cuda.threadIdx.x]

    run = two_lines.run(block=64, args=(tile_map(WIDE), np.zeros(2, np.float16)))
    reads = [hazard for hazard in run.hazards if hazard.name == "read-before-wait"]
    assert [hazard.count for hazard in reads] == [64, 64]


def test_the_line_is_the_learners_where_a_helper_reads():
    @device
    def corner(tile):
        return tile[0, 0]

    @kernel
    def uses(tensor_map, out):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        out[0] = corner(tile)
        ptx.mbarrier_wait_parity(bar, 0)

    (found,) = uses.run(block=1, args=(tile_map(WIDE), np.zeros(1, np.float16))).hazards
    assert found.accesses[0].line == corner.function.__code__.co_firstlineno + 2


def test_threads_and_ctas_are_named_as_the_launch_has_them():
    @kernel
    def races(out):
        out[0] = cuda.threadIdx.x + cuda.threadIdx.y + 10 * cuda.blockIdx.x

    out = np.zeros(1, np.int32)

    def first_line(**launch):
        return races.run(args=(out,), **launch).hazards[0].message.splitlines()[1].strip()

    assert first_line(block=2).startswith("thread 1 writes out[0]")
    assert first_line(block=(1, 2)).startswith("thread (0, 1, 0) writes")
    assert first_line(grid=2, block=1).startswith("thread 0 of CTA 1 writes")


def test_memory_behind_a_map_is_called_by_the_maps_name():
    @kernel
    def stores(target):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        for i in range(512):
            tile[i // 64, i % 64] = 1.0
        ptx.fence_proxy_async()
        for _ in range(2):
            ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)

    run = stores.run(block=1, args=(tile_map(np.zeros((8, 64), np.float16)),))
    assert [hazard.name for hazard in run.hazards] == ["store-not-waited"]
    assert "target[0, 0]" in run.hazards[0].message


def test_an_index_outside_is_told_with_its_axis_and_the_run_goes_on():
    @kernel
    def steps_over(out):
        tile = cuda.shared.array((4, 8), np.int32)
        t = cuda.threadIdx.x
        tile[t // 8, t % 8] = t
        cuda.syncthreads()
        out[t] = tile[t // 8 + 1, t % 8]

    out = np.zeros(32, np.int32)
    (found,) = steps_over.run(block=32, args=(out,)).hazards
    assert found.name == "out-of-bounds"
    assert "tile[4, 0]" in found.message
    assert "axis 0 has indices 0 to 3; 4 lies outside" in found.message
    assert found.count == 8
    assert out[:24].tolist() == list(range(8, 32))


def test_a_negative_index_wraps_as_numba_has_it_and_is_told():
    @kernel
    def last(out):
        out[cuda.threadIdx.x - 1] = 5

    out = np.zeros(4, np.int32)
    run = last.run(block=1, args=(out,))
    assert out.tolist() == [0, 0, 0, 5]
    assert [hazard.name for hazard in run.hazards] == ["out-of-bounds"]
    assert "wraps to 3" in run.hazards[0].message


def test_strict_runs_warn_where_ptx_asks_for_more_than_common_practice():
    """B15 (fence by the issuing thread only), B16 (generic read, then asynchronous overwrite)"""

    @kernel
    def debatable(source, target, flag):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        t = cuda.threadIdx.x
        if t == 0:
            ptx.mbarrier_init(bar, 1)
        for i in range(t, 512, 32):
            tile[i // 64, i % 64] = 1.0
        flag[0] = 1
        cuda.syncthreads()
        if t == 0:
            ptx.fence_proxy_async()
            ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        cuda.syncthreads()
        flag[1 + t] = tile[0, t]
        cuda.syncthreads()
        if t == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 1024)
            ptx.cp_async_bulk_tensor_2d(tile, source, 0, 0, bar)
            ptx.mbarrier_wait_parity(bar, 0)

    args = tile_map(WIDE), tile_map(np.zeros((8, 64), np.float16)), np.zeros(33, np.float16)
    plain, strict = (debatable.run(block=32, args=args, strict=strict) for strict in (False, True))
    assert not plain.hazards
    assert not plain.warnings
    assert not strict.hazards
    for words in ("the same value", "executed by another thread", "without a fence_proxy_async between"):
        assert any(words in warning for warning in strict.warnings), strict.warnings
