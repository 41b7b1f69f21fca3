"""Tiles that warps move by ldmatrix and stmatrix, as epilogues do, and im2col loads in a ring."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import DataType, TensorMap, kernel, ptx

STAGES = 2
TAPS = 3
COLUMN = 8 * 8 * 2  # bytes of 8 pixels of 8 channels of fp16


@kernel
def loaded_by_matrices(tensor_map, out):
    """Each of two warps waits for the tile, takes half of its 8x8 matrices by ldmatrix, and turns them."""
    tile = cuda.shared.array((ROWS, COLS), np.uint16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    warp, lane = tid // 32, tid % 32
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    pairs = ptx.ldmatrix_x4_trans(tile[lane % 8, (warp * 4 + lane // 8) * 8 :])
    for m in range(4):
        out[(warp * 4 + m) * 8 + lane // 4, lane % 4 * 2] = pairs[m] & 0xFFFF
        out[(warp * 4 + m) * 8 + lane // 4, lane % 4 * 2 + 1] = pairs[m] >> 16


@kernel
def epilogue_by_matrices(out_map, tiles):
    """Each warp writes its tile by stmatrix, fences, and an elected lane stores it after syncwarp; before the tile is
    written anew, that lane has waited until it was read."""
    tile = cuda.shared.array((2, ROWS, 32), np.uint16, alignment=128)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    for k in range(tiles):
        first = np.uint32(k * 64 + warp * 32 + lane)
        ptx.stmatrix_x4(tile[warp, lane % 8, lane // 8 * 8 :], first, first + 1, first + 2, first + 3)
        ptx.fence_proxy_async()
        cuda.syncwarp()
        if lane == 0:
            ptx.cp_async_bulk_tensor_2d_store(out_map, warp * 32, k * ROWS, tile[warp])
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()


@kernel
def loaded_turned_stored(source, target, tiles):
    """A ring of two stages: a warp loads; a second one takes 8x8 matrices by ldmatrix, gives the stage back, puts them
    turned into a buffer by stmatrix, and stores that."""
    stages = cuda.shared.array((STAGES, 8, 8), np.uint16, alignment=128)
    turned = cuda.shared.array((STAGES, 8, 8), np.uint16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    if warp == 0 and lane == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
    cuda.syncthreads()
    if warp == 0:
        if ptx.elect_sync():
            for k in range(tiles):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], 128)
                ptx.cp_async_bulk_tensor_2d(stages[s], source, 0, k * 8, full[s])
    else:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            pair = ptx.ldmatrix_x1(stages[s, lane % 8, 0:])
            cuda.syncwarp()
            if lane == 0:
                ptx.mbarrier_arrive(empty[s])
                ptx.cp_async_bulk_wait_group_read(1)
            cuda.syncwarp()
            ptx.stmatrix_x1_trans(turned[s, lane % 8, 0:], pair)
            ptx.fence_proxy_async_shared_cta()
            cuda.syncwarp()
            if lane == 0:
                ptx.cp_async_bulk_tensor_2d_store(target, 0, k * 8, turned[s])
                ptx.cp_async_bulk_commit_group()
        if lane == 0:
            ptx.cp_async_bulk_wait_group(0)


@kernel
def convolution(image, weights, out, rows):
    """Implicit GEMM in small: a ring of stages, each the columns of pixels under one tap of the filter, by im2col; the
    consumers add them up, weighted."""
    stages = cuda.shared.array((STAGES, 8, 8), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
    cuda.syncthreads()
    if tid == 64:
        for k in range(rows * TAPS):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], COLUMN)
            ptx.cp_async_bulk_tensor_3d_im2col(stages[s], image, 0, 0, k // TAPS, full[s], k % TAPS)
    elif tid < 64:
        for n in range(rows):
            total = np.float32(0)
            for t in range(TAPS):
                k = n * TAPS + t
                ptx.mbarrier_wait_parity(full[k % STAGES], (k // STAGES) % 2)
                total += np.float32(stages[k % STAGES, tid // 8, tid % 8]) * weights[t]
                cuda.syncwarp()
                if tid % 32 == 0:
                    ptx.mbarrier_arrive(empty[k % STAGES])
            out[n, tid // 8, tid % 8] = total


def _loaded() -> Case:
    x = NARROW[:ROWS].view(np.uint16)
    blocks = x.reshape(8, 8, 8).transpose(1, 2, 0).reshape(64, 8)  # each 8x8 matrix turned, one below the other
    return gives(loaded_by_matrices, blank(64, 8, dtype=np.uint16), blocks, tile_map(x.copy()), block=64)


def _epilogue(tiles: int) -> Case:
    out, expected = blank(4 * ROWS, 64, dtype=np.uint16), blank(4 * ROWS, 64, dtype=np.uint16)
    for k in range(tiles):
        for warp in range(2):
            for lane in range(32):
                for m in range(4):  # the low half holds the number, the high half is zero
                    expected[k * ROWS + lane // 4, warp * 32 + m * 8 + lane % 4 * 2] = k * 64 + warp * 32 + lane + m
    args = TensorMap.from_array(out, (ROWS, 32)), tiles
    return Case(epilogue_by_matrices, args, lambda: np.array_equal(out, expected), block=64)


def _turned(tiles: int) -> Case:
    x = np.ascontiguousarray(NARROW[:, :8]).view(np.uint16)
    out, expected = np.zeros_like(x), np.zeros_like(x)
    expected[: tiles * 8] = x[: tiles * 8].reshape(tiles, 8, 8).transpose(0, 2, 1).reshape(-1, 8)
    args = TensorMap.from_array(x, (8, 8)), TensorMap.from_array(out, (8, 8)), tiles
    return Case(loaded_turned_stored, args, lambda: np.array_equal(out, expected), block=64)


def _convolution(rows: int) -> Case:
    image = (np.arange(4 * 10 * 8) % 31).astype(np.float16).reshape(4, 10, 8)  # images, pixels, channels
    columns = TensorMap.im2col(DataType.FLOAT16, 0x1000, (8, 10, 4), (16, 160), (0,), (-2,), 8, 8).bind(image)
    weights = np.array([1, 2, 4], np.float32)
    out, expected = blank(4, 8, 8, dtype=np.float32), blank(4, 8, 8, dtype=np.float32)
    for n in range(rows):
        expected[n] = sum(weights[t] * image[n, t : t + 8].astype(np.float32) for t in range(TAPS))
    return gives(convolution, out, expected, columns, weights, after=(rows,), block=96)


CASES: Cases = {
    "loaded_by_matrices": _loaded,
    "epilogue_by_matrices, 1 tiles": lambda: _epilogue(1),
    "epilogue_by_matrices, 3 tiles": lambda: _epilogue(3),
    "loaded_turned_stored, 1 tiles": lambda: _turned(1),
    "loaded_turned_stored, 5 tiles": lambda: _turned(5),
    "convolution, 1 rows": lambda: _convolution(1),
    "convolution, 3 rows": lambda: _convolution(3),
}
