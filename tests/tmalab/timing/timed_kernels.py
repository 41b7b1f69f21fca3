"""Small kernels whose times tests add up by hand."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx

ROWS, COLUMNS = 64, 64  # of uint16: 8 KiB
BYTES = ROWS * COLUMNS * 2
STAGES = 2


def tensor_map(tiles=8, rows=ROWS):
    tensor = np.arange(tiles * rows * COLUMNS, dtype=np.int64).astype(np.uint16).reshape(-1, COLUMNS)
    return TensorMap.from_array(tensor, (rows, COLUMNS))


@kernel
def one_load(source):
    tile = cuda.shared.array((ROWS, COLUMNS), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, source, 0, 0, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)


@kernel
def two_loads(source):
    tile = cuda.shared.array((2, ROWS, COLUMNS), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * BYTES)
        ptx.cp_async_bulk_tensor_2d(tile[0], source, 0, 0, full[0])
        ptx.cp_async_bulk_tensor_2d(tile[1], source, 0, ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)


@kernel
def ring(source, out, turns):
    """A warp that loads into stages, and one that reads a word of each and gives it back."""
    tile = cuda.shared.array((STAGES, ROWS, COLUMNS), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for stage in range(STAGES):
            ptx.mbarrier_init(full[stage], 1)
            ptx.mbarrier_init(empty[stage], 1)
    cuda.syncthreads()
    stage = 0
    parity = 0
    if tid == 0:
        for turn in range(turns):
            ptx.mbarrier_wait_parity(empty[stage], parity ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[stage], BYTES)
            ptx.cp_async_bulk_tensor_2d(tile[stage], source, 0, turn * ROWS, full[stage])
            stage += 1
            if stage == STAGES:
                stage = 0
                parity ^= 1
    elif tid == 32:
        total = 0
        for _ in range(turns):
            ptx.mbarrier_wait_parity(full[stage], parity)
            total += tile[stage, 0, 0]
            ptx.mbarrier_arrive(empty[stage])
            stage += 1
            if stage == STAGES:
                stage = 0
                parity ^= 1
        out[0] = total


@kernel
def as_long_as_data_say(lengths, out):
    total = 0
    for i in range(lengths[cuda.blockIdx.x]):
        total += lengths[i % lengths.shape[0]]
    out[cuda.blockIdx.x] = total


@kernel
def copies(source, target, turns):
    """Each thread copies words, a grid's width apart."""
    at = cuda.grid(1)
    for _ in range(turns):
        target[at] = source[at]
        at += cuda.gridsize(1)


@kernel
def multicast(source):
    """The first of two CTAs loads a tile for both."""
    tile = cuda.shared.array((ROWS, COLUMNS), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], BYTES)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0 and ptx.cluster_ctarank() == 0:
        ptx.cp_async_bulk_tensor_2d_multicast(tile, source, 0, 0, full[0], 3)
    ptx.mbarrier_wait_parity(full[0], 0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def nothing():
    cuda.syncwarp()
