"""What the matrix products of this folder share: the epilogue, and matrices to try them with.

All of them compute C = A B' from bf16 matrices whose rows run along K: A of (m, k), B of (n, k), C of (m, n); bf16 is
kept as uint16. Sizes need not be multiples of the tile: what lies outside is loaded as zeros and not stored.
"""

from __future__ import annotations

import numpy as np

from tmalab import DataType, Swizzle, TensorMap, device, ptx
from tmalab.kernels.command import Shown
from tmalab.run import Run

NEXT_K = 2  # the next 16 columns in a descriptor, which counts 16 bytes
BYTES_8_ROWS = 1024  # of 128 bytes, the span of the 128B swizzle


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


def bf16(x: np.ndarray) -> np.ndarray:
    """The bits of the nearest bf16 numbers, as uint16; x is finite."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return (bits + 0x7FFF + (bits >> 16 & 1) >> 16).astype(np.uint16)


def float32(bits: np.ndarray) -> np.ndarray:
    """The numbers that bf16 bits stand for."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def bf16_map(matrix: np.ndarray, rows: int, columns: int) -> TensorMap:
    """The map of a bf16 matrix in tiles of (rows, columns), with the swizzle that the descriptors name."""
    return TensorMap.from_array(matrix, (rows, columns), swizzle=Swizzle.B128, data_type=DataType.BFLOAT16)


def small_integers(rows: int, columns: int, seed: int) -> np.ndarray:
    """A bf16 matrix of -1, 0 and 1: sums of some hundred products of them are exact, in any order."""
    return bf16(np.random.default_rng(seed).integers(-1, 2, (rows, columns)))


def shown(name: str, run: Run, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Shown:
    """A product of small integers with what it has to be."""
    (m, k), n = a.shape, len(b)
    return f"{name}, {m} x {n} x {k}", run, c, bf16(float32(a) @ float32(b).T)
