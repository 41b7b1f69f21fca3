"""Micro-benchmarks of words of 4 bytes that as many threads as an SM has room for read and write, in the L2 cache."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.timing.micro.benchmark import EVENT, Benchmark

CTAS = 2  # of 1,024 threads for each SM
ENOUGH = 18 << 20  # bytes, of which 132 SMs read 17 MiB in the longer of two launches, each word once: L1 never has it


@kernel
def word_copies(out, turns, start, source, target, limit):
    """Words that are read and written, each of them others."""
    at = start + cuda.grid(1)
    width = cuda.gridsize(1)
    read = at
    for _ in range(turns):
        target[read] = source[read]
        read += width
        if read >= limit:
            read = at


def _words(memory: int) -> tuple[np.ndarray, np.ndarray, int]:
    return np.zeros(memory // 4, np.int32), np.zeros(memory // 4, np.int32), memory // 4


WORDS = (Benchmark("word_copies", word_copies, 8, EVENT, 1024, grid=0, ctas=CTAS, data=_words, memory=ENOUGH),)
