"""A deadlock ends at once and says who waits on what, and which mistake is behind it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import WIDE, tile_map
from tests.pace import within
from tmalab import kernel, ptx

COUNT = 3  # arrivals


@kernel
def promises(tensor_map, promised):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(2)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[1], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[1], promised)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[1])
    ptx.mbarrier_wait_parity(full[1], 0)


def names(run):
    return [hazard.name for hazard in run.hazards]


def test_the_report_says_what_was_promised_and_what_was_delivered():
    run = promises.run(block=64, args=(tile_map(WIDE), 8192))
    assert names(run) == ["too-many-bytes", "deadlock"]
    assert "promised 8,192 bytes, delivered 1,024" in run.deadlock.message
    (waiter,) = run.deadlock.waiters
    assert (waiter.what, waiter.barrier, waiter.phase, waiter.parity) == ("mbarrier", "full[1]", 0, 0)
    assert (waiter.promised, waiter.delivered, waiter.pending, waiter.arrivals) == (8192, 1024, 0, 1)
    assert waiter.threads == tuple(range(64))
    assert waiter.line == promises.function.__code__.co_firstlineno + 10


def test_fewer_bytes_than_come_can_hang_with_a_negative_count():
    run = promises.run(block=32, args=(tile_map(WIDE), 512))
    assert names(run) == ["too-few-bytes", "deadlock"]
    assert "promised 512 bytes, delivered 1,024" in run.deadlock.message


@kernel
def arrives(how_many):
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, COUNT)
    cuda.syncthreads()
    if cuda.threadIdx.x < how_many:
        ptx.mbarrier_arrive(bar)
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        pass


def test_the_report_counts_the_arrivals_that_are_missing():
    run = arrives.run(block=32, args=(1,))
    assert names(run) == ["missing-arrival", "deadlock"]
    assert "2 of 3 arrivals missing" in run.deadlock.message
    assert run.deadlock.waiters[0].arrivals == 1


def test_two_arrivals_on_a_count_of_one_end_in_phase_2():
    """B12: whoever then waits for parity 0 waits for ever."""

    @kernel
    def twice():
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)

    run = twice.run(block=1)
    assert names(run) == ["over-arrival", "deadlock"]
    assert run.deadlock.waiters[0].phase == 2


def test_a_wait_for_a_phase_that_nothing_leads_to_has_the_wrong_parity():
    @kernel
    def passes_then_waits_again(out):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.mbarrier_arrive(bar)
        cuda.syncthreads()
        ptx.mbarrier_wait_parity(bar, 1)

    run = passes_then_waits_again.run(block=32, args=(np.zeros(1),))
    assert names(run) == ["wrong-parity", "deadlock"]


def test_threads_of_two_barriers_that_never_meet_are_told_so():
    @kernel
    def apart(out):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x < 32:
            cuda.syncthreads()
        else:
            ptx.mbarrier_wait_parity(bar, 0)

    run = apart.run(block=64, args=(np.zeros(1),))
    assert {"barrier-mismatch", "missing-arrival", "deadlock"} == set(names(run))
    assert [(waiter.what, len(waiter.threads), waiter.missing) for waiter in run.deadlock.waiters] == [
        ("syncthreads", 32, 32),
        ("mbarrier", 32, 0),
    ]


@kernel
def gives_up(out, patience):
    """A bounded loop, which is no deadlock: it ends by itself."""
    bar = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    tries = 0
    while tries < patience and not ptx.mbarrier_try_wait_parity(bar, 0):
        tries += 1
    out[t] = tries


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_bounded_loop_gets_its_false_answers(seed):
    out = np.zeros(4, np.int32)
    run = gives_up.run(block=4, args=(out, 700), seed=seed)
    assert run.deadlock is None
    assert out.tolist() == [700] * 4


def test_a_loop_of_more_than_a_thousand_tries_counts_as_endless():
    run = gives_up.run(block=4, args=(np.zeros(4, np.int32), 10_000_000))
    assert names(run) == ["missing-arrival", "deadlock"]


def test_a_test_wait_that_is_polled_lets_the_copy_land():
    @kernel
    def polls(tensor_map, out):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        state = ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        polled = 0
        while not ptx.mbarrier_test_wait(bar, state):
            polled += 1
        out[0] = polled

    out = np.zeros(1, np.int32)
    run = polls.run(block=1, args=(tile_map(WIDE), out))
    assert not run.hazards
    assert out[0] >= 1  # the first answer in a phase is False


def test_a_deadlock_is_found_in_a_moment():
    start = time.process_time()
    arrives.run(block=128, args=(1,))
    assert within(time.process_time() - start, 3)


def test_threads_are_released_after_a_deadlock():
    import gc

    from tmalab.simulator.threads import SimThread

    def alive() -> set[int]:
        gc.collect()
        threads = (x for x in gc.get_objects() if isinstance(x, SimThread))
        return {id(thread) for thread in threads if thread.greenlet is not None and not thread.greenlet.dead}

    before = alive()  # kernels of other tests that cannot be stopped
    arrives.run(block=32, args=(1,))
    assert alive() <= before
