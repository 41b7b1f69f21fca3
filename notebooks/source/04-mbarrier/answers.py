"""Answers to lesson 4 that are not the notebook's own: wrong ones, each to be refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from tmalab import MBarrier, device, kernel, ptx

ROWS, COLS = 16, 32
TILE_BYTES = ROWS * COLS * 4
STAGES = 2
CONSUMERS = 32


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- phases

PHASES = [(1, "d"), (1, "a"), (1, "b"), (1, "c"), (1, "c")]  # mbarrier.phases, class seed 0


# ---- machine


def machine_of_arrivals(count, *events):
    return events.count(0) // count


def machine_of_bytes(count, *events):
    phase, tx = 0, 0
    for event in events:
        tx += event
        if event < 0 and tx == 0:
            phase += 1
    return phase


def machine_looks_at_arrivals(count, *events):
    phase, pending, tx = 0, count, 0
    for event in events:
        if event == 0:
            pending -= 1
            if pending == 0 and tx == 0:
                phase, pending = phase + 1, count
        else:
            tx += event
    return phase


def machine_never_again(count, *events):
    phase, pending, tx = 0, count, 0
    for event in events:
        pending, tx = (pending - 1, tx) if event == 0 else (pending, tx + event)
        if pending == 0 and tx == 0:
            phase += 1
    return phase


def machine_without_credit(count, *events):
    phase, pending, tx = 0, count, 0
    for event in events:
        pending, tx = (pending - 1, tx) if event == 0 else (pending, max(0, tx + event))
        if pending <= 0 and tx == 0:
            phase, pending = phase + 1, count
    return phase


def machine_whose_loads_arrive(count, *events):
    return sum(event <= 0 for event in events) // count


def machine_that_prints(count, *events):
    print(count, events)


def machine_by_mbarrier(count, *events):
    bar = MBarrier(count)
    for event in events:
        if event > 0:
            bar.expect_tx(event)
        elif event:
            bar.complete_tx(-event)
        else:
            bar.arrive()
    return bar.phase


def machine_by_cutting(count, *events):
    """Cut off one phase after the other, from the front."""
    for end in range(1, len(events) + 1):
        if events[:end].count(0) == count and sum(events[:end]) == 0:
            return 1 + machine_by_cutting(count, *events[end:])
    return 0


# ---- load_pair


@device
def begin(full):
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()


@device
def pair_out(left, right, out, first):
    for i in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        out[first + i // COLS, i % COLS] = left[i // COLS, i % COLS]
        out[first + i // COLS, COLS + i % COLS] = right[i // COLS, i % COLS]


@kernel
def pair_promises_one(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


@kernel
def pair_arrives_for_each(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


@kernel
def pair_promises_elements_of_four(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 4 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


@kernel
def pair_counts_the_loads(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 2)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


@kernel
def pair_promises_late(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
        ptx.mbarrier_arrive(full[0])
        ptx.mbarrier_expect_tx(full[0], 2 * TILE_BYTES)
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


@kernel
def pair_of_the_same(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


@kernel
def pair_waits_for_parity_1(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 1)
    pair_out(left, right, out, 0)


@kernel
def pair_loads_first(tensor_map, x, y, out):
    """The promise comes last, and all threads arrive: thread 0's arrival holds the phase open."""
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], cuda.blockDim.x)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
    else:
        ptx.mbarrier_arrive(full[0])
    while not ptx.mbarrier_test_wait_parity(full[0], 0):
        pass
    pair_out(left, right, out, 0)


