"""Micro-benchmarks of words of 4 bytes that as many threads as an SM has room for read and write, in the L2 cache."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.timing.micro.benchmark import EVENT, Benchmark

ENOUGH = 18 << 20  # bytes, of which 132 SMs read 17 MiB in the longer of two launches, each word once: L1 never has it


@kernel
def word_reads(out, turns, start, source, limit):
    """Reads, each of other words."""
    at = start + cuda.grid(1)
    width = cuda.gridsize(1)
    total = 0
    read = at
    for _ in range(turns):
        total += source[read]
        read += width
        if read >= limit:
            read = at
    if total == 1:
        out[1] = 1


@kernel
def word_writes(out, turns, start, target, limit):
    """Writes, each of other words."""
    at = start + cuda.grid(1)
    width = cuda.gridsize(1)
    written = at
    for i in range(turns):
        target[written] = i
        written += width
        if written >= limit:
            written = at


@kernel
def word_copies(out, turns, start, source, target, limit):
    """Both: each word that is read is written."""
    at = start + cuda.grid(1)
    width = cuda.gridsize(1)
    read = at
    for _ in range(turns):
        target[read] = source[read]
        read += width
        if read >= limit:
            read = at


def _words(memory: int) -> tuple[np.ndarray, int]:
    return np.zeros(memory // 4, np.int32), memory // 4


def _two_words(memory: int) -> tuple[np.ndarray, np.ndarray, int]:
    return np.zeros(memory // 4, np.int32), *_words(memory)


WORDS = (
    Benchmark("word_reads", word_reads, 8, EVENT, 1024, grid=0, ctas=2, data=_words, memory=ENOUGH),
    Benchmark("word_writes", word_writes, 8, EVENT, 1024, grid=0, ctas=2, data=_words, memory=ENOUGH),
    Benchmark("word_copies", word_copies, 8, EVENT, 1024, grid=0, ctas=2, data=_two_words, memory=ENOUGH),
)
