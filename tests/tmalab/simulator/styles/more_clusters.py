"""Clusters whose CTAs share loads, push tiles to one another, and store them."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import TensorMap, kernel, ptx


@kernel
def leader_loads_all(tm, out, tiles):
    """Rank 0's producer loads another tile into each peer by single-bit masks; peers tell it by one remote arrive."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    free = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.mbarrier_init(free, 3)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(tiles):
        if rank == 0 and tid == 0:
            ptx.mbarrier_wait_parity(free, k % 2)
            for c in range(1, 4):
                ptx.cp_async_bulk_tensor_2d_multicast(tile, tm, 0, (3 * k + c - 1) * ROWS % 64, full, 1 << c)
        if rank > 0:
            if tid == 0:
                ptx.mbarrier_arrive_expect_tx(full, TILE)
                ptx.mbarrier_arrive_cluster(free, 0)
            ptx.mbarrier_wait_parity(full, k % 2)
            for i in range(tid, ROWS * COLS, 64):
                out[k, rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]
            cuda.syncthreads()


def _lead() -> Case:
    out = blank(3, 4, ROWS, COLS)
    exp = np.zeros_like(out)
    for k in range(3):
        for c in range(1, 4):
            r = (3 * k + c - 1) * 8 % 64
            exp[k, c] = NARROW[r : r + 8]
    return gives(leader_loads_all, out, exp, tile_map(NARROW), after=(3,), block=64, grid=4, cluster=4)


@kernel
def quarter_slices(tm, out, tiles):
    """Four CTAs each load a quarter (2 rows) of each tile for all; consumers release to all at default scope; tail."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 4)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid >= 32:
        if ptx.elect_sync():
            for k in range(tiles):
                s = k % 2
                ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d_multicast(ring[s, 2 * rank], tm, 0, k * ROWS + 2 * rank, full[s], 15)
            for k in range(tiles, tiles + 2):
                ptx.mbarrier_wait_parity(empty[k % 2], k // 2 % 2 ^ 1)
    else:
        for k in range(tiles):
            s = k % 2
            ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[rank, k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid < 4:
                ptx.mbarrier_arrive_cluster(empty[s], tid)


def _quarter() -> Case:
    out = blank(4, 24, COLS)
    return gives(
        quarter_slices,
        out,
        np.stack([NARROW[:24]] * 4),
        TensorMap.from_array(NARROW, (2, COLS)),
        after=(3,),
        block=64,
        grid=4,
        cluster=4,
    )


@kernel
def store_from_peer_data(tm, target):
    """Rank 0 pushes a loaded tile to rank 1 by shared-to-shared copy; rank 1 adds 1 in place, fences, stores."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    ok = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_init(ok, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 0:
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d(tile, tm, 0, 8, bar)
            ptx.mbarrier_wait_parity(bar, 0)
            ptx.cp_async_bulk_cluster(tile, 1, tile, TILE, bar)
            ptx.mbarrier_wait_parity(ok, 0)
    else:
        ptx.mbarrier_wait_parity(bar, 0)
        if tid == 0:
            ptx.mbarrier_arrive_cluster(ok, 0)
        for i in range(tid, ROWS * COLS, 32):
            tile[i // COLS, i % COLS] = np.float32(tile[i // COLS, i % COLS]) + np.float32(1)
        ptx.fence_proxy_async_shared_cta()
        cuda.syncwarp()
        if ptx.elect_sync():
            ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)


def _sfp() -> Case:
    out = blank(ROWS, COLS)
    return Case(
        store_from_peer_data,
        (tile_map(NARROW), tile_map(out)),
        lambda: np.array_equal(out, NARROW[8:16] + np.float16(1)),
        32,
        2,
        2,
    )


@kernel
def two_d_cluster(tm, out):
    """A cluster of 2 x 2 CTAs: rank is x + 2 y; those of row y share a tile by a mask 0b11 << 2 y."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    bx = cuda.blockIdx.x
    by = cuda.blockIdx.y
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_multicast(
            tile[4 * (bx % 2) :], tm, 0, by * 8 + 4 * (bx % 2), bar, 3 << (rank // 2 * 2)
        )
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, 32):
        out[by, bx, i // COLS, i % COLS] = tile[i // COLS, i % COLS]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def _2d() -> Case:
    out = blank(2, 4, ROWS, COLS)
    exp = np.stack([np.stack([NARROW[8 * y : 8 * y + 8]] * 4) for y in range(2)])
    return gives(
        two_d_cluster, out, exp, TensorMap.from_array(NARROW, (4, COLS)), block=32, grid=(4, 2), cluster=(2, 2)
    )


CASES: Cases = {
    "leader_loads_all": _lead,
    "quarter_slices": _quarter,
    "store_from_peer_data": _sfp,
    "two_d_cluster": _2d,
}
