"""Rings: stages that are filled again, by one thread among all, by a producer warp, by several roles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tensor, tile_map
from tmalab import TensorMap, kernel, ptx

STAGES, WARPS = 2, 4
DEPTH = 32  # of one slice of the matrices below


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
def persistent(tensor_map, out, rows_of_tiles, columns_of_tiles):
    """Stage and phase are carried from one column of tiles to the next; the producer is a lane of a consuming warp's
    neighbour, and a CTA takes every second column."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
    cuda.syncthreads()
    stage = 0
    phase = 0
    for column in range(cuda.blockIdx.x, columns_of_tiles, cuda.gridDim.x):
        for row in range(rows_of_tiles):
            if tid == 32:
                ptx.mbarrier_wait_parity(empty[stage], phase ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[stage], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[stage], tensor_map, column * COLS, row * ROWS, full[stage])
            elif tid < 32:
                ptx.mbarrier_wait_parity(full[stage], phase)
                for i in range(tid, ROWS * COLS, 32):
                    out[row * ROWS + i // COLS, column * COLS + i % COLS] = ring[stage, i // COLS, i % COLS]
                cuda.syncwarp()
                if ptx.elect_sync():
                    ptx.mbarrier_arrive(empty[stage])
            stage += 1
            if stage == STAGES:
                stage = 0
                phase ^= 1


@kernel
def ping_pong(tensor_map, out, tiles):
    """Two consumer warps take turns: warp 0 the even tiles, warp 1 the odd ones, each with two stages of its own."""
    ring = cuda.shared.array((4, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(4)
    empty = ptx.mbarrier_array(4)
    tid = cuda.threadIdx.x
    warp = tid // 32
    if tid == 0:
        for s in range(4):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 32)
    cuda.syncthreads()
    if warp == 2:
        if ptx.elect_sync():
            for k in range(tiles):
                ptx.mbarrier_wait_parity(empty[k % 4], (k // 4) % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[k % 4], TILE)
                ptx.cp_async_bulk_tensor_2d(ring[k % 4], tensor_map, 0, k * ROWS, full[k % 4])
        return
    for k in range(warp, tiles, 2):
        ptx.mbarrier_wait_parity(full[k % 4], (k // 4) % 2)
        for i in range(tid % 32, ROWS * COLS, 32):
            out[k * ROWS + i // COLS, i % COLS] = ring[k % 4, i // COLS, i % COLS]
        ptx.mbarrier_arrive(empty[k % 4])


@kernel
def product(a_map, b_map, out, slices):
    """A tile of a matrix product: two loads a stage on one barrier, sums in registers, the result by threads."""
    a = cuda.shared.array((STAGES, 8, DEPTH), np.float32, alignment=128)
    b = cuda.shared.array((STAGES, DEPTH, 8), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    row, column = tid // 8, tid % 8
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
    cuda.syncthreads()
    if tid >= 64:
        if tid == 64:
            for k in range(slices):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES + 1) % 2)
                ptx.mbarrier_arrive_expect_tx(full[s], 2 * 8 * DEPTH * 4)
                ptx.cp_async_bulk_tensor_2d(a[s], a_map, k * DEPTH, 0, full[s])
                ptx.cp_async_bulk_tensor_2d(b[s], b_map, 0, k * DEPTH, full[s])
    else:
        total = np.float32(0)
        for k in range(slices):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for i in range(DEPTH):
                total += a[s, row, i] * b[s, i, column]
            cuda.syncwarp()
            if tid % 32 == 0:
                ptx.mbarrier_arrive(empty[s])
        out[row, column] = total


def _ring(made: Any, tiles: int, **launch: Any) -> Case:
    out, expected = blank(64, COLS), blank(64, COLS)
    expected[: tiles * ROWS] = NARROW[: tiles * ROWS]
    return gives(made, out, expected, tile_map(NARROW), after=(tiles,), **launch)


def _persistent() -> Case:
    source = tensor(16, 4 * COLS)
    return gives(persistent, blank(16, 4 * COLS), source, tile_map(source), after=(2, 4), block=64, grid=2)


def _product() -> Case:
    numbers = np.random.default_rng(4)
    a, b = (numbers.integers(-4, 5, shape).astype(np.float32) for shape in ((8, 96), (96, 8)))
    maps = TensorMap.from_array(a, (8, DEPTH)), TensorMap.from_array(b, (DEPTH, 8))
    return gives(product, blank(8, 8, dtype=np.float32), a @ b, *maps, after=(3,), block=96)


CASES: Cases = {
    **{f"copy_column, {n} tiles": lambda n=n: _ring(copy_column, n) for n in (0, 1, 2, 5)},
    **{f"producer_and_consumers, {n} tiles": lambda n=n: _ring(producer_and_consumers, n) for n in (1, 2, 5)},
    **{f"every_consumer_arrives, {n} tiles": lambda n=n: _ring(every_consumer_arrives, n, block=64) for n in (1, 4)},
    "persistent": _persistent,
    **{f"ping_pong, {n} tiles": lambda n=n: _ring(ping_pong, n, block=96) for n in (1, 8)},
    "product": _product,
}
