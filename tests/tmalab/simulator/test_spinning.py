"""Loops that watch memory: others run meanwhile, and a loop that nothing can end is told with its line."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import tile_map
from tests.pace import within
from tmalab import kernel, ptx
from tmalab.simulator.watchdog import patience

SEEDS = range(4)


def names(run):
    return {hazard.name for hazard in run.hazards}


@kernel
def watches_a_flag(out):
    """Thread 0 waits for thread 1 by looking, again and again."""
    flag = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        flag[0] = 0
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        while flag[0] == 0:
            pass
        out[0] = 7
    else:
        flag[0] = 1


@kernel
def takes_a_lock(lock, out):
    """Each thread in turn adds to one element, under a lock."""
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    cuda.atomic.add(out, 0, cuda.threadIdx.x)
    cuda.atomic.exch(lock, 0, 0)


@kernel
def counts_down_together(count, out):
    """Threads come one by one, and each waits until all have come."""
    cuda.atomic.add(count, 0, 1)
    while cuda.atomic.add(count, 0, 0) < cuda.blockDim.x:
        pass
    out[cuda.threadIdx.x] = 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_flag_in_shared_memory_is_seen_and_the_race_is_told(seed):
    out = np.zeros(1, np.int32)
    run = watches_a_flag.run(block=2, args=(out,), seed=seed)
    assert (run.fault, run.deadlock, out[0]) == (None, None, 7)
    assert names(run) == {"data-race"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_lock_by_atomics_lets_everybody_in(seed):
    lock, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    run = takes_a_lock.run(block=64, args=(lock, out), seed=seed)
    assert run.ok, run
    assert (lock[0], out[0]) == (0, 63 * 32)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_barrier_made_of_atomics_is_passed(seed):
    count, out = np.zeros(1, np.int32), np.zeros(48, np.int32)
    run = counts_down_together.run(block=48, args=(count, out), seed=seed)
    assert run.ok, run
    assert out.all()


def line_of(made, offset):
    return made.function.__code__.co_firstlineno + offset


@kernel
def waits_for_nobody(flag):
    while flag[0] == 0:
        pass


@kernel
def locks_twice(lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass


@pytest.mark.parametrize(("made", "line"), [(waits_for_nobody, 2), (locks_twice, 4)])
def test_a_loop_that_nothing_can_end_is_a_fault_with_its_line(made, line):
    start = time.process_time()
    run = made.run(block=1, args=(np.zeros(1, np.int32),))
    assert within(time.process_time() - start, 20)
    assert run.fault.kind == "endless_loop"
    assert run.fault.line == line_of(made, line)
    assert "reads the same again and again" in str(run.fault)


@kernel
def looks_some_times(flag, out):
    for _ in range(300):
        if cuda.atomic.add(flag, 0, 0) != 0:
            break
    out[0] = 1


def test_a_loop_that_looks_only_some_times_comes_to_its_end():
    out = np.zeros(1, np.int32)
    run = looks_some_times.run(block=1, args=(np.zeros(1, np.int32), out))
    assert run.ok
    assert out[0] == 1


@kernel
def sums_for_a_while(values, flag, out):
    """Thread 1 is long at work before it tells thread 0, which looks."""
    if cuda.threadIdx.x == 1:
        total = 0
        for i in range(20000):
            total += values[i % 64]
        cuda.atomic.exch(flag, 0, total)
    else:
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass
        out[0] = 1


def test_who_is_long_at_work_is_waited_for():
    out = np.zeros(1, np.int32)
    run = sums_for_a_while.run(block=2, args=(np.ones(64, np.int32), np.zeros(1, np.int32), out))
    assert run.ok
    assert out[0] == 1


@kernel
def watches_the_tile(tensor_map, out):
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.mbarrier_arrive_expect_tx(bar[0], 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar[0])
        while tile[0, 0] != np.float32(1):
            pass
        out[0] = 1


def test_a_copy_lands_while_a_loop_watches_the_tile_and_the_missing_wait_is_told():
    out = np.zeros(1, np.int32)
    run = watches_the_tile.run(block=32, args=(tile_map(np.ones((8, 64), np.float16)), out))
    assert out[0] == 1
    assert "read-before-wait" in names(run)


def test_a_seed_repeats_a_run_that_watches_memory():
    traces = []
    for _ in range(2):
        args = (np.zeros(1, np.int32), np.zeros(48, np.int32))
        with patience(20, 60):
            run = counts_down_together.run(block=48, args=args, seed=3)
        traces.append((list(run.trace), str(run)))
    assert traces[0] == traces[1]
