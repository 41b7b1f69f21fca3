"""Right kernels that use barriers in unusual ways: states, counts, parts of a promise, polls, turns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx


@kernel
def split_expect(tensor_map, out, tiles):
    """The promise for a load in three parts, after the load was issued, with two arrivals of the same thread."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(4)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(bars[2 * s], 2)
            ptx.mbarrier_init(bars[2 * s + 1], 32)
    cuda.syncthreads()
    for k in range(tiles):
        s = k % 2
        p = (k >> 1) & 1
        if tid == 32:
            ptx.mbarrier_wait_parity(bars[2 * s + 1], p ^ 1)
            ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, k * ROWS, bars[2 * s])
            ptx.mbarrier_expect_tx(bars[2 * s], TILE // 2)
            ptx.mbarrier_arrive(bars[2 * s])
            ptx.mbarrier_expect_tx(bars[2 * s], TILE // 4)
            ptx.mbarrier_expect_tx(bars[2 * s], TILE // 4)
            ptx.mbarrier_arrive(bars[2 * s])
        elif tid < 32:
            ptx.mbarrier_wait_parity(bars[2 * s], p)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = tile[s, i // COLS, i % COLS]
            ptx.mbarrier_arrive(bars[2 * s + 1])


@kernel
def by_states(tensor_map, out, tiles):
    """All threads arrive, and wait by the state that their own arrive gave; one brings the bytes as well."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    n = cuda.blockDim.x
    if tid == 0:
        ptx.mbarrier_init(full[0], n)
        ptx.mbarrier_init(full[1], n)
    cuda.syncthreads()
    for k in range(tiles):
        s = k % 2
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, k * ROWS, full[s])
            token = ptx.mbarrier_arrive_expect_tx(full[s], TILE)
        else:
            token = ptx.mbarrier_arrive(full[s])
        while not ptx.mbarrier_try_wait(full[s], token):
            pass
        for i in range(tid, ROWS * COLS, n):
            out[k * ROWS + i // COLS, i % COLS] = tile[s, i // COLS, i % COLS]


@kernel
def counted_arrivals(out, steps):
    """Arrives of two at a time, and one in the form that must not complete the phase."""
    box = cuda.shared.array((2, 32), np.int32)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    lane = tid % 32
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 33)
            ptx.mbarrier_init(empty[s], 64)
    cuda.syncthreads()
    if tid < 32:
        for k in range(steps):
            s = k % 2
            ptx.mbarrier_wait_parity(empty[s], (k // 2 + 1) % 2)
            box[s, lane] = k * 100 + lane
            if lane == 5:
                ptx.mbarrier_arrive_no_complete(full[s], 1)
            ptx.mbarrier_arrive(full[s])
    else:
        for k in range(steps):
            s = k % 2
            ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
            out[k, lane] = box[s, 31 - lane]
            ptx.mbarrier_arrive(empty[s], 2)


@kernel
def dropping(out):
    """Half of the threads leave the barrier after the first phase."""
    box = cuda.shared.array(64, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 64)
    box[tid] = 1
    cuda.syncthreads()
    if tid >= 32:
        box[tid] = 7
        ptx.mbarrier_arrive_drop(bar)
        return
    token = ptx.mbarrier_arrive(bar)
    while not ptx.mbarrier_try_wait(bar, token):
        pass
    out[tid] = box[tid + 32]
    box[tid] = tid
    token = ptx.mbarrier_arrive(bar)
    while not ptx.mbarrier_test_wait(bar, token):
        pass
    out[tid] += box[31 - tid]


@kernel
def last_arriver(out):
    """The pending count of its state tells a thread that it was the last; that alone orders nothing."""
    box = cuda.shared.array(32, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 32)
    cuda.syncwarp()
    box[tid] = tid
    token = ptx.mbarrier_arrive(bar)
    if ptx.mbarrier_pending_count(token) == 1:
        while not ptx.mbarrier_try_wait(bar, token):
            pass
        total = 0
        for i in range(32):
            total += box[i]
        out[0] = total


@kernel
def lagging(tensor_map, out, tiles):
    """Barriers are slices of one array; a stage is released one tile late; no wait for stages never used before."""
    ring = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(6)
    full = bars[:3]
    empty = bars[3:]
    tid = cuda.threadIdx.x
    if 40 <= tid < 43:
        ptx.mbarrier_init(full[tid - 40], 1)
    elif tid < 3:
        ptx.mbarrier_init(empty[tid], 1)
    cuda.syncthreads()
    if tid == 63:
        for k in range(tiles):
            if k >= 3:
                ptx.mbarrier_wait_parity(empty[k % 3], (k // 3 - 1) % 2)
            ptx.mbarrier_arrive_expect_tx(full[k % 3], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[k % 3], tensor_map, 0, k * ROWS, full[k % 3])
    elif tid < 32:
        for k in range(tiles):
            ptx.mbarrier_wait_parity(full[k % 3], (k // 3) % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[k % 3, i // COLS, i % COLS]
            if k:
                cuda.syncwarp()
                if tid == 0:
                    ptx.mbarrier_arrive(empty[(k - 1) % 3])


@kernel
def named96(out, steps):
    """Two warps write, one reads, each buffer with two named barriers of three warps."""
    box = cuda.shared.array((2, 64), np.int32)
    tid = cuda.threadIdx.x
    warp = tid // 32
    for k in range(steps):
        s = k % 2
        if warp < 2:
            if k >= 2:
                ptx.barrier_sync(3 + s, 96)
            box[s, tid] = k * 64 + tid
            ptx.barrier_arrive(1 + s, 96)
        elif warp == 2:
            ptx.barrier_sync(1 + s, 96)
            out[k, tid - 64] = box[s, tid - 64] + box[s, 127 - tid]
            if k + 2 < steps:
                ptx.barrier_arrive(3 + s, 96)


@kernel
def split_cluster_barrier(out, total):
    """Arrive early at the cluster barrier, wait late."""
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    for k in range(3):
        out[k, rank, tid] = k * 10 + rank
        ptx.barrier_cluster_arrive()
        mine = k * 10 + rank
        ptx.barrier_cluster_wait()
        total[k, rank, tid] = out[k, rank ^ 1, tid] + mine


@kernel
def dynamic(tensor_map, counter, out, tiles):
    """Tiles are dealt out by an atomic; their numbers go from the producer to its consumers in shared memory."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    which = cuda.shared.array(2, np.int32)
    bars = ptx.mbarrier_array(4)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(bars[s], 1)
            ptx.mbarrier_init(bars[2 + s], 1)
    cuda.syncthreads()
    step = 0
    if tid == 32:
        while True:
            s, p = step % 2, step // 2 % 2
            k = cuda.atomic.add(counter, 0, 1)
            ptx.mbarrier_wait_parity(bars[2 + s], p ^ 1)
            which[s] = k
            if k >= tiles:
                ptx.mbarrier_arrive(bars[s])
                break
            ptx.mbarrier_arrive_expect_tx(bars[s], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, bars[s])
            step += 1
    elif tid < 32:
        while True:
            s, p = step % 2, step // 2 % 2
            ptx.mbarrier_wait_parity(bars[s], p)
            k = which[s]
            if k >= tiles:
                break
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid == 0:
                ptx.mbarrier_arrive(bars[2 + s])
            step += 1


@kernel
def either_first(a_map, b_map, out):
    """Two loads are polled in turn, and whichever comes first is taken first."""
    tiles = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(bars[s], 1)
            ptx.mbarrier_arrive_expect_tx(bars[s], TILE)
        ptx.cp_async_bulk_tensor_2d(tiles[0], a_map, 0, 0, bars[0])
        ptx.cp_async_bulk_tensor_2d(tiles[1], b_map, 0, 0, bars[1])
    cuda.syncthreads()
    done = 0
    while done != 3:
        for s in range(2):
            if not done >> s & 1 and ptx.mbarrier_test_wait_parity(bars[s], 0):
                for i in range(tid, ROWS * COLS, 32):
                    out[s * ROWS + i // COLS, i % COLS] = tiles[s, i // COLS, i % COLS]
                done |= 1 << s


def _ring(made: Any, tiles: int, **launch: Any) -> Case:
    out, expected = blank(64, COLS), blank(64, COLS)
    expected[: tiles * ROWS] = NARROW[: tiles * ROWS]
    return gives(made, out, expected, tile_map(NARROW), after=(tiles,), **launch)


def _ints(made: Any, expected: Any, *after: Any, **launch: Any) -> Case:
    expected = np.asarray(expected, np.int32)
    return gives(made, np.zeros_like(expected), expected, after=after, **launch)


def _dynamic() -> Case:
    counter = np.zeros(1, np.int32)
    return gives(dynamic, blank(64, COLS), NARROW, tile_map(NARROW), counter, after=(8,), block=33, grid=2)


def _split_cluster() -> Case:
    total, steps = np.zeros((3, 2, 32), np.int32), np.arange(3)[:, None, None]
    args = np.zeros_like(total), total
    return Case(split_cluster_barrier, args, lambda: bool((total == steps * 20 + 1).all()), 32, 2, 2)


def _either() -> Case:
    maps = tile_map(NARROW), tile_map(NARROW.copy())
    return gives(either_first, blank(16, COLS), np.concatenate([NARROW[:8], NARROW[:8]]), *maps, block=32)


STEPS, LANES = np.arange(5)[:, None], np.arange(32)
CASES: Cases = {
    "split_expect": lambda: _ring(split_expect, 4, block=33),
    "by_states": lambda: _ring(by_states, 4, block=64),
    "counted_arrivals": lambda: _ints(counted_arrivals, STEPS * 100 + LANES[::-1], 5, block=64),
    "dropping": lambda: _ints(dropping, 38 - LANES, block=64),
    "last_arriver": lambda: _ints(last_arriver, [sum(range(32))], block=32),
    "lagging": lambda: _ring(lagging, 7, block=64),
    "named96": lambda: _ints(named96, STEPS * 128 + 63 + 0 * LANES, 5, block=128),
    "split_cluster_barrier": _split_cluster,
    "dynamic": _dynamic,
    "either_first": _either,
}
