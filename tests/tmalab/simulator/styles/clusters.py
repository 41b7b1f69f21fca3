"""Clusters: unusual masks, pairs, hand-overs through global memory, trees of reductions."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx


@kernel
def odd_masks(tm, out):
    """Four CTAs; rank 1 multicasts to the odd ranks (with itself), rank 2 to the even ones (0b0101)."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0 and rank == 1:
        ptx.cp_async_bulk_tensor_2d_multicast(tile, tm, 0, 8, bar, 0b1010)
    if tid == 32 and rank == 2:
        ptx.cp_async_bulk_tensor_2d_multicast(tile, tm, 0, 16, bar, 0b0101)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, 64):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def _odd() -> Case:
    out = blank(4, ROWS, COLS)
    exp = np.stack([NARROW[16:24], NARROW[8:16]] * 2)
    return gives(odd_masks, out, exp, tile_map(NARROW), block=64, grid=4, cluster=4)


@kernel
def pair_ring(tm, out, tiles):
    """A pair: rank 0's thread 32 loads for both (mask 3) a ring of two; consumer warps of both release to rank 0."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid == 32:
        for k in range(tiles):
            s = k % 2
            if rank == 0:
                ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d_multicast(ring[s], tm, 0, k * ROWS, full[s], 3)
            else:
                if k >= 2:
                    ptx.mbarrier_wait_parity(full[s], k // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
    if tid < 32:
        for k in range(tiles):
            s = k % 2
            ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[rank, k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid == 0:
                ptx.mbarrier_arrive_cluster(empty[s], 0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def _pair() -> Case:
    out = blank(2, 48, COLS)
    return gives(pair_ring, out, np.stack([NARROW[:48]] * 2), tile_map(NARROW), after=(6,), block=64, grid=2, cluster=2)


@kernel
def handing_over(x, out, rounds):
    """Two CTAs in turns add to a row of global memory; the turn goes by remote arrives at cluster scope."""
    turn = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(turn, 32)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for r in range(rounds):
        if rank == 1 or r > 0:
            ptx.mbarrier_wait_parity_cluster_scope(turn, (r - (1 - rank)) % 2)
        out[tid] = out[tid] * 2 + x[tid] + rank
        ptx.mbarrier_arrive_cluster_cluster_scope(turn, rank ^ 1)
    if rank == 0:
        ptx.mbarrier_wait_parity_cluster_scope(turn, (rounds - 1) % 2)


def _hand() -> Case:
    x = np.arange(32, dtype=np.int32)
    out = np.zeros(32, np.int32)
    exp = np.zeros(32, np.int32)
    for _ in range(3):
        for c in range(2):
            exp = exp * 2 + x + c
    return gives(handing_over, out, exp.astype(np.int32), x, block=32, grid=2, cluster=2)


def _hand2() -> Case:
    c = _hand()
    return Case(c.kernel, (*c.args, 3), c.is_right, 32, 2, 2)


@kernel
def cluster_fence_relaxed(out):
    """A relaxed remote arrive after fence.acq_rel.cluster, a relaxed wait before one: global data from CTA 0 to 1."""
    go = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(go, 32)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if rank == 0:
        out[0, tid] = tid + 1
        ptx.fence_acq_rel_cluster()
        ptx.mbarrier_arrive_cluster_relaxed_cluster_scope(go, 1)
    else:
        while not ptx.mbarrier_try_wait_parity_relaxed_cluster_scope(go, 0):
            pass
        ptx.fence_acq_rel_cluster()
        out[1, tid] = out[0, 31 - tid] * 3


def _cfr() -> Case:
    out = np.zeros((2, 32), np.int32)
    exp = np.stack([np.arange(32) + 1, (np.arange(32)[::-1] + 1) * 3]).astype(np.int32)
    return Case(cluster_fence_relaxed, (out,), lambda: np.array_equal(out, exp), 32, 2, 2)


@kernel
def reduce_tree(x, out):
    """Eight CTAs: each adds its row into the shared memory of rank // 2 by a bulk reduction, in three levels."""
    acc = cuda.shared.array((3, 32), np.uint32, alignment=128)
    bar = ptx.mbarrier_array(3)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    mine = cuda.shared.array(32, np.uint32, alignment=128)
    if tid == 0:
        for level in range(3):
            ptx.mbarrier_init(bar[level], 1)
            ptx.mbarrier_arrive_expect_tx(bar[level], 256)
        ptx.fence_mbarrier_init()
    for level in range(3):
        acc[level, tid] = 0
    mine[tid] = x[rank, tid]
    ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.cp_reduce_async_bulk_cluster_add_u32(acc[0], rank // 2, mine, 128, bar[0])
        if rank < 4:
            ptx.mbarrier_wait_parity(bar[0], 0)
            ptx.cp_reduce_async_bulk_cluster_add_u32(acc[1], rank // 2, acc[0], 128, bar[1])
        if rank < 2:
            ptx.mbarrier_wait_parity(bar[1], 0)
            ptx.cp_reduce_async_bulk_cluster_add_u32(acc[2], 0, acc[1], 128, bar[2])
    if rank == 0:
        ptx.mbarrier_wait_parity(bar[2], 0)
        out[tid] = acc[2, tid]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def _tree() -> Case:
    x = np.arange(256, dtype=np.uint32).reshape(8, 32)
    out = np.zeros(32, np.uint32)
    return gives(reduce_tree, out, x.sum(0).astype(np.uint32), x, block=32, grid=8, cluster=8)


CASES: Cases = {
    "odd_masks": _odd,
    "pair_ring": _pair,
    "handing_over": _hand2,
    "cluster_fence_relaxed": _cfr,
    "reduce_tree": _tree,
}
