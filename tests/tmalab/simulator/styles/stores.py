"""Stores and reductions: buffers that named barriers or mbarriers hand over, groups of one, aliases."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, ROWS, Case, Cases, blank, tile_map
from tmalab import TensorMap, kernel, ptx


@kernel
def three_buffers(target, tiles):
    """Three buffers; warp 3 stores, and waits for reads just before a buffer is used again; named barriers each way."""
    buf = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        s = k % 3
        if tid >= 96:
            if tid == 96:
                ptx.cp_async_bulk_wait_group_read(2)
            ptx.barrier_sync(1, 128)
            ptx.barrier_sync(2, 128)
            if tid == 96:
                ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, buf[s])
                ptx.cp_async_bulk_commit_group()
        else:
            ptx.barrier_sync(1, 128)
            for i in range(tid, ROWS * COLS, 96):
                buf[s, i // COLS, i % COLS] = np.float32(i % 100 + k)
            ptx.fence_proxy_async_shared_cta()
            ptx.barrier_sync(2, 128)
    if tid == 96:
        ptx.cp_async_bulk_wait_group(0)


def _three() -> Case:
    out = blank(7 * ROWS, COLS)
    exp = np.concatenate([(np.arange(512) % 100 + k).reshape(8, 64) for k in range(7)]).astype(np.float16)
    return Case(three_buffers, (tile_map(out), 7), lambda: np.array_equal(out, exp), block=128)


@kernel
def mb_epilogue(target, tiles):
    """Writers hand a buffer to the storing thread by an mbarrier; it goes back by another after the wait for reads."""
    buf = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    ready = ptx.mbarrier_array(2)
    free = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(ready[s], 64)
            ptx.mbarrier_init(free[s], 1)
    cuda.syncthreads()
    if tid < 64:
        for k in range(tiles):
            s = k % 2
            ptx.mbarrier_wait_parity(free[s], k // 2 % 2 ^ 1)
            for i in range(tid, ROWS * COLS, 64):
                buf[s, i // COLS, i % COLS] = np.float32(i % 50 * (k + 1))
            ptx.fence_proxy_async()
            ptx.mbarrier_arrive(ready[s])
    elif tid == 64:
        for k in range(tiles):
            s = k % 2
            ptx.mbarrier_wait_parity(ready[s], k // 2 % 2)
            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, buf[s])
            ptx.cp_async_bulk_commit_group()
            if k > 0:
                ptx.cp_async_bulk_wait_group_read(1)
                ptx.mbarrier_arrive(free[s ^ 1])
        ptx.cp_async_bulk_wait_group_read(0)


def _mbe() -> Case:
    out = blank(6 * ROWS, COLS)
    exp = np.concatenate([(np.arange(512) % 50 * (k + 1)).reshape(8, 64) for k in range(6)]).astype(np.float16)
    return Case(mb_epilogue, (tile_map(out), 6), lambda: np.array_equal(out, exp), block=96)


@kernel
def reduce_and_store(x, target, tiles):
    """Rows of x come by copies without a map and are added to the target by reductions: no thread touches them."""
    buf = cuda.shared.array((2, 256), np.int32, alignment=128)
    bar = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.mbarrier_init(bar[1], 1)
        for k in range(tiles):
            s = k % 2
            if k >= 2:
                ptx.cp_async_bulk_wait_group_read(1)
            ptx.mbarrier_arrive_expect_tx(bar[s], 1024)
            ptx.cp_async_bulk(buf[s], x[k], 1024, bar[s])
            ptx.mbarrier_wait_parity(bar[s], k // 2 % 2)
            ptx.cp_reduce_async_bulk_tensor_1d_add(target, 0, buf[s])
            ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


def _ras() -> Case:
    x = np.arange(5 * 256, dtype=np.int32).reshape(5, 256)
    out = np.zeros(256, np.int32)
    uo = out.view(np.uint32)
    tm = TensorMap.from_array(uo, (256,))
    return Case(reduce_and_store, (x, tm, 5), lambda: np.array_equal(out, x.sum(0)), block=32)


@kernel
def bulk_tail_store(y, n):
    """Bulk stores without a map; each warp's lane 0 stores its own part; the last one is shorter."""
    buf = cuda.shared.array((4, 64), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    warp = tid // 32
    lane = tid % 32
    start = warp * 64
    count = min(64, n - start)
    if count > 0:
        for i in range(lane, count, 32):
            buf[warp, i] = np.float32(start + i)
        ptx.fence_proxy_async()
        cuda.syncwarp()
        if lane == 0:
            ptx.cp_async_bulk_store(y[start:], buf[warp], count * 4)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)


def _bts() -> Case:
    y = np.zeros(256, np.float32)
    exp = np.where(np.arange(256) < 212, np.arange(256), 0).astype(np.float32)
    return Case(bulk_tail_store, (y, 212), lambda: np.array_equal(y, exp), block=128)


@kernel
def min_max(tmin, tmax, x):
    """Two reductions of one tile by one thread in two groups; the tile is loaded."""
    tile = cuda.shared.array((8, 16), np.int32, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 512)
        ptx.cp_async_bulk(tile, x[cta], 512, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.cp_reduce_async_bulk_tensor_2d_min(tmin, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_reduce_async_bulk_tensor_2d_max(tmax, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


def _mm() -> Case:
    rng = np.random.default_rng(0)
    x = rng.integers(-99, 99, (4, 8, 16)).astype(np.int32)
    lo, hi = np.full((8, 16), 1000, np.int32), np.full((8, 16), -1000, np.int32)
    return Case(
        min_max,
        (TensorMap.from_array(lo, (8, 16)), TensorMap.from_array(hi, (8, 16)), x),
        lambda: np.array_equal(lo, x.min(0)) and np.array_equal(hi, x.max(0)),
        block=32,
        grid=4,
    )


@kernel
def many_groups(target, tiles):
    """Every store a group of its own over four buffers; read 3 before reuse; a last full wait at another place."""
    buf = cuda.shared.array((4, 8, 64), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(tiles):
        if tid == 0 and k >= 4:
            ptx.cp_async_bulk_wait_group_read(3)
        cuda.syncwarp()
        for r in range(8):
            buf[k % 4, r, tid] = np.float32(k)
            buf[k % 4, r, tid + 32] = np.float32(-k)
        ptx.fence_proxy_async()
        cuda.syncwarp()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * 8, buf[k % 4])
            ptx.cp_async_bulk_commit_group()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


def _mg() -> Case:
    out = blank(72, 64)
    exp = np.repeat(np.arange(9), 8)[:, None] * np.where(np.arange(64) < 32, 1, -1)
    return Case(many_groups, (tile_map(out), 9), lambda: np.array_equal(out, exp.astype(np.float16)), block=32)


CASES: Cases = {
    "three_buffers": _three,
    "mb_epilogue": _mbe,
    "reduce_and_store": _ras,
    "bulk_tail_store": _bts,
    "min_max": _mm,
    "many_groups": _mg,
}
