"""Micro-benchmarks of the copy engine: what issuing costs, how late bytes are, how many come in a while."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda

from tmalab import Swizzle, TensorMap, device, kernel, ptx
from tmalab.launch import Kernel
from tmalab.timing.micro.benchmark import EVENT, Benchmark

COLUMNS = 64  # 16-bit numbers in a row of 128 bytes
SMALL_ROWS, AT_ONCE = 8, 8  # copies of 1 KiB that are issued in a row
RING_ROWS, RING_STAGES = 128, 12  # tiles of 16 KiB, 192 KiB of them in flight
ONE_ROWS = 64  # of the tiles of 8 KiB that each SM loads one by one
WIDE = 12  # CTAs in a row of those that have tiles in common
LATENCY_ROWS = (8, 16, 32, 64, 128, 256)  # 1 to 32 KiB


@device
def fill(tile, tensor_map, row, bytes, bar):
    """Load a tile, so that it holds something: called by one thread."""
    ptx.mbarrier_init(bar, 1)
    ptx.fence_mbarrier_init()
    ptx.mbarrier_arrive_expect_tx(bar, bytes)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, row, bar)
    ptx.mbarrier_wait_parity(bar, 0)


@kernel
def issues(out, turns, start, tensor_map):
    """Loads of 1 KiB, issued one after the other; the clock stops before they have come."""
    tile = cuda.shared.array((AT_ONCE, SMALL_ROWS, COLUMNS), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.fence_mbarrier_init()
        total = 0
        for i in range(turns):
            ptx.mbarrier_arrive_expect_tx(bar[0], AT_ONCE * SMALL_ROWS * COLUMNS * 2)
            begin = ptx.clock64()
            for slot in range(AT_ONCE):
                ptx.cp_async_bulk_tensor_2d(tile[slot], tensor_map, 0, start + slot * SMALL_ROWS, bar[0])
            total += ptx.clock64() - begin
            ptx.mbarrier_wait_parity(bar[0], i & 1)
        out[0] = total


@cache
def load_latency(rows: int) -> Kernel:
    """Loads of rows of 128 bytes, one after the other."""
    bytes = rows * COLUMNS * 2

    @kernel
    def loads(out, turns, start, tensor_map):
        tile = cuda.shared.array((rows, COLUMNS), np.uint16, alignment=1024)
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar[0], 1)
            ptx.fence_mbarrier_init()
            begin = ptx.clock64()
            for i in range(turns):
                ptx.mbarrier_arrive_expect_tx(bar[0], bytes)
                ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, start + i * rows, bar[0])
                ptx.mbarrier_wait_parity(bar[0], i & 1)
            out[0] = ptx.clock64() - begin

    return loads


@kernel
def multicasts(out, turns, start, tensor_map):
    """Loads of 16 KiB that one CTA issues for two; both meet before each of them."""
    tile = cuda.shared.array((RING_ROWS, COLUMNS), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.fence_mbarrier_init()
    total = 0
    for i in range(turns):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar[0], RING_ROWS * COLUMNS * 2)
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()
        if tid == 0:
            begin = ptx.clock64()
            if rank == 0:
                ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, start + i * RING_ROWS, bar[0], 3)
            ptx.mbarrier_wait_parity(bar[0], i & 1)
            total += ptx.clock64() - begin
    if tid == 0 and rank == 0:
        out[0] = total
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


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
def store_issues(out, turns, start, tensor_map):
    """Stores of 1 KiB, issued one after the other."""
    tile = cuda.shared.array((SMALL_ROWS, COLUMNS), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        fill(tile, tensor_map, start, SMALL_ROWS * COLUMNS * 2, bar[0])
        total = 0
        for _ in range(turns):
            begin = ptx.clock64()
            for slot in range(AT_ONCE):
                ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, start + slot * SMALL_ROWS, tile)
            total += ptx.clock64() - begin
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
        out[0] = total


@cache
def store_latency(rows: int, reads: bool) -> Kernel:
    """Stores of rows of 128 bytes, one after the other: until each is read, or until it has arrived."""

    @kernel
    def stores(out, turns, start, tensor_map):
        tile = cuda.shared.array((rows, COLUMNS), np.uint16, alignment=1024)
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            fill(tile, tensor_map, start, rows * COLUMNS * 2, bar[0])
            begin = ptx.clock64()
            for i in range(turns):
                ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, start + i * rows, tile)
                ptx.cp_async_bulk_commit_group()
                if reads:
                    ptx.cp_async_bulk_wait_group_read(0)
                else:
                    ptx.cp_async_bulk_wait_group(0)
            out[0] = ptx.clock64() - begin
            ptx.cp_async_bulk_wait_group(0)

    return stores


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


def _tensor(rows: int):
    """How to make a tensor of rows of 128 bytes, with a map whose box has so many of them."""

    def make(memory: int) -> tuple[TensorMap]:
        tensor = np.zeros((memory // (COLUMNS * 2), COLUMNS), np.uint16)
        return (TensorMap.from_array(tensor, (rows, COLUMNS), swizzle=Swizzle.B128),)

    return make


def _tiles(memory: int) -> tuple[TensorMap, int]:
    return *_tensor(RING_ROWS)(memory), memory // (COLUMNS * 2)


def _ring_of(rows: int, wide: int = 0):
    """The data of a ring of tiles of so many rows."""

    def make(memory: int) -> tuple[TensorMap, int, int]:
        return *_tensor(rows)(memory), memory // (COLUMNS * 2), wide

    return make


def _both_tiles(memory: int) -> tuple[TensorMap, TensorMap, int]:
    return *_tensor(RING_ROWS)(memory // 2), *_tiles(memory // 2)


_SIZES = [(rows, f"{rows * COLUMNS * 2 // 1024}k") for rows in LATENCY_ROWS]

COPIES = (
    Benchmark("load_issue", issues, 32, data=_tensor(SMALL_ROWS)),
    *(
        Benchmark(f"load_l2_{size}", load_latency(rows), 64, data=_tensor(rows), memory=1 << 22)
        for rows, size in _SIZES
    ),
    *(
        Benchmark(f"load_device_{size}", load_latency(rows), 64, data=_tensor(rows), memory=1 << 22, cold=True)
        for rows, size in _SIZES
    ),
    Benchmark("multicast", multicasts, 64, cluster=2, grid=2, data=_tensor(RING_ROWS), memory=1 << 22),
    Benchmark("load_ring", ring(), 512, data=_ring_of(RING_ROWS), memory=1 << 24),
    Benchmark("load_ring_l2", ring(), 256, EVENT, grid=0, data=_ring_of(RING_ROWS), memory=1 << 24),
    Benchmark("load_ring_common", ring(), 256, EVENT, grid=0, data=_ring_of(RING_ROWS, WIDE), memory=1 << 24),
    Benchmark("load_ring_device", ring(), 400, EVENT, grid=0, data=_ring_of(RING_ROWS), memory=1 << 31),
    Benchmark("load_one_l2", ring(ONE_ROWS, 1), 256, EVENT, grid=0, data=_ring_of(ONE_ROWS), memory=1 << 24),
    Benchmark("load_one_device", ring(ONE_ROWS, 1), 256, EVENT, grid=0, data=_ring_of(ONE_ROWS), memory=1 << 29),
    Benchmark("store_issue", store_issues, 32, data=_tensor(SMALL_ROWS)),
    *(
        Benchmark(f"store_{what}_{size}", store_latency(rows, what == "read"), 64, data=_tensor(rows), memory=1 << 22)
        for what in ("read", "written")
        for rows, size in (_SIZES[0], _SIZES[4])
    ),
    Benchmark("store_ring", store_ring, 512, data=_tiles, memory=1 << 24),
    Benchmark("store_ring_l2", store_ring, 256, EVENT, grid=0, data=_tiles, memory=1 << 24),
    Benchmark("copy_ring_l2", copy_ring, 256, EVENT, grid=0, data=_both_tiles, memory=1 << 24),
    Benchmark("store_ring_device", store_ring, 400, EVENT, grid=0, data=_tiles, memory=1 << 31),
)
