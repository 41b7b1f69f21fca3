"""Runs that the figures of time are tried on: one that is right, one that hangs, hazards, a ring of stores."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import Run, TensorMap, kernel, ptx

TILE = (8, 64)
TILE_BYTES = 1024


@kernel
def two_loads(tensor_map, out, promised, waits):
    """Two halves of a tile by two loads on one barrier, which is promised so many bytes."""
    tile = cuda.shared.array((2, 4, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], promised)
        for half in range(2):
            ptx.cp_async_bulk_tensor_2d(tile[half], tensor_map, 0, 4 * half, full[0])
    if waits:
        ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(tid, 512, cuda.blockDim.x):
        out[i // 64, i % 64] = tile[i // 256, i // 64 % 4, i % 64]


@kernel
def ring(tensor_map, source, tiles, pending):
    """Tiles through two buffers; a refill waits until all but `pending` groups are read (2: it does not wait)."""
    stages = cuda.shared.array((2, 8, 64), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for tile in range(tiles):
        if tid == 0:
            if pending < 2:
                ptx.cp_async_bulk_wait_group_read(1)
            else:
                ptx.cp_async_bulk_wait_group_read(2)
        cuda.syncthreads()
        for i in range(tid, 512, cuda.blockDim.x):
            stages[tile % 2, i // 64, i % 64] = source[i // 64, i % 64]
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 8 * tile, stages[tile % 2])
            ptx.cp_async_bulk_commit_group()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def take_a_ticket(tickets, order):
    """A kernel that does something else the second time, unless it finds its arguments as they were."""
    order[cuda.atomic.add(tickets, 0, 1)] = cuda.threadIdx.x


def loaded(promised: int = TILE_BYTES, waits: int = 1, **launch) -> Run:
    """A run of two_loads by 32 threads."""
    tensor, out = np.zeros(TILE, np.float16), np.zeros(TILE, np.float16)
    return two_loads.run(block=32, args=(TensorMap.from_array(tensor, (4, 64)), out, promised, waits), **launch)


def stored(tiles: int = 3, pending: int = 1) -> Run:
    """A run of ring by 32 threads."""
    tensor = np.zeros((8 * tiles, 64), np.float16)
    return ring.run(block=32, args=(TensorMap.from_array(tensor, TILE), np.ones(TILE, np.float16), tiles, pending))
