"""Right kernels that copy in unusual ways: unequal masks, parts of different sizes, turns, late arrives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tests.mutants.right.edited_maps import map_rows
from tmalab import kernel, ptx


@kernel
def in_order(target, steps):
    """Two warps take turns, by two barriers, to fill one buffer and store it."""
    buf = cuda.shared.array(32, np.int32, alignment=128)
    turn = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    group, lane = tid // 32, tid % 32
    if tid == 0:
        ptx.mbarrier_init(turn[0], 32)
        ptx.mbarrier_init(turn[1], 32)
    cuda.syncthreads()
    for k in range(group, steps, 2):
        ptx.mbarrier_wait_parity(turn[group], (k // 2 + 1 - group) % 2)
        buf[lane] = k * 100 + lane
        ptx.fence_proxy_async()
        cuda.syncwarp()
        if lane == 0:
            ptx.cp_async_bulk_store(target[k], buf, 128)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
        ptx.mbarrier_arrive(turn[group ^ 1])


@kernel
def elected_twice(target):
    """The same thread is elected each time, so it may wait for the groups of its stores."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for k in range(4):
        s = k % 2
        if ptx.elect_sync():
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncwarp()
        for i in range(tid, ROWS * COLS, 32):
            tile[s, i // COLS, i % COLS] = np.float32(k + 1)
        ptx.fence_proxy_async()
        cuda.syncwarp()
        if ptx.elect_sync():
            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, tile[s])
            ptx.cp_async_bulk_commit_group()
    if ptx.elect_sync():
        ptx.cp_async_bulk_wait_group(0)


@kernel
def unequal_masks(tensor_map, out):
    """Four CTAs, each of which sends its tile to itself and to those after it."""
    tiles = cuda.shared.array((4, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE * (rank + 1))
        mask = (0xF << rank) & 0xF
        ptx.cp_async_bulk_tensor_2d_multicast(tiles[rank], tensor_map, 0, rank * ROWS, full, mask)
    ptx.mbarrier_wait_parity(full, 0)
    for t in range(rank + 1):
        for i in range(tid, ROWS * COLS, 32):
            out[rank, t * ROWS + i // COLS, i % COLS] = tiles[t, i // COLS, i % COLS]


@kernel
def uneven_slices(x, out):
    """Two CTAs send each other a vector in parts of different sizes."""
    row = cuda.shared.array(128, np.float32, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar, 512)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank == 0:
            ptx.cp_async_bulk_multicast(row, x, 384, bar, 3)
        else:
            ptx.cp_async_bulk_multicast(row[96:], x[96:], 128, bar, 3)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, 128, 32):
        out[rank, i] = row[i]


@kernel
def late_arrives(x, out, steps):
    """cp.async raises the count of a barrier for its late arrive, besides a plain one."""
    box = cuda.shared.array((2, 32, 4), np.int32, alignment=16)
    full = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 32)
        ptx.mbarrier_init(full[1], 32)
    cuda.syncwarp()
    for k in range(steps):
        s, p = k % 2, k // 2 % 2
        ptx.cp_async(box[s, tid], x[k, tid], 16)
        ptx.cp_async_mbarrier_arrive(full[s])
        ptx.mbarrier_arrive(full[s])
        ptx.mbarrier_wait_parity(full[s], p)
        out[k, tid] = box[s, 31 - tid, 3]


