"""Fragments: which elements of a matrix each thread of a warpgroup holds in its registers.

Warp w of the four has rows 16w to 16w + 15 of the 64. Of the accumulator, a lane has two neighbours in a row, two more
eight rows below, and the same again every eight columns; of A, the same in 16 columns, two elements to a register.

>>> place_of(thread=0, register=0), place_of(thread=0, register=3), place_of(thread=37, register=4)
((0, 0), (8, 1), (17, 10))

So the epilogue of a tile is a loop over the registers, the same in every thread::

    row, column = tid // 32 * 16 + tid % 32 // 4, tid % 4 * 2          # tid: 0 to 127
    for i in range(N // 2):
        out[row + i // 2 % 2 * 8, column + i // 4 * 8 + i % 2] = acc[i]

Source: PTX ISA, wgmma, register fragments.
"""

from __future__ import annotations

import numpy as np

ROWS = 64  # of one wgmma
THREADS = 128  # of a warpgroup


def place_of(thread: int, register: int) -> tuple[int, int]:
    """The row and column of an accumulator's register in a thread (0 to 127) of the warpgroup."""
    warp, lane = divmod(thread, 32)
    return warp * 16 + lane // 4 + register // 2 % 2 * 8, register // 4 * 8 + lane % 4 * 2 + register % 2


def registers_of(matrix: np.ndarray) -> np.ndarray:
    """The accumulator's registers of each thread: (64, N) to (128, N / 2).

    >>> registers_of(np.arange(64 * 8).reshape(64, 8))[1].tolist()
    [2, 3, 66, 67]
    """
    columns = matrix.shape[1] // 8
    return matrix.reshape(4, 2, 8, columns, 4, 2).transpose(0, 2, 4, 3, 1, 5).reshape(THREADS, columns * 4)


def matrix_of(registers: np.ndarray) -> np.ndarray:
    """The matrix in the registers of the threads: (128, N / 2) to (64, N). The inverse of `registers_of`."""
    columns = registers.shape[1] // 4
    return registers.reshape(4, 8, 4, columns, 2, 2).transpose(0, 4, 1, 3, 2, 5).reshape(ROWS, columns * 8)


def a_of(words: np.ndarray) -> np.ndarray:
    """Operand A from registers: uint32 (128, 4), two 16-bit elements to a word, the first in the low half, to (64, 16).

    >>> a_of(np.arange(128 * 4, dtype=np.uint32).reshape(128, 4))[0, :10:2].tolist()    # thread 0 to 3, then 0 again
    [0, 4, 8, 12, 2]
    """
    halves = np.ascontiguousarray(words, np.uint32).view(np.uint16).reshape(THREADS, 8)
    return matrix_of(halves)
