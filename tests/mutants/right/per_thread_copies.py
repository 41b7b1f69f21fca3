"""The per-thread copy of the A100: cp.async with its groups, and with an mbarrier."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, WIDE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx


@kernel
def cp_async_and_syncthreads(x, out):
    """One 16-byte copy for each of 64 threads; everybody waits for its own, then for the others."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=16)
    tid = cuda.threadIdx.x
    if tid < 64:
        ptx.cp_async(tile[tid // 8, (tid % 8) * 8 :], x[tid // 8, (tid % 8) * 8 :], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(0)
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def cp_async_and_mbarrier(x, out):
    """The copies arrive on a barrier that counts the copying threads."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 64)
    cuda.syncthreads()
    if tid < 64:
        ptx.cp_async(tile[tid // 8, (tid % 8) * 8 :], x[tid // 8, (tid % 8) * 8 :], 16)
        ptx.cp_async_mbarrier_arrive_noinc(bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def cp_async_pipeline(x, out, tiles):
    """Two stages: the next tile is on its way while one is read; wait_group 1 leaves the newest copy pending."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=16)
    tid = cuda.threadIdx.x
    row, column = tid // 8, (tid % 8) * 8
    ptx.cp_async(ring[0, row, column:], x[row, column:], 16)
    ptx.cp_async_commit_group()
    for k in range(tiles):
        if k + 1 < tiles:
            ptx.cp_async(ring[(k + 1) % 2, row, column:], x[(k + 1) * ROWS + row, column:], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(1)
        cuda.syncthreads()
        for i in range(tid, ROWS * COLS, 64):
            out[k * ROWS + i // COLS, i % COLS] = ring[k % 2, i // COLS, i % COLS]
        cuda.syncthreads()


@kernel
def cp_async_then_store(x, target):
    """What cp.async wrote is stored by TMA: the waits, a proxy fence by each copying thread, a barrier. The barrier
    in memory counts one arrival of each thread beside those of the copies."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 64)
    cuda.syncthreads()
    ptx.cp_async(tile[tid // 8, (tid % 8) * 8 :], x[tid // 8, (tid % 8) * 8 :], 16)
    ptx.cp_async_mbarrier_arrive(bar)
    ptx.mbarrier_arrive(bar)
    ptx.mbarrier_wait_parity(bar, 0)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


def _pipeline(tiles: int) -> Case:
    expected = blank(64, COLS)
    expected[: tiles * ROWS] = NARROW[: tiles * ROWS]
    return gives(cp_async_pipeline, blank(64, COLS), expected, NARROW.copy(), after=(tiles,), block=64)


def _then_store() -> Case:
    target = blank(ROWS, COLS)
    args = NARROW[:8].copy(), tile_map(target)
    return Case(cp_async_then_store, args, lambda: np.array_equal(target, NARROW[:8]), block=64)


CASES: Cases = {
    "cp_async_and_syncthreads": lambda: gives(cp_async_and_syncthreads, blank(8, 64), WIDE[:8, :64], WIDE),
    "cp_async_and_mbarrier": lambda: gives(cp_async_and_mbarrier, blank(8, 64), WIDE[:8, :64], WIDE),
    **{f"cp_async_pipeline, {n} tiles": lambda n=n: _pipeline(n) for n in (1, 4)},
    "cp_async_then_store": _then_store,
}
