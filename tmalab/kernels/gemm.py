"""What the matrix products of this folder share: the epilogue, and matrices to try them with.

All of them compute C = A B' from bf16 matrices whose rows run along K: A of (m, k), B of (n, k), C of (m, n); bf16 is
kept as uint16. Sizes need not be multiples of the tile: what lies outside is loaded as zeros and not stored.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import DataType, L2Promotion, Swizzle, TensorMap, device, ptx
from tmalab.kernels.command import Shown
from tmalab.run import Run

NEXT_K = 2  # the next 16 columns in a descriptor, which counts 16 bytes
BYTES_8_ROWS = 1024  # of 128 bytes, the span of the 128B swizzle
PART = 64  # columns of C that a warp stages at once: 128 bytes of bf16, the swizzle's span
WARP_ROWS = 16  # of an accumulator's 64 rows


@device
def store_accumulator(acc, registers, c, row, column, thread):
    """Store the 64 rows that a warpgroup has accumulated to `c`, from (row, column) on; `thread` 0 to 127 of it."""
    row += thread // 32 * 16 + thread % 32 // 4
    column += thread % 4 * 2
    for i in range(registers):
        r = row + i // 2 % 2 * 8
        j = column + i // 4 * 8 + i % 2
        if r < c.shape[0] and j < c.shape[1]:
            c[r, j] = ptx.cvt_rn_bf16_f32(acc[i])


@device
def place_of(tile, rows, columns, group):
    """Row and column of a tile: down `group` rows, then one column on, so that tiles at work share what L2 holds."""
    first = tile // (group * columns) * group
    inside = tile - first * columns
    height = max(min(rows - first, group), 1)  # also of a tile past the last, which is asked for and not used
    column = inside // height
    return first + inside - column * height, column


@device
def store_part(acc, first, staging, c_map, x, y, lane):
    """Store 64 columns of a warp's 16 rows to C at (x, y): 32 registers from `first` on, through `staging` (16, 64).

    stmatrix writes them where the 128B swizzle wants them; a TMA store takes them from there while the warp goes on.
    The store before the last one has left its staging when the next part is written: two of them take turns.
    """
    if lane == 0:
        ptx.cp_async_bulk_wait_group_read(1)
    cuda.syncwarp()
    row = lane % 16
    for pair in range(4):  # of 8x8 matrices, side by side; of each the upper and the lower half
        i = first + pair * 8
        chunk = (2 * pair + lane // 16) ^ (row % 8)
        ptx.stmatrix_x4(
            staging[row, 8 * chunk :],
            ptx.cvt_rn_bf16x2_f32(acc[i + 1], acc[i]),
            ptx.cvt_rn_bf16x2_f32(acc[i + 3], acc[i + 2]),
            ptx.cvt_rn_bf16x2_f32(acc[i + 5], acc[i + 4]),
            ptx.cvt_rn_bf16x2_f32(acc[i + 7], acc[i + 6]),
        )
    ptx.fence_proxy_async_shared_cta()
    cuda.syncwarp()
    if lane == 0:
        ptx.cp_async_bulk_tensor_2d_store(c_map, x, y, staging)
        ptx.cp_async_bulk_commit_group()


def bf16(x: np.ndarray) -> np.ndarray:
    """The bits of the nearest bf16 numbers, as uint16; x is finite."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


def float32(bits: np.ndarray) -> np.ndarray:
    """The numbers that bf16 bits stand for."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def bf16_map(matrix: np.ndarray, rows: int, columns: int) -> TensorMap:
    """The map of a bf16 matrix in tiles of (rows, columns), with the swizzle that the descriptors name."""
    hint = L2Promotion.B256  # what memory is read in anyway, when the next tile's columns are wanted next
    return TensorMap.from_array(
        matrix, (rows, columns), swizzle=Swizzle.B128, data_type=DataType.BFLOAT16, l2_promotion=hint
    )


def small_integers(rows: int, columns: int, seed: int) -> np.ndarray:
    """A bf16 matrix of -1, 0 and 1: sums of some hundred products of them are exact, in any order."""
    return bf16(np.random.default_rng(seed).integers(-1, 2, (rows, columns)))


def shown(name: str, run: Run, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Shown:
    """A product of small integers with what it has to be."""
    (m, k), n = a.shape, len(b)
    return f"{name}, {m} x {n} x {k}", run, c, bf16(float32(a) @ float32(b).T)
