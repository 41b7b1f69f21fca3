"""Right kernels of whole pipelines in unusual styles: pushes to a leader, epilogues, polls, stages changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx

S = 3  # stages


@kernel
def push_to_leader(x, out, rounds):
    """Three CTAs send their rows to the first, which says at cluster scope that it has them: threads write next."""
    inbox = cuda.shared.array((4, 32), np.int32, alignment=128)
    mine = cuda.shared.array(32, np.int32, alignment=128)
    come = ptx.mbarrier_array(1)
    free = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(come, 1)
        ptx.mbarrier_init(free, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(rounds):
        if rank == 0 and tid == 0:
            ptx.mbarrier_arrive_expect_tx(come, 3 * 128)
        if rank > 0:
            if k > 0:
                while not ptx.mbarrier_try_wait_parity_cluster_scope(free, (k - 1) % 2):
                    pass
            mine[tid] = x[rank, tid] + k
            ptx.fence_proxy_async_shared_cta()
            cuda.syncwarp()
            if tid == 0:
                ptx.cp_async_bulk_cluster(inbox[rank], 0, mine, 128, come)
        else:
            ptx.mbarrier_wait_parity(come, k % 2)
            s = 0
            for c in range(1, 4):
                s += inbox[c, tid]
            out[k, tid] = s
            cuda.syncwarp()
            if 0 < tid < 4:
                ptx.mbarrier_arrive_cluster_cluster_scope(free, tid)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def pushed_and_acked(x, out):
    """Two CTAs send a row each to a third, which tells them once it has both, and leaves."""
    inbox = cuda.shared.array((2, 32), np.int32, alignment=128)
    mine = cuda.shared.array(32, np.int32, alignment=128)
    full = ptx.mbarrier_array(1)
    ack = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.mbarrier_init(ack, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 2:
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full, 256)
        ptx.mbarrier_wait_parity(full, 0)
        for c in range(2):
            out[c, tid] = inbox[c, tid]
        if tid < 2:
            ptx.mbarrier_arrive_cluster(ack, tid)
    else:
        mine[tid] = x[rank, tid]
        ptx.fence_proxy_async()
        cuda.syncwarp()
        if tid == 0:
            ptx.cp_async_bulk_cluster(inbox[rank], 2, mine, 128, full)
            ptx.mbarrier_wait_parity(ack, 0)


@kernel
def cutlass_epilogue(target, tiles):
    """CUTLASS's store pipeline: the issuing thread waits for reads, a named barrier, writes, fence, barrier, store."""
    buf = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    if tid < 32:
        return
    lane = tid - 32
    for k in range(tiles):
        s = k % 2
        if tid == 32:
            ptx.cp_async_bulk_wait_group_read(1)
        ptx.barrier_sync(2, 64)
        for i in range(lane, ROWS * COLS, 64):
            buf[s, i // COLS, i % COLS] = np.float32(k + i % 3)
        ptx.fence_proxy_async_shared_cta()
        ptx.barrier_sync(2, 64)
        if tid == 32:
            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, buf[s])
            ptx.cp_async_bulk_commit_group()
    if tid == 32:
        ptx.cp_async_bulk_wait_group_read(0)


@kernel
def polled_with_sleep(tensor_map, out, tiles):
    """A test, and where it fails more of them with ever longer pauses between."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(tiles):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, k * ROWS, full)
        if not ptx.mbarrier_test_wait_parity(full, k & 1):
            ns = 20
            while not ptx.mbarrier_test_wait_parity(full, k & 1):
                cuda.nanosleep(ns)
                ns = min(2 * ns, 320)
        for i in range(tid, ROWS * COLS, 64):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()


@kernel
def staged_by_states(tensor_map, out, tiles):
    """A consumer keeps the state of its arrive on empty, and waits for it as the next producer."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        for s in range(2):
            if s < tiles:
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, s * ROWS, full[s])
    cuda.syncthreads()
    for k in range(tiles):
        s = k % 2
        ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
        for i in range(tid, ROWS * COLS, 64):
            out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
        state = ptx.mbarrier_arrive(empty[s])
        if tid == 0 and k + 2 < tiles:
            while not ptx.mbarrier_try_wait(empty[s], state):
                pass
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + 2) * ROWS, full[s])


