"""Threads among themselves: barriers of the CTA, named ones, mbarriers as such, warps, atomics."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import Case, Cases, blank, gives
from tmalab import kernel, ptx

SIDE, PADDED = 16, 17
THIRTY_TWO = np.arange(32, dtype=np.int32)


@kernel
def named_barriers(out):
    """Two warps pass a buffer to and fro by bar.arrive and bar.sync; the others have no part in it."""
    box = cuda.shared.array(32, np.int32)
    tid = cuda.threadIdx.x
    if tid < 32:
        for k in range(4):
            ptx.barrier_sync(2, 64)
            box[tid] = tid * 10 + k
            ptx.barrier_arrive(1, 64)
    elif tid < 64:
        ptx.barrier_arrive(2, 64)
        for k in range(4):
            ptx.barrier_sync(1, 64)
            out[k, tid - 32] = box[tid - 32]
            if k < 3:
                ptx.barrier_arrive(2, 64)


@kernel
def handed_over_by_mbarrier(out):
    """Ordinary data from one warp to another: arrive releases, the wait acquires."""
    box = cuda.shared.array(32, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 32)
    cuda.syncthreads()
    if tid < 32:
        box[tid] = tid * tid
        ptx.mbarrier_arrive(bar)
    else:
        ptx.mbarrier_wait_parity(bar, 0)
        out[tid - 32] = box[63 - tid]


@kernel
def relaxed_with_fences(out):
    """Relaxed arrives and waits, made strong by the fences beside them."""
    box = cuda.shared.array(32, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 32)
    cuda.syncthreads()
    box[tid] = tid
    ptx.fence_acq_rel_cluster()
    ptx.mbarrier_arrive_relaxed(bar)
    while not ptx.mbarrier_try_wait_parity_relaxed(bar, 0):
        pass
    ptx.fence_acq_rel_cluster()
    out[tid] = box[31 - tid]


@kernel
def fewer_from_phase_to_phase(out):
    """arrive_drop: threads leave one by one, and each phase counts those who are left."""
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 4)
    cuda.syncthreads()
    for phase in range(4):
        if tid == phase:
            ptx.mbarrier_arrive_drop(bar)
            break
        if tid > phase:
            state = ptx.mbarrier_arrive(bar)
            while not ptx.mbarrier_try_wait(bar, state):
                pass
            out[phase] = phase + 1


@kernel
def in_step_by_mbarrier(out, steps):
    """An mbarrier as a barrier of all threads: every step writes, arrives, waits for the phase, reads a neighbour's,
    with two buffers so that one barrier a step is enough; thread 0 arrives for two."""
    box = cuda.shared.array((2, 64), np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 65)
    cuda.syncthreads()
    value = tid
    for k in range(steps):
        box[k % 2, tid] = value
        if tid == 0:
            ptx.mbarrier_arrive(bar, 2)
        else:
            ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, k % 2)
        value = box[k % 2, (tid + 1) % 64]
    out[tid] = value


@kernel
def reduction(x, out):
    """A tree in shared memory in each CTA, then one atomic."""
    part = cuda.shared.array(128, np.float32)
    tid = cuda.threadIdx.x
    part[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    n = cuda.blockDim.x // 2
    while n > 0:
        if tid < n:
            part[tid] += part[tid + n]
        cuda.syncthreads()
        n //= 2
    if tid == 0:
        cuda.atomic.add(out, 0, part[0])


@kernel
def reduction_by_warps(x, out):
    """The same by warps: each adds up its own row between syncwarps, then one warp adds up the warps' sums."""
    part = cuda.shared.array((4, 32), np.float32)
    sums = cuda.shared.array(4, np.float32)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    part[warp, lane] = x[cuda.threadIdx.x]
    cuda.syncwarp()
    for n in (16, 8, 4, 2, 1):
        if lane < n:
            part[warp, lane] += part[warp, lane + n]
        cuda.syncwarp()
    if lane == 0:
        sums[warp] = part[warp, 0]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[0] = sums[0] + sums[1] + sums[2] + sums[3]


