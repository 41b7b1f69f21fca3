"""Trials of reads down the columns of a tile: with a swizzle they are spread over the banks, without they conflict."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.launch import Kernel
from tmalab.timing.trials.trial import Launching, Trial, trial

WORDS, ROWS = 32, 64  # int32 in a row of 128 bytes; rows of a tile
BYTES = ROWS * WORDS * 4
SMS = 132


@cache
def column_sums(swizzled: int, passes: int, stages: int) -> Kernel:
    """Each tile is read `passes` times, a warp's lanes going down a column of 32 rows; every thread keeps a sum."""
    chunks = 7 if swizzled else 0  # of 16 bytes: what is XORed with the row

    @kernel
    def sums(source, out, turns):
        tiles = cuda.shared.array((stages, ROWS, WORDS), np.int32, alignment=1024)
        full = ptx.mbarrier_array(stages)
        tid = cuda.threadIdx.x
        first = cuda.blockIdx.x * ROWS
        step = cuda.gridDim.x * ROWS
        if tid == 0:
            for stage in range(stages):
                ptx.mbarrier_init(full[stage], 1)
            ptx.fence_mbarrier_init()
            for turn in range(min(stages, turns)):
                ptx.mbarrier_arrive_expect_tx(full[turn], BYTES)
                ptx.cp_async_bulk_tensor_2d(tiles[turn], source, 0, first + turn * step, full[turn])
        cuda.syncthreads()
        total = 0
        row = tid % ROWS
        stage = 0
        parity = 0
        for turn in range(turns):
            ptx.mbarrier_wait_parity(full[stage], parity)
            for i in range(passes):
                column = (tid // ROWS + i) % WORDS
                total += tiles[stage, row, column ^ ((row & chunks) * 4)]
            cuda.syncthreads()
            if tid == 0 and turn + stages < turns:
                ptx.mbarrier_arrive_expect_tx(full[stage], BYTES)
                ptx.cp_async_bulk_tensor_2d(tiles[stage], source, 0, first + (turn + stages) * step, full[stage])
            stage += 1
            if stage == stages:
                stage = 0
                parity ^= 1
        out[cuda.grid(1)] = total

    return sums


def launch_columns(swizzled: int, passes: int, turns: int, stages: int, block: int) -> Launching:
    """One CTA an SM, so many tiles each."""
    tensor = np.ones((SMS * turns * ROWS, WORDS), np.int32)
    swizzle = Swizzle.B128 if swizzled else Swizzle.NONE
    source = TensorMap.from_array(tensor, (ROWS, WORDS), swizzle=swizzle)
    args = source, np.zeros(SMS * block, np.int32), turns
    return Launching(column_sums(swizzled, passes, stages), (SMS, 1, 1), block, args, along="turns")


COLUMNS: tuple[Trial, ...] = tuple(
    trial(launch_columns, "columns", swizzled=swizzled, passes=passes, turns=256, stages=stages, block=block)
    for swizzled in (0, 1)
    for passes, stages, block in ((4, 4, 128), (16, 4, 128), (32, 2, 256), (32, 4, 256), (32, 4, 512))
)
