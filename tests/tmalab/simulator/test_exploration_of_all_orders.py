"""All distinct orders of a small kernel: how many there are, that each runs again, and what ends an exploration."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import time

import numpy as np
from numba import cuda

from tests.pace import within
from tests.tmalab.simulator.explored import (
    fails_if_thread_1_is_last,
    floats,
    ints,
    of_rounds,
    rounds_that_look,
    source,
    take_turns,
)
from tmalab import explore, kernel, ptx
from tmalab.bootstrap import ROOT

# All orders.


def test_a_kernel_without_a_choice_has_one_order():
    found = of_rounds(exhaustive=True)
    assert (found.explored, found.runs, found.complete) == (1, 1, True)
    assert found.ok
    assert "one order, because nothing in it depends on who comes first" in str(found)


def test_four_threads_two_copies_and_three_rounds_have_all_their_orders_within_ten_seconds():
    began = time.process_time()
    found = explore(rounds_that_look, 1, 4, (source(), floats(2, 4)), exhaustive=True)
    assert within(time.process_time() - began, 10)
    assert (found.explored, found.complete, found.ok) == (2**8, True, True)  # each of eight looks, before or after
    assert len(found.outcomes) == 2**8


def test_an_order_that_only_some_seeds_find_is_found():
    found = explore(fails_if_thread_1_is_last, 1, 3, (ints(2),), exhaustive=True)
    assert (found.explored, found.failures) == (6, 2)  # tickets for three threads: thread 1 has the last one in two
    assert [(each.name, each.count) for each in found.hazards] == [("data-race", 2)]


def test_a_failing_order_runs_again():
    out = ints(2)
    found = explore(fails_if_thread_1_is_last, 1, 3, (out,), exhaustive=True)
    for _ in range(2):
        run = found.replay()
        assert [hazard.message for hazard in run.hazards] == [hazard.message for hazard in found.failing.run.hazards]
        assert out.tolist() == [7, 3]  # the arguments change in place, and begin anew each time
    assert found.failing.order in str(found)


def test_an_order_in_writing_runs_in_another_exploration():
    order = explore(fails_if_thread_1_is_last, 1, 3, (ints(2),), exhaustive=True).failing.order
    other = explore(fails_if_thread_1_is_last, 1, 3, (ints(2),), seeds=1)
    assert [hazard.name for hazard in other.replay(order).hazards] == ["data-race"]
    assert other.replay(0).ok


@kernel
def writes_if_told_false(out):
    """Thread 1 asks once, and writes what thread 0 writes if the answer is False."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[0] = 1
        ptx.mbarrier_arrive(bar)
    elif not ptx.mbarrier_try_wait_parity(bar, 0):
        out[0] = 2


def test_an_order_that_makes_something_of_a_false_runs_in_another_exploration():
    found = explore(writes_if_told_false, 1, 2, (ints(1),), exhaustive=True)
    assert (found.explored, found.failures) == (2, 1)
    out = ints(1)
    run = explore(writes_if_told_false, 1, 2, (out,), seeds=1).replay(found.failing.order)
    assert [hazard.name for hazard in run.hazards] == ["data-race"]
    assert out[0] == found.outcomes[found.hazards[0].first].arrays["out"][0]


def test_clusters_have_their_orders_too():
    @kernel
    def tickets_of_two_ctas(out):
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()
        out[cuda.atomic.add(out, 2, 1)] = ptx.cluster_ctarank()

    found = explore(tickets_of_two_ctas, 2, 1, (ints(3),), 2, exhaustive=True)
    assert (found.explored, len(found.outcomes)) == (2, 2)


def test_the_orders_of_one_cta_after_the_other_are_added_not_multiplied():
    @kernel
    def tickets(out):
        cta = cuda.blockIdx.x
        out[cta, cuda.atomic.add(out, (cta, 3), 1)] = cuda.threadIdx.x

    found = explore(tickets, 2, 3, (np.zeros((2, 4), np.int32),), exhaustive=True)
    assert (found.explored, found.complete) == (6 + 6 - 1, True)


@kernel
def takes_a_lock(out):
    while cuda.atomic.cas(out, 0, 0, 1) != 0:
        pass
    out[1] = cuda.threadIdx.x
    cuda.atomic.exch(out, 0, 0)


