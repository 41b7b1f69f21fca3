"""Micro-benchmarks of rings of tiles: how many bytes come and go in a while, with one copy in flight or with many."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.launch import Kernel
from tmalab.timing.micro.benchmark import EVENT, Benchmark
from tmalab.timing.micro.copies import COLUMNS, RING_ROWS, fill, tensor_of

RING_STAGES = 12  # 192 KiB in flight
ONE_ROWS = 64  # of the tiles of 8 KiB that each SM loads one by one
WIDE = 12  # CTAs in a row of those that have tiles in common


@cache
def ring(tile_rows: int = RING_ROWS, stages: int = RING_STAGES) -> Kernel:
    """Loads of rows of 128 bytes, so many in flight as there are stages; after `limit` rows it begins anew."""
    bytes = tile_rows * COLUMNS * 2

    @kernel
    def loads(out, turns, start, tensor_map, limit, wide):
        """Each CTA loads tiles of its own where `wide` is 0. Otherwise the CTAs lie in rows of so many, as those of a
        product do: by turns a CTA loads a tile that is common to its row, and one that is common to its column.
        """
        tiles = cuda.shared.array((stages, tile_rows, COLUMNS), np.uint16, alignment=1024)
        bar = ptx.mbarrier_array(stages)
        rows = cuda.gridDim.x * tile_rows
        first = start + cuda.blockIdx.x * tile_rows
        second = first
        if wide > 0:
            first = start + cuda.blockIdx.x // wide * tile_rows
            second = start + (wide + cuda.blockIdx.x % wide) * tile_rows
        if cuda.threadIdx.x == 0:
            for stage in range(stages):
                ptx.mbarrier_init(bar[stage], 1)
            ptx.fence_mbarrier_init()
            row = first
            next_row = second + rows
            begin = ptx.clock64()
            for stage in range(stages):
                ptx.mbarrier_arrive_expect_tx(bar[stage], bytes)
                ptx.cp_async_bulk_tensor_2d(tiles[stage], tensor_map, 0, row, bar[stage])
                after = row + 2 * rows
                if after >= limit:
                    after -= limit
                row = next_row
                next_row = after
            stage = 0
            parity = 0
            for _ in range(turns):
                ptx.mbarrier_wait_parity(bar[stage], parity)
                ptx.mbarrier_arrive_expect_tx(bar[stage], bytes)
                ptx.cp_async_bulk_tensor_2d(tiles[stage], tensor_map, 0, row, bar[stage])
                after = row + 2 * rows
                if after >= limit:
                    after -= limit
                row = next_row
                next_row = after
                stage += 1
                if stage == stages:
                    stage = 0
                    parity ^= 1
            for _ in range(stages):
                ptx.mbarrier_wait_parity(bar[stage], parity)
                stage += 1
                if stage == stages:
                    stage = 0
                    parity ^= 1
            if cuda.blockIdx.x == 0:
                out[0] = ptx.clock64() - begin

    return loads


@kernel
def store_ring(out, turns, start, tensor_map, limit):
    """Stores of 16 KiB, four of them in flight, each CTA to tiles of its own; after `limit` rows it begins anew."""
    tile = cuda.shared.array((RING_ROWS, COLUMNS), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        rows = cuda.gridDim.x * RING_ROWS
        first = start + cuda.blockIdx.x * RING_ROWS
        fill(tile, tensor_map, first, RING_ROWS * COLUMNS * 2, bar[0])
        row = first
        begin = ptx.clock64()
        for _ in range(turns):
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, row, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(3)
            row += rows
            if row >= limit:
                row = first
        ptx.cp_async_bulk_wait_group(0)
        if cuda.blockIdx.x == 0:
            out[0] = ptx.clock64() - begin


@kernel
def copy_ring(out, turns, start, source, target, limit):
    """Loads of 16 KiB, 12 of them in flight, and beside them stores of as much, four of them in flight."""
    tiles = cuda.shared.array((RING_STAGES, RING_ROWS, COLUMNS), np.uint16, alignment=1024)
    stored = cuda.shared.array((RING_ROWS, COLUMNS), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(RING_STAGES)
    once = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        rows = cuda.gridDim.x * RING_ROWS
        first = start + cuda.blockIdx.x * RING_ROWS
        fill(stored, source, first, RING_ROWS * COLUMNS * 2, once[0])
        for stage in range(RING_STAGES):
            ptx.mbarrier_init(bar[stage], 1)
        ptx.fence_mbarrier_init()
        row = first
        begin = ptx.clock64()
        for stage in range(RING_STAGES):
            ptx.mbarrier_arrive_expect_tx(bar[stage], RING_ROWS * COLUMNS * 2)
            ptx.cp_async_bulk_tensor_2d(tiles[stage], source, 0, row, bar[stage])
            row += rows
            if row >= limit:
                row = first
        stage = 0
        parity = 0
        for _ in range(turns):
            ptx.mbarrier_wait_parity(bar[stage], parity)
            ptx.cp_async_bulk_tensor_2d_store(target, 0, row, stored)
            ptx.cp_async_bulk_commit_group()
            ptx.mbarrier_arrive_expect_tx(bar[stage], RING_ROWS * COLUMNS * 2)
            ptx.cp_async_bulk_tensor_2d(tiles[stage], source, 0, row, bar[stage])
            ptx.cp_async_bulk_wait_group_read(3)
            row += rows
            if row >= limit:
                row = first
            stage += 1
            if stage == RING_STAGES:
                stage = 0
                parity ^= 1
        for _ in range(RING_STAGES):
            ptx.mbarrier_wait_parity(bar[stage], parity)
            stage += 1
            if stage == RING_STAGES:
                stage = 0
                parity ^= 1
        ptx.cp_async_bulk_wait_group(0)
        if cuda.blockIdx.x == 0:
            out[0] = ptx.clock64() - begin


def _tiles(memory: int) -> tuple[TensorMap, int]:
    return *tensor_of(RING_ROWS)(memory), memory // (COLUMNS * 2)


def _ring_of(rows: int, wide: int = 0):
    """The data of a ring of tiles of so many rows."""

    def make(memory: int) -> tuple[TensorMap, int, int]:
        return *tensor_of(rows)(memory), memory // (COLUMNS * 2), wide

    return make


def _both_tiles(memory: int) -> tuple[TensorMap, TensorMap, int]:
    return *tensor_of(RING_ROWS)(memory // 2), *_tiles(memory // 2)


RINGS = (
    Benchmark("load_ring", ring(), 512, data=_ring_of(RING_ROWS), memory=1 << 24),
    Benchmark("load_ring_l2", ring(), 256, EVENT, grid=0, data=_ring_of(RING_ROWS), memory=1 << 24),
    Benchmark("load_ring_common", ring(), 256, EVENT, grid=0, data=_ring_of(RING_ROWS, WIDE), memory=1 << 24),
    Benchmark("load_ring_device", ring(), 400, EVENT, grid=0, data=_ring_of(RING_ROWS), memory=1 << 31),
    Benchmark("load_one_l2", ring(ONE_ROWS, 1), 256, EVENT, grid=0, data=_ring_of(ONE_ROWS), memory=1 << 24),
    Benchmark("load_one_device", ring(ONE_ROWS, 1), 256, EVENT, grid=0, data=_ring_of(ONE_ROWS), memory=1 << 29),
    Benchmark("store_ring", store_ring, 512, data=_tiles, memory=1 << 24),
    Benchmark("store_ring_l2", store_ring, 256, EVENT, grid=0, data=_tiles, memory=1 << 24),
    Benchmark("copy_ring_l2", copy_ring, 256, EVENT, grid=0, data=_both_tiles, memory=1 << 24),
    Benchmark("store_ring_device", store_ring, 400, EVENT, grid=0, data=_tiles, memory=1 << 31),
)
