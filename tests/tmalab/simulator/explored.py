"""Small kernels whose orders are explored, for test_exploration.py and test_exploration_of_all_orders.py."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import TensorMap, explore, kernel, ptx

ROWS, COLS = 8, 16
TILE = ROWS * COLS * 2  # bytes
SOURCE = np.arange(2 * ROWS * COLS).reshape(2 * ROWS, COLS).astype(np.float16)


@kernel
def take_turns(out):
    out[cuda.atomic.add(out, 3, 1)] = cuda.threadIdx.x


@kernel
def take_five(out):
    out[cuda.atomic.add(out, 4, 1)] = cuda.threadIdx.x


@kernel
def fails_if_thread_1_is_last(out):
    """Who arrives last finds the third ticket, and if that is thread 1 it writes what thread 0 writes too."""
    ticket = cuda.atomic.add(out, 1, 1)
    if ticket == 2 and cuda.threadIdx.x == 1:
        out[0] = 7
    if cuda.threadIdx.x == 0:
        out[0] = 8


@kernel
def rounds(tensor_map, out):
    """Two loads, three rounds in which all arrive and wait."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    bar = ptx.mbarrier_array(1)
    mine = cuda.threadIdx.x
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
        ptx.mbarrier_init(bar, 4)
    cuda.syncthreads()
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, s * ROWS, full[s])
    for r in range(3):
        if r < 2:
            while not ptx.mbarrier_try_wait_parity(full[r], 0):
                pass
            out[r, mine] = tile[r, mine, 0]
        ptx.mbarrier_arrive(bar)
        while not ptx.mbarrier_try_wait_parity(bar, r & 1):
            pass


@kernel
def rounds_that_look(tensor_map, out):
    """The same, but each thread notes whether it had to wait for the loads."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    bar = ptx.mbarrier_array(1)
    mine = cuda.threadIdx.x
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
        ptx.mbarrier_init(bar, 4)
    cuda.syncthreads()
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, s * ROWS, full[s])
    for r in range(3):
        if r < 2:
            at_once = 1
            if not ptx.mbarrier_try_wait_parity(full[r], 0):
                at_once = 0
                ptx.mbarrier_wait_parity(full[r], 0)
            out[r, mine] = tile[r, mine, 0] + at_once
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, r & 1)


@kernel
def reads_early(tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        out[0] = tile[0, 1]
        ptx.mbarrier_wait_parity(bar, 0)


def source():
    return TensorMap.from_array(SOURCE, (ROWS, COLS))


def floats(*shape):
    return np.zeros(shape, np.float16)


def ints(n):
    return np.zeros(n, np.int32)


def of_rounds(**how):
    return explore(rounds, 1, 4, (source(), floats(2, 4)), **how)
