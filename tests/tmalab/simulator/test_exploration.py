"""explore: many orders or all of them, what they found, the shortest that fails, and how it runs again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from numba import cuda

import tmalab
from tests.tmalab.simulator.explored import (
    COLS,
    ROWS,
    SOURCE,
    fails_if_thread_1_is_last,
    floats,
    ints,
    of_rounds,
    reads_early,
    rounds,
    source,
    take_five,
    take_turns,
)
from tmalab import TensorMap, explore, kernel, ptx
from tmalab.bootstrap import ROOT

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
