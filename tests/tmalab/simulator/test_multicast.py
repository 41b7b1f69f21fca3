"""Multicast: one load into several CTAs, each of which promises the bytes to its own barrier."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import NARROW, tile_map
from tmalab import kernel, ptx

SEEDS = range(9)
TILE = 1024  # bytes: 8 rows of 64 float16


def names(run):
    return {hazard.name for hazard in run.hazards}


@kernel
def multicast(tensor_map, out, mask, issuer, promises):
    """CTA `issuer` loads for those of the mask; CTAs of `promises` promise the bytes, and wait for them."""
    tiles = cuda.shared.array((2, 8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full[1], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if (promises >> rank) & 1:
            ptx.mbarrier_arrive_expect_tx(full[1], TILE)
        if rank == issuer:
            ptx.cp_async_bulk_tensor_2d_multicast(tiles[1], tensor_map, 0, 8, full[1], mask)
    if (promises >> rank) & 1:
        ptx.mbarrier_wait_parity(full[1], 0)
        for i in range(tid, 512, cuda.blockDim.x):
            out[rank, i // 64, i % 64] = tiles[1, i // 64, i % 64]


def launched(mask, issuer, promises, ctas=4, **launch):
    out = np.zeros((ctas, 8, 64), np.float16)
    args = tile_map(NARROW), out, mask, issuer, promises
    return multicast.run(grid=ctas, block=32, args=args, cluster=ctas, **launch), out


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("mask", "issuer"), [(0b1111, 0), (0b1010, 1), (0b0110, 3), (0b0001, 0), (0b1000, 0)])
def test_the_bytes_land_at_one_offset_in_every_cta_of_the_mask(mask, issuer, seed):
    run, out = launched(mask, issuer, promises=mask, seed=seed)
    assert not run.hazards
    for rank in range(4):
        assert np.array_equal(out[rank], NARROW[8:16] if mask >> rank & 1 else np.zeros((8, 64)))


def test_each_destination_credits_its_own_barrier_with_all_the_bytes():
    run, _ = launched(0b0011, 0, promises=0b0011, ctas=2, seed=2)
    landed = {}
    for event in run.trace:
        if event.what == "load_lands":
            landed.setdefault((event.copy, event.barrier), []).append(event.operand)
    assert [counts[-1] for counts in landed.values()] == [TILE, TILE]


def test_a_launch_without_clusters_may_multicast_to_its_own_cta():
    """Measured, H200: it works."""
    run, out = launched(1, 0, promises=1, ctas=1)
    assert not run.hazards
    assert np.array_equal(out[0], NARROW[8:16])


@pytest.mark.parametrize(("ctas", "kind"), [(2, "launch_failed"), (1, "illegal_instruction")])
def test_a_mask_beyond_the_cluster_faults(ctas, kind):
    """Measured, H200."""
    run, _ = launched(1 << ctas, 0, promises=0, ctas=ctas)
    assert run.fault.kind == kind
    assert names(run) == {"multicast-mask"}
    assert f"its ranks are 0 to {ctas - 1}" in run.hazards[0].message


def test_a_mask_of_nobody_loads_nothing():
    run, _ = launched(0, 0, promises=0)
    assert run.fault is None
    assert names(run) == {"multicast-mask"}
    assert "names no CTA" in run.hazards[0].message


@pytest.mark.parametrize("seed", SEEDS)
def test_a_peer_that_promised_nothing_is_named(seed):
    """B20: it hangs with a negative count when it waits for its phase, which no arrival ends."""
    run, _ = launched(0b11, 0, promises=0b01, ctas=2, seed=seed)
    assert {"multicast-mask", "too-few-bytes"} & names(run)


@kernel
def plain_arrive(tensor_map, out):
    """B20: CTA 1 arrives, but promises nothing."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(full, TILE)
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full, 3)
        else:
            ptx.mbarrier_arrive(full)
    ptx.mbarrier_wait_parity(full, 0)
    out[rank, tid] = tile[0, tid]


def test_a_peer_that_only_arrives_passes_early_or_hangs_and_both_are_named():
    """B20"""
    outcomes = set()
    for seed in range(18):
        run = plain_arrive.run(
            grid=2, block=32, args=(tile_map(NARROW), np.zeros((2, 32), np.float16)), cluster=2, seed=seed
        )
        assert {"multicast-mask", "too-few-bytes"} <= names(run), seed
        outcomes.add(run.deadlock is None)
        if run.deadlock is not None:
            (waiter,) = run.deadlock.waiters
            assert (waiter.cta, waiter.promised, waiter.delivered) == (1, 0, TILE)
    assert outcomes == {True, False}