def test_a_spin_lock_has_an_end_of_orders():
    found = explore(takes_a_lock, 1, 2, (ints(2),), exhaustive=True)
    assert found.complete
    assert found.explored == 6  # who is first; and whether the other one looks, and finds it locked, once or twice


def test_a_loop_that_nobody_ends_is_a_fault_with_its_line():
    @kernel
    def waits_for_ever(out):
        while cuda.atomic.add(out, 0, 0) == 0:
            pass

    found = explore(waits_for_ever, 1, 2, (ints(1),), exhaustive=True)
    assert [each.name for each in found.hazards] == ["endless_loop"]
    assert found.failing.run.fault.line == waits_for_ever.function.__code__.co_firstlineno + 2


def test_who_polls_for_a_thread_that_is_stuck_is_not_the_one_to_blame():
    @kernel
    def stuck(out):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.mbarrier_wait_parity(bar, 0)
            cuda.atomic.exch(out, 0, 1)
        else:
            while cuda.atomic.add(out, 0, 0) == 0:
                pass

    found = explore(stuck, 1, 2, (ints(1),), exhaustive=True)
    assert {each.name for each in found.hazards} == {"missing-arrival", "deadlock"}


def test_garbage_that_decides_who_meets_is_found_in_all_orders():
    @kernel
    def meets_by_luck(out):
        box = cuda.shared.array(1, np.int32)
        if box[0] < 0:
            cuda.syncthreads()
            cuda.atomic.add(out, 0, 1)
        out[1 + cuda.threadIdx.x] = 1

    found = explore(meets_by_luck, 1, 2, (ints(3),), exhaustive=True)
    assert [each.name for each in found.hazards] == ["uninitialised-read"]


# Limits.


def test_a_limit_of_runs_and_one_of_seconds_end_it():
    few = explore(take_turns, 1, 3, (ints(4),), exhaustive=True, limit=4)
    assert (few.runs, few.complete, few.stopped) == (4, False, "runs")
    assert "not all (limit=4)" in str(few)
    short = explore(take_turns, 1, 8, (ints(9),), exhaustive=True, time_limit=0.2)
    assert (short.complete, short.stopped) == (False, "seconds")
    assert short.seconds < 5
    assert explore(take_turns, 1, 3, (ints(4),), seeds=50, limit=6).explored == 6


def test_a_limit_that_is_just_enough_is_none():
    found = explore(take_turns, 1, 3, (ints(4),), exhaustive=True, limit=6)
    assert (found.explored, found.complete, found.stopped) == (6, True, None)


def test_orders_are_counted_anew_once_a_false_turns_up_that_matters():
    """In the first order the question is answered True; that it is one that matters shows in the second."""

    @kernel
    def asks_once(out):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 1:
            ptx.mbarrier_arrive(bar)
        elif ptx.mbarrier_try_wait_parity(bar, 0):
            out[0] = 1

    found = explore(asks_once, 1, 2, (ints(1),), exhaustive=True)
    assert (found.explored, found.runs) == (2, 4)
    assert {outcome.arrays["out"][0]: outcome.count for outcome in found.outcomes} == {0: 1, 1: 1}


def test_ctrl_c_returns_what_was_found_so_far():
    script = """
        import numpy as np, os, signal, threading
        from numba import cuda
        import tmalab

        @tmalab.kernel
        def take_turns(out):
            out[cuda.atomic.add(out, 8, 1)] = cuda.threadIdx.x

        signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
        explore = tmalab.explore
        threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        found = explore(take_turns, 1, 8, (np.zeros(9, np.int32),), exhaustive=True)
        print(found.stopped, found.complete, found.explored > 1, "interrupted" in str(found))
        print(take_turns.run(1, 8, (np.zeros(9, np.int32),)).ok)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.stdout.splitlines() == ["interrupted False True True", "True"], done.stderr


def test_an_endless_kernel_does_not_take_its_patience_for_every_seed():
    from tmalab.simulator.watchdog import patience

    @kernel
    def never_ends(out):
        while True:
            pass

    began = time.monotonic()
    with patience(0.3, 5):
        found = explore(never_ends, 1, 1, (ints(1),), seeds=3)
    assert [each.name for each in found.hazards] == ["endless_loop"]
    assert time.monotonic() - began < 30
