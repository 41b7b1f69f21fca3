"""Micro-benchmarks of launches: what a kernel costs that does nothing, and how CTAs follow each other on an SM."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.timing.micro.benchmark import EVENT, WAVES, Benchmark

SLEEPER_BYTES = 200 * 1024  # of shared memory: so that no two CTAs fit on an SM


@kernel
def meetings(out, turns, start):
    """CTAs that meet once, many of which fit on an SM."""
    cuda.syncthreads()


@kernel
def nothing(out, turns, start):
    """A launch that does nothing."""


@kernel
def sleepers(out, turns, start):
    """CTAs that do nothing but meet, with so much shared memory that an SM has room for one."""
    tile = cuda.shared.array(SLEEPER_BYTES, np.uint8)
    if turns < 0:
        tile[cuda.threadIdx.x] = 1
    cuda.syncthreads()
    if turns < 0:
        out[0] = tile[0]


LAUNCHES = (
    Benchmark("launch", nothing, 0, EVENT),
    Benchmark("cta_start", sleepers, 8, WAVES),
    Benchmark("cta_launch", meetings, 8, WAVES, block=256),
)
