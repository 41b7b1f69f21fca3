"""Rings of loads: helpers within helpers, barriers in one array, several producers, tails, jobs of unequal length."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, WIDE, Case, Cases, blank, gives, tensor, tile_map
from tmalab import device, kernel, ptx

S = 4


@device
def load_stage(ring, full, tm, s, row):
    ptx.mbarrier_arrive_expect_tx(full[s], TILE)
    ptx.cp_async_bulk_tensor_2d(ring[s], tm, 0, row, full[s])


@device
def wait_stage(bars, s, p):
    while not ptx.mbarrier_try_wait_parity(bars[s], p):
        cuda.nanosleep(20)


@device
def fill(ring, full, empty, tm, k):
    wait_stage(empty, k % S, (k // S) % 2 ^ 1)
    load_stage(ring, full, tm, k % S, k * ROWS)


@kernel
def nested_helpers(tm, out, tiles):
    """Producer is thread 32 through nested helpers; consumers are warps 0 and 2, released by each lane 5."""
    ring = cuda.shared.array((S, ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(S)
    empty = ptx.mbarrier_array(S)
    tid = cuda.threadIdx.x
    if tid == 33:
        for s in range(S):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
    cuda.syncthreads()
    if tid == 32:
        for k in range(tiles):
            fill(ring, full, empty, tm, k)
    if tid < 32 or tid >= 64:
        me = tid if tid < 32 else tid - 32
        for k in range(tiles):
            wait_stage(full, k % S, (k // S) & 1)
            for i in range(me, ROWS * COLS, 64):
                out[k * ROWS + i // COLS, i % COLS] = ring[k % S, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid % 32 == 5:
                ptx.mbarrier_arrive(empty[k % S])


def _nested() -> Case:
    out = blank(8 * ROWS, COLS)
    return gives(nested_helpers, out, NARROW[: 8 * ROWS], tile_map(NARROW), after=(8,), block=96)


@kernel
def one_bar_array(tm, out, tiles):
    """Full and empty barriers of all stages lie in one array, at 2s and 2s + 1; consumers all arrive."""
    ring = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(6)
    tid = cuda.threadIdx.x
    if tid < 6:
        ptx.mbarrier_init(bars[tid], 1 if tid % 2 == 0 else 64)
    cuda.syncthreads()
    if tid >= 64:
        if ptx.elect_sync():
            stage = 0
            phase = 0
            for k in range(tiles):
                if k >= 3:
                    ptx.mbarrier_wait_parity(bars[2 * stage + 1], phase ^ 1)
                ptx.mbarrier_arrive_expect_tx(bars[2 * stage], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[stage], tm, 0, k * ROWS, bars[2 * stage])
                stage = stage + 1 if stage < 2 else 0
                phase = phase if stage else phase ^ 1
    else:
        stage = 0
        phase = 0
        for k in range(tiles):
            ptx.mbarrier_wait_parity(bars[2 * stage], phase)
            for i in range(tid, ROWS * COLS, 64):
                out[k * ROWS + i // COLS, i % COLS] = ring[stage, i // COLS, i % COLS]
            ptx.mbarrier_arrive(bars[2 * stage + 1])
            stage = stage + 1 if stage < 2 else 0
            phase = phase if stage else phase ^ 1


def _one_bar() -> Case:
    out = blank(8 * ROWS, COLS)
    return gives(one_bar_array, out, NARROW[: 8 * ROWS], tile_map(NARROW), after=(8,), block=96)


@kernel
def two_producers(ta, tb, out, tiles):
    """Two producer warps, one for A and one for B, on one full barrier with two arrivals."""
    a = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    b = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    warp = tid // 32
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 2)
            ptx.mbarrier_init(empty[s], 2)
    cuda.syncthreads()
    if warp == 0:
        if ptx.elect_sync():
            for k in range(tiles):
                ptx.mbarrier_wait_parity(empty[k % 2], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[k % 2], TILE)
                ptx.cp_async_bulk_tensor_2d(a[k % 2], ta, 0, k * ROWS, full[k % 2])
    elif warp == 1:
        if ptx.elect_sync():
            for k in range(tiles):
                ptx.mbarrier_wait_parity(empty[k % 2], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[k % 2], TILE)
                ptx.cp_async_bulk_tensor_2d(b[k % 2], tb, 0, k * ROWS, full[k % 2])
    else:
        for k in range(tiles):
            ptx.mbarrier_wait_parity(full[k % 2], k // 2 % 2)
            for i in range(tid - 64, ROWS * COLS, 64):
                out[k * ROWS + i // COLS, i % COLS] = np.float32(a[k % 2, i // COLS, i % COLS]) + np.float32(
                    b[k % 2, i // COLS, i % COLS]
                )
            cuda.syncwarp()
            if ptx.elect_sync():
                ptx.mbarrier_arrive(empty[k % 2])


def _two_producers() -> Case:
    out = blank(6 * ROWS, COLS)
    other = np.ascontiguousarray(WIDE[:, 64:])
    return gives(
        two_producers,
        out,
        (NARROW[:48].astype(np.float32) + other[:48]).astype(np.float16),
        tile_map(NARROW),
        tile_map(other),
        after=(6,),
        block=128,
    )


@kernel
def tail_tile(x, out, n):
    """1D bulk copies in chunks of 256 floats, the last of fewer: its promise is smaller."""
    buf = cuda.shared.array((2, 256), np.float32, alignment=16)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    chunks = (n + 255) // 256
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
    cuda.syncthreads()
    if tid == 32:
        for k in range(chunks):
            m = min(256, n - k * 256)
            ptx.mbarrier_wait_parity(empty[k % 2], (k // 2 + 1) % 2)
            ptx.mbarrier_arrive_expect_tx(full[k % 2], m * 4)
            ptx.cp_async_bulk(buf[k % 2], x[k * 256 :], m * 4, full[k % 2])
    if tid < 32:
        for k in range(chunks):
            m = min(256, n - k * 256)
            ptx.mbarrier_wait_parity(full[k % 2], k // 2 % 2)
            for i in range(tid, m, 32):
                out[k * 256 + i] = buf[k % 2, i] * np.float32(2)
            cuda.syncwarp()
            if tid == 0:
                ptx.mbarrier_arrive(empty[k % 2])


def _tail() -> Case:
    x = np.arange(1100, dtype=np.float32)
    out = blank(1100, dtype=np.float32)
    return gives(tail_tile, out, x * 2, x, after=(1100,), block=64)


@kernel
def separate_expect(tm, out, tiles):
    """expect_tx by the producer, the arrivals by it and a helper lane that has nothing to do with the copy."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 2)
            ptx.mbarrier_init(empty[s], 32)
    cuda.syncthreads()
    for k in range(tiles):
        s = k & 1
        p = k >> 1 & 1
        if tid >= 32 and tid < 34:
            ptx.mbarrier_wait_parity(empty[s], p ^ 1)
            if tid == 32:
                ptx.mbarrier_expect_tx(full[s], TILE // 2)
                ptx.cp_async_bulk_tensor_2d(ring[s], tm, 0, k * ROWS, full[s])
                ptx.mbarrier_expect_tx(full[s], TILE // 2)
            ptx.mbarrier_arrive(full[s])
        if tid < 32:
            ptx.mbarrier_wait_parity(full[s], p)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            ptx.mbarrier_arrive(empty[s])


def _separate() -> Case:
    out = blank(5 * ROWS, COLS)
    return gives(separate_expect, out, NARROW[:40], tile_map(NARROW), after=(5,), block=64)


@kernel
def persistent_carry(tm, out, jobs, per):
    """Phases carried over jobs by a count of all stages so far; CTAs take jobs by stride; job lengths differ."""
    ring = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(3)
    empty = ptx.mbarrier_array(3)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(3):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
    cuda.syncthreads()
    n = 0
    for job in range(cuda.blockIdx.x, jobs, cuda.gridDim.x):
        for t in range(job % 2 + 1):
            s = n % 3
            p = n // 3 % 2
            row = (job * per + t) * ROWS
            if tid == 32:
                ptx.mbarrier_wait_parity(empty[s], p ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], tm, 0, row, full[s])
            if tid < 32:
                ptx.mbarrier_wait_parity(full[s], p)
                for i in range(tid, ROWS * COLS, 32):
                    out[row + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
                cuda.syncwarp()
                if tid == 31:
                    ptx.mbarrier_arrive(empty[s])
            n += 1


def _persistent() -> Case:
    big = tensor(128, COLS)
    out = blank(128, COLS)
    exp = np.zeros_like(out)
    for j in range(8):
        exp[j * 16 : j * 16 + 8 * (j % 2 + 1)] = big[j * 16 : j * 16 + 8 * (j % 2 + 1)]
    return gives(persistent_carry, out, exp, tile_map(big), after=(8, 2), block=64, grid=3)


CASES: Cases = {
    "nested_helpers": _nested,
    "one_bar_array": _one_bar,
    "two_producers": _two_producers,
    "tail_tile": _tail,
    "separate_expect": _separate,
    "persistent_carry": _persistent,
}
