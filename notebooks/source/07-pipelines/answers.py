"""Answers to lesson 7 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import cuda

from tests.lessons import cells_of, edited
from tmalab import kernel, ptx

ROWS, COLS, STAGES = 4, 64, 4
TILE_BYTES = ROWS * COLS * 4


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- numbers and letters, class seed 0

CTAS = [2, 2, 2, 2, 1, 1]
PREDICTED = [(4, "a"), (3, "b"), (2, "c")]
AHEAD = cells_of("07-pipelines", "pipelines", "setup", "ahead-answer")["sum_ahead"]
CULPRITS = {"bug_a": "c", "bug_b": "d", "bug_c": "a", "bug_d": "e"}


# ---- done_after


def by_turns(tiles, stages, latency, compute):
    return tiles * (latency + compute)


def by_endless_stages(tiles, stages, latency, compute):
    return latency + tiles * compute


def by_rounds(tiles, stages, latency, compute):
    return -(-tiles // stages) * (latency + stages * compute)


def by_the_slower(tiles, stages, latency, compute):
    return latency + (tiles - 1) * max(latency, compute) + compute


def without_a_first(tiles, stages, latency, compute):
    ended = []
    for tile in range(tiles):
        ended.append(max(ended[tile - stages] + latency, ended[-1]) + compute)
    return ended[-1]


def all_times(tiles, stages, latency, compute):
    return [0] * tiles


def by_free_times(tiles, stages, latency, compute):
    free, now = [0] * stages, 0
    for tile in range(tiles):
        now = max(now, free[tile % stages] + latency) + compute
        free[tile % stages] = now
    return now


def in_numpy(tiles, stages, latency, compute):
    free, now = np.zeros(stages), 0.0
    for tile in range(tiles):
        now = max(now, free[tile % stages] + latency) + compute
        free[tile % stages] = now
    return now


def by_recursion(tiles, stages, latency, compute):
    times = {-1: 0}
    for tile in range(tiles):
        times[tile] = max(times[tile - 1], times.get(tile - stages, 0) + latency) + compute
    return times[tiles - 1]


# ---- stages_needed


def needed_without_its_own(latency, compute):
    return -(-latency // compute)


def needed_rounded_down(latency, compute):
    return 1 + latency // compute


def always_two(latency, compute):
    return 2


def needed_turned_round(latency, compute):
    return 1 + -(-compute // latency)


def needed_by_trying(latency, compute):
    stages = 1
    while (stages - 1) * compute < latency:
        stages += 1
    return stages


def needed_in_float(latency, compute):
    return int(np.ceil(latency / compute)) + 1


# ---- sum_ahead


@kernel
def ahead_by_nothing(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
    out[thread] = total


@kernel
def ahead_without_a_barrier(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def ahead_with_a_parity_for_each_tile(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def ahead_past_the_end(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def ahead_of_tiles_that_are_not_there(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(STAGES):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def ahead_without_the_last_tile(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles - 1):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def ahead_by_two(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(2, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + 2 < tiles:
            ptx.mbarrier_arrive_expect_tx(full[(k + 2) % STAGES], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[(k + 2) % STAGES], tensor_map, 0, (k + 2) * ROWS, full[(k + 2) % STAGES])
    out[thread] = total


@kernel
def ahead_by_the_last_thread(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 63:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    for k in range(tiles):
        s = k % STAGES
        ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 63 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
    out[thread] = total


@kernel
def ahead_by_a_count(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        ptx.fence_mbarrier_init()
        for k in range(min(STAGES, tiles)):
            ptx.mbarrier_arrive_expect_tx(full[k], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[k], tensor_map, 0, k * ROWS, full[k])
    cuda.syncthreads()
    total = np.float32(0)
    s = 0
    parity = 0
    for k in range(tiles):
        ptx.mbarrier_wait_parity(full[s], parity)
        for row in range(ROWS):
            total += ring[s, row, thread]
        cuda.syncthreads()
        if thread == 0 and k + STAGES < tiles:
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, (k + STAGES) * ROWS, full[s])
        s += 1
        if s == STAGES:
            s = 0
            parity ^= 1
    out[thread] = total


# ---- sum_ring


ahead_of_rows = edited(AHEAD, ("k * ROWS", "k"), ("(k + STAGES) * ROWS", "k + STAGES"), name="ahead_of_rows")
ahead_along_x = edited(
    AHEAD, ("0, k * ROWS", "k * ROWS, 0"), ("0, (k + STAGES) * ROWS", "(k + STAGES) * ROWS, 0"), name="ahead_along_x"
)
READS = "        for row in range(ROWS):\n            total += ring[s, row, thread]\n"
ISSUED = "(k + STAGES) * ROWS, full[s])\n"
ahead_before_it_is_read = edited(AHEAD, (READS, ""), (ISSUED, ISSUED + READS), name="ahead_before_it_is_read")


@kernel
def ring_that_waits_for_nobody(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_that_waits_for_the_first_round(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_that_counts_all_threads(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 96)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_handed_back_before_it_is_read(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            ptx.mbarrier_arrive(empty[s])
            for row in range(ROWS):
                total += ring[s, row, thread]
        out[thread] = total


@kernel
def ring_waited_for_by_its_producer(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_with_a_parity_for_each_tile(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_of_lanes_without_a_syncwarp(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            if thread % 32 == 0:
                ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_of_lanes(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 64:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            cuda.syncwarp()
            if thread % 32 == 0:
                ptx.mbarrier_arrive(empty[s])
        out[thread] = total


@kernel
def ring_of_the_last_thread(tensor_map, tiles, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread = cuda.threadIdx.x
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 64)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 95:
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])
    elif thread < 64:
        total = np.float32(0)
        for k in range(tiles):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            for row in range(ROWS):
                total += ring[s, row, thread]
            ptx.mbarrier_arrive(empty[s])
        out[thread] = total


def swapped(pairs, at, number=None, letter=None):
    """The pairs with another number or letter in one place."""
    changed = list(pairs)
    changed[at] = (number or pairs[at][0], letter or pairs[at][1])
    return changed


WRONG = {
    "pipelines.finish": [
        Wrong(by_turns, "two stages", "(2, 2, "),
        Wrong(by_endless_stages, "one stage", "(2, 1, "),
        Wrong(by_rounds, "any", "should give"),
        Wrong(by_the_slower, "any", "should give"),
        Wrong(without_a_first, "one stage", "IndexError"),
        Wrong(all_times, "one stage", "gave [0]"),
    ],
    "pipelines.depth": [
        Wrong(needed_without_its_own, "any", "(600, 250) should give 4, gave 3"),
        Wrong(needed_rounded_down, "any", "(600, 250) should give 4, gave 3"),
        Wrong(always_two, "any", "gave 2"),
        Wrong(needed_turned_round, "any", "gave 2"),
    ],
    "pipelines.ahead": [
        Wrong(ahead_by_nothing, "ahead", "at most 1 of 4"),
        Wrong(ahead_without_a_barrier, "order", "overwrite-in-use"),
        Wrong(ahead_past_the_end, "order", "exit-in-flight"),
        Wrong(ahead_without_the_last_tile, "bytes", "bytes right for 10 tiles"),
        Wrong(ahead_by_two, "ahead", "at most 2 of 4"),
        Wrong(ahead_with_a_parity_for_each_tile, "order", "wrong-parity"),
        Wrong(ahead_of_tiles_that_are_not_there, "order", "exit-in-flight"),
        Wrong(ahead_of_rows, "bytes", "bytes right for 10 tiles"),
        Wrong(ahead_along_x, "bytes", "bytes right for 10 tiles"),
        Wrong(ahead_before_it_is_read, "order", "read-before-wait"),
    ],
    "pipelines.ring": [
        Wrong(ring_that_waits_for_nobody, "order", "overwrite-in-use"),
        Wrong(ring_that_counts_all_threads, "order", "missing-arrival"),
        Wrong(ring_waited_for_by_its_producer, "ahead", "at most 1 of 4"),
        Wrong(ring_handed_back_before_it_is_read, "order", "overwrite-in-use"),
        Wrong(ring_that_waits_for_the_first_round, "order", "deadlock"),
        Wrong(ring_with_a_parity_for_each_tile, "order", "wrong-parity"),
        Wrong(ring_of_lanes_without_a_syncwarp, "order", "overwrite-in-use"),
    ],
    "pipelines.fit": [
        Wrong([9, 4, 3, 2, 1, 1], "CTAs", "3 of 6 right"),
        Wrong([2] * 6, "CTAs", "4 of 6 right"),
        Wrong([2, 2, 2, 2, 2, 1], "CTAs", "5 of 6 right; 5 stages: not 2"),
        Wrong([1] * 6, "CTAs", "2 of 6 right"),
    ],
    "pipelines.curves": [
        Wrong(swapped(PREDICTED, 0, number=5), "stages", "2 of 3 right; kernel 0: not 5"),
        Wrong([(6, "a"), (6, "b"), (6, "c")], "stages", "0 of 3 right"),
        Wrong(swapped(PREDICTED, 1, letter="a"), "reasons", "kernel 1: not a"),
        Wrong(swapped(PREDICTED, 2, letter="b"), "reasons", "kernel 2: not b"),
        Wrong([4, 3, 2], "stages", "no pair"),
    ],
    "pipelines.hunt": [
        Wrong(CULPRITS | {"bug_a": "f"}, "culprits", "3 of 4 right; bug_a: not f"),
        Wrong(CULPRITS | {"bug_b": "b"}, "culprits", "bug_b: not b"),
        Wrong(CULPRITS | {"bug_c": "e"}, "culprits", "bug_c: not e"),
        Wrong(CULPRITS | {"bug_d": "a"}, "culprits", "bug_d: not a"),
        Wrong("cdae", "culprits", "type str"),
    ],
}

RIGHT = {
    "pipelines.finish": [by_free_times, by_recursion, in_numpy],
    "pipelines.depth": [needed_by_trying, needed_in_float],
    "pipelines.ahead": [ahead_by_the_last_thread, ahead_by_a_count],
    "pipelines.ring": [ring_of_lanes, ring_of_the_last_thread],
    "pipelines.fit": [CTAS, np.array(CTAS)],
    "pipelines.curves": [PREDICTED, dict(zip(("kernel 0", "kernel 1", "kernel 2"), PREDICTED, strict=True))],
    "pipelines.hunt": [["c", "d", "a", "e"], {bug: letter.upper() for bug, letter in CULPRITS.items()}],
}
