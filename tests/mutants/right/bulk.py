"""Copies without a map: contiguous bytes to and from global memory, to all CTAs of a cluster, and between its CTAs."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import Case, Cases, blank, gives
from tmalab import kernel, ptx

N = 256  # elements of a float32 vector
BYTES = N * 4
STAGES = 3  # of 64 bytes: a copy without a map needs 16-byte alignment alone


@kernel
def there_and_back(x, y):
    """A vector is loaded, changed, and stored."""
    v = cuda.shared.array(N, np.float32, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, BYTES)
        ptx.cp_async_bulk(v, x, BYTES, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, N, cuda.blockDim.x):
        v[i] = v[i] * np.float32(2)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_store(y, v, BYTES)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def small_stages(x, out, count):
    """C5: stages of 64 bytes, which a copy through a map could not take."""
    ring = cuda.shared.array((STAGES, 16), np.float32, alignment=16)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
    cuda.syncthreads()
    for k in range(count):
        s = k % STAGES
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], 64)
            ptx.cp_async_bulk(ring[s], x[k * 16 :], 64, full[s])
            ptx.cp_async_bulk_prefetch(x[k * 16 :], 64)
        ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
        if tid < 16:
            out[k * 16 + tid] = ring[s, tid]
        cuda.syncthreads()


@kernel
def bulk_multicast(x, out):
    """CTA 1 copies a vector into both CTAs."""
    v = cuda.shared.array(N, np.float32, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, BYTES)
        if rank == 1:
            ptx.cp_async_bulk_multicast(v, x, BYTES, bar, 3)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, N, cuda.blockDim.x):
        out[rank, i] = v[i]


@kernel
def sums_by_copies(x, out):
    """Each CTA sums its part of a matrix over the rows; the others copy their sums to CTA 0, which adds them up. All
    meet at the end, so that no source goes away before it is read."""
    part = cuda.shared.array(32, np.float32, alignment=16)
    parts = cuda.shared.array((8, 32), np.float32, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 128 * (ctas - 1))
    ptx.barrier_cluster_arrive()
    s = np.float32(0)
    for i in range(4):
        s += x[rank * 4 + i, tid]
    part[tid] = s
    ptx.fence_proxy_async_shared_cta()
    ptx.barrier_cluster_wait()
    cuda.syncwarp()
    if rank == 0:
        ptx.mbarrier_wait_parity(bar, 0)
        for c in range(1, ctas):
            s += parts[c, tid]
        out[tid] = s
    elif tid == 0:
        ptx.cp_async_bulk_cluster(parts[rank], 0, part, 128, bar)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def sums_by_reduction(x, out):
    """The same with integers, which the copy engine adds up in the shared memory of CTA 0: its own threads wrote zeros
    there, and carried them to the copy engine's sight before the CTAs met."""
    part = cuda.shared.array(32, np.int32, alignment=16)
    total = cuda.shared.array(32, np.int32, alignment=16)
    bar = ptx.mbarrier_array(1)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    s = 0
    for i in range(4):
        s += x[rank * 4 + i, tid]
    part[tid] = s
    total[tid] = 0
    ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 128 * ctas)
        ptx.cp_reduce_async_bulk_cluster_add_s32(total, 0, part, 128, bar)
    if rank == 0:
        ptx.mbarrier_wait_parity(bar, 0)
        out[tid] = total[tid]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def passed_round(x, out, rounds):
    """A vector goes round the cluster by copies between shared memories, each CTA adding its rank + 1; a buffer is
    written again once the CTA that it was copied to says that it has it, at cluster scope, since threads write it."""
    box = cuda.shared.array((2, 32), np.int32, alignment=16)
    come = ptx.mbarrier_array(1)
    free = ptx.mbarrier_array(1)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    after, before = (rank + 1) % ctas, (rank + ctas - 1) % ctas
    if tid == 0:
        ptx.mbarrier_init(come, 1)
        ptx.mbarrier_init(free, 1)
        ptx.fence_mbarrier_init()
    box[1, tid] = x[rank, tid]
    ptx.fence_proxy_async()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(rounds):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(come, 128)
            ptx.cp_async_bulk_cluster(box[0], after, box[1], 128, come)
        ptx.mbarrier_wait_parity(come, k % 2)
        seen = box[0, tid]
        cuda.syncwarp()
        if tid == 0:
            ptx.mbarrier_arrive_cluster_cluster_scope(free, before)
        while not ptx.mbarrier_try_wait_parity_cluster_scope(free, k % 2):
            pass
        box[1, tid] = seen + rank + 1
        ptx.fence_proxy_async_shared_cta()
        cuda.syncwarp()
    out[rank, tid] = box[1, tid]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


X = np.arange(N, dtype=np.float32)
ROWS = np.arange(512).reshape(16, 32) % 13


def _there_and_back() -> Case:
    return gives(there_and_back, blank(N, dtype=np.float32), X * 2, X.copy(), block=64)


def _small() -> Case:
    expected = blank(128, dtype=np.float32)
    expected[:80] = X[:80]
    return gives(small_stages, blank(128, dtype=np.float32), expected, X.copy(), after=(5,), block=32)


def _multicast() -> Case:
    return gives(bulk_multicast, blank(2, N, dtype=np.float32), np.stack([X, X]), X.copy(), block=64, grid=2, cluster=2)


def _sums(kernel, ctas: int, dtype: type) -> Case:
    x = ROWS[: 4 * ctas].astype(dtype)
    return gives(kernel, blank(32, dtype=dtype), x.sum(0), x, block=32, grid=ctas, cluster=ctas)


def _round(ctas: int, rounds: int) -> Case:
    x = np.arange(ctas * 32, dtype=np.int32).reshape(ctas, 32)
    expected = x
    for _ in range(rounds):
        expected = np.roll(expected, 1, axis=0) + np.arange(1, ctas + 1)[:, None]
    out = blank(ctas, 32, dtype=np.int32)
    return gives(passed_round, out, expected, x, after=(rounds,), block=32, grid=ctas, cluster=ctas)


CASES: Cases = {
    "there_and_back": _there_and_back,
    "small_stages": _small,
    "bulk_multicast": _multicast,
    **{f"sums_by_copies, {n} CTAs": lambda n=n: _sums(sums_by_copies, n, np.float32) for n in (2, 4)},
    **{f"sums_by_reduction, {n} CTAs": lambda n=n: _sums(sums_by_reduction, n, np.int32) for n in (2, 4)},
    "passed_round, 2 CTAs": lambda: _round(2, 5),
    "passed_round, 4 CTAs": lambda: _round(4, 3),
}
