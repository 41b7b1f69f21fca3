"""The innermost edge is clipped to 16 bytes: what lies behind a tensor's rows is overwritten, and that is told."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, kernel, ptx

SEEDS = range(3)


@kernel
def stores(target, x, reduces):
    tile = cuda.shared.array((4, 64), np.uint32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, 256, 32):
        tile[i // 64, i % 64] = 0x01010101
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        if reduces:
            ptx.cp_reduce_async_bulk_tensor_2d_add(target, x, 0, tile)
        else:
            ptx.cp_async_bulk_tensor_2d_store(target, x, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_across_the_edge_writes_up_to_the_next_16_bytes(seed):
    """C3: 466 bytes in rows of 512."""
    memory = np.zeros((32, 512), np.uint8)
    run = stores.run(block=32, args=(TensorMap.from_array(memory[:, :466], (4, 256)), 256, 0), seed=seed)
    (found,) = run.hazards
    assert found.name == "clip-overwrites"
    assert "rows of 466 bytes end 2 bytes into a 16-byte chunk" in found.message
    assert "14 bytes from" in found.message
    assert "480 elements of 1 bytes if what lies behind may be written, 464 if not" in found.fix
    assert np.array_equal(np.flatnonzero(memory[0]), np.arange(256, 480))


def test_a_reduction_clips_as_a_store_does():
    memory = np.zeros((8, 128), np.uint32)
    run = stores.run(block=32, args=(TensorMap.from_array(memory[:, :66], (4, 64)), 64, 1))
    assert [hazard.name for hazard in run.hazards] == ["clip-overwrites"]
    assert "8 bytes from" in run.hazards[0].message
    assert np.array_equal(np.flatnonzero(memory[0]), np.arange(64, 68))


@pytest.mark.parametrize(("columns", "x"), [(68, 64), (128, 64), (66, 0)])
def test_a_store_that_ends_with_a_chunk_or_before_the_edge_writes_nothing_else(columns, x):
    memory = np.zeros((8, 128), np.uint32)
    assert not stores.run(block=32, args=(TensorMap.from_array(memory[:, :columns], (4, 64)), x, 0)).hazards
    assert np.array_equal(np.flatnonzero(memory[0]), np.arange(x, min(x + 64, columns)))


def test_two_maps_that_meet_within_a_chunk_race():
    @kernel
    def both(left, right):
        tile = cuda.shared.array((4, 64), np.uint32, alignment=128)
        tid = cuda.threadIdx.x
        for i in range(tid, 256, 64):
            tile[i // 64, i % 64] = 1
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(left, 64, 0, tile)
        if tid == 32:
            ptx.cp_async_bulk_tensor_2d_store(right, 0, 0, tile)
        if tid % 32 == 0:
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)

    memory = np.zeros((8, 256), np.uint32)
    left, right = TensorMap.from_array(memory[:, :66], (4, 64)), TensorMap.from_array(memory[:, 64:], (4, 64))
    run = both.run(block=64, args=(left, right))
    (clip,) = [hazard for hazard in run.hazards if hazard.name == "clip-overwrites"]
    (race,) = [hazard for hazard in run.hazards if hazard is not clip]
    assert race.name in ("data-race", "store-not-waited")
    assert race.count == 4 * 4  # rows, elements: from 64 on, where the right one begins, to the end of the chunk
