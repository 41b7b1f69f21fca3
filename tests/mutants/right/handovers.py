"""CTAs of a grid that hand something over through global memory: by atomics, with fences on both sides."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx


@kernel
def last_one_adds_up(x, sums, count, out):
    """Each CTA leaves its sum and a mark; the last to come, as the count says, adds up all sums."""
    part = cuda.shared.array(32, np.float32)
    last = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    part[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    if tid == 0:
        total = np.float32(0)
        for i in range(32):
            total += part[i]
        sums[cuda.blockIdx.x] = total
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if tid == 0 and last[0] == cuda.gridDim.x - 1:
        total = np.float32(0)
        for i in range(cuda.gridDim.x):
            total += sums[i]
        out[0] = total


@kernel
def in_turn(x, turn, out):
    """Split K with a semaphore: CTA k waits until it is its turn, adds its part to the result, and passes on."""
    tid = cuda.threadIdx.x
    mine = cuda.blockIdx.x
    if tid == 0:
        while cuda.atomic.add(turn, 0, 0) != mine:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    out[tid] += x[mine, tid]
    cuda.threadfence()
    cuda.syncthreads()
    if tid == 0:
        cuda.atomic.add(turn, 0, 1)


@kernel
def all_meet(x, count, out):
    """A barrier of the whole grid: every CTA counts itself, and waits until all have."""
    place = cuda.grid(1)
    x[place] = place * 3
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.fence_acq_rel_gpu()
        cuda.atomic.add(count, 0, 1)
        while cuda.atomic.add(count, 0, 0) < cuda.gridDim.x:
            pass
        ptx.fence_acq_rel_gpu()
    cuda.syncthreads()
    out[place] = x[cuda.gridsize(1) - 1 - place]


@kernel
def tile_through_global(work, flag, out):
    """Stream K: one CTA stores a tile, waits for its writes, fences and raises a flag; the other loads it."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if cuda.blockIdx.x == 1:
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = np.float16(i % 100)
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(work, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
            ptx.fence_proxy_async_global()
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        return
    if tid == 0:
        while cuda.atomic.cas(flag, 0, 1, 1) != 1:
            pass
        cuda.threadfence()
        ptx.fence_proxy_async_global()
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, work, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def spin_lock(out):
    """A lock in shared memory, taken by compare and swap, with fences of the CTA."""
    lock = cuda.shared.array(1, np.int32)
    box = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        lock[0] = 0
        box[0] = 0
    cuda.syncthreads()
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    ptx.fence_acq_rel_cta()
    box[0] += 1
    ptx.fence_acq_rel_cta()
    cuda.atomic.exch(lock, 0, 0)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = box[0]


def _ints(count: int) -> np.ndarray:
    return np.zeros(count, np.int32)


def _last() -> Case:
    x = np.arange(96, dtype=np.float32)
    before = x, np.zeros(3, np.float32), _ints(1)
    return gives(last_one_adds_up, blank(1, dtype=np.float32), np.float32([95 * 48]), *before, block=32, grid=3)


def _in_turn() -> Case:
    x = np.arange(96, dtype=np.float32).reshape(3, 32)
    return gives(in_turn, blank(32, dtype=np.float32), x.sum(0), x, _ints(1), block=32, grid=3)


def _all_meet(cluster: int) -> Case:
    expected = np.arange(128, dtype=np.int32)[::-1] * 3
    return gives(all_meet, _ints(128), expected, _ints(128), _ints(1), block=32, grid=4, cluster=cluster)


def _through_global() -> Case:
    expected = (np.arange(ROWS * COLS) % 100).reshape(ROWS, COLS).astype(np.float16)
    before = tile_map(blank(ROWS, COLS)), _ints(1)
    return gives(tile_through_global, blank(ROWS, COLS), expected, *before, block=32, grid=2)


CASES: Cases = {
    "last_one_adds_up": _last,
    "in_turn": _in_turn,
    "all_meet": lambda: _all_meet(1),
    "all_meet, in clusters": lambda: _all_meet(2),
    "tile_through_global": _through_global,
    "spin_lock": lambda: gives(spin_lock, _ints(8), np.full(8, 8, np.int32), block=8),
}
