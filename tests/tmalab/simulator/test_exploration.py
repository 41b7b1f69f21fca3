"""explore: many orders or all of them, what they found, the shortest that fails, and how it runs again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from numba import cuda

import tmalab
from tests.pace import seconds
from tmalab import TensorMap, explore, kernel, ptx
from tmalab.bootstrap import ROOT

ROWS, COLS = 8, 16
TILE = ROWS * COLS * 2  # bytes
SOURCE = np.arange(2 * ROWS * COLS).reshape(2 * ROWS, COLS).astype(np.float16)


@kernel
def take_turns(out):
    out[cuda.atomic.add(out, 3, 1)] = cuda.threadIdx.x


@kernel
def take_five(out):
    out[cuda.atomic.add(out, 4, 1)] = cuda.threadIdx.x


@kernel
def fails_if_thread_1_is_last(out):
    """Who arrives last finds the third ticket, and if that is thread 1 it writes what thread 0 writes too."""
    ticket = cuda.atomic.add(out, 1, 1)
    if ticket == 2 and cuda.threadIdx.x == 1:
        out[0] = 7
    if cuda.threadIdx.x == 0:
        out[0] = 8


@kernel
def rounds(tensor_map, out):
    """Two loads, three rounds in which all arrive and wait."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    bar = ptx.mbarrier_array(1)
    mine = cuda.threadIdx.x
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
        ptx.mbarrier_init(bar, 4)
    cuda.syncthreads()
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, s * ROWS, full[s])
    for r in range(3):
        if r < 2:
            while not ptx.mbarrier_try_wait_parity(full[r], 0):
                pass
            out[r, mine] = tile[r, mine, 0]
        ptx.mbarrier_arrive(bar)
        while not ptx.mbarrier_try_wait_parity(bar, r & 1):
            pass