@kernel
def pair_by_two_threads(tensor_map, x, y, out):
    """Two issuers in two warps, each with its own promise and arrival: a count of 2."""
    both = cuda.shared.array((2, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 2)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0 or thread == 32:
        side = thread // 32
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(both[side], tensor_map, x + side * COLS, y, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, 2 * ROWS * COLS, cuda.blockDim.x):
        out[i // 64, i % 64] = both[i % 64 // COLS, i // 64, i % COLS]


@kernel
def pair_in_two_promises(tensor_map, x, y, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, full[0])
        ptx.mbarrier_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, full[0])
        ptx.mbarrier_arrive(full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    pair_out(left, right, out, 0)


# ---- parity


def parity_of_the_tile(tile, stages, producer):
    return tile % 2 ^ producer


def parity_of_the_stage(tile, stages, producer):
    return tile % stages % 2 ^ producer


def parity_for_both(tile, stages, producer):
    return tile // stages % 2


def parity_turned(tile, stages, producer):
    return (tile // stages + 1 - producer) % 2


def parity_as_a_round(tile, stages, producer):
    return tile // stages - producer


def parity_by_counting(tile, stages, producer):
    phase = 1 if producer else 0
    while tile >= stages:
        tile -= stages
        phase = 1 - phase
    return phase


def parity_by_a_barrier(tile, stages, producer):
    bar = MBarrier(1)
    for _ in range(tile // stages):
        bar.arrive()
    wanted = bar.phase - 1 if producer else bar.phase
    return wanted & 1


# ---- copy_pairs


@device
def ask_for_pair(left, right, tensor_map, x, y, bar):
    ptx.mbarrier_arrive_expect_tx(bar, 2 * TILE_BYTES)
    ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, y, bar)
    ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, y, bar)


@kernel
def loop_parity_0(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    for k in range(steps):
        if cuda.threadIdx.x == 0:
            ask_for_pair(left, right, tensor_map, x, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()


@kernel
def loop_without_meeting(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    for k in range(steps):
        if cuda.threadIdx.x == 0:
            ask_for_pair(left, right, tensor_map, x, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        pair_out(left, right, out, k * ROWS)


@kernel
def loop_meets_before_reading(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    for k in range(steps):
        if cuda.threadIdx.x == 0:
            ask_for_pair(left, right, tensor_map, x, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        cuda.syncthreads()
        pair_out(left, right, out, k * ROWS)


@kernel
def loop_promises_once(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_expect_tx(full[0], 2 * TILE_BYTES * steps)
    for k in range(steps):
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_arrive(full[0])
            ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, k * ROWS, full[0])
            ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()


@kernel
def loop_initialises_again(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    for k in range(steps):
        begin(full)
        if cuda.threadIdx.x == 0:
            ask_for_pair(left, right, tensor_map, x, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()


@kernel
def loop_of_four(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    for k in range(4):
        if cuda.threadIdx.x == 0:
            ask_for_pair(left, right, tensor_map, x, k * ROWS, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()


@kernel
def loop_carries_the_phase(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    phase = 0
    for k in range(steps):
        if cuda.threadIdx.x == 77:
            ask_for_pair(left, right, tensor_map, x, k * ROWS, full[0])
        while not ptx.mbarrier_try_wait_parity(full[0], phase):
            pass
        phase ^= 1
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()


@kernel
def loop_asks_ahead(tensor_map, x, steps, out):
    """The first pair before the loop, each other one as soon as all have read."""
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    begin(full)
    if cuda.threadIdx.x == 0:
        ask_for_pair(left, right, tensor_map, x, 0, full[0])
    for k in range(steps):
        ptx.mbarrier_wait_parity(full[0], k % 2)
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0 and k + 1 < steps:
            ask_for_pair(left, right, tensor_map, x, (k + 1) * ROWS, full[0])


@kernel
def loop_by_state(tensor_map, x, steps, out):
    left = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], cuda.blockDim.x)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.mbarrier_expect_tx(full[0], 2 * TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(left, tensor_map, x, k * ROWS, full[0])
            ptx.cp_async_bulk_tensor_2d(right, tensor_map, x + COLS, k * ROWS, full[0])
        state = ptx.mbarrier_arrive(full[0])
        while not ptx.mbarrier_try_wait(full[0], state):
            pass
        pair_out(left, right, out, k * ROWS)
        cuda.syncthreads()


# ---- copy_ring


@device
def ring_begins(full, empty, arrivals):
    if cuda.threadIdx.x == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], arrivals)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()


@device
def stage_out(left, right, out, k):
    lane = cuda.threadIdx.x
    for row in range(ROWS):
        out[k * ROWS + row, lane] = left[k % STAGES, row, lane]
        out[k * ROWS + row, COLS + lane] = right[k % STAGES, row, lane]


@kernel
def ring_producer_waits_for_parity_0(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, CONSUMERS)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2)
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k // STAGES % 2)
            stage_out(left, right, out, k)
            ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def ring_never_waits_for_empty(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, CONSUMERS)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k // STAGES % 2)
            stage_out(left, right, out, k)
            ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def ring_hands_back_early(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, CONSUMERS)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k // STAGES % 2)
            ptx.mbarrier_arrive(empty[k % STAGES])
            stage_out(left, right, out, k)


@kernel
def ring_one_arrives_for_all(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, CONSUMERS)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k // STAGES % 2)
            stage_out(left, right, out, k)
            cuda.syncwarp()
            if thread == 0:
                ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def ring_all_arrive_for_one(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, 1)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k // STAGES % 2)
            stage_out(left, right, out, k)
            ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def ring_without_syncwarp(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, 1)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k // STAGES % 2)
            stage_out(left, right, out, k)
            if thread == 0:
                ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def ring_by_the_tile(tensor_map, x, steps, out):
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, CONSUMERS)
    thread = cuda.threadIdx.x
    if thread == CONSUMERS:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
            ask_for_pair(left[s], right[s], tensor_map, x, k * ROWS, full[s])
    elif thread < CONSUMERS:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % STAGES], k % 2)
            stage_out(left, right, out, k)
            ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def ring_with_a_lane_for_its_warp(tensor_map, x, steps, out):
    """Any lane of the second warp produces, lane 31 of the consumers hands back; stage and phase are carried along."""
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, 1)
    thread = cuda.threadIdx.x
    stage = 0
    phase = 0
    if thread >= CONSUMERS:
        if ptx.elect_sync():
            for k in range(steps):
                ptx.mbarrier_wait_parity(empty[stage], phase ^ 1)
                ask_for_pair(left[stage], right[stage], tensor_map, x, k * ROWS, full[stage])
                stage += 1
                if stage == STAGES:
                    stage = 0
                    phase ^= 1
    else:
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[stage], phase)
            for row in range(ROWS):
                out[k * ROWS + row, thread] = left[stage, row, thread]
                out[k * ROWS + row, COLS + thread] = right[stage, row, thread]
            cuda.syncwarp()
            if thread == 31:
                ptx.mbarrier_arrive(empty[stage])
            stage += 1
            if stage == STAGES:
                stage = 0
                phase ^= 1


@kernel
def ring_that_fills_up_first(tensor_map, x, steps, out):
    """No wait for a stage that was never used; both loads before the promise, which the producer's arrival holds open."""
    left = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    right = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    ring_begins(full, empty, CONSUMERS)
    thread = cuda.threadIdx.x
    if thread == 63:
        for k in range(steps):
            s = k % STAGES
            if k >= STAGES:
                ptx.mbarrier_wait_parity(empty[s], (k // STAGES - 1) % 2)
            ptx.cp_async_bulk_tensor_2d(left[s], tensor_map, x, k * ROWS, full[s])
            ptx.cp_async_bulk_tensor_2d(right[s], tensor_map, x + COLS, k * ROWS, full[s])
            ptx.mbarrier_arrive_expect_tx(full[s], 2 * TILE_BYTES)
    elif thread < CONSUMERS:
        for k in range(steps):
            while not ptx.mbarrier_test_wait_parity(full[k % STAGES], k // STAGES % 2):
                pass
            stage_out(left, right, out, k)
            ptx.mbarrier_arrive(empty[k % STAGES])


MISSING = {"hang_a": (127, "a"), "hang_b": (0, "b"), "hang_c": (1, "c"), "hang_d": (1, "d")}
CULPRITS = {"bug_a": "a", "bug_b": "c", "bug_c": "d", "bug_d": "b"}

WRONG = {
    "mbarrier.phases": [
        Wrong([*PHASES[:3], (2, "c"), PHASES[4]], "phases", "barrier 3: not 2"),
        Wrong([(phase, "a") for phase, _ in PHASES], "reasons", "barrier 0: not a"),
        Wrong([(phase + 1, reason) for phase, reason in PHASES], "reasons", "the number comes first"),
        Wrong([phase for phase, _ in PHASES], "phases", "1 is no pair"),
        Wrong([(phase, "e") for phase, _ in PHASES], "reasons", "'e' is none of a, b, c, d"),
    ],
    "mbarrier.machine": [
        Wrong(machine_of_arrivals, "bytes", "should give 0, gave 1"),
        Wrong(machine_of_bytes, "arrivals", "(1, 0) should give 1, gave 0"),
        Wrong(machine_looks_at_arrivals, "bytes", "should give 1, gave 0"),
        Wrong(machine_never_again, "arrivals", "(1, 0, 0) should give 2, gave 1"),
        Wrong(machine_without_credit, "early bytes", "right for"),
        Wrong(machine_whose_loads_arrive, "bytes", "should give"),
        Wrong(machine_that_prints, "arrivals", "returns nothing"),
    ],
    "mbarrier.pair": [
        Wrong(pair_promises_one, "order", "too-few-bytes"),
        Wrong(pair_arrives_for_each, "order", "over-arrival"),
        Wrong(pair_promises_elements_of_four, "order", "too-many-bytes"),
        Wrong(pair_counts_the_loads, "order", "missing-arrival"),
        Wrong(pair_promises_late, "order", "expect-after-completion"),
        Wrong(pair_of_the_same, "bytes", "out[0, 32] should be 2112, is 2080"),
        Wrong(pair_waits_for_parity_1, "order", "wrong-parity"),
    ],
    "mbarrier.parity": [
        Wrong(parity_of_the_tile, "consumer", "(1, 2, 0) should give 0, gave 1"),
        Wrong(parity_of_the_stage, "consumer", "(1, 1, 0) should give 1, gave 0"),
        Wrong(parity_for_both, "producer", "(0, 1, 1) should give 1, gave 0"),
        Wrong(parity_turned, "consumer", "(0, 1, 0) should give 0, gave 1"),
        Wrong(parity_as_a_round, "producer", "(0, 1, 1) should give 1, gave -1"),
    ],
    "mbarrier.loop": [
        Wrong(loop_parity_0, "order", "wrong-parity"),
        Wrong(loop_without_meeting, "order", "overwrite-in-use"),
        Wrong(loop_meets_before_reading, "order", "read-before-wait"),
        Wrong(loop_promises_once, "order", "too-many-bytes"),
        Wrong(loop_initialises_again, "order", "barrier-reinit"),
        Wrong(loop_of_four, "order", "out-of-bounds"),
    ],
    "mbarrier.ring": [
        Wrong(ring_producer_waits_for_parity_0, "order", "wrong-parity"),
        Wrong(ring_never_waits_for_empty, "order", "over-arrival"),
        Wrong(ring_hands_back_early, "order", "overwrite-in-use"),
        Wrong(ring_one_arrives_for_all, "order", "missing-arrival"),
        Wrong(ring_all_arrive_for_one, "order", "over-arrival"),
        Wrong(ring_without_syncwarp, "order", "overwrite-in-use"),
        Wrong(ring_by_the_tile, "order", "wrong-parity"),
    ],
    "mbarrier.hangs": [
        Wrong(MISSING | {"hang_a": (128, "a")}, "arrivals", "hang_a: not 128"),
        Wrong(MISSING | {"hang_b": (1, "b")}, "reasons", "hang_b: the number comes first"),
        Wrong(MISSING | {"hang_c": (1, "a")}, "reasons", "hang_c: not a"),
        Wrong(MISSING | {"hang_d": (1, "b")}, "reasons", "hang_d: not b"),
        Wrong({"hang_a": (127, "a")}, "arrivals", "no entry for hang_b"),
    ],
    "mbarrier.hunt": [
        Wrong(CULPRITS | {"bug_a": "f"}, "culprits", "3 of 4 right; bug_a: not f"),
        Wrong(CULPRITS | {"bug_b": "e"}, "culprits", "bug_b: not e"),
        Wrong(CULPRITS | {"bug_c": "b"}, "culprits", "bug_c: not b"),
        Wrong(CULPRITS | {"bug_d": "f"}, "culprits", "bug_d: not f"),
        Wrong(["a", "c", "d"], "culprits", "3 numbers"),
    ],
}

RIGHT = {
    "mbarrier.phases": [
        [(np.int64(phase), reason.upper()) for phase, reason in PHASES],
        {f"barrier {number}": [phase, reason] for number, (phase, reason) in enumerate(PHASES)},
    ],
    "mbarrier.machine": [machine_by_mbarrier, machine_by_cutting],
    "mbarrier.pair": [pair_loads_first, pair_by_two_threads, pair_in_two_promises],
    "mbarrier.parity": [parity_by_counting, parity_by_a_barrier],
    "mbarrier.loop": [loop_carries_the_phase, loop_asks_ahead, loop_by_state],
    "mbarrier.ring": [ring_with_a_lane_for_its_warp, ring_that_fills_up_first],
    "mbarrier.hangs": [
        list(MISSING.values()),
        {hang: [number, reason.upper()] for hang, (number, reason) in MISSING.items()},
    ],
    "mbarrier.hunt": [list(CULPRITS.values()), {bug: letter.upper() for bug, letter in CULPRITS.items()}],
}
