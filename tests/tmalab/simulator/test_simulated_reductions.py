"""Reductions in flight: they race with everything but each other, and combine as the reference says."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import tile_map
from tmalab import DataType, TensorMap, kernel, ptx

SEEDS = range(6)


def names(run):
    return {hazard.name for hazard in run.hazards}


@kernel
def adds(target, counts):
    """Every CTA adds a tile of ones, and nothing orders the CTAs."""
    tile = cuda.shared.array((8, 64), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, 512, cuda.blockDim.x):
        tile[i // 64, i % 64] = 1.0
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("cluster", [1, 3])
def test_ctas_may_reduce_into_one_tile_without_an_order(cluster, seed):
    target = np.zeros((8, 64), np.float32)
    run = adds.run(grid=6, block=32, args=(tile_map(target), 0), cluster=cluster, seed=seed)
    assert not run.hazards
    assert (target == 6).all()


@kernel
def two_threads(target, view, out, what):
    """Threads 0 and 32 reduce; then thread 0 alone waits, and does something else with the tile."""
    tile = cuda.shared.array((2, 8, 64), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, 1024, cuda.blockDim.x):
        tile[i // 512, i // 64 % 8, i % 64] = 1.0
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid % 32 == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile[tid // 32])
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    if tid == 0:
        if what == 0:
            out[0] = view[0, 0]
        if what == 1:
            view[0, 0] = 5.0
        if what == 2:
            cuda.atomic.add(view, (0, 0), np.float32(1))
        if what == 3:
            ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile[0])
        if what == 4:
            ptx.cp_reduce_async_bulk_tensor_2d_min(target, 0, 0, tile[0])
        if what == 5:
            ptx.cp_async_bulk_store(view, tile[0], 256)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("what", [0, 1, 2, 3, 5])
def test_a_reduction_of_another_thread_is_met_whichever_came_last(what, seed):
    target = np.zeros((8, 64), np.float32)
    args = tile_map(target), target, np.zeros(1, np.float32), what
    run = two_threads.run(block=64, args=args, seed=seed)
    assert names(run) <= {"data-race", "store-not-waited"}
    assert run.hazards


@pytest.mark.parametrize("seed", SEEDS)
def test_another_reduction_needs_no_order(seed):
    target = np.zeros((8, 64), np.float32)
    args = tile_map(target), target, np.zeros(1, np.float32), 4
    assert not two_threads.run(block=64, args=args, seed=seed).hazards


@kernel
def all_reduce(target):
    tile = cuda.shared.array((8, 64), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, 512, cuda.blockDim.x):
        tile[i // 64, i % 64] = 1.0
    ptx.fence_proxy_async()
    cuda.syncthreads()
    ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)
    ptx.cp_async_bulk_commit_group()
    ptx.cp_async_bulk_wait_group(0)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_and_the_same_reduction_by_several_threads_is_a_mistake_although_it_is_no_race(seed):
    run = all_reduce.run(block=32, args=(tile_map(np.zeros((8, 64), np.float32)),), seed=seed)
    assert names(run) == {"multiple-issue"}


@kernel
def beside_an_atomic(target, view, first):
    tile = cuda.shared.array((8, 64), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, 512, cuda.blockDim.x):
        tile[i // 64, i % 64] = 1.0
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    if tid == 32:
        cuda.atomic.add(view, (3, 3), np.float32(1))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_atomic_and_a_reduction_race_since_their_proxies_differ(seed):
    target = np.zeros((8, 64), np.float32)
    run = beside_an_atomic.run(block=64, args=(tile_map(target), target, 0), seed=seed)
    (found,) = run.hazards
    assert found.name == "data-race"
    assert "different proxies: neither is atomic for the other" in found.message
    assert {access.kind for access in found.accesses} == {"write", "reduction"}


@kernel
def reduces(op, target):
    tile = cuda.shared.array((8, 64), np.float32, alignment=128)
    if op == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)
    else:
        ptx.cp_reduce_async_bulk_tensor_2d_inc(target, 0, 0, tile)


@pytest.mark.parametrize(
    ("op", "data_type", "dtype"),
    [(0, DataType.UINT16, np.uint16), (0, DataType.INT64, np.int64), (1, DataType.FLOAT32, np.float32)],
)
def test_an_operation_that_the_maps_type_has_not_is_an_illegal_instruction(op, data_type, dtype):
    """C11: no add for 16-bit integers; what f64 has, PTX does not say, and the H200 does."""
    target = np.zeros((8, 64), dtype)
    tensor_map = TensorMap.from_array(target, (8, 8), data_type=data_type)
    run = reduces.run(block=1, args=(op, tensor_map))
    assert run.fault.kind == "illegal_instruction"
    assert data_type.name in str(run.fault)


@kernel
def without_a_map(x, target, bytes):
    v = cuda.shared.array(64, np.int32, alignment=16)
    tid = cuda.threadIdx.x
    v[tid] = x[tid]
    v[tid + 32] = x[tid + 32]
    ptx.fence_proxy_async_shared_cta()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_max_s32(target, v, bytes)
        ptx.cp_reduce_async_bulk_xor_b32(target[32:], v, 128)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_map_the_type_is_in_the_instruction(seed):
    x, target = np.arange(64, dtype=np.int32) - 20, np.full(96, 3, np.int32)
    run = without_a_map.run(block=32, args=(x, target, 128), seed=seed)
    assert not run.hazards
    assert target[:32].tolist() == [max(3, i - 20) for i in range(32)]
    assert target[32:64].tolist() == [3 ^ (i - 20) for i in range(32)]
    assert (target[64:] == 3).all()
