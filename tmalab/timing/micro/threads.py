"""Micro-benchmarks of what threads do: instructions, barriers, accesses to memory."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel, ptx
from tmalab.timing.micro.benchmark import EVENT, Benchmark

WORDS = 1024  # of shared memory, of 4 bytes
LINE = 32  # int32 in a line of 128 bytes
WIDTH = 256  # int32 in a row of the matrix that threads write to


@kernel
def both_clocks(out, turns, start):
    """Cycles and nanoseconds of the same stretch."""
    if cuda.threadIdx.x == 0:
        cycles = ptx.clock64()
        time = ptx.globaltimer()
        for _ in range(turns):
            ptx.fence_proxy_async()
        out[1] = ptx.globaltimer() - time
        out[0] = ptx.clock64() - cycles


@kernel
def instructions(out, turns, start):
    """Instructions of a warpgroup that find nothing to do: three a turn."""
    begin = ptx.clock64()
    for _ in range(turns):
        ptx.wgmma_fence()
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
    end = ptx.clock64()
    if cuda.threadIdx.x == 0:
        out[0] = end - begin


@kernel
def arrives(out, turns, start):
    """Arrives of one thread, all in one phase."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar[0], turns)
        begin = ptx.clock64()
        for _ in range(turns):
            ptx.mbarrier_arrive(bar[0])
        out[0] = ptx.clock64() - begin
        ptx.mbarrier_wait_parity(bar[0], 0)


@kernel
def waits(out, turns, start):
    """Waits for a phase that is complete."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.mbarrier_arrive(bar[0])
        ptx.mbarrier_wait_parity(bar[0], 0)
        begin = ptx.clock64()
        for _ in range(turns):
            ptx.mbarrier_wait_parity(bar[0], 0)
        out[0] = ptx.clock64() - begin


@kernel
def handoffs(out, turns, start):
    """Two warps that wait for each other in turn: two hand-offs a turn."""
    bar = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.mbarrier_init(bar[1], 1)
    cuda.syncthreads()
    if tid == 0:
        begin = ptx.clock64()
        for i in range(turns):
            ptx.mbarrier_arrive(bar[0])
            ptx.mbarrier_wait_parity(bar[1], i & 1)
        out[0] = ptx.clock64() - begin
    elif tid == 32:
        for i in range(turns):
            ptx.mbarrier_wait_parity(bar[0], i & 1)
            ptx.mbarrier_arrive(bar[1])


@kernel
def peer_handoffs(out, turns, start):
    """The same between two CTAs of a cluster."""
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        begin = ptx.clock64()
        for i in range(turns):
            if rank == 0:
                ptx.mbarrier_arrive_cluster(bar[0], 1)
            ptx.mbarrier_wait_parity(bar[0], i & 1)
            if rank == 1:
                ptx.mbarrier_arrive_cluster(bar[0], 0)
        if rank == 0:
            out[0] = ptx.clock64() - begin
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def fences(out, turns, start):
    """Proxy fences of one thread."""
    if cuda.threadIdx.x == 0:
        begin = ptx.clock64()
        for _ in range(turns):
            ptx.fence_proxy_async_shared_cta()
        out[0] = ptx.clock64() - begin


@kernel
def syncs(out, turns, start):
    """Barriers of all threads of a CTA."""
    begin = ptx.clock64()
    for _ in range(turns):
        cuda.syncthreads()
    end = ptx.clock64()
    if cuda.threadIdx.x == 0:
        out[0] = end - begin


@kernel
def cluster_syncs(out, turns, start):
    """Barriers of a cluster."""
    begin = ptx.clock64()
    for _ in range(turns):
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()
    end = ptx.clock64()
    if cuda.grid(1) == 0:
        out[0] = end - begin


@kernel
def accesses(out, turns, start):
    """Stores to shared memory, one by one, in a loop that computes where: by one warp, or by many."""
    tile = cuda.shared.array(WORDS, np.int32)
    tid = cuda.threadIdx.x
    begin = ptx.clock64()
    for i in range(turns):
        tile[tid ^ (i & 31)] = i
        cuda.syncwarp()
    end = ptx.clock64()
    if tid == 0:
        out[0] = end - begin


@kernel
def shared_chase(out, turns, start):
    """Reads of shared memory, each where the one before says."""
    tile = cuda.shared.array(WORDS, np.int32)
    tid = cuda.threadIdx.x
    for i in range(tid, WORDS, 32):
        tile[i] = (i + LINE) % WORDS
    cuda.syncthreads()
    if tid == 0:
        at = start
        begin = ptx.clock64()
        for _ in range(turns):
            at = tile[at]
        out[0] = ptx.clock64() - begin
        out[1] = at


@kernel
def shared_conflicts(out, turns, start):
    """Reads of 32 warps in which all lanes want the same bank."""
    tile = cuda.shared.array(WORDS, np.int32)
    tid = cuda.threadIdx.x
    tile[tid] = 1
    cuda.syncthreads()
    at = tid % 32 * LINE + start
    total = 0
    begin = ptx.clock64()
    for i in range(turns):
        total += tile[at ^ (i & 7)]
    end = ptx.clock64()
    cuda.syncthreads()
    if total == 0:
        out[1] = 1
    if tid == 0:
        out[0] = end - begin


@kernel
def global_chase(out, turns, start, chain):
    """Reads of global memory, each where the one before says."""
    if cuda.threadIdx.x == 0:
        at = start
        begin = ptx.clock64()
        for _ in range(turns):
            at = chain[at]
        out[0] = ptx.clock64() - begin
        out[1] = at


@kernel
def fragment_writes(out, turns, start, target):
    """Stores of 8 warps to global memory, the lanes as the accumulators of a wgmma lie: 16 bytes in each of 8 rows."""
    tid = cuda.threadIdx.x
    row = (cuda.blockIdx.x * 8 + tid // 32) * 8 + tid % 32 // 4
    column = tid % 4 * 2 + start
    begin = ptx.clock64()
    for i in range(turns):
        target[row, column + (i & 1) + (i & 6) * 4] = i
    end = ptx.clock64()
    if cuda.grid(1) == 0:
        out[0] = end - begin


@kernel
def looks(out, turns, start):
    """Waits of all warps for a phase that is complete."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.mbarrier_arrive(bar[0])
    cuda.syncthreads()
    begin = ptx.clock64()
    for _ in range(turns):
        ptx.mbarrier_wait_parity(bar[0], 0)
    end = ptx.clock64()
    if cuda.threadIdx.x == 0:
        out[0] = end - begin


