"""Right kernels of products and of edited maps in unusual styles: ping-pong, half a result early, a map a group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tests.mutants.right.edited_maps import map_rows
from tmalab import Swizzle, device, kernel, ptx
from tmalab.kernels.gemm import bf16_map, float32, small_integers

BM, BN, BK = 64, 8, 64  # the tile of C, and the columns of a stage
ROWS8 = 1024  # bytes of 8 rows with the 128B swizzle


@device
def keep(acc, c, thread, first):
    """The accumulator of a warpgroup to c, from row `first` on; `thread` 0 to 127 of it."""
    row = first + thread // 32 * 16 + thread % 32 // 4
    for i in range(4):
        c[row + i // 2 * 8, thread % 4 * 2 + i % 2] = acc[i]


@kernel
def grouped(maps, scratch, x, out, groups):
    """Grouped GEMM's maps in small: a producer warp edits its map in shared memory for each group, writes it back, and
    loads through it; consumers copy out. Two maps, so that the next edit need not wait for the load."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    mine = cuda.shared.array(128, np.uint8, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 32)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid >= 32:
        lane = tid - 32
        for i in range(4):
            mine[4 * lane + i] = maps[0, 4 * lane + i]
        cuda.syncwarp()
        for k in range(groups):
            s = k % 2
            ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)
            if lane == 0:
                ptx.tensormap_replace_global_address_shared_cta(mine, x[k * ROWS :])
            cuda.syncwarp()
            ptx.tensormap_cp_fenceproxy(scratch[s], mine)
            cuda.syncwarp()
            if lane == 0:
                ptx.fence_proxy_tensormap_acquire(scratch[s])
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], scratch[s], 0, 0, full[s])
            cuda.syncwarp()
    else:
        for k in range(groups):
            s = k % 2
            ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            ptx.mbarrier_arrive(empty[s])


@kernel
def ping_pong_groups(a_map, b_map, c, tiles):
    """CUTLASS's ping-pong: two consumer warpgroups take tiles in turn, in order by named barriers; a producer warp."""
    a = cuda.shared.array((2, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    once = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 256:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.mbarrier_init(once, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid >= 256:
        if tid == 256:
            ptx.mbarrier_arrive_expect_tx(once, BN * BK * 2)
            ptx.cp_async_bulk_tensor_2d(b, b_map, 0, 0, once)
            for k in range(tiles):
                s = k % 2
                ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], BM * BK * 2)
                ptx.cp_async_bulk_tensor_2d(a[s], a_map, 0, k * BM, full[s])
    else:
        group = tid // 128
        ptx.mbarrier_wait_parity(once, 0)
        if group == 1:
            ptx.barrier_arrive(1, 256)
        for k in range(group, tiles, 2):
            s = k % 2
            ptx.barrier_sync(1 + group, 256)
            ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
            da = ptx.wgmma_descriptor(a[s], Swizzle.B128, ROWS8)
            db = ptx.wgmma_descriptor(b, Swizzle.B128, ROWS8)
            acc = ptx.wgmma_zero_8()
            ptx.wgmma_fence()
            for i in range(4):
                acc = ptx.wgmma_m64n8k16_f32_bf16(acc, da + 2 * i, db + 2 * i, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0)
            if k + 1 < tiles:
                ptx.barrier_arrive(2 - group, 256)
            if tid % 128 == 0:
                ptx.mbarrier_arrive(empty[s])
            keep(acc, c, tid % 128, k * BM)


@kernel
def top_first(a_map, b_map, c, steps):
    """The top half is written out while the bottom's wgmmas may still run: wait_group 1 covers the older group."""
    a = cuda.shared.array((2, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.mbarrier_arrive_expect_tx(full, (2 * BM + BN) * BK * 2)
        ptx.cp_async_bulk_tensor_2d(a[0], a_map, 0, 0, full)
        ptx.cp_async_bulk_tensor_2d(a[1], a_map, 0, BM, full)
        ptx.cp_async_bulk_tensor_2d(b, b_map, 0, 0, full)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full, 0)
    top = ptx.wgmma_zero_8()
    bottom = ptx.wgmma_zero_8()
    d0 = ptx.wgmma_descriptor(a[0], Swizzle.B128, ROWS8)
    d1 = ptx.wgmma_descriptor(a[1], Swizzle.B128, ROWS8)
    db = ptx.wgmma_descriptor(b, Swizzle.B128, ROWS8)
    ptx.wgmma_fence()
    for i in range(4):
        top = ptx.wgmma_m64n8k16_f32_bf16(top, d0 + 2 * i, db + 2 * i, 1)
    ptx.wgmma_commit_group()
    for i in range(4):
        bottom = ptx.wgmma_m64n8k16_f32_bf16(bottom, d1 + 2 * i, db + 2 * i, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(1)
    keep(top, c, tid, 0)
    ptx.wgmma_wait_group(0)
    keep(bottom, c, tid, BM)


@kernel
def acquired_for_all(maps, out):
    """One thread acquires the host's map, syncthreads, another one loads through it (CUDA programming guide)."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_proxy_tensormap_acquire_sys(maps[0])
    cuda.syncthreads()
    if tid == 32:
        ptx.mbarrier_arrive_expect_tx(full, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, maps[0], 0, 8, full)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, 64):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def _grouped() -> Case:
    x, out, expected = NARROW.copy(), blank(64, COLS), blank(64, COLS)
    expected[: 5 * ROWS] = NARROW[: 5 * ROWS]
    args = map_rows([tile_map(x)]), blank(2, 128, dtype=np.uint8), x, out, 5
    return Case(grouped, args, lambda: np.array_equal(out, expected), block=64)


def _product(made: Any, tiles: int, block: int, after: int) -> Case:
    a, b = small_integers(tiles * BM, BK, 1), small_integers(BN, BK, 2)
    c, expected = np.zeros((tiles * BM, BN), np.float32), float32(a) @ float32(b).T
    args = bf16_map(a, BM, BK), bf16_map(b, BN, BK), c, after
    return Case(made, args, lambda: np.array_equal(c, expected), block=block)


def _acquired() -> Case:
    return gives(acquired_for_all, blank(8, COLS), NARROW[8:16], map_rows([tile_map(NARROW.copy())]), block=64)


CASES: Cases = {
    "grouped": _grouped,
    "ping_pong_groups": lambda: _product(ping_pong_groups, 5, 288, 5),
    "top_first": lambda: _product(top_first, 2, 128, 1),
    "acquired_for_all": _acquired,
}
