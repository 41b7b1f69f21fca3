"""Waits by state, and copies between CTAs that the receiver alone promises."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx


@kernel
def ring_of_tokens(tm, out, tiles):
    """Tokens of three stages in local memory."""
    ring = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(3)
    tok = cuda.local.array(3, np.int64)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(3):
            ptx.mbarrier_init(full[s], 32)
    cuda.syncwarp()
    for s in range(3):
        if s < tiles:
            if tid == 7:
                tok[s] = ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], tm, 0, s * ROWS, full[s])
            else:
                tok[s] = ptx.mbarrier_arrive(full[s])
    for k in range(tiles):
        s = k % 3
        while not ptx.mbarrier_try_wait(full[s], tok[s]):
            pass
        for i in range(tid, ROWS * COLS, 32):
            out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
        cuda.syncwarp()
        if k + 3 < tiles:
            if tid == 7:
                tok[s] = ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], tm, 0, (k + 3) * ROWS, full[s])
            else:
                tok[s] = ptx.mbarrier_arrive(full[s])


def _ring_of_tokens() -> Case:
    out = blank(7 * ROWS, COLS)
    return gives(ring_of_tokens, out, NARROW[: 7 * ROWS], tile_map(NARROW), after=(7,), block=32)


@kernel
def all_to_all(x, out):
    """Each CTA pushes a row to each other CTA; each promises three rows."""
    inbox = cuda.shared.array((4, 32), np.int32, alignment=128)
    mine = cuda.shared.array((4, 32), np.int32, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar, 512)
    for d in range(4):
        mine[d, tid] = x[rank, d, tid]
    ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid < 4:
        ptx.cp_async_bulk_cluster(inbox[rank], tid, mine[tid], 128, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for d in range(4):
        out[rank, d, tid] = inbox[d, tid]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def _all_to_all() -> Case:
    x = np.arange(4 * 4 * 32, dtype=np.int32).reshape(4, 4, 32)
    out = blank(4, 4, 32, dtype=np.int32)
    return gives(all_to_all, out, x.transpose(1, 0, 2).copy(), x, block=32, grid=4, cluster=4)


@kernel
def halves_pushed(x, out):
    """CTA 1 pushes a row in two halves, by two threads."""
    inbox = cuda.shared.array(64, np.int32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(full, 256)
    if rank == 1:
        inbox[tid] = x[tid]
        inbox[tid + 32] = x[tid + 32]
        ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        if tid == 0:
            ptx.cp_async_bulk_cluster(inbox, 0, inbox, 128, full)
        if tid == 1:
            ptx.cp_async_bulk_cluster(inbox[32:], 0, inbox[32:], 128, full)
    else:
        ptx.mbarrier_wait_parity(full, 0)
        out[tid] = inbox[tid]
        out[tid + 32] = inbox[tid + 32]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def _halves_pushed() -> Case:
    x = np.arange(64, dtype=np.int32)
    out = blank(64, dtype=np.int32)
    return gives(halves_pushed, out, x, x, block=32, grid=2, cluster=2)


CASES: Cases = {
    "ring_of_tokens": _ring_of_tokens,
    "all_to_all": _all_to_all,
    "halves_pushed": _halves_pushed,
}
