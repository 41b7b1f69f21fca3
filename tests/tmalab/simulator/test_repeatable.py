"""One seed, one interleaving: a run repeats exactly; other seeds take other orders."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.right import CASES
from tmalab import kernel, ptx


@pytest.mark.parametrize("name", ["producer_and_consumers, 5 tiles", "store_ring, 5 tiles", "cp_async_and_mbarrier"])
@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_the_same_seed_repeats_a_run_event_by_event(name, seed):
    traces = []
    for _ in range(2):
        case = CASES[name]()
        traces.append(list(case.kernel.run(block=case.block, args=case.args, seed=seed).trace))
    assert len(traces[0]) > 20
    assert traces[0] == traces[1]


def test_other_seeds_take_other_orders():
    case = CASES["producer_and_consumers, 5 tiles"]()
    runs = [case.kernel.run(block=case.block, args=case.args, seed=seed).trace for seed in range(5)]
    assert len({tuple((event.what, event.thread) for event in trace) for trace in runs}) == 5


@kernel
def order_of_arrival(out):
    turn = cuda.atomic.add(out, 32, 1)
    out[turn] = cuda.threadIdx.x


def test_seed_0_runs_threads_in_their_order_and_others_do_not():
    orders = []
    for seed in range(3):
        out = np.zeros(33, np.int32)
        order_of_arrival.run(block=32, args=(out,), seed=seed)
        assert sorted(out[:32]) == list(range(32))
        orders.append(out[:32].tolist())
    assert orders[0] == list(range(32))
    assert orders[1] != orders[0]
    assert orders[2] != orders[1]


@kernel
def elects(out):
    for k in range(2):
        if ptx.elect_sync():
            out[k, cuda.threadIdx.x // 32] = cuda.threadIdx.x % 32


def test_the_elected_thread_is_the_seeds_choice_and_the_same_each_time():
    leaders = []
    for seed in range(12):
        out = np.zeros((2, 2), np.int32)
        elects.run(block=64, args=(out,), seed=seed)
        assert len(np.unique(out)) == 1
        leaders.append(out[0, 0])
    assert leaders[0] == 0
    assert len(set(leaders)) > 4


def test_a_trace_is_a_ring_of_the_last_events():
    @kernel
    def many(out):
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        for k in range(3000):
            ptx.mbarrier_arrive(bar)
            ptx.mbarrier_wait_parity(bar, k & 1)

    trace = many.run(block=1, args=(np.zeros(1),)).trace
    assert len(trace) == 4096
    assert (trace[-1].what, trace[-1].phase) == ("mbarrier_wait", 3000)
    assert [event.what for event in trace[-2:]] == ["mbarrier_arrive", "mbarrier_wait"]
