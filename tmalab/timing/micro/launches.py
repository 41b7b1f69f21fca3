"""Micro-benchmarks of launches: what a kernel costs that does nothing, and how CTAs follow each other on an SM."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.timing.micro.benchmark import EVENT, WAVES, Benchmark

SLEEPER_BYTES = 200 * 1024  # of shared memory: so that no two CTAs fit on an SM
HOPS = 128  # some 3 us of reads that wait for each other: until all CTAs that fit on an SM have started


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


@kernel
def starters(out, turns, start):
    """CTAs that all fit on their SMs, and live until the last of them has started."""
    tile = cuda.shared.array(32, np.int32)
    if cuda.threadIdx.x == 0:
        tile[0] = start
        at = start
        for _ in range(HOPS):
            at = tile[at]
        if at == 1:
            out[1] = 1
    cuda.syncthreads()


LAUNCHES = (
    Benchmark("launch", nothing, 0, EVENT),
    Benchmark("launch_all", nothing, 0, EVENT, 1024, grid=0),
    Benchmark("cta_start", sleepers, 8, WAVES),
    Benchmark("cta_start_32_warps", sleepers, 8, WAVES, block=1024),
    Benchmark("cta_launch", meetings, 8, WAVES, block=256),
    Benchmark("start_1_warp", starters, 8, WAVES),
    Benchmark("start_4_warps", starters, 8, WAVES, block=128),
    Benchmark("start_16_warps", starters, 2, WAVES, block=512),
)