@kernel
def the_same_flag(out):
    """All threads write one value to one place, then all read it."""
    flag = cuda.shared.array(1, np.int32)
    flag[0] = 7
    cuda.syncthreads()
    out[cuda.threadIdx.x] = flag[0]


@kernel
def transpose(x, out):
    """A tile of a two-dimensional block is turned in shared memory; rows are padded by one."""
    tile = cuda.shared.array((SIDE, PADDED), np.float32)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    tile[row, column] = x[cuda.blockIdx.y * SIDE + row, cuda.blockIdx.x * SIDE + column]
    cuda.syncthreads()
    out[cuda.blockIdx.x * SIDE + row, cuda.blockIdx.y * SIDE + column] = tile[column, row]


@kernel
def tiled_product(a, b, out):
    """The matrix product of every introduction: two tiles, two syncthreads a step."""
    tile_a = cuda.shared.array((8, 8), np.float32)
    tile_b = cuda.shared.array((8, 8), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for k in range(a.shape[1] // 8):
        tile_a[y, x] = a[row, k * 8 + x]
        tile_b[y, x] = b[k * 8 + y, column]
        cuda.syncthreads()
        for i in range(8):
            total += tile_a[y, i] * tile_b[i, x]
        cuda.syncthreads()
    out[row, column] = total


@kernel
def histogram_by_atomics(x, out):
    """Atomics on shared memory, then on global memory; threads past the end leave before the last barrier."""
    bins = cuda.shared.array(16, np.int32)
    tid = cuda.threadIdx.x
    if tid < 16:
        bins[tid] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(bins, x[i], 1)
    if tid >= 32:
        cuda.syncthreads()
        return
    cuda.syncthreads()
    if tid < 16:
        cuda.atomic.add(out, tid, bins[tid])


def _named() -> Case:
    return gives(
        named_barriers,
        blank(4, 32, dtype=np.int32),
        np.arange(32, dtype=np.int32) * 10 + np.arange(4, dtype=np.int32)[:, None],
        block=96,
    )


def _vector(made: Any, expected: np.ndarray, block: int, *after: Any) -> Case:
    return gives(made, np.zeros_like(expected), expected, after=after, block=block)


def _product() -> Case:
    numbers = np.random.default_rng(2)
    a, b = (numbers.integers(-4, 5, (16, 16)).astype(np.float32) for _ in range(2))
    return gives(tiled_product, blank(16, 16, dtype=np.float32), a @ b, a, b, block=(8, 8), grid=(2, 2))


def _transpose() -> Case:
    x = np.arange(32 * 16, dtype=np.float32).reshape(32, 16)
    return gives(transpose, blank(16, 32, dtype=np.float32), x.T, x, block=(SIDE, SIDE), grid=(1, 2))


def _histogram() -> Case:
    x = np.random.default_rng(3).integers(0, 16, 300).astype(np.int32)
    return gives(histogram_by_atomics, blank(16, dtype=np.int32), np.bincount(x, minlength=16), x, block=64, grid=2)


NUMBERS = np.arange(512, dtype=np.float32)
CASES: Cases = {
    "named_barriers": _named,
    "handed_over_by_mbarrier": lambda: _vector(handed_over_by_mbarrier, (THIRTY_TWO**2)[::-1].copy(), 64),
    "relaxed_with_fences": lambda: _vector(relaxed_with_fences, THIRTY_TWO[::-1].copy(), 32),
    "fewer_from_phase_to_phase": lambda: _vector(fewer_from_phase_to_phase, np.array([1, 2, 3, 0], np.int32), 4),
    "in_step_by_mbarrier": lambda: _vector(in_step_by_mbarrier, (np.arange(64, dtype=np.int32) + 5) % 64, 64, 5),
    "reduction": lambda: gives(reduction, blank(1, dtype=np.float32), np.float32([511 * 256]), NUMBERS.copy(), grid=4),
    "reduction_by_warps": lambda: gives(
        reduction_by_warps, blank(1, dtype=np.float32), np.float32([127 * 64]), NUMBERS[:128].copy()
    ),
    "the_same_flag": lambda: _vector(the_same_flag, np.full(32, 7, np.int32), 32),
    "transpose": _transpose,
    "tiled_product": _product,
    "histogram_by_atomics": _histogram,
}
