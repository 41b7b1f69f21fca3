"""CTAs of a grid that wait for each other, or hand something over, run together: by atomics with fences, and only so.

The kernels of tests/mutants/right/handovers.py are held to the same in many orders.
"""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.wrong import MUTANTS
from tmalab import explore, kernel, ptx

SEEDS = range(4)


def ints(count=1):
    return np.zeros(count, np.int32)


@kernel
def hands_over(flag, box, out, with_fences):
    """CTA 1 waits for a flag that CTA 0 raises, then reads what CTA 0 wrote."""
    if cuda.blockIdx.x == 0:
        box[0] = 7
        if with_fences:
            ptx.fence_acq_rel_gpu()
        cuda.atomic.exch(flag, 0, 1)
    else:
        while cuda.atomic.cas(flag, 0, 1, 1) != 1:
            pass
        cuda.threadfence()
        out[0] = box[0]


@kernel
def waits_for_a_later_one(flag, out):
    """The first CTA counts its looks until the last one has come."""
    looks = 0
    if cuda.blockIdx.x == 0:
        while cuda.atomic.add(flag, 0, 0) == 0:
            looks += 1
        out[0] = looks >= 0
    elif cuda.blockIdx.x == cuda.gridDim.x - 1:
        cuda.atomic.exch(flag, 0, 1)


@kernel
def watches(flag, out):
    """The same with an ordinary read, which no compiler need repeat."""
    if cuda.blockIdx.x == 0:
        while flag[0] == 0:
            pass
        out[0] = 1
    else:
        flag[0] = 1


@kernel
def waits_in_vain(flag, out):
    while cuda.atomic.add(flag, 0, 0) == 0:
        pass


@kernel
def hears_at_a_barrier(flag, box, out):
    """Thread 0 hears of the flag; the others go on by a barrier of the CTA, without a fence."""
    if cuda.blockIdx.x == 0:
        if cuda.threadIdx.x == 0:
            box[0] = 7
            cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
    else:
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(flag, 0, 1, 1) != 1:
                pass
        cuda.syncthreads()
        out[cuda.threadIdx.x] = box[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cta_waits_for_a_later_one_in_one_cluster_and_in_several(seed):
    for cluster in (1, 2, 4):
        out = ints()
        run = waits_for_a_later_one.run(4, 32, (ints(), out), cluster, seed=seed)
        assert not run.hazards, cluster
        assert run.fault is None, cluster
        assert out[0] == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_flag_that_is_read_as_ordinary_memory_is_a_race_and_no_endless_loop(seed):
    run = watches.run(2, 1, (ints(), ints()), seed=seed)
    assert run.fault is None
    assert {hazard.name for hazard in run.hazards} == {"data-race"}


def test_a_wait_that_no_cta_ends_is_an_endless_loop():
    run = waits_in_vain.run(2, 1, (ints(), ints()))
    assert run.fault.kind == "endless_loop"
    assert run.fault.line == waits_in_vain.function.__code__.co_firstlineno + 2


def test_all_orders_of_a_handover_between_two_ctas_are_explored():
    right = explore(hands_over, 2, 1, (ints(), ints(), ints(), 1), exhaustive=True)
    wrong = explore(hands_over, 2, 1, (ints(), ints(), ints(), 0), exhaustive=True)
    assert right.complete
    assert right.ok
    assert [outcome.arrays["out"][0] for outcome in right.outcomes] == [7]
    assert wrong.failures == wrong.explored == right.explored
    assert {hazard.name for hazard in wrong.replay().hazards} == {"data-race"}


def test_a_report_says_what_hands_over():
    run = hands_over.run(2, 1, (ints(), ints(), ints(), 0))
    (hazard,) = run.hazards
    assert "which are in different CTAs: atomics alone give none" in hazard.message
    assert "cuda.threadfence()" in hazard.fix


def test_a_barrier_stands_in_for_the_fence_that_takes_and_strict_runs_say_so():
    args = ints(), ints(), ints(32)
    assert not hears_at_a_barrier.run(2, 32, args).hazards
    strict = hears_at_a_barrier.run(2, 32, (ints(), ints(), ints(32)), strict=True)
    assert not strict.hazards
    assert any("without a fence after the atomic" in warning for warning in strict.warnings)


@pytest.mark.parametrize("seed", range(3))
def test_a_flag_that_is_raised_before_the_stores_full_wait_tells_of_the_wait(seed):
    run = MUTANTS["flag raised before the tile is written"].fresh().run(seed)
    assert [hazard.name for hazard in run.hazards] == ["store-not-waited"]
