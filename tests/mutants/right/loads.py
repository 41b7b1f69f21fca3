"""Loads: one tile, several on one barrier, promises before and after, many ways to wait."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, WIDE, Case, Cases, blank, gives, tensor, tile_map
from tmalab import Swizzle, TensorMap, kernel, ptx


@kernel
def copy_tile(tensor_map, out):
    """Everybody waits for a load that thread 0 issued."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 64, 8, bar)
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def loads_before_the_expectation(tensor_map, out):
    """Two loads on one barrier, then one expectation for both, while the issuer's own arrival is pending; all arrive,
    and wait by state."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 128)
    cuda.syncthreads()
    state = 0
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d(tile[0], tensor_map, 0, 0, bar)
        ptx.cp_async_bulk_tensor_2d(tile[1], tensor_map, 64, 0, bar)
        state = ptx.mbarrier_arrive_expect_tx(bar, 2 * TILE)
    else:
        state = ptx.mbarrier_arrive(bar)
    while not ptx.mbarrier_test_wait(bar, state):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[0, i // COLS, i % COLS]
        out[i // COLS, COLS + i % COLS] = tile[1, i // COLS, i % COLS]


@kernel
def one_waits_for_all(tensor_map, out):
    """Only thread 0 waits for the load; syncthreads tells the others. Fences more than needed; half of them leave."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid >= 64:
        return
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_proxy_async()
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.fence_proxy_async()
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, 64):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def a_tile_for_each_cta(tensor_map, out):
    """Several CTAs, each with its own tile."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, cta * ROWS, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cta * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def over_the_corner(tensor_map, x, y, out):
    """A swizzled tile that hangs over a corner of the tensor, and an early fetch of map and box; what lies outside is
    zero, and is credited too."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.prefetch_tensormap(tensor_map)
        ptx.cp_async_bulk_prefetch_tensor_2d(tensor_map, x, y)
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        row, chunk, within = i // COLS, i % COLS // 8, i % 8
        out[row, chunk * 8 + within] = tile[row, (chunk ^ row) * 8 + within]


@kernel
def each_promises_its_own(tensor_map, row_map, out, sums):
    """Two threads of two warps load and promise on one barrier that counts both, by expect_tx and a plain arrive; a
    third kind of thread only waits."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    row = cuda.shared.array(COLS, np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 2)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 8, bar)
        ptx.mbarrier_arrive(bar)
    elif tid == 32:
        ptx.mbarrier_arrive_expect_tx(bar, COLS * 2)
        ptx.cp_async_bulk_tensor_1d(row, row_map, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    if tid < 32:
        for i in range(tid, ROWS * COLS, 32):
            out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]
    else:
        for i in range(tid - 32, COLS, 32):
            sums[i] = np.float32(row[i]) + np.float32(tile[0, i])


@kernel
def each_warp_its_own(tensor_map, out):
    """Four warps, four tiles, four barriers: a warp's lane 0 initialises, loads, and its lanes wait; syncwarp is all
    that they have in common."""
    tiles = cuda.shared.array((4, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(4)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    if lane == 0:
        ptx.mbarrier_init(bars[warp], 1)
        ptx.mbarrier_arrive_expect_tx(bars[warp], TILE)
        ptx.cp_async_bulk_tensor_2d(tiles[warp], tensor_map, 0, warp * ROWS, bars[warp])
    cuda.syncwarp()
    ptx.mbarrier_wait_parity(bars[warp], 0)
    for i in range(lane, ROWS * COLS, 32):
        out[warp * ROWS + i // COLS, i % COLS] = tiles[warp, i // COLS, i % COLS]


@kernel
def work_while_it_comes(tensor_map, x, out, total):
    """All arrive, then add up other numbers until test_wait says that the tile is there."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 64)
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        ptx.mbarrier_expect_tx(bar, TILE)
    state = ptx.mbarrier_arrive(bar)
    added = np.float32(0)
    done = 0
    for k in range(8):
        added += x[k, tid]
        if done == 0 and ptx.mbarrier_test_wait(bar, state):
            done = 1
    if done == 0:
        while not ptx.mbarrier_try_wait(bar, state):
            pass
    total[tid] = added
    for i in range(tid, ROWS * COLS, 64):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def barrier_ends_and_begins(tensor_map, out, words):
    """A barrier is ended, its 8 bytes hold a number, and are a barrier again for the next tile."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    for k in range(2):
        if tid == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.mbarrier_arrive_expect_tx(bar, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, k * ROWS, bar)
        cuda.syncthreads()
        ptx.mbarrier_wait_parity(bar, 0)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0:
            ptx.mbarrier_inval(bar)
            bar[0, 0] = 7 + k
        cuda.syncthreads()
        words[k, tid] = bar[0, 0]
        cuda.syncthreads()


def _over_the_corner() -> Case:
    out, expected = blank(ROWS, COLS), np.zeros((ROWS, COLS), np.float16)
    expected[3:, 8:] = WIDE[:5, :56]
    tm = TensorMap.from_array(WIDE, (ROWS, COLS), Swizzle.B128)
    return gives(over_the_corner, out, expected, tm, -8, -3)


def _each_promises() -> Case:
    out, sums, row = blank(ROWS, COLS), blank(COLS, dtype=np.float32), tensor(1, COLS)[0]
    args = tile_map(NARROW), TensorMap.from_array(row, (COLS,)), out, sums
    expected = NARROW[8].astype(np.float32) + row
    return Case(
        each_promises_its_own, args, lambda: np.array_equal(out, NARROW[8:16]) and np.array_equal(sums, expected), 64
    )


def _work() -> Case:
    x, out, total = np.arange(512, dtype=np.float32).reshape(8, 64), blank(ROWS, COLS), blank(64, dtype=np.float32)
    args = tile_map(WIDE), x, out, total
    return Case(
        work_while_it_comes, args, lambda: np.array_equal(out, NARROW[:8]) and np.array_equal(total, x.sum(axis=0)), 64
    )


def _ends_and_begins() -> Case:
    out, words = blank(16, COLS), blank(2, 32, dtype=np.uint64)
    args = tile_map(NARROW), out, words
    return Case(
        barrier_ends_and_begins,
        args,
        lambda: np.array_equal(out, NARROW[:16]) and (words == [[7], [8]]).all(),
        block=32,
    )


CASES: Cases = {
    "copy_tile": lambda: gives(copy_tile, blank(8, 64), WIDE[8:16, 64:], tile_map(WIDE)),
    "loads_before_the_expectation": lambda: gives(
        loads_before_the_expectation, blank(8, 128), WIDE[:8], tile_map(WIDE)
    ),
    "one_waits_for_all": lambda: gives(one_waits_for_all, blank(8, 64), WIDE[:8, :64], tile_map(WIDE)),
    "a_tile_for_each_cta": lambda: gives(
        a_tile_for_each_cta, blank(64, 64), NARROW, tile_map(NARROW), block=32, grid=8
    ),
    "over_the_corner": _over_the_corner,
    "each_promises_its_own": _each_promises,
    "each_warp_its_own": lambda: gives(each_warp_its_own, blank(32, 64), NARROW[:32], tile_map(NARROW)),
    "work_while_it_comes": _work,
    "barrier_ends_and_begins": _ends_and_begins,
}
