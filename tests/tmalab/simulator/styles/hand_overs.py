"""Loads that are handed on: in pairs, by turns, through a second buffer, over the edges."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, WIDE, Case, Cases, blank, gives, tile_map
from tmalab import OobFill, TensorMap, kernel, ptx


@kernel
def two_sizes(ta, tb, out, n):
    """A stage has a tile of 1,024 bytes and one of 512 (half rows); both on one barrier."""
    a = cuda.shared.array((2, 8, 64), np.float16, alignment=128)
    b = cuda.shared.array((2, 4, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_init(full[1], 1)
        for s in range(2):
            ptx.mbarrier_arrive_expect_tx(full[s], 1536)
            ptx.cp_async_bulk_tensor_2d(a[s], ta, 0, s * 8, full[s])
            ptx.cp_async_bulk_tensor_2d(b[s], tb, 0, s * 4, full[s])
    cuda.syncthreads()
    for k in range(n):
        s = k % 2
        ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
        for i in range(tid, 256, 64):
            out[k, i // 64, i % 64] = np.float32(a[s, i // 64 + 4, i % 64]) - np.float32(b[s, i // 64, i % 64])
        cuda.syncthreads()
        if tid == 63 and k + 2 < n:
            ptx.mbarrier_arrive_expect_tx(full[s], 1536)
            ptx.cp_async_bulk_tensor_2d(a[s], ta, 0, (k + 2) * 8, full[s])
            ptx.cp_async_bulk_tensor_2d(b[s], tb, 0, (k + 2) * 4, full[s])


def _two_sizes() -> Case:
    out = blank(5, 4, 64)
    other = np.ascontiguousarray(WIDE[:, 64:])
    exp = np.stack(
        [NARROW[8 * k + 4 : 8 * k + 8].astype(np.float32) - other[4 * k : 4 * k + 4] for k in range(5)]
    ).astype(np.float16)
    return gives(two_sizes, out, exp, tile_map(NARROW), TensorMap.from_array(other, (4, 64)), after=(5,), block=64)


@kernel
def batched(tm, out, tiles):
    """The consumer frees two stages with one arrive of 2 on a barrier for the pair."""
    ring = cuda.shared.array((4, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(4)
    pair = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(4):
            ptx.mbarrier_init(full[s], 1)
        for s in range(2):
            ptx.mbarrier_init(pair[s], 2)
    cuda.syncthreads()
    if tid == 32:
        for k in range(tiles):
            s = k % 4
            if k % 2 == 0:
                ptx.mbarrier_wait_parity(pair[s // 2], k // 4 % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[s], tm, 0, k * ROWS, full[s])
    elif tid < 32:
        for k in range(tiles):
            s = k % 4
            ptx.mbarrier_wait_parity(full[s], k // 4 % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            if k % 2 == 1:
                cuda.syncwarp()
                if tid == 0:
                    ptx.mbarrier_arrive(pair[s // 2], 2)


def _batched() -> Case:
    out = blank(8 * ROWS, COLS)
    return gives(batched, out, NARROW, tile_map(NARROW), after=(8,), block=64)


@kernel
def lone_thread(tm, out):
    """One thread does all: loads two tiles on two barriers, waits by test_wait in a loop that adds something up."""
    t = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(2)
    ptx.mbarrier_init(bar[0], 1)
    ptx.mbarrier_init(bar[1], 1)
    tok0 = ptx.mbarrier_arrive_expect_tx(bar[0], TILE)
    ptx.cp_async_bulk_tensor_2d(t[0], tm, 0, 0, bar[0])
    tok1 = ptx.mbarrier_arrive_expect_tx(bar[1], TILE)
    ptx.cp_async_bulk_tensor_2d(t[1], tm, 0, ROWS, bar[1])
    spins = 0
    while not ptx.mbarrier_test_wait(bar[1], tok1):
        spins += 1
    while not ptx.mbarrier_test_wait(bar[0], tok0):
        spins += 1
    for i in range(ROWS):
        out[i, 0] = t[0, i, i]
        out[i, 1] = t[1, i, i]


def _lone() -> Case:
    out = blank(ROWS, 2)
    exp = np.stack([NARROW[np.arange(8), np.arange(8)], NARROW[8 + np.arange(8), np.arange(8)]], 1)
    return gives(lone_thread, out, exp, tile_map(NARROW), block=1)


@kernel
def hint_and_prefetch(tm, out, tiles):
    """Cache hints, prefetches two tiles ahead, a prefetched map; ring of one stage handed over by syncthreads."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 96:
        ptx.prefetch_tensormap(tm)
        ptx.mbarrier_init(bar, 1)
    policy = ptx.createpolicy_fractional_evict_last(1.0)
    cuda.syncthreads()
    for k in range(tiles):
        if tid == 96:
            if k + 2 < tiles:
                ptx.cp_async_bulk_prefetch_tensor_2d(tm, 0, (k + 2) * ROWS)
            ptx.mbarrier_arrive_expect_tx(bar, TILE)
            ptx.cp_async_bulk_tensor_2d_cache_hint(tile, tm, 0, k * ROWS, bar, policy)
        ptx.mbarrier_wait_parity(bar, k & 1)
        for i in range(tid, ROWS * COLS, 128):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()


