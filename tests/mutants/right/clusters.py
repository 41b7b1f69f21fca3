"""Clusters: multicast, rings whose barriers several CTAs share, arrives on the barriers of peers."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import TensorMap, kernel, ptx

STAGES = 2
HALF = ROWS // 2


@kernel
def one_loads_for_all(tensor_map, out):
    """CTA 0 multicasts a tile to the whole cluster; every CTA promises the bytes to its own barrier."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE)
        if rank == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full, (1 << ptx.cluster_nctarank()) - 1)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cuda.blockIdx.x * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def each_loads_its_slice(tensor_map, out):
    """Two CTAs: each loads half a tile for both, so each waits for bytes of both loads. A relaxed arrive after
    fence_mbarrier_init is enough to start."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, 0, rank * HALF, full, 0b11)
        ptx.mbarrier_arrive_expect_tx(full, TILE)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cuda.blockIdx.x * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def multicast_ring(tensor_map, out, tiles):
    """CUTLASS's ring in a cluster: each producer waits until the consumers of all CTAs have released a stage, promises
    a whole tile to its own barrier and multicasts its slice; a consumer warp releases its stage to all CTAs, at the
    default scope. The producer's tail keeps the CTA alive until all have arrived."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    rows = ROWS // ctas
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], ctas)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid < 32:
        if ptx.elect_sync():
            for k in range(tiles):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d_multicast(
                    ring[s, rank * rows], tensor_map, 0, k * ROWS + rank * rows, full[s], (1 << ctas) - 1
                )
            for k in range(tiles, tiles + STAGES):
                ptx.mbarrier_wait_parity(empty[k % STAGES], (k // STAGES) % 2 ^ 1)
    else:
        for k in range(tiles):
            s = k % STAGES
            while not ptx.mbarrier_try_wait_parity(full[s], (k // STAGES) % 2):
                pass
            for i in range(tid - 32, ROWS * COLS, 32):
                out[rank, k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid - 32 < ctas:
                ptx.mbarrier_arrive_cluster(empty[s], tid - 32)


@kernel
def one_producer_for_all(tensor_map, out, tiles):
    """A ring with one producer for the cluster: CTA 0 waits for the consumers of all CTAs; the others only promise the
    bytes, each once its own consumers are done."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], ctas if rank == 0 else 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            if rank == 0:
                ptx.cp_async_bulk_tensor_2d_multicast(ring[s], tensor_map, 0, k * ROWS, full[s], (1 << ctas) - 1)
    elif tid >= 32:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for i in range(tid - 32, ROWS * COLS, 32):
                out[rank, k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid == 32:
                ptx.mbarrier_arrive(empty[s])
                if rank > 0:
                    ptx.mbarrier_arrive_cluster(empty[s], 0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def token_passed_round(out):
    """Each CTA adds to a value in global memory and hands it to the next one by an arrive on that CTA's barrier; both
    sides have cluster scope, since threads wrote the value."""
    turn = ptx.mbarrier_array(1)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    if tid == 0:
        ptx.mbarrier_init(turn, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank > 0:
            while not ptx.mbarrier_try_wait_parity_cluster_scope(turn, 0):
                pass
        out[0] += rank + 1
        if rank + 1 < ctas:
            ptx.mbarrier_arrive_cluster_cluster_scope(turn, rank + 1)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def relaxed_token(out):
    """The same between two CTAs, relaxed, made strong by fences."""
    turn = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(turn, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0 and rank == 0:
        out[0] = 5
        ptx.fence_acq_rel_cluster()
        ptx.mbarrier_arrive_cluster_relaxed_cluster_scope(turn, 1)
    if tid == 0 and rank == 1:
        while not ptx.mbarrier_try_wait_parity_relaxed_cluster_scope(turn, 0):
            pass
        ptx.fence_acq_rel_cluster()
        out[1] = out[0] + 1


@kernel
def global_memory_between_ctas(out, total):
    """CTAs of a cluster write parts of an array, meet in the cluster barrier, and read one another's. Some threads have
    left before: the barrier counts those who live."""
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    if tid >= 32:
        return
    out[rank * 32 + tid] = rank * 32 + tid
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    s = 0
    for c in range(ctas):
        s += out[c * 32 + tid]
    total[rank * 32 + tid] = s


@kernel
def promised_by_a_peer(tensor_map, out):
    """CTA 0 promises the bytes to the barriers of both CTAs and arrives there, then loads for both: only it knows."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0 and rank == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE)
        ptx.mbarrier_arrive_expect_tx_cluster(full, 1, TILE)
        ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full, 3)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cuda.blockIdx.x * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def _loaded(kernel, ctas: int, clusters: int = 1) -> Case:
    expected = np.concatenate([NARROW[:ROWS]] * ctas * clusters)
    launch = {"block": 64, "grid": ctas * clusters, "cluster": ctas}
    return gives(kernel, blank(ROWS * ctas * clusters, COLS), expected, tile_map(NARROW), **launch)


def _slices() -> Case:
    half = TensorMap.from_array(NARROW, (HALF, COLS))
    expected = np.concatenate([NARROW[:ROWS]] * 2)
    return gives(each_loads_its_slice, blank(2 * ROWS, COLS), expected, half, block=64, grid=2, cluster=2)


def _ring(kernel, ctas: int, tiles: int) -> Case:
    rows = ROWS // ctas if kernel is multicast_ring else ROWS
    expected = blank(ctas, 64, COLS)
    expected[:, : tiles * ROWS] = NARROW[: tiles * ROWS]
    source = TensorMap.from_array(NARROW, (rows, COLS))
    return gives(kernel, blank(ctas, 64, COLS), expected, source, after=(tiles,), block=64, grid=ctas, cluster=ctas)


def _token(kernel, ctas: int, expected: list[int]) -> Case:
    out = blank(len(expected), dtype=np.int32)
    return gives(kernel, out, np.array(expected, np.int32), block=32, grid=ctas, cluster=ctas)


def _totals() -> Case:
    out, total = blank(64, dtype=np.int32), blank(64, dtype=np.int32)
    expected = np.tile(np.arange(32) * 2 + 32, 2)
    return Case(
        global_memory_between_ctas, (out, total), lambda: np.array_equal(total, expected), block=64, grid=2, cluster=2
    )


CASES: Cases = {
    **{f"one_loads_for_all, {n} CTAs": lambda n=n: _loaded(one_loads_for_all, n) for n in (2, 4)},
    "one_loads_for_all, 3 clusters": lambda: _loaded(one_loads_for_all, 2, 3),
    "each_loads_its_slice": _slices,
    **{
        f"multicast_ring, {n} CTAs, {k} tiles": lambda n=n, k=k: _ring(multicast_ring, n, k)
        for n, k in ((2, 1), (2, 5), (4, 3))
    },
    **{
        f"one_producer_for_all, {n} CTAs, {k} tiles": lambda n=n, k=k: _ring(one_producer_for_all, n, k)
        for n, k in ((2, 4), (4, 3))
    },
    "token_passed_round": lambda: _token(token_passed_round, 4, [10]),
    "relaxed_token": lambda: _token(relaxed_token, 2, [5, 6]),
    "global_memory_between_ctas": _totals,
    "promised_by_a_peer": lambda: _loaded(promised_by_a_peer, 2),
}