def _chain(memory: int) -> tuple[np.ndarray]:
    """Places that lead from one line of 128 bytes to another, in no order that a cache could guess."""
    lines = memory // (4 * LINE)
    order = np.random.default_rng(0).permutation(lines).astype(np.int64) * LINE
    chain = np.zeros(lines * LINE, np.int32)
    chain[order] = np.roll(order, -1)
    return (chain,)


def _rows(memory: int) -> tuple[np.ndarray]:
    """Rows of 1 KiB, as a matrix has them."""
    return (np.zeros((memory // (4 * WIDTH), WIDTH), np.int32),)


THREADS = (
    Benchmark("clock", both_clocks, 1 << 15),
    Benchmark("instruction", instructions, 256, block=128),
    Benchmark("arrive", arrives, 256),
    Benchmark("wait", waits, 256),
    Benchmark("handoff", handoffs, 256, block=64),
    Benchmark("peer_handoff", peer_handoffs, 256, cluster=2, grid=2),
    Benchmark("fence", fences, 256),
    Benchmark("sync", syncs, 256, block=128),
    Benchmark("cluster_sync", cluster_syncs, 256, block=128, cluster=2, grid=2),
    Benchmark("access", accesses, 1024),
    Benchmark("access_many", accesses, 1024, block=1024),
    Benchmark("shared_chase", shared_chase, 1024),
    Benchmark("shared_conflicts", shared_conflicts, 256, block=1024),
    Benchmark("global_chase_l2", global_chase, 1024, data=_chain, memory=1 << 22),
    Benchmark("global_chase_device", global_chase, 1024, data=_chain, memory=1 << 26, cold=True),
    Benchmark("fragment_writes", fragment_writes, 1024, block=256, data=_rows, memory=1 << 24),
    Benchmark("fragment_writes_all", fragment_writes, 1024, EVENT, 256, grid=0, data=_rows, memory=1 << 24),
    Benchmark("instruction_many", instructions, 256, block=1024),
    Benchmark("wait_many", looks, 256, block=1024),
)
