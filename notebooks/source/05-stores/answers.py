"""Answers to lesson 5 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import cuda

from tmalab import kernel, ptx

ROWS, COLS = 8, 32
CTAS, COLUMNS = 4, 128


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- numbers and letters, class seed 0

SAFE = ["d", "a", "b", "a", "e", "c"]
CLIPPED = [4, 4, 7, 0, 8]
RESULTS = [2052, 256, 5, 5, 9, -5, 6]
CULPRITS = {"bug_a": "b", "bug_b": "a", "bug_c": "e", "bug_d": "c", "bug_e": "d"}


# ---- store_double


@kernel
def store_without_fence(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_with_the_fence_after_it(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.fence_proxy_async()
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_without_barrier(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_without_commit(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_after_its_commit(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_without_wait(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()


@kernel
def store_waited_for_by_another_thread(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
    if thread == 1:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_by_every_thread(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
    ptx.cp_async_bulk_commit_group()
    ptx.cp_async_bulk_wait_group(0)


@kernel
def store_at_swapped_coordinates(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, y, x, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_at_the_example(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 32, 4, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_of_plain_numbers(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def store_by_the_last_thread(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = 2 * source[i // COLS, i % COLS]
    ptx.fence_proxy_async_shared_cta()
    cuda.syncthreads()
    if thread == cuda.blockDim.x - 1:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


@kernel
def store_by_an_elected_thread(source, x, y, tensor_map):
    tile = cuda.shared.array((ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for row in range(thread // COLS, ROWS, cuda.blockDim.x // COLS):
        number = source[row, thread % COLS]
        tile[row, thread % COLS] = number + number
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread < 32 and ptx.elect_sync():
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


# ---- store_tiles


@kernel
def ring_without_wait(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_with_two_open(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(2)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_without_a_barrier_after_the_wait(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_waited_for_by_another_thread(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 1:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_of_one_buffer(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[0, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[0])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_without_commits(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_with_a_commit_before(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_without_an_end(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()


@kernel
def ring_without_fence(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_to_one_place(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_of_three(source, tiles, tensor_map):
    ring = cuda.shared.array((3, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        if thread == 0:
            ptx.cp_async_bulk_wait_group_read(2)
        cuda.syncthreads()
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 3, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 3])
            ptx.cp_async_bulk_commit_group()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_that_waits_after_its_store(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(1)
        cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def ring_that_waits_for_all(source, tiles, tensor_map):
    ring = cuda.shared.array((2, ROWS, COLS), np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for k in range(tiles):
        for i in range(thread, ROWS * COLS, cuda.blockDim.x):
            ring[k % 2, i // COLS, i % COLS] = 2 * source[k * ROWS + i // COLS, i % COLS]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, k * ROWS, ring[k % 2])
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_wait_group(0)


# ---- add_columns


@kernel
def sums_that_are_stored(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_1d_store(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_of_the_first_rows(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_by_the_largest(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_max(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_without_fence(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_without_barrier(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_without_commit(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_without_wait(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()


@kernel
def sums_by_every_thread(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    total = 0
    for row in range(rows):
        total += values[cuda.blockIdx.x * rows + row, thread]
    sums[thread] = total
    ptx.fence_proxy_async()
    cuda.syncthreads()
    ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
    ptx.cp_async_bulk_commit_group()
    ptx.cp_async_bulk_wait_group(0)


@kernel
def sums_row_by_row(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    for row in range(rows):
        sums[thread] = values[cuda.blockIdx.x * rows + row, thread]
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if thread == 0:
            ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncthreads()


@kernel
def sums_in_shared_memory(values, rows, tensor_map):
    sums = cuda.shared.array(COLUMNS, np.int32, alignment=128)
    thread = cuda.threadIdx.x
    sums[thread] = 0
    for row in range(rows):
        sums[thread] += values[cuda.blockIdx.x * rows + row, thread]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if thread == 64:
        ptx.cp_reduce_async_bulk_tensor_1d_add(tensor_map, 0, sums)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


WRONG = {
    "stores.store": [
        Wrong(store_without_fence, "order", "missing-proxy-fence"),
        Wrong(store_without_barrier, "order", "data-race"),
        Wrong(store_without_commit, "order", "store-not-committed"),
        Wrong(store_without_wait, "order", "exit-in-flight"),
        Wrong(store_with_the_fence_after_it, "order", "missing-proxy-fence"),
        Wrong(store_after_its_commit, "order", "store-not-committed"),
        Wrong(store_waited_for_by_another_thread, "order", "exit-in-flight"),
        Wrong(store_by_every_thread, "order", "multiple-issue"),
        Wrong(store_at_swapped_coordinates, "bytes", "bytes right for x ="),
        Wrong(store_at_the_example, "bytes", "bytes right for x ="),
        Wrong(store_of_plain_numbers, "bytes", "out[4, 32] should be 2, is 1"),
    ],
    "stores.safe": [
        Wrong(["a"] * 6, "situations", "2 of 6 right"),
        Wrong(["a", "a", "b", "a", "e", "c"], "situations", "5 of 6 right; question 0: not a"),
        Wrong(["d", "a", "a", "a", "e", "c"], "situations", "question 2: not a"),
        Wrong(["d", "a", "b", "b", "e", "c"], "situations", "question 3: not b"),
        Wrong(["d", "a", "b", "a", "a", "a"], "situations", "4 of 6 right"),
        Wrong("dabaec", "situations", "type str"),
    ],
    "stores.ring": [
        Wrong(ring_without_wait, "order", "store-source-reuse"),
        Wrong(ring_with_two_open, "order", "store-source-reuse"),
        Wrong(ring_without_an_end, "order", "exit-in-flight"),
        Wrong(ring_without_fence, "order", "missing-proxy-fence"),
        Wrong(ring_without_a_barrier_after_the_wait, "order", "store-source-reuse"),
        Wrong(ring_waited_for_by_another_thread, "order", "store-source-reuse"),
        Wrong(ring_of_one_buffer, "order", "store-source-reuse"),
        Wrong(ring_without_commits, "order", "store-not-committed"),
        Wrong(ring_with_a_commit_before, "order", "store-not-committed"),
        Wrong(ring_to_one_place, "bytes", "bytes right for 5 tiles"),
        Wrong(ring_that_waits_for_all, "ahead", "at most 1 of 2 stores"),
    ],
    "stores.clip": [
        Wrong([0] * 5, "bytes", "1 of 5 right"),
        Wrong([36, 36, 39, 32, 40], "bytes", "FLOAT64, 3 columns: not 40"),
        Wrong([2, 1, 7, 0, 1], "bytes", "UINT16, 14 columns: not 2"),
        Wrong([12, 12, 9, 0, 8], "bytes", "UINT8, 25 columns: not 9"),
        Wrong([4, 4, 7, 16, 8], "bytes", "4 of 5 right; FLOAT16, 16 columns: not 16"),
    ],
    "stores.results": [
        Wrong([2051, 257, 2**32 + 5, 5, 9, -5, 6], "results", "add FLOAT16, 2048 and 3: not 2051"),
        Wrong([2052, 256, 5, 13, -9, -5, 6], "results", "inc UINT32, 4 and 9: not 13"),
        Wrong([2052, 256, 5, 5, -1, -5, 6], "results", "6 of 7 right"),
        Wrong([3, 1, 9, 9, 9, -8, 10], "results", "max INT32, -5 and -8: not -8"),
        Wrong([2052, 256, 5, 5, 9, -8, 8], "results", "5 of 7 right"),
    ],
    "stores.sums": [
        Wrong(sums_that_are_stored, "bytes", "bytes right for 4 rows"),
        Wrong(sums_of_the_first_rows, "bytes", "bytes right for 4 rows"),
        Wrong(sums_without_fence, "order", "missing-proxy-fence"),
        Wrong(sums_without_wait, "order", "exit-in-flight"),
        Wrong(sums_by_the_largest, "bytes", "bytes right for 4 rows"),
        Wrong(sums_without_barrier, "order", "data-race"),
        Wrong(sums_without_commit, "order", "store-not-committed"),
        Wrong(sums_by_every_thread, "order", "multiple-issue"),
    ],
    "stores.hunt": [
        Wrong(CULPRITS | {"bug_a": "e"}, "culprits", "4 of 5 right; bug_a: not e"),
        Wrong(CULPRITS | {"bug_b": "f"}, "culprits", "bug_b: not f"),
        Wrong(CULPRITS | {"bug_c": "c"}, "culprits", "bug_c: not c"),
        Wrong(CULPRITS | {"bug_d": "f"}, "culprits", "bug_d: not f"),
        Wrong(CULPRITS | {"bug_e": "a"}, "culprits", "bug_e: not a"),
        Wrong("baecd", "culprits", "type str"),
    ],
}

RIGHT = {
    "stores.store": [store_by_the_last_thread, store_by_an_elected_thread],
    "stores.safe": [SAFE, tuple(letter.upper() for letter in SAFE)],
    "stores.ring": [ring_of_three, ring_that_waits_after_its_store],
    "stores.clip": [CLIPPED, np.array(CLIPPED)],
    "stores.results": [RESULTS, np.array(RESULTS)],
    "stores.sums": [sums_row_by_row, sums_in_shared_memory],
    "stores.hunt": [["b", "a", "e", "c", "d"], {bug: letter.upper() for bug, letter in CULPRITS.items()}],
}
