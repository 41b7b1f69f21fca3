"""Stores that are read again, reduced into, or reuse the bytes of a load."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, tile_map
from tmalab import Swizzle, TensorMap, kernel, ptx


@kernel
def store_then_read_all(target, out, y):
    """Store, full wait, syncthreads, then all read global; afterwards the buffer is written again without a wait."""
    buf = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, 64):
        buf[i // COLS, i % COLS] = np.float32(i % 64)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 5:
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, buf)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, 64):
        y[i] = np.float32(out[i // COLS, i % COLS]) + np.float32(1)
        buf[i // COLS, i % COLS] = np.float32(0)


def _store_read() -> Case:
    out = blank(ROWS, COLS)
    y = np.zeros(512, np.float32)
    return Case(
        store_then_read_all, (tile_map(out), out, y), lambda: np.array_equal(y, np.arange(512) % 64 + 1), block=64
    )


@kernel
def transpose_out(tm, target):
    """Load, transpose within registers and shared memory, store; swizzled on both sides by hand."""
    a = cuda.shared.array((8, 64), np.float16, alignment=1024)
    b = cuda.shared.array((64, 8), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(a, tm, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, 512, 64):
        r = i // 64
        c = i % 64
        b[c, r] = a[r, ((c // 8) ^ r) * 8 + c % 8]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 33:
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, b)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


def _tr() -> Case:
    out = blank(64, 8)
    return Case(
        transpose_out,
        (TensorMap.from_array(NARROW, (8, 64), Swizzle.B128), TensorMap.from_array(out, (64, 8))),
        lambda: np.array_equal(out, NARROW[:8].T),
        block=64,
    )


@kernel
def alias_buffer(tm, target):
    """The same shared bytes are first a loaded tile, then the output tile (a view of one array)."""
    room = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    src = room[1]
    dst = room[1]
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(src, tm, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    v = np.float32(src[tid // 8, tid % 8])
    cuda.syncthreads()
    dst[tid // 8, tid % 8 + 8] = v
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, dst)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


def _alias() -> Case:
    out = blank(ROWS, COLS)
    exp = NARROW[:8].copy()
    exp[:, 8:16] = NARROW[:8, :8]
    return Case(alias_buffer, (tile_map(NARROW), tile_map(out)), lambda: np.array_equal(out, exp), block=64)


@kernel
def accumulate_f32(target, rounds):
    """A warp writes a tile, adds it to global by reduction, waits for the source only, writes again; others too."""
    buf = cuda.shared.array((2, 8, 32), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    warp = tid // 32
    lane = tid % 32
    for k in range(rounds):
        for r in range(8):
            buf[warp, r, lane] = np.float32(r + lane + k)
        ptx.fence_proxy_async_shared_cta()
        cuda.syncwarp()
        if ptx.elect_sync():
            ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, buf[warp])
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()


def _acc() -> Case:
    out = np.zeros((8, 32), np.float32)
    exp = sum(2 * (np.arange(8)[:, None] + np.arange(32) + k) for k in range(3)).astype(np.float32)
    return Case(accumulate_f32, (TensorMap.from_array(out, (8, 32)), 3), lambda: np.array_equal(out, exp), block=64)


@kernel
def global_to_tma(x, tm, out):
    """Threads write global memory, fence.proxy.async.global by each, syncthreads, one loads it by TMA."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    for r in range(8):
        x[r, tid] = np.float32(r * 64 + tid)
    ptx.fence_proxy_async_global()
    cuda.syncthreads()
    if tid == 32:
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tm, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for r in range(8):
        out[r, tid] = tile[r, 63 - tid]


def _gt() -> Case:
    x = blank(8, 64)
    out = blank(8, 64)
    exp = np.arange(512).reshape(8, 64)[:, ::-1].astype(np.float16)
    return Case(global_to_tma, (x, tile_map(x), out), lambda: np.array_equal(out, exp), block=64)


CASES: Cases = {
    "store_then_read_all": _store_read,
    "transpose_out": _tr,
    "alias_buffer": _alias,
    "accumulate_f32": _acc,
    "global_to_tma": _gt,
}
