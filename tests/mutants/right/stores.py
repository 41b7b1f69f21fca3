"""Stores: one tile, rings of buffers, what is stored after a load, what is read back; roles with a storing warp."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, COUNTED, NARROW, ROWS, TILE, WIDE, Case, Cases, blank, gives, tile_map
from tmalab import TensorMap, device, kernel, ptx


@kernel
def store_ring(tensor_map, count):
    """Two buffers: wait_group.read 1 frees the older one; the writers fence before they hand over."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(count):
        if tid == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = np.float32(i + k)
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def two_stores_a_group(left, right, count):
    """Three buffers, two stores in each group, and a wait that leaves two groups pending."""
    ring = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(count):
        if tid == 0:
            ptx.cp_async_bulk_wait_group_read(2)
        cuda.syncthreads()
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            ring[k % 3, i // COLS, i % COLS] = np.float32(i - k)
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(left, 0, k * ROWS, ring[k % 3])
            ptx.cp_async_bulk_tensor_2d_store(right, 0, k * ROWS, ring[k % 3])
            ptx.cp_async_bulk_commit_group()
    if tid == 0:
        ptx.cp_async_bulk_wait_group_read(0)


@device
def double(tile, tid):
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = np.float32(tile[i // COLS, i % COLS]) * np.float32(2)


@kernel
def load_change_store(source, target):
    """A tile is loaded, changed in place and stored, twice through one buffer."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    for k in range(2):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, source, 0, k * ROWS, bar)
        ptx.mbarrier_wait_parity(bar, k)
        double(tile, tid)
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_what_was_loaded(source, target):
    """A load, its wait, and a store of the same bytes: asynchronous on both sides, no fence is owed."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, source, 64, 8, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def read_back(target, out, view):
    """A stored tile is read again by threads: the full wait, then a barrier."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = np.float32(i)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = view[i // COLS, i % COLS]


@kernel
def one_warp_stores_its_own(tensor_map):
    """Handed over by syncwarp within the warp that wrote; the rest of the CTA is not asked."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    if tid < 32:
        for i in range(tid, ROWS * COLS, 32):
            tile[i // COLS, i % COLS] = np.float32(i)
        ptx.fence_proxy_async_shared_cta()
        cuda.syncwarp()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)


@kernel
def written_then_loaded(x, scratch, scratch_map, out):
    """Threads write global memory, fence for it, and one of them loads it through a map; then the same memory is
    stored to and loaded again."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bars[0], 1)
        ptx.mbarrier_init(bars[1], 1)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        scratch[i // COLS, i % COLS] = x[i // COLS, i % COLS]
    ptx.fence_proxy_async_global()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bars[0], TILE)
        ptx.cp_async_bulk_tensor_2d(tile, scratch_map, 0, 0, bars[0])
        ptx.mbarrier_wait_parity(bars[0], 0)
        ptx.cp_async_bulk_tensor_2d_store(scratch_map, 0, ROWS, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
        ptx.mbarrier_arrive_expect_tx(bars[1], TILE)
        ptx.cp_async_bulk_tensor_2d(tile, scratch_map, 0, ROWS, bars[1])
    ptx.mbarrier_wait_parity(bars[1], 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def over_the_edge(target, x, y):
    """A tile stored over the corner of a tensor whose rows are whole multiples of 16 bytes: the rest is dropped."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = np.float32(i)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(target, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


@kernel
def load_compute_store(source, target, tiles):
    """Three roles: a warp loads, two warps compute from one ring into another, a warp stores; barriers in memory for
    the loads, named barriers for the results."""
    come = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    go = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    warp = tid // 32
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
    cuda.syncthreads()
    if warp == 0:
        if ptx.elect_sync():
            for k in range(tiles):
                ptx.mbarrier_wait_parity(empty[k % 2], (k // 2) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[k % 2], TILE)
                ptx.cp_async_bulk_tensor_2d(come[k % 2], source, 0, k * ROWS, full[k % 2])
    elif warp == 3:
        for k in range(tiles):
            ptx.barrier_sync(1 + k % 2, 96)
            if tid == 96:
                ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, go[k % 2])
                ptx.cp_async_bulk_commit_group()
                ptx.cp_async_bulk_wait_group_read(1)
            cuda.syncwarp()
            if k > 0:
                ptx.barrier_arrive(3 + (k - 1) % 2, 96)
        if tid == 96:
            ptx.cp_async_bulk_wait_group_read(0)
    else:
        for k in range(tiles):
            ptx.mbarrier_wait_parity(full[k % 2], (k // 2) % 2)
            if k >= 2:
                ptx.barrier_sync(3 + k % 2, 96)
            for i in range(tid - 32, ROWS * COLS, 64):
                go[k % 2, i // COLS, i % COLS] = np.float32(come[k % 2, i // COLS, i % COLS]) + np.float32(1)
            ptx.mbarrier_arrive(empty[k % 2])
            ptx.fence_proxy_async()
            ptx.barrier_arrive(1 + k % 2, 96)


def _rows(count: int, step: int) -> np.ndarray:
    expected = blank(64, COLS)
    expected[: count * ROWS] = (COUNTED[None] + step * np.arange(count)[:, None, None]).reshape(-1, COLS)
    return expected


def _stored(made, expected: np.ndarray, *before, after: tuple = (), **launch) -> Case:
    """A case whose result is behind a map."""
    target = np.zeros_like(expected)
    args = (*before, tile_map(target), *after)
    return Case(made, args, lambda: np.array_equal(target, expected), **launch)


def _two_stores() -> Case:
    left, right = blank(64, COLS), blank(64, COLS)
    return Case(
        two_stores_a_group,
        (tile_map(left), tile_map(right), 5),
        lambda: np.array_equal(left, _rows(5, -1)) and np.array_equal(right, _rows(5, -1)),
    )


def _read_back() -> Case:
    target, out = blank(ROWS, COLS), blank(ROWS, COLS)
    return Case(read_back, (tile_map(target), out, target), lambda: np.array_equal(out, COUNTED))


def _written_then_loaded() -> Case:
    scratch = blank(2 * ROWS, COLS)
    return gives(
        written_then_loaded, blank(ROWS, COLS), NARROW[:8], NARROW[:8].copy(), scratch, tile_map(scratch), block=64
    )


def _over_the_edge() -> Case:
    target, expected = blank(20, 80), blank(20, 80)
    expected[16:, 32:] = COUNTED[:4, :48]
    args = TensorMap.from_array(target, (ROWS, COLS)), 32, 16
    return Case(over_the_edge, args, lambda: np.array_equal(target, expected), block=64)


def _load_compute_store() -> Case:
    expected = blank(64, COLS)
    expected[:40] = NARROW[:40] + 1
    return _stored(load_compute_store, expected, tile_map(NARROW), after=(5,))


def _doubled() -> np.ndarray:
    expected = blank(64, COLS)
    expected[:16] = NARROW[:16] * 2
    return expected


CASES: Cases = {
    **{f"store_ring, {n} tiles": lambda n=n: _stored(store_ring, _rows(n, 1), after=(n,)) for n in (1, 5)},
    "two_stores_a_group": _two_stores,
    "load_change_store": lambda: _stored(load_change_store, _doubled(), tile_map(NARROW)),
    "store_what_was_loaded": lambda: _stored(store_what_was_loaded, WIDE[8:16, 64:], tile_map(WIDE), block=32),
    "read_back": _read_back,
    "one_warp_stores_its_own": lambda: _stored(one_warp_stores_its_own, COUNTED.astype(np.float16), block=64),
    "written_then_loaded": _written_then_loaded,
    "over_the_edge": _over_the_edge,
    "load_compute_store": _load_compute_store,
}