@kernel
def rounds_that_look(tensor_map, out):
    """The same, but each thread notes whether it had to wait for the loads."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    bar = ptx.mbarrier_array(1)
    mine = cuda.threadIdx.x
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
        ptx.mbarrier_init(bar, 4)
    cuda.syncthreads()
    if mine == 0:
        for s in range(2):
            ptx.mbarrier_arrive_expect_tx(full[s], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, s * ROWS, full[s])
    for r in range(3):
        if r < 2:
            at_once = 1
            if not ptx.mbarrier_try_wait_parity(full[r], 0):
                at_once = 0
                ptx.mbarrier_wait_parity(full[r], 0)
            out[r, mine] = tile[r, mine, 0] + at_once
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, r & 1)


@kernel
def reads_early(tensor_map, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
        out[0] = tile[0, 1]
        ptx.mbarrier_wait_parity(bar, 0)


def source():
    return TensorMap.from_array(SOURCE, (ROWS, COLS))


def floats(*shape):
    return np.zeros(shape, np.float16)


def ints(n):
    return np.zeros(n, np.int32)


def of_rounds(**how):
    return explore(rounds, 1, 4, (source(), floats(2, 4)), **how)


# Seeds.


def test_seeds_say_what_was_wrong_how_often_and_first_where():
    found = explore(reads_early, 1, 1, (source(), floats(1)), seeds=9)
    assert (found.explored, found.runs, found.complete, found.exhaustive) == (9, 9, True, False)
    assert [(each.name, each.count, each.first) for each in found.hazards] == [("read-before-wait", 9, 0)]
    assert not found.ok
    assert found.hazards[0].hazard.name == "read-before-wait"


def test_the_shortest_failing_order_is_that_of_its_seed():
    found = explore(fails_if_thread_1_is_last, 1, 3, (ints(2),), seeds=30)
    assert 0 < found.failures < 30
    assert [each.name for each in found.hazards] == ["data-race"]
    again = fails_if_thread_1_is_last.run(1, 3, (ints(2),), seed=found.failing.seed)
    assert [hazard.message for hazard in again.hazards] == [hazard.message for hazard in found.failing.run.hazards]
    first = fails_if_thread_1_is_last.run(1, 3, (ints(2),), seed=found.hazards[0].first)
    assert [hazard.name for hazard in first.hazards] == ["data-race"]


def test_seeds_may_be_listed():
    found = explore(take_turns, 1, 3, (ints(4),), seeds=[7, 3])
    assert (found.seeds, found.explored) == ([7, 3], 2)
    assert "seeds 7, 3" in str(found)


def test_a_right_kernel_is_ok_in_all_seeds():
    found = of_rounds(seeds=12)
    assert found.ok
    assert (found.failing, found.hazards, len(found.outcomes)) == (None, [], 1)
    assert str(found) == "rounds: 12 orders (seeds 0 to 11); no hazards"


# Results and arguments.


def test_the_arguments_are_left_as_they_are():
    tensor, out = SOURCE.copy(), floats(2, 4)
    for how in ({"seeds": 3}, {"exhaustive": True}):
        explore(rounds, 1, 4, (TensorMap.from_array(tensor, (ROWS, COLS)), out), **how)
        assert np.array_equal(tensor, SOURCE)
        assert not out.any()


def test_every_run_finds_the_arguments_as_they_were():
    @kernel
    def doubles(out):
        out[cuda.threadIdx.x] = out[cuda.threadIdx.x] * 2

    found = explore(doubles, 1, 4, (np.arange(4),), seeds=5)
    (outcome,) = found.outcomes
    assert outcome.arrays["out"].tolist() == [0, 2, 4, 6]


def test_results_that_depend_on_the_order_are_told_apart():
    found = explore(take_turns, 1, 3, (ints(4),), exhaustive=True)
    results = {tuple(outcome.arrays["out"]) for outcome in found.outcomes}
    assert results == {(a, b, 3 - a - b, 3) for a in range(3) for b in range(3) if a != b}
    assert [outcome.count for outcome in found.outcomes] == [1] * 6
    assert found.ok
    assert found.depends_on_order
    assert "depends on the order: 6 different ones" in str(found)


def test_of_many_or_large_results_only_the_first_are_kept(monkeypatch):
    found = explore(take_five, 1, 4, (ints(5),), exhaustive=True, limit=12)
    assert [bool(outcome.arrays) for outcome in found.outcomes] == [True] * 8 + [False] * 4
    monkeypatch.setattr("tmalab.simulator.outcomes.MOST_BYTES", 8)
    found = explore(take_turns, 1, 3, (ints(4),), exhaustive=True)
    assert [bool(outcome.arrays) for outcome in found.outcomes] == [True] + [False] * 5


def test_the_array_behind_a_map_is_among_the_results():
    @kernel
    def stores(tensor_map):
        tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
        if cuda.threadIdx.x == 0:
            tile[1, 2] = 5.0
            ptx.fence_proxy_async()
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, ROWS, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)

    found = explore(stores, 1, 1, (TensorMap.from_array(SOURCE.copy(), (ROWS, COLS)),), exhaustive=True)
    assert found.outcomes[0].arrays["tensor_map"][ROWS + 1, 2] == 5


# All orders.


def test_a_kernel_without_a_choice_has_one_order():
    found = of_rounds(exhaustive=True)
    assert (found.explored, found.runs, found.complete) == (1, 1, True)
    assert found.ok
    assert "one order, because nothing in it depends on who comes first" in str(found)


def test_four_threads_two_copies_and_three_rounds_have_all_their_orders_within_ten_seconds():
    began = time.process_time()
    found = explore(rounds_that_look, 1, 4, (source(), floats(2, 4)), exhaustive=True)
    assert time.process_time() - began < seconds(10)
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


# The interface.


def test_what_was_found_is_plain_data():
    found = explore(fails_if_thread_1_is_last, 1, 3, (ints(2),), exhaustive=True)
    data = json.loads(json.dumps(found.as_data()))
    assert data["hazards"] == [{"name": "data-race", "count": 2, "first": found.hazards[0].first}]
    assert (data["explored"], data["failures"], data["failing"]["order"]) == (6, 2, found.failing.order)


def test_strict_explorations_collect_the_warnings():
    @kernel
    def same_value(out):
        out[0] = 1

    assert not explore(same_value, 1, 2, (ints(1),), seeds=2).warnings
    assert explore(same_value, 1, 2, (ints(1),), seeds=2, strict=True).warnings


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"seeds": 0}, ValueError, "at least 1"),
        ({"seeds": [-1]}, ValueError, "at least 1"),
        ({"seeds": True}, ValueError, "seeds=True"),
        ({"seeds": 1.5}, TypeError, "seeds=1.5"),
        ({"limit": 0}, ValueError, "limit=0"),
        ({"time_limit": -1}, ValueError, "time_limit=-1"),
        ({"block": 0}, ValueError, "block"),
        ({"args": ()}, TypeError, "take_turns"),
    ],
)
def test_misuse_raises_one_sentence(how, error, words):
    with pytest.raises(error, match=words):
        explore(take_turns, **{"block": 3, "args": (ints(4),), **how})


def test_a_function_is_no_kernel():
    with pytest.raises(TypeError, match=r"@tmalab\.kernel"):
        explore(lambda out: None, block=1)


@pytest.mark.parametrize("order", ["nonsense", "0 -1", "0**2"])
def test_an_order_that_cannot_be_read_is_refused(order):
    with pytest.raises(ValueError, match="is no turn"):
        explore(take_turns, 1, 3, (ints(4),), seeds=1).replay(order)


def test_an_order_of_another_launch_is_refused():
    with pytest.raises(ValueError, match="does not fit this launch"):
        explore(take_turns, 1, 3, (ints(4),), seeds=1).replay("0 77")
    with pytest.raises(ValueError, match="no order failed"):
        explore(take_turns, 1, 3, (ints(4),), seeds=1).replay()


def test_no_kernel_explores():
    @kernel
    def explores(out):
        explore(take_turns, block=1, args=(out,))

    run = explores.run(1, 1, (ints(4),))
    assert run.fault.kind == "python_error"


def test_no_thread_is_started_for_a_run():
    of_rounds(seeds=2)
    before = {thread.ident for thread in threading.enumerate()}
    of_rounds(seeds=6)
    assert {thread.ident for thread in threading.enumerate()} == before


def test_import_is_lazy():
    code = "import sys, tmalab; print('tmalab.simulator' in sys.modules); tmalab.explore; print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["False", "False"], done.stderr
    assert "explore" in dir(tmalab)


def test_ctrl_c_does_afterwards_what_it_did_before():
    before = signal.getsignal(signal.SIGINT)
    explore(take_turns, 1, 3, (ints(4),), seeds=1)
    assert signal.getsignal(signal.SIGINT) is before
