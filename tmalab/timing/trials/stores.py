"""Trials of stores that overlap with work: a tile is written by threads while the one before is still on its way."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.launch import Kernel
from tmalab.timing.trials.trial import Launching, Trial, trial

WORDS = 32  # int32 in a row of 128 bytes
SMS = 132
BLOCK = 128


@cache
def filled_tiles(rows: int, buffers: int) -> Kernel:
    """Threads fill one buffer after the other, and one of them stores it; with two, the store before goes on."""
    pending = buffers - 1

    @kernel
    def fill(target, turns):
        tiles = cuda.shared.array((buffers, rows, WORDS), np.int32, alignment=128)
        tid = cuda.threadIdx.x
        buffer = 0
        for turn in range(turns):
            if tid == 0:
                ptx.cp_async_bulk_wait_group_read(pending)
            cuda.syncthreads()
            for i in range(tid, rows * WORDS, BLOCK):
                tiles[buffer, i // WORDS, i % WORDS] = turn
            ptx.fence_proxy_async_shared_cta()
            cuda.syncthreads()
            if tid == 0:
                row = (turn * cuda.gridDim.x + cuda.blockIdx.x) * rows
                ptx.cp_async_bulk_tensor_2d_store(target, 0, row, tiles[buffer])
                ptx.cp_async_bulk_commit_group()
            buffer += 1
            if buffer == buffers:
                buffer = 0
        if tid == 0:
            ptx.cp_async_bulk_wait_group(0)

    return fill


def launch_stores(rows: int, buffers: int, turns: int) -> Launching:
    """One CTA an SM, so many tiles each."""
    target = TensorMap.from_array(np.zeros((SMS * turns * rows, WORDS), np.int32), (rows, WORDS))
    return Launching(filled_tiles(rows, buffers), (SMS, 1, 1), BLOCK, (target, turns), along="turns")


STORES: tuple[Trial, ...] = tuple(
    trial(launch_stores, "stores", rows=rows, buffers=buffers, turns=turns)
    for rows, turns in ((32, 64), (64, 64), (128, 64), (64, 512))
    for buffers in (1, 2)
)