@kernel
def remote_sum(x, out):
    """Four CTAs add their rows in the shared memory of the first."""
    total = cuda.shared.array(32, np.uint32, alignment=128)
    mine = cuda.shared.array(32, np.uint32, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    total[tid] = 0
    mine[tid] = x[rank, tid]
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 4 * 128)
        ptx.cp_reduce_async_bulk_cluster_add_u32(total, 0, mine, 128, bar)
    if rank == 0:
        ptx.mbarrier_wait_parity(bar, 0)
        out[tid] = total[31 - tid]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def edited_aside(maps, scratch, x, out):
    """A warp edits a map while the other loads through the original; a named barrier hands it over."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bars[0], 1)
        ptx.mbarrier_init(bars[1], 1)
    cuda.syncthreads()
    if tid < 32:
        if tid == 0:
            ptx.fence_proxy_tensormap_acquire_sys(maps[0])
            ptx.mbarrier_arrive_expect_tx(bars[0], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[0], maps[0], 0, 0, bars[0])
        ptx.barrier_sync(4, 64)
        if tid == 0:
            ptx.fence_proxy_tensormap_acquire(scratch[1])
            ptx.mbarrier_arrive_expect_tx(bars[1], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[1], scratch[1], 0, 0, bars[1])
        for s in range(2):
            ptx.mbarrier_wait_parity(bars[s], 0)
            for i in range(tid, ROWS * COLS, 32):
                out[s * ROWS + i // COLS, i % COLS] = tile[s, i // COLS, i % COLS]
    else:
        for i in range(4):
            scratch[1, (tid - 32) * 4 + i] = maps[0, (tid - 32) * 4 + i]
        cuda.syncwarp()
        if tid == 32:
            ptx.tensormap_replace_global_address(scratch[1], x[2 * ROWS :])
        cuda.syncwarp()
        ptx.fence_proxy_tensormap_release()
        ptx.barrier_arrive(4, 64)


@kernel
def stored_for_peer(target, view, out):
    """A tile is stored by one CTA, and read from global memory by the threads of the other."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if rank == 0:
        for i in range(tid, ROWS * COLS, 32):
            tile[i // COLS, i % COLS] = np.float32(i % 50)
        ptx.fence_proxy_async_shared_cluster()
        cuda.syncwarp()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(view, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        for i in range(tid, ROWS * COLS, 32):
            out[i // COLS, i % COLS] = target[i // COLS, i % COLS]


def _stored(made: Any, expected: np.ndarray, mapped: bool, *after: Any, block: int) -> Case:
    out = np.zeros_like(expected)
    return Case(made, (tile_map(out) if mapped else out, *after), lambda: np.array_equal(out, expected), block)


def _masks() -> Case:
    expected = blank(4, 32, COLS)
    for rank in range(4):
        expected[rank, : (rank + 1) * ROWS] = NARROW[: (rank + 1) * ROWS]
    return gives(unequal_masks, blank(4, 32, COLS), expected, tile_map(NARROW), block=32, grid=4, cluster=4)


def _slices() -> Case:
    x = np.arange(128, dtype=np.float32)
    return gives(uneven_slices, np.zeros((2, 128), np.float32), np.stack([x, x]), x, block=32, grid=2, cluster=2)


def _late() -> Case:
    x = np.arange(3 * 128, dtype=np.int32).reshape(3, 32, 4)
    return gives(late_arrives, np.zeros((3, 32), np.int32), x[:, ::-1, 3], x, after=(3,), block=32)


def _sum() -> Case:
    x = np.arange(128, dtype=np.uint32).reshape(4, 32)
    return gives(remote_sum, np.zeros(32, np.uint32), x.sum(0)[::-1], x, block=32, grid=4, cluster=4)


def _aside() -> Case:
    x, scratch = NARROW.copy(), blank(2, 128, dtype=np.uint8)
    expected = np.concatenate([NARROW[:8], NARROW[16:24]])
    return gives(edited_aside, blank(16, COLS), expected, map_rows([tile_map(x)]), scratch, x, block=64)


def _for_peer() -> Case:
    target = blank(ROWS, COLS)
    expected = (np.arange(ROWS * COLS) % 50).reshape(ROWS, COLS)
    launch = {"block": 32, "grid": 2, "cluster": 2}
    return gives(stored_for_peer, blank(ROWS, COLS), expected, target, tile_map(target), **launch)


TURNS = (np.arange(6)[:, None] * 100 + np.arange(32)).astype(np.int32)
COUNTED = np.repeat(np.arange(1, 5), ROWS)[:, None] * np.ones((1, COLS), np.float16)
CASES: Cases = {
    "in_order": lambda: _stored(in_order, TURNS, False, 6, block=64),
    "elected_twice": lambda: _stored(elected_twice, COUNTED.astype(np.float16), True, block=32),
    "unequal_masks": _masks,
    "uneven_slices": _slices,
    "late_arrives": _late,
    "remote_sum": _sum,
    "edited_aside": _aside,
    "stored_for_peer": _for_peer,
}