def test_the_report_on_a_peer_that_is_not_armed_says_whose_barrier_it_is():
    run = plain_arrive.run(grid=2, block=32, args=(tile_map(NARROW), np.zeros((2, 32), np.float16)), cluster=2)
    report = next(str(hazard) for hazard in run.hazards if hazard.name == "multicast-mask").splitlines()
    assert report[0] == "multicast to the wrong CTAs"
    assert report[1].startswith("  the load of tile of CTA 1 credits 1,024 bytes to full of CTA 1")
    assert "full of CTA 1 was promised no bytes in this phase" in report[2]
    assert report[3] == (
        "  write:   ptx.mbarrier_arrive_expect_tx(full, 1024)  in CTA 1 as well, or a mask that leaves it out"
    )


def test_a_cta_that_the_mask_leaves_out_is_named_with_its_rank():
    run, _ = launched(0b01, 0, promises=0b11, ctas=2)
    assert names(run) == {"too-many-bytes", "multicast-mask", "deadlock"}
    assert "mask 0b1 does not name CTA 1, rank 1" in str(run)
    (waiter,) = run.deadlock.waiters
    assert (waiter.cta, waiter.promised, waiter.delivered) == (1, TILE, 0)


@kernel
def overwrites(tensor_map, out, told, scope):
    """CTA 0 loads twice into both CTAs; CTA 1 says that it is done with the first tile where `told`."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    free = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.mbarrier_init(free, 2)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(2):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full, TILE)
            if rank == 0:
                if k == 1:
                    ptx.mbarrier_wait_parity(free, 0)
                ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, k * 8, full, 3)
        ptx.mbarrier_wait_parity(full, k)
        out[rank, k, tid] = tile[0, tid]
        cuda.syncthreads()
        if tid == 1 and k == 0 and rank == 1:
            if told:
                ptx.mbarrier_arrive_cluster(free, 0)
        elif tid == 1 and k == 0:
            ptx.mbarrier_arrive(free, 1 if told else 2)


def twice(told, **launch):
    out = np.zeros((2, 2, 32), np.float16)
    args = tile_map(NARROW), out, told, 0
    return overwrites.run(grid=2, block=32, args=args, cluster=2, **launch), out


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tile_may_be_overwritten_once_every_cta_has_said_so_at_the_default_scope(seed):
    run, out = twice(1, seed=seed)
    assert not run.hazards
    assert not run.warnings
    assert np.array_equal(out[1], NARROW[[0, 8], :32])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_tile_is_in_use_until_the_peer_has_said_that_it_is_done(seed):
    run, _ = twice(0, seed=seed)
    assert "overwrite-in-use" in names(run)
    found = [hazard for hazard in run.hazards if hazard.name == "overwrite-in-use"]
    assert any("the copying thread, of another CTA" in hazard.message for hazard in found)


def test_strict_runs_warn_of_cta_scope_between_ctas():
    run, _ = twice(1, strict=True)
    assert not run.hazards
    released, waited = (
        [warning for warning in run.warnings if words in warning]
        for words in ("CTAs hand tile over", "was credited by a copy of another CTA")
    )
    assert len(released) == 2  # what was loaded, and what was read, before the second load
    assert len(waited) == 1
    assert waited[0].startswith(f"test_multicast.py:{overwrites.function.__code__.co_firstlineno + 20}: full of CTA 1")


@kernel
def source_written(tensor_map, source, out, waits):
    """CTA 1 waits for its part of a multicast, and overwrites the source in global memory."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE)
        if rank == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full, 3)
    if rank == 0 or waits:
        ptx.mbarrier_wait_parity(full, 0)
    if rank == 1:
        source[0, tid] = 1.0
    if rank == 1 and not waits:
        ptx.mbarrier_wait_parity(full, 0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("waits", [0, 1])
def test_the_end_of_any_of_its_loads_shows_that_a_multicast_has_read_its_source(waits, seed):
    source = NARROW.copy()
    args = tile_map(source), source, np.zeros(1), waits
    run = source_written.run(grid=2, block=32, args=args, cluster=2, seed=seed)
    assert names(run) <= (set() if waits else {"overwrite-in-use", "data-race"})  # by who came first
    assert bool(names(run)) is not bool(waits)


def test_two_clusters_that_write_one_tile_race():
    @kernel
    def both(out):
        out[ptx.cluster_ctarank()] = cuda.blockIdx.x

    run = both.run(grid=4, block=1, args=(np.zeros(2, np.int32),), cluster=2)
    assert names(run) == {"data-race"}
    assert "CTAs that need not even run at the same time" in run.hazards[0].message
