"""Kernels that do nothing wrong, in the styles that people write: none of them may be flagged, whatever the order.

Each entry of CASES makes fresh arguments and knows the right result, computed by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import cuda

from tmalab import TensorMap, device, kernel, ptx

ROWS, COLS, STAGES = 8, 64, 2
TILE = ROWS * COLS * 2  # bytes
WARPS = 4


@dataclass
class Case:
    """A launch, and whether its result is right."""

    kernel: Any
    args: tuple[Any, ...]
    is_right: Callable[[], bool]
    block: int = 128
    grid: int = 1


def tensor(rows: int, columns: int) -> np.ndarray:
    """Float16 values that are all exact and differ along each row and column."""
    return (np.arange(rows)[:, None] * 16 + np.arange(columns) % 16 + np.arange(columns)[None] // 16).astype(np.float16)


# Loads.


@kernel
def copy_tile(tensor_map, out):
    """Everybody waits for a load that thread 0 issued."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 64, 8, bar)
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def copy_column(tensor_map, out, tiles):
    """A ring that syncthreads keeps in step; the trip count may be below the number of stages."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for s in range(STAGES):
            if s < tiles:
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, s * ROWS, full[s])
    cuda.syncthreads()
    stage = 0
    parity = 0
    for k in range(tiles):
        while not ptx.mbarrier_try_wait_parity(full[stage], parity):
            pass
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = ring[stage, i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[stage], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[stage], tensor_map, 0, (k + STAGES) * ROWS, full[stage])
        stage += 1
        if stage == STAGES:
            stage = 0
            parity ^= 1


@kernel
def producer_and_consumers(tensor_map, out, tiles):
    """CUTLASS's ring: an elected producer that waits for parity 1 of fresh barriers and has a tail; consumers arrive
    once a warp, after syncwarp; roles that never meet at syncthreads again."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], WARPS - 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid < 32:
        if ptx.elect_sync():
            for k in range(tiles):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
            for k in range(tiles, tiles + STAGES):
                ptx.mbarrier_wait_parity(empty[k % STAGES], (k // STAGES) % 2 ^ 1)
    else:
        for k in range(tiles):
            s = k % STAGES
            if not ptx.mbarrier_try_wait_parity(full[s], (k // STAGES) % 2):
                while not ptx.mbarrier_try_wait_parity(full[s], (k // STAGES) % 2):
                    pass
            for i in range(tid - 32, ROWS * COLS, 96):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid % 32 == 0:
                ptx.mbarrier_arrive(empty[s])


@kernel
def every_consumer_arrives(tensor_map, out, tiles):
    """The same ring with an empty barrier that counts all consumers, and one producer thread in no warp of its own."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 32)
    cuda.syncthreads()
    if tid == 32:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES + 1) & 1)
            ptx.mbarrier_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
            ptx.mbarrier_arrive(full[s])
    elif tid < 32:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) & 1)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            ptx.mbarrier_arrive(empty[s])


@kernel
def loads_before_the_expectation(tensor_map, out):
    """Two loads on one barrier, then one expectation for both, while the issuer's own arrival is pending; all arrive,
    and wait by state."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 128)
    cuda.syncthreads()
    state = 0
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d(tile[0], tensor_map, 0, 0, bar)
        ptx.cp_async_bulk_tensor_2d(tile[1], tensor_map, 64, 0, bar)
        state = ptx.mbarrier_arrive_expect_tx(bar, 2 * TILE)
    else:
        state = ptx.mbarrier_arrive(bar)
    while not ptx.mbarrier_test_wait(bar, state):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[0, i // COLS, i % COLS]
        out[i // COLS, COLS + i % COLS] = tile[1, i // COLS, i % COLS]


@kernel
def one_waits_for_all(tensor_map, out):
    """Only thread 0 waits for the load; syncthreads tells the others. Fences more than needed; half of them leave."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid >= 64:
        return
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_proxy_async()
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.fence_proxy_async()
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, 64):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def a_tile_for_each_cta(tensor_map, out):
    """Several CTAs, each with its own tile."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, cta * ROWS, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cta * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


# Stores.


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
    """A stored tile is loaded again: the full wait, and a fence for those who read global memory as threads."""
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
    """Handed over by syncwarp within the warp that wrote."""
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


# Threads among themselves.


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
def the_same_flag(out):
    """All threads write one value to one place, then all read it."""
    flag = cuda.shared.array(1, np.int32)
    flag[0] = 7
    cuda.syncthreads()
    out[cuda.threadIdx.x] = flag[0]


# The copy of the A100.


@kernel
def cp_async_and_syncthreads(x, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=16)
    tid = cuda.threadIdx.x
    if tid < 64:
        ptx.cp_async(tile[tid // 8, (tid % 8) * 8 :], x[tid // 8, (tid % 8) * 8 :], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(0)
    cuda.syncthreads()
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def cp_async_and_mbarrier(x, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 64)
    cuda.syncthreads()
    if tid < 64:
        ptx.cp_async(tile[tid // 8, (tid % 8) * 8 :], x[tid // 8, (tid % 8) * 8 :], 16)
        ptx.cp_async_mbarrier_arrive_noinc(bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


# The cases.

WIDE = tensor(64, 128)
NARROW = np.ascontiguousarray(WIDE[:, :COLS])
COUNTED = np.arange(ROWS * COLS).reshape(ROWS, COLS)


def tile_map(array: np.ndarray) -> TensorMap:
    return TensorMap.from_array(array, (ROWS, COLS))


def _copy_tile() -> Case:
    out = np.zeros((8, 64), np.float16)
    return Case(copy_tile, (tile_map(WIDE), out), lambda: np.array_equal(out, WIDE[8:16, 64:]))


def _ring(made: Any, tiles: int) -> Case:
    out = np.zeros((64, 64), np.float16)
    return Case(made, (tile_map(NARROW), out, tiles), lambda: np.array_equal(out[: 8 * tiles], NARROW[: 8 * tiles]))


def _before_the_expectation() -> Case:
    out = np.zeros((8, 128), np.float16)
    return Case(loads_before_the_expectation, (tile_map(WIDE), out), lambda: np.array_equal(out, WIDE[:8]))


def _first_tile(made: Any, source: Any) -> Case:
    out = np.zeros((8, 64), np.float16)
    return Case(made, (source, out), lambda: np.array_equal(out, WIDE[:8, :64]))


def _ctas() -> Case:
    out = np.zeros((64, 64), np.float16)
    return Case(a_tile_for_each_cta, (tile_map(NARROW), out), lambda: np.array_equal(out, NARROW), block=32, grid=8)


def _store_ring(count: int) -> Case:
    target = np.zeros((64, 64), np.float16)
    expected = COUNTED[None] + np.arange(count)[:, None, None]
    return Case(
        store_ring,
        (tile_map(target), count),
        lambda: np.array_equal(target[: 8 * count].reshape(count, 8, 64), expected),
    )


def _load_change_store() -> Case:
    target = np.zeros((64, 64), np.float16)
    return Case(
        load_change_store, (tile_map(NARROW), tile_map(target)), lambda: np.array_equal(target[:16], NARROW[:16] * 2)
    )


def _store_what_was_loaded() -> Case:
    target = np.zeros((8, 64), np.float16)
    return Case(
        store_what_was_loaded,
        (tile_map(WIDE), tile_map(target)),
        lambda: np.array_equal(target, WIDE[8:16, 64:]),
        block=32,
    )


def _read_back() -> Case:
    target, out = np.zeros((8, 64), np.float16), np.zeros((8, 64), np.float16)
    return Case(read_back, (tile_map(target), out, target), lambda: np.array_equal(out, COUNTED))


def _one_warp() -> Case:
    target = np.zeros((8, 64), np.float16)
    return Case(one_warp_stores_its_own, (tile_map(target),), lambda: np.array_equal(target, COUNTED), block=64)


def _named() -> Case:
    out = np.zeros((4, 32), np.int32)
    return Case(
        named_barriers, (out,), lambda: np.array_equal(out, np.arange(32) * 10 + np.arange(4)[:, None]), block=96
    )


def _vector(made: Any, expected: np.ndarray, block: int) -> Case:
    out = np.zeros_like(expected)
    return Case(made, (out,), lambda: np.array_equal(out, expected), block=block)


def _reduction() -> Case:
    x, out = np.arange(512, dtype=np.float32), np.zeros(1, np.float32)
    return Case(reduction, (x, out), lambda: out[0] == 511 * 256, grid=4)


THIRTY_TWO = np.arange(32, dtype=np.int32)
CASES: dict[str, Callable[[], Case]] = {
    "copy_tile": _copy_tile,
    **{f"copy_column, {n} tiles": lambda n=n: _ring(copy_column, n) for n in (1, 2, 5)},
    **{f"producer_and_consumers, {n} tiles": lambda n=n: _ring(producer_and_consumers, n) for n in (1, 2, 5)},
    **{f"every_consumer_arrives, {n} tiles": lambda n=n: _ring(every_consumer_arrives, n) for n in (1, 4)},
    "loads_before_the_expectation": _before_the_expectation,
    "one_waits_for_all": lambda: _first_tile(one_waits_for_all, tile_map(WIDE)),
    "a_tile_for_each_cta": _ctas,
    "store_ring, 1 tile": lambda: _store_ring(1),
    "store_ring, 5 tiles": lambda: _store_ring(5),
    "load_change_store": _load_change_store,
    "store_what_was_loaded": _store_what_was_loaded,
    "read_back": _read_back,
    "one_warp_stores_its_own": _one_warp,
    "named_barriers": _named,
    "handed_over_by_mbarrier": lambda: _vector(handed_over_by_mbarrier, (THIRTY_TWO**2)[::-1].copy(), 64),
    "relaxed_with_fences": lambda: _vector(relaxed_with_fences, THIRTY_TWO[::-1].copy(), 32),
    "fewer_from_phase_to_phase": lambda: _vector(fewer_from_phase_to_phase, np.array([1, 2, 3, 0], np.int32), 4),
    "reduction": _reduction,
    "the_same_flag": lambda: _vector(the_same_flag, np.full(32, 7, np.int32), 32),
    "cp_async_and_syncthreads": lambda: _first_tile(cp_async_and_syncthreads, WIDE),
    "cp_async_and_mbarrier": lambda: _first_tile(cp_async_and_mbarrier, WIDE),
}