@kernel
def in_place(source, target, tiles):
    """Load, double in place, store from the same stage, whose next load waits until that has been read."""
    ring = cuda.shared.array((S, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(S)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(S):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for s in range(min(S - 1, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(ring[s], source, 0, s * ROWS, full[s])
    cuda.syncthreads()
    for k in range(tiles):
        s = k % S
        ptx.mbarrier_wait_parity(full[s], k // S & 1)
        for i in range(tid, ROWS * COLS, 64):
            ring[s, i // COLS, i % COLS] = np.float32(ring[s, i // COLS, i % COLS]) * np.float32(2)
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, ring[s])
            ptx.cp_async_bulk_commit_group()
            n = k + S - 1
            if n < tiles:
                ptx.cp_async_bulk_wait_group_read(1)
                ptx.mbarrier_arrive_expect_tx(full[n % S], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[n % S], source, 0, n * ROWS, full[n % S])
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def histogram_to_peer(x, out):
    """Two CTAs count by atomics in shared memory; CTA 1 adds its counts into CTA 0's by a reduction."""
    bins = cuda.shared.array(32, np.uint32, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    bins[tid] = 0
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    cuda.syncwarp()
    for i in range(tid, 128, 32):
        cuda.atomic.add(bins, x[rank, i], 1)
    ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(full, 128)
        else:
            ptx.cp_reduce_async_bulk_cluster_add_u32(bins, 0, bins, 128, full)
    if rank == 0:
        ptx.mbarrier_wait_parity(full, 0)
        out[tid] = bins[tid]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def handed_on_by_bits(tensor_map, out, tiles):
    """One array of barriers, full at even and empty at odd places; three consumer warps share each stage."""
    ring = cuda.shared.array((2, 24, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(4)
    tid = cuda.threadIdx.x
    w, lane = tid // 32, tid % 32
    if tid < 4:
        ptx.mbarrier_init(bars[tid], 1 if tid % 2 == 0 else 3)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    bits = 0
    for k in range(tiles):
        s = k & 1
        if w == 3:
            if lane == 0:
                ptx.mbarrier_wait_parity(bars[2 * s + 1], ((bits >> s) & 1) ^ 1)
                ptx.mbarrier_arrive_expect_tx(bars[2 * s], 24 * 128)
                for r in range(3):
                    ptx.cp_async_bulk_tensor_2d(ring[s, r * 8], tensor_map, 0, (k % 2) * 24 + r * 8, bars[2 * s])
        else:
            ptx.mbarrier_wait_parity(bars[2 * s], (bits >> s) & 1)
            for i in range(lane, ROWS * COLS, 32):
                out[k, w * 8 + i // COLS, i % COLS] = ring[s, w * 8 + i // COLS, i % COLS]
            cuda.syncwarp()
            if lane == 31:
                ptx.mbarrier_arrive(bars[2 * s + 1])
        bits ^= 1 << s


def _push() -> Case:
    x = np.arange(128, dtype=np.int32).reshape(4, 32)
    expected = np.stack([x[1:].sum(0) + 3 * k for k in range(3)]).astype(np.int32)
    return gives(push_to_leader, blank(3, 32, dtype=np.int32), expected, x, after=(3,), block=32, grid=4, cluster=4)


def _acked() -> Case:
    x = np.arange(64, dtype=np.int32).reshape(2, 32)
    return gives(pushed_and_acked, blank(2, 32, dtype=np.int32), x, x, block=32, grid=3, cluster=3)


def _stored(made: Any, source: Any, expected: np.ndarray, tiles: int, block: int) -> Case:
    target = blank(tiles * ROWS, COLS)
    args = (*source, tile_map(target), tiles)
    return Case(made, args, lambda: np.array_equal(target, expected[: tiles * ROWS]), block=block)


def _copied(made: Any, tiles: int, block: int) -> Case:
    out = blank(tiles * ROWS, COLS)
    return gives(made, out, NARROW[: tiles * ROWS], tile_map(NARROW), after=(tiles,), block=block)


def _counted() -> Case:
    x = np.random.default_rng(0).integers(0, 32, (2, 128)).astype(np.int32)
    counts = np.bincount(x.ravel(), minlength=32).astype(np.uint32)
    return gives(histogram_to_peer, blank(32, dtype=np.uint32), counts, x, block=32, grid=2, cluster=2)


def _by_bits() -> Case:
    expected = np.stack([NARROW[k % 2 * 24 : k % 2 * 24 + 24] for k in range(5)])
    return gives(handed_on_by_bits, blank(5, 24, COLS), expected, tile_map(NARROW), after=(5,), block=128)


NUMBERED = (np.repeat(np.arange(8), ROWS * COLS) + np.tile(np.arange(ROWS * COLS) % 3, 8)).reshape(64, COLS)
CASES: Cases = {
    "push_to_leader": _push,
    "pushed_and_acked": _acked,
    "cutlass_epilogue": lambda: _stored(cutlass_epilogue, (), NUMBERED, 5, 96),
    "polled_with_sleep": lambda: _copied(polled_with_sleep, 3, 64),
    "staged_by_states": lambda: _copied(staged_by_states, 5, 64),
    "in_place": lambda: _stored(in_place, (tile_map(NARROW),), NARROW * np.float16(2), 7, 64),
    "histogram_to_peer": _counted,
    "handed_on_by_bits": _by_bits,
}
