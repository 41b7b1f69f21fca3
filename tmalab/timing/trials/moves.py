"""Trials of copies: by the copy engine through a ring of stages, and by threads one word at a time."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.launch import Kernel
from tmalab.timing.trials.trial import Launching, Trial, trial

COLUMNS = 64  # 16-bit numbers in a row of 128 bytes
SMS = 132
MIB = 1 << 20


@cache
def ring_copy(rows: int, stages: int, ahead: int) -> Kernel:
    """Tiles into shared memory and out again. A stage is loaded anew `ahead` turns after its store began."""
    bytes = rows * COLUMNS * 2
    pending = ahead - 1

    @kernel
    def copy(source, target, turns):
        tiles = cuda.shared.array((stages, rows, COLUMNS), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(stages)
        if cuda.threadIdx.x == 0:
            for stage in range(stages):
                ptx.mbarrier_init(full[stage], 1)
            ptx.fence_mbarrier_init()
            first = cuda.blockIdx.x * rows
            step = cuda.gridDim.x * rows
            for turn in range(min(stages, turns)):
                ptx.mbarrier_arrive_expect_tx(full[turn], bytes)
                ptx.cp_async_bulk_tensor_2d(tiles[turn], source, 0, first + turn * step, full[turn])
            stage = 0
            parity = 0
            for turn in range(turns):
                ptx.mbarrier_wait_parity(full[stage], parity)
                ptx.cp_async_bulk_tensor_2d_store(target, 0, first + turn * step, tiles[stage])
                ptx.cp_async_bulk_commit_group()
                older = turn - pending
                if older >= 0 and older + stages < turns:
                    ptx.cp_async_bulk_wait_group_read(pending)
                    free = older % stages
                    ptx.mbarrier_arrive_expect_tx(full[free], bytes)
                    ptx.cp_async_bulk_tensor_2d(tiles[free], source, 0, first + (older + stages) * step, full[free])
                stage += 1
                if stage == stages:
                    stage = 0
                    parity ^= 1
            ptx.cp_async_bulk_wait_group(0)

    return copy


@kernel
def thread_copy(source, target, turns):
    """Each thread copies words of 4 bytes, a grid's width apart."""
    at = cuda.grid(1)
    width = cuda.gridsize(1)
    for _ in range(turns):
        target[at] = source[at]
        at += width


def launch_ring(mib: int, rows: int, stages: int) -> Launching:
    """Copy about so many MiB by one CTA an SM; stores are waited for one turn late where there are several stages."""
    turns = max(1, mib * MIB // (SMS * rows * COLUMNS * 2))
    tensors = [np.zeros((turns * SMS * rows, COLUMNS), np.uint16) for _ in range(2)]
    maps = [TensorMap.from_array(tensor, (rows, COLUMNS)) for tensor in tensors]
    made = ring_copy(rows, stages, 2 if stages > 1 else 1)
    return Launching(made, (SMS, 1, 1), 32, (*maps, turns), along="turns")


def launch_threads(mib: int, block: int, ctas: int) -> Launching:
    """The same by threads; `ctas` of them for each SM."""
    width = SMS * ctas * block
    turns = max(1, mib * MIB // (4 * width))
    source, target = (np.zeros(turns * width, np.int32) for _ in range(2))
    return Launching(thread_copy, (SMS * ctas, 1, 1), block, (source, target, turns), along="turns")


def _trials() -> list[Trial]:
    rings: list[dict[str, Any]] = [
        {"mib": mib, "rows": 64, "stages": stages} for stages in range(1, 7) for mib in (16, 512)
    ]
    rings += [{"mib": 512, "rows": rows, "stages": 4} for rows in (16, 32, 128, 256 - 64)]
    threads: list[dict[str, Any]] = [
        {"mib": mib, "block": block, "ctas": ctas}
        for block, ctas in ((128, 4), (256, 4), (256, 8))
        for mib in (16, 512)
    ]
    made = [trial(launch_ring, "ring copy", **settings) for settings in rings]
    return made + [trial(launch_threads, "thread copy", **settings) for settings in threads]


MOVES = tuple(_trials())
