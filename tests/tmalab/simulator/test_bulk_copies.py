"""Copies without a map: what they ask for, where they fault, and what they owe between the CTAs of a cluster."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import tile_map
from tmalab import kernel, ptx

SEEDS = range(6)


def names(run):
    return {hazard.name for hazard in run.hazards}


@kernel
def loads(x, out, first, bytes):
    v = cuda.shared.array(64, np.float32, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, bytes)
        ptx.cp_async_bulk(v, x[first:], bytes, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, bytes // 4, 32):
        out[i] = v[i]


def loaded(x, first, bytes, **launch):
    out = np.zeros(64, np.float32)
    return loads.run(block=32, args=(x, out, first, bytes), **launch), out


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("first", "bytes"), [(0, 256), (4, 16), (60, 16), (8, 0)])
def test_contiguous_bytes_are_moved_and_credited(first, bytes, seed):
    x = np.arange(64, dtype=np.float32)
    run, out = loaded(x, first, bytes, seed=seed)
    assert not run.hazards
    assert np.array_equal(out[: bytes // 4], x[first : first + bytes // 4])


def test_a_size_that_is_no_multiple_of_16_is_refused_with_what_the_hardware_would_do():
    """C9: 33 floats."""
    run, _ = loaded(np.zeros(64, np.float32), 0, 132)
    assert run.fault.kind == "python_error"
    assert "132 bytes: the size must be a multiple of 16" in str(run.fault)
    assert "moves and credits 128 bytes" in str(run.fault)
    assert run.fault.line == loads.function.__code__.co_firstlineno + 8


def test_a_misaligned_source_faults():
    run, _ = loaded(np.zeros(64, np.float32), 2, 64)
    assert run.fault.kind == "misaligned_address"
    assert names(run) == {"misaligned"}


def test_it_does_not_clip_at_the_end_of_the_memory():
    """C10"""
    run, _ = loaded(np.zeros(32, np.float32), 4, 128)
    assert run.fault.kind == "illegal_address"
    assert names(run) == {"out-of-bounds"}
    assert "reach 16 bytes past the memory that lies there: a copy without a map does not clip" in str(run)


def test_the_end_of_an_array_is_told_of_even_where_its_buffer_goes_on():
    buffer = np.arange(64, dtype=np.float32)
    run, out = loaded(buffer[:32], 24, 64)
    assert run.fault is None
    assert names(run) == {"out-of-bounds"}
    assert "moves 64 bytes, 32 more than there are from x[24] to the end of its array" in run.hazards[0].message
    assert np.array_equal(out[:16], buffer[24:40])


@kernel
def stages(tensor_map, x, out, bulk):
    """C5: stages of 64 bytes."""
    ring = cuda.shared.array((3, 32), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 64)
        if bulk:
            ptx.cp_async_bulk(ring[1], x, 64, bar)
        else:
            ptx.cp_async_bulk_tensor_2d(ring[1], tensor_map, 0, 0, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    out[tid] = ring[1, tid]


def test_stages_of_64_bytes_fit_a_bulk_copy_and_not_one_through_a_map():
    """C5"""
    from tmalab import TensorMap

    x, out = np.arange(32, dtype=np.float16).reshape(1, 32), np.zeros(32, np.float16)
    args = TensorMap.from_array(x, (1, 32)), x, out
    assert not stages.run(block=32, args=(*args, 1)).hazards
    assert np.array_equal(out, x[0])
    run = stages.run(block=32, args=(*args, 0))
    assert run.fault.kind == "misaligned_address"
    assert names(run) == {"misaligned"}


@kernel
def to_peer(x, out, rank_to, fence, meets):
    mine = cuda.shared.array(32, np.float32, alignment=16)
    theirs = cuda.shared.array(32, np.float32, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar, 128)
    mine[tid] = x[tid] + np.float32(rank)
    if fence == 1:
        ptx.fence_proxy_async_shared_cta()
    if fence == 2:
        ptx.fence_proxy_async_global()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0 and rank == 0:
        ptx.cp_async_bulk_cluster(theirs, rank_to, mine, 128, bar)
    if rank == rank_to:
        ptx.mbarrier_wait_parity(bar, 0)
        out[tid] = theirs[tid]
    if meets:
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()


X = np.arange(32, dtype=np.float32)


def sent(rank_to=1, fence=1, meets=1, ctas=2, **launch):
    out = np.zeros(32, np.float32)
    return to_peer.run(grid=ctas, block=32, args=(X, out, rank_to, fence, meets), cluster=ctas, **launch), out


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rank_to", [0, 1, 2])
def test_bytes_reach_the_same_place_of_another_cta(rank_to, seed):
    run, out = sent(rank_to, ctas=3, seed=seed)
    assert not run.hazards
    assert np.array_equal(out, X)


@pytest.mark.parametrize(("fence", "name"), [(0, "missing-proxy-fence"), (2, "proxy-fence-space")])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_source_must_be_in_the_copy_engines_sight(fence, name, seed):
    run, _ = sent(fence=fence, seed=seed)
    assert names(run) == {name}
    assert "the copy of mine to CTA 1" in run.hazards[0].message


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sender_stays_until_the_peer_has_the_bytes(seed):
    run, _ = sent(meets=0, seed=seed)
    assert names(run) == {"exit-in-flight"}
    assert "may still be reading its source when CTA 0 exits" in run.hazards[0].message


def test_without_clusters_it_is_an_illegal_instruction_even_to_oneself():
    """Measured, H200."""
    run, _ = sent(rank_to=0, ctas=1)
    assert run.fault.kind == "illegal_instruction"


def test_a_rank_beyond_the_cluster_faults():
    run, _ = sent(rank_to=2)
    assert run.fault.kind == "launch_failed"
    assert names(run) == {"out-of-bounds"}


@kernel
def fenced_by_its_owner(tensor_map, out, whose):
    """Threads of CTA 1 write a tile that CTA 0 then loads into: a fence for CTA 1's own shared memory counts where it
    is executed there, and not where CTA 0 executes it for its own."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
        if rank == 1:
            ptx.mbarrier_arrive_expect_tx(full, 1024)
    if rank == 1:
        tile[0, tid] = 1.0
        if whose == 1:
            ptx.fence_proxy_async_shared_cta()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0 and rank == 0:
        if whose == 0:
            ptx.fence_proxy_async_shared_cta()
        if whose == 2:
            ptx.fence_proxy_async_shared_cluster()
        ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full, 2)
    if rank == 1:
        ptx.mbarrier_wait_parity(full, 0)
        out[tid] = tile[0, tid]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("whose", "expected"), [(1, set()), (2, set()), (0, {"proxy-fence-space"})])
def test_a_proxy_fence_covers_the_shared_memory_that_its_suffix_says(whose, expected, seed):
    source = np.ones((8, 64), np.float16)
    args = tile_map(source), np.zeros(32, np.float16), whose
    run = fenced_by_its_owner.run(grid=2, block=32, args=args, cluster=2, seed=seed)
    assert names(run) == expected
