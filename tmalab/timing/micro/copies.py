"""Micro-benchmarks of the copy engine: what issuing costs, how late bytes are."""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda

from tmalab import Swizzle, TensorMap, device, kernel, ptx
from tmalab.launch import Kernel
from tmalab.timing.micro.benchmark import Benchmark

COLUMNS = 64  # 16-bit numbers in a row of 128 bytes
SMALL_ROWS, AT_ONCE = 8, 8  # copies of 1 KiB that are issued in a row
RING_ROWS = 128  # tiles of 16 KiB
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


def tensor_of(rows: int):
    """How to make a tensor of rows of 128 bytes, with a map whose box has so many of them."""

    def make(memory: int) -> tuple[TensorMap]:
        tensor = np.zeros((memory // (COLUMNS * 2), COLUMNS), np.uint16)
        return (TensorMap.from_array(tensor, (rows, COLUMNS), swizzle=Swizzle.B128),)

    return make


_SIZES = [(rows, f"{rows * COLUMNS * 2 // 1024}k") for rows in LATENCY_ROWS]

COPIES = (
    Benchmark("load_issue", issues, 32, data=tensor_of(SMALL_ROWS)),
    *(
        Benchmark(f"load_l2_{size}", load_latency(rows), 64, data=tensor_of(rows), memory=1 << 22)
        for rows, size in _SIZES
    ),
    *(
        Benchmark(f"load_device_{size}", load_latency(rows), 64, data=tensor_of(rows), memory=1 << 22, cold=True)
        for rows, size in _SIZES
    ),
    Benchmark("multicast", multicasts, 64, cluster=2, grid=2, data=tensor_of(RING_ROWS), memory=1 << 22),
    Benchmark("store_issue", store_issues, 32, data=tensor_of(SMALL_ROWS)),
    *(
        Benchmark(f"store_{what}_{size}", store_latency(rows, what == "read"), 64, data=tensor_of(rows), memory=1 << 22)
        for what in ("read", "written")
        for rows, size in (_SIZES[0], _SIZES[4])
    ),
)
