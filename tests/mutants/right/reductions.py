"""Reductions by the copy engine: several CTAs into one tile, several operations, vectors without a map."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, COUNTED, ROWS, Case, Cases, blank, gives, tile_map
from tmalab import TensorMap, kernel, ptx


@kernel
def many_into_one_tile(target):
    """Every CTA adds a tile to the same one, in any order."""
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = np.float32(i + cuda.blockIdx.x)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


@kernel
def reduced_twice_then_read(target, out, view):
    """Two threads add a tile each, wait for it in full, and meet; then all read the sum."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[0, i // COLS, i % COLS] = np.float32(i)
        tile[1, i // COLS, i % COLS] = np.float32(1)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid % 32 == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile[tid // 32])
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = view[i // COLS, i % COLS]


@kernel
def written_then_reduced(target, view):
    """Threads write global memory, and the copy engine adds to it: order, and a proxy fence for global memory."""
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = np.float32(1)
        view[i // COLS, i % COLS] = np.float32(i)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def histogram(x, counts):
    """Each CTA counts in shared memory by atomics, then adds its counts to all others' without a map."""
    bins = cuda.shared.array(64, np.uint32, alignment=16)
    tid = cuda.threadIdx.x
    bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)
    ptx.fence_proxy_async_shared_cta()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_add_u32(counts, bins, 256)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


@kernel
def largest_of_a_cluster(x, target, out, view):
    """The CTAs of a cluster take maxima in one row of global memory, wait for them, and meet before they read it."""
    row = cuda.shared.array(64, np.int32, alignment=128)
    tid = cuda.threadIdx.x
    row[tid] = x[cuda.blockIdx.x, tid]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_max(target, 0, row)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    out[cuda.blockIdx.x, tid] = view[tid]


COUNTS = np.random.default_rng(1).integers(0, 64, 256)


def _many(grid: int, cluster: int) -> Case:
    target = blank(ROWS, COLS, dtype=np.float32)
    expected = COUNTED * grid + sum(range(grid))
    launch = {"block": 64, "grid": grid, "cluster": cluster}
    return Case(many_into_one_tile, (tile_map(target),), lambda: np.array_equal(target, expected), **launch)


def _twice() -> Case:
    target, out = blank(ROWS, COLS, dtype=np.float32), blank(ROWS, COLS, dtype=np.float32)
    return Case(
        reduced_twice_then_read, (tile_map(target), out, target), lambda: np.array_equal(out, COUNTED + 1), block=64
    )


def _written() -> Case:
    target = blank(ROWS, COLS, dtype=np.float32)
    return Case(written_then_reduced, (tile_map(target), target), lambda: np.array_equal(target, COUNTED + 1), block=64)


def _histogram() -> Case:
    expected = np.bincount(COUNTS, minlength=64)
    return gives(histogram, blank(64, dtype=np.uint32), expected, COUNTS.astype(np.int32), block=64, grid=4)


def _largest() -> Case:
    x = np.random.default_rng(2).integers(-99, 99, (4, 64)).astype(np.int32)
    target, out = np.full(64, -100, np.int32), blank(4, 64, dtype=np.int32)
    args = x, TensorMap.from_array(target, (64,)), out, target
    right = np.repeat(x.max(0)[None], 4, 0)
    return Case(largest_of_a_cluster, args, lambda: np.array_equal(out, right), block=64, grid=4, cluster=4)


CASES: Cases = {
    "many_into_one_tile": lambda: _many(4, 1),
    "many_into_one_tile, in clusters": lambda: _many(4, 2),
    "reduced_twice_then_read": _twice,
    "written_then_reduced": _written,
    "histogram": _histogram,
    "largest_of_a_cluster": _largest,
}