def _hint() -> Case:
    out = blank(4 * ROWS, COLS)
    return gives(hint_and_prefetch, out, NARROW[:32], tile_map(NARROW), after=(4,), block=128)


@kernel
def relay(tm, out, tiles):
    """Warp 1 waits for a load, sums rows into a second buffer and hands that to warp 0 by another barrier pair."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    sums = cuda.shared.array((2, ROWS), np.float32)
    full = ptx.mbarrier_array(2)
    done = ptx.mbarrier_array(2)
    free = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    lane = tid % 32
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(done[s], 8)
            ptx.mbarrier_init(free[s], 1)
    cuda.syncthreads()
    if tid >= 64:
        if lane == 0:
            for k in range(tiles):
                if k >= 2:
                    ptx.mbarrier_wait_parity(done[k % 2], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[k % 2], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[k % 2], tm, 0, k * ROWS, full[k % 2])
    elif tid >= 32:
        if lane < 8:
            for k in range(tiles):
                ptx.mbarrier_wait_parity(full[k % 2], k // 2 % 2)
                total = np.float32(0)
                for c in range(COLS):
                    total += np.float32(ring[k % 2, lane, c])
                ptx.mbarrier_wait_parity(free[k % 2], k // 2 % 2 ^ 1)
                sums[k % 2, lane] = total
                ptx.mbarrier_arrive(done[k % 2])
    else:
        for k in range(tiles):
            ptx.mbarrier_wait_parity(done[k % 2], k // 2 % 2)
            if lane < 8:
                out[k, lane] = sums[k % 2, lane]
            cuda.syncwarp()
            if lane == 0:
                ptx.mbarrier_arrive(free[k % 2])


def _relay() -> Case:
    out = blank(5, 8, dtype=np.float32)
    exp = NARROW[:40].astype(np.float32).reshape(5, 8, 64).sum(2)
    return gives(relay, out, exp, tile_map(NARROW), after=(5,), block=96)


@kernel
def nan_edge(tm, out):
    """A box over three edges, one of them negative, with NaN fill; the reader counts NaNs."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tm, -8, -3, bar)
    cuda.syncwarp()
    ptx.mbarrier_wait_parity(bar, 0)
    for r in range(8):
        out[r, tid] = tile[r, tid]
        out[r, tid + 32] = tile[r, tid + 32]


def _nan() -> Case:
    out = blank(8, 64)
    exp = np.full((8, 64), np.nan, np.float16)
    exp[3:7, 8:48] = NARROW[:4, :40]
    tm = TensorMap.from_array(np.ascontiguousarray(NARROW[:4, :40]), (8, 64), oob_fill=OobFill.NAN)
    return Case(nan_edge, (tm, out), lambda: np.array_equal(out, exp, equal_nan=True), block=32)


CASES: Cases = {
    "two_sizes": _two_sizes,
    "batched": _batched,
    "lone_thread": _lone,
    "hint_and_prefetch": _hint,
    "relay": _relay,
    "nan_edge": _nan,
}
