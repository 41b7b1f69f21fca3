"""Clusters in other styles: a square whose rows and columns share operands, a cluster barrier in place of empty
barriers, a loader that takes no part, stores of what peers have sent, and CTAs that leave early."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import TensorMap, kernel, ptx

STAGES = 2
SIDE = 16  # rows and columns of the operands' tiles, of float32
SQUARE = SIDE * SIDE * 4  # bytes
HALF = SIDE // 2


@kernel
def operands_of_a_square(a, b, out, steps):
    """Four CTAs in a square, as in CUTLASS: the two of a row share their tile of A, those of a column their tile of B.
    Each loads half of both and multicasts it along its row or column; a stage is free once the three CTAs that were
    sent a part of it have said so."""
    tiles_a = cuda.shared.array((STAGES, SIDE, SIDE), np.float32, alignment=128)
    tiles_b = cuda.shared.array((STAGES, SIDE, SIDE), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    row, column = rank // 2, rank % 2
    in_row, in_column = 3 << (2 * row), 5 << column
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 3)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid == 32:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], 2 * SQUARE)
            y, x = row * SIDE + column * HALF, column * SIDE + row * HALF
            ptx.cp_async_bulk_tensor_2d_multicast(tiles_a[s, column * HALF], a, k * SIDE, y, full[s], in_row)
            ptx.cp_async_bulk_tensor_2d_multicast(tiles_b[s, row * HALF], b, k * SIDE, x, full[s], in_column)
        for k in range(steps, steps + STAGES):
            ptx.mbarrier_wait_parity(empty[k % STAGES], (k // STAGES) % 2 ^ 1)
    elif tid < 32:
        total = np.float32(0)
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            if tid < SIDE:
                for i in range(SIDE):
                    total += tiles_a[s, tid, i] * tiles_b[s, tid, i]
            cuda.syncwarp()
            if tid < 4 and ((in_row | in_column) >> tid) & 1:
                ptx.mbarrier_arrive_cluster(empty[s], tid)
        if tid < SIDE:
            out[rank, tid] = total


@kernel
def meeting_after_each_tile(tensor_map, out, tiles):
    """The whole cluster meets after each tile, so that the next multicast may overwrite it. Each time another CTA
    loads, and its mask names all."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank, ctas = cuda.threadIdx.x, ptx.cluster_ctarank(), ptx.cluster_nctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(tiles):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full, TILE)
            if k % ctas == rank:
                ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, k * ROWS, full, (1 << ctas) - 1)
        ptx.mbarrier_wait_parity(full, k % 2)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[rank, k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()


@kernel
def loader_apart(tensor_map, out):
    """CTA 0 only loads, for the two others; it leaves at once, since nothing is sent to it."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 0:
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 8, full, 0b110)
        return
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full, TILE)
    ptx.mbarrier_wait_parity(full, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def stored_by_a_peer(source, target):
    """CTA 0 loads a tile and copies it to CTA 1, which stores it: asynchronous on all sides, so that no proxy fence is
    owed. CTA 0 stays until CTA 1 has it."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full, TILE)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        if rank == 0:
            ptx.cp_async_bulk_tensor_2d(tile, source, 0, 0, full)
            ptx.mbarrier_wait_parity(full, 0)
            ptx.cp_async_bulk_cluster(tile, 1, tile, TILE, full)
        else:
            ptx.mbarrier_wait_parity(full, 0)
            ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def last_one_leaves(tensor_map, out):
    """CTAs that have nothing to do leave before the cluster barrier, which then waits for the others alone; those reach
    nobody else. In each CTA results go out by a store, carried by a fence for its own shared memory."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if rank == 1:
        return
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = np.float32(rank + 1)
    ptx.fence_proxy_async_shared_cta()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, rank * ROWS, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


def _square(steps: int) -> Case:
    a, b = (np.random.default_rng(seed).integers(-3, 4, (32, 64)).astype(np.float32) for seed in (1, 2))
    dots = [(a[r * 16 : r * 16 + 16] * b[c * 16 : c * 16 + 16])[:, : steps * 16].sum(1) for r in (0, 1) for c in (0, 1)]
    maps = (TensorMap.from_array(operand, (HALF, SIDE)) for operand in (a, b))
    out = blank(4, SIDE, dtype=np.float32)
    return gives(
        operands_of_a_square, out, np.stack(dots), *maps, after=(steps,), block=64, grid=(2, 2), cluster=(2, 2)
    )


def _meeting(ctas: int, tiles: int) -> Case:
    expected = blank(ctas, 64, COLS)
    expected[:, : tiles * ROWS] = NARROW[: tiles * ROWS]
    launch = {"block": 64, "grid": ctas, "cluster": ctas}
    return gives(meeting_after_each_tile, blank(ctas, 64, COLS), expected, tile_map(NARROW), after=(tiles,), **launch)


def _apart() -> Case:
    expected = blank(3, ROWS, COLS)
    expected[1:] = NARROW[8:16]
    return gives(loader_apart, blank(3, ROWS, COLS), expected, tile_map(NARROW), block=64, grid=3, cluster=3)


def _stored() -> Case:
    target = blank(ROWS, COLS)
    args = tile_map(NARROW), tile_map(target)
    return Case(stored_by_a_peer, args, lambda: np.array_equal(target, NARROW[:ROWS]), block=32, grid=2, cluster=2)


def _leaves() -> Case:
    target, expected = blank(3 * ROWS, COLS), blank(3 * ROWS, COLS)
    expected[:ROWS], expected[2 * ROWS :] = 1, 3
    args = tile_map(target), target
    return Case(last_one_leaves, args, lambda: np.array_equal(target, expected), block=64, grid=3, cluster=3)


CASES: Cases = {
    **{f"operands_of_a_square, {n} steps": lambda n=n: _square(n) for n in (1, 4)},
    "meeting_after_each_tile, 2 CTAs": lambda: _meeting(2, 4),
    "meeting_after_each_tile, 4 CTAs": lambda: _meeting(4, 2),
    "loader_apart": _apart,
    "stored_by_a_peer": _stored,
    "last_one_leaves": _leaves,
}
