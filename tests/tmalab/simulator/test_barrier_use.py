"""Barriers as people use them: reports from practice, right and wrong (cases.md, "Barriers, groups, fences")."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import WIDE, tile_map
from tmalab import TensorMap, kernel, ptx

SEEDS = (0, 1, 2)
STAGES = 2


def names(run):
    return {hazard.name for hazard in run.hazards}


@pytest.mark.parametrize("count", [0, 2**20])
def test_a_count_that_no_barrier_takes_is_refused(count):
    """B8"""

    @kernel
    def init(n):
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, n)

    run = init.run(block=1, args=(count,))
    assert run.fault.kind == "python_error"
    assert str(count) in str(run.fault)
    assert "1048575" in str(run.fault).replace(",", "")


@pytest.mark.parametrize("count", [1, 2**20 - 1])
def test_the_least_and_the_largest_count_are_fine(count):
    """B8"""

    @kernel
    def init(n):
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, n)
        ptx.mbarrier_arrive(bar, n)
        ptx.mbarrier_wait_parity(bar, 0)

    assert not init.run(block=1, args=(count,)).hazards


@pytest.mark.parametrize("seed", SEEDS)
def test_eight_loads_on_six_barriers_arrive_twice_on_two_of_them(seed):
    """B6"""

    @kernel
    def loads(tensor_map):
        tiles = cuda.shared.array((8, 8, 64), np.float16, alignment=128)
        bars = ptx.mbarrier_array(6)
        for i in range(6):
            ptx.mbarrier_init(bars[i], 1)
        for k in range(8):
            ptx.mbarrier_arrive_expect_tx(bars[k % 6], 1024)
            ptx.cp_async_bulk_tensor_2d(tiles[k], tensor_map, 0, 0, bars[k % 6])
        for i in range(6):
            ptx.mbarrier_wait_parity(bars[i], 0)

    assert "over-arrival" in names(loads.run(block=1, args=(tile_map(WIDE),), seed=seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_parity_by_laps_on_a_slot_that_is_used_at_every_step_passes_early(seed):
    """B7"""

    @kernel
    def one_slot(tensor_map, out, tiles):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        for k in range(tiles):
            if cuda.threadIdx.x == 0:
                ptx.mbarrier_arrive_expect_tx(bar, 1024)
                ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, k * 8, bar)
            ptx.mbarrier_wait_parity(bar, (k // STAGES) % 2)
            for i in range(cuda.threadIdx.x, 512, 32):
                out[k, i // 64, i % 64] = tile[i // 64, i % 64]
            cuda.syncthreads()

    run = one_slot.run(block=32, args=(tile_map(WIDE), np.zeros((2, 8, 64), np.float16), 2), seed=seed)
    assert names(run) & {"read-before-wait", "wrong-parity"}, str(run)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_unaligned_tile_and_a_missing_arrival_are_two_faults(seed):
    """B5: once the first is mended the second shows."""

    def make(alignment):
        @kernel
        def loads(tensor_map):
            tile = cuda.shared.array((8, 64), np.float16, alignment=alignment)
            bar = ptx.mbarrier_array(1)
            ptx.mbarrier_init(bar, 1)
            ptx.mbarrier_expect_tx(bar, 1024)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
            ptx.mbarrier_wait_parity(bar, 0)

        return loads.run(block=1, args=(tile_map(WIDE),), seed=seed)

    first, second = make(16), make(128)
    assert (first.fault.kind, names(first)) == ("misaligned_address", {"misaligned"})
    assert names(second) == {"missing-arrival", "deadlock"}
    assert "1 of 1 arrivals missing" in second.deadlock.message


def test_a_second_init_and_memory_reused_as_data_are_flagged():
    """B9"""

    @kernel
    def twice(out):
        bar = ptx.mbarrier_array(2)
        ptx.mbarrier_init(bar[0], 1)
        ptx.mbarrier_init(bar[0], 1)
        bar[0, 0] = 3

    @kernel
    def invalidated(out):
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_inval(bar)
        bar[0, 0] = 3
        out[0] = bar[0, 0]
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)

    out = np.zeros(1, np.uint64)
    assert names(twice.run(block=1, args=(out,))) == {"barrier-reinit", "barrier-as-memory"}
    assert not invalidated.run(block=1, args=(out,)).hazards
    assert out[0] == 3


def test_an_init_needs_a_barrier_within_the_cta_and_no_fence():
    """B10, within one CTA"""

    @kernel
    def inits(fenced):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 32)
        cuda.syncthreads()
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)

    assert not inits.run(block=32, args=(0,)).hazards


def test_more_arrivals_in_one_instruction_than_are_pending_are_flagged():
    """B11"""

    @kernel
    def arrives():
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive(bar, 2)

    assert names(arrives.run(block=1)) == {"over-arrival"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_phase_that_may_pass_a_waiter_by_is_flagged(seed):
    """Thread 0 goes on to the next phase on its own: a slow thread 1 may see parity 0 come round."""

    @kernel
    def runs_ahead(out):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_arrive(bar)
            ptx.mbarrier_wait_parity(bar, 0)
            ptx.mbarrier_arrive(bar)
        else:
            ptx.mbarrier_wait_parity(bar, 0)

    assert "phase-alias" in names(runs_ahead.run(block=2, args=(np.zeros(1),), seed=seed))


def test_a_stage_that_reaches_into_the_next_one_is_found():
    """B2: the box is twice the slot."""

    @kernel
    def overruns(tensor_map):
        ring = cuda.shared.array((2, 4, 64), np.float16, alignment=128)
        bars = ptx.mbarrier_array(2)
        for s in range(2):
            ptx.mbarrier_init(bars[s], 1)
            ptx.mbarrier_arrive_expect_tx(bars[s], 512)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, 0, bars[s])
        for s in range(2):
            ptx.mbarrier_wait_parity(bars[s], 0)

    run = overruns.run(block=1, args=(tile_map(WIDE),))
    assert names(run) >= {"out-of-bounds"} or run.fault.kind == "illegal_address"


@pytest.mark.parametrize("seed", SEEDS)
def test_stages_of_16_bytes_are_not_aligned(seed):
    """C4"""

    @kernel
    def three_stages(tensor_map):
        ring = cuda.shared.array((3, 8), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        for s in range(3):
            ptx.cp_async_bulk_tensor_1d(ring[s], tensor_map, 8 * s, bar)
        ptx.mbarrier_arrive_expect_tx(bar, 48)
        ptx.mbarrier_wait_parity(bar, 0)

    tm = TensorMap.from_array(np.zeros(64, np.float16), (8,))
    assert three_stages.run(block=1, args=(tm,), seed=seed).fault.kind == "misaligned_address"


@pytest.mark.parametrize(("x", "fault"), [(130, "illegal_instruction"), (128, None)])
def test_a_load_that_starts_within_16_bytes_faults(x, fault):
    """C1"""

    @kernel
    def loads(tensor_map, x):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)

    run = loads.run(block=1, args=(tile_map(WIDE), x))
    assert (run.fault and run.fault.kind) == fault
    if fault:
        assert run.fault.line == loads.function.__code__.co_firstlineno + 6
        assert "260" in str(run.fault)


def test_a_branch_by_whole_warps_may_elect_and_one_within_a_warp_may_not():
    """B18"""

    @kernel
    def elects(out, first):
        if cuda.threadIdx.x < first and ptx.elect_sync():
            out[0] = 1
        cuda.syncthreads()

    out = np.zeros(1, np.int32)
    assert not elects.run(block=64, args=(out, 32)).hazards
    assert "partial-warp" in names(elects.run(block=64, args=(out, 16)))


def test_a_waiter_whose_barrier_lies_at_no_multiple_of_8_is_told_so():
    @kernel
    def between(out):
        bars = ptx.mbarrier_array(1)
        ptx.mbarrier_init(1036, 1)
        ptx.mbarrier_init(bars, 1)

    assert names(between.run(block=1, args=(np.zeros(1),))) == {"misaligned"}


@pytest.mark.parametrize("seed", SEEDS)
def test_one_may_promise_and_another_arrive_if_the_arrive_comes_after(seed):
    @kernel
    def promises(tensor_map, out, ordered):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        t = cuda.threadIdx.x
        if t == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if t == 0:
            ptx.mbarrier_expect_tx(bar, 1024)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        if ordered:
            cuda.syncthreads()
        if t == 32:
            ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)
        out[t] = tile[0, t]

    def run(ordered):
        return promises.run(block=64, args=(tile_map(WIDE), np.zeros(64, np.float16), ordered), seed=seed)

    assert not run(1).hazards
    assert "expect-after-completion" in names(run(0))


@pytest.mark.parametrize("seed", SEEDS)
def test_uses_of_a_named_barrier_must_be_told_apart(seed):
    """Warp 0 arrives for the second use before it can know that the first is over; with an answer in between it can."""

    @kernel
    def hands_over(answered):
        t = cuda.threadIdx.x
        for _ in range(3):
            if t < 32:
                ptx.barrier_arrive(1, 64)
                if answered:
                    ptx.barrier_sync(2, 64)
            else:
                ptx.barrier_sync(1, 64)
                if answered:
                    ptx.barrier_arrive(2, 64)

    assert not hands_over.run(block=64, args=(1,), seed=seed).hazards
    assert "barrier-mismatch" in names(hands_over.run(block=64, args=(0,), seed=seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_barrier_that_only_arrives_have_completed_may_be_used_again_by_those_who_know_of_them(seed):
    @kernel
    def arrives(out):
        box = cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        if t < 32:
            box[t] = t
            ptx.barrier_arrive(1, 32)
        cuda.syncthreads()
        if t >= 32:
            ptx.barrier_sync(1, 32)
            out[t - 32] = box[t - 32]

    out = np.zeros(32, np.int32)
    assert not arrives.run(block=64, args=(out,), seed=seed).hazards
    assert out.tolist() == list(range(32))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tries", [1, 3, 16])
def test_a_wait_that_gives_up_after_some_tries_is_found_in_every_order(tries, seed):
    @kernel
    def gives_up(tensor_map, out, tries):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        t = cuda.threadIdx.x
        if t == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if t == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 1024)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        for _ in range(tries):
            if ptx.mbarrier_try_wait_parity(bar, 0):
                break
        out[t] = tile[0, t % 64]
        ptx.mbarrier_wait_parity(bar, 0)

    run = gives_up.run(block=128, args=(tile_map(WIDE), np.zeros(128, np.float16), tries), seed=seed)
    assert names(run) == {"read-before-wait"}
