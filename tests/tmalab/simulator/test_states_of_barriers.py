"""Waits by state: the state must be of this barrier, and of its current phase or the one before."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import kernel, ptx

SEEDS = (0, 1, 2)


def names(run):
    return {hazard.name for hazard in run.hazards}


def test_the_state_of_an_old_phase_is_flagged_and_that_of_no_phase_refused():
    """B13"""

    @kernel
    def old(out):
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        first = ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 1)
        while not ptx.mbarrier_test_wait(bar, first):
            pass

    @kernel
    def none(out):
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        while not ptx.mbarrier_test_wait(bar, 0):
            pass

    assert names(old.run(block=1, args=(np.zeros(1),))) == {"phase-alias"}
    run = none.run(block=1, args=(np.zeros(1),))
    assert run.fault.kind == "python_error"
    assert not run.ok


@pytest.mark.parametrize("seed", SEEDS)
def test_the_state_of_another_barrier_is_flagged_in_whichever_phase(seed):
    """B13"""

    @kernel
    def other(out):
        bars = ptx.mbarrier_array(2)
        tid = cuda.threadIdx.x
        if tid < 2:
            ptx.mbarrier_init(bars[tid], 2)
        cuda.syncthreads()
        for k in range(3):
            tokens = ptx.mbarrier_arrive(bars[0]), ptx.mbarrier_arrive(bars[1])
            while not ptx.mbarrier_try_wait(bars[0], tokens[0]):
                pass
            while not ptx.mbarrier_try_wait(bars[1], tokens[0 if k == 2 else 1]):
                pass

    run = other.run(block=2, args=(np.zeros(1),), seed=seed)
    assert names(run) == {"wrong-parity"}
    assert "the state was returned by an arrive on bars[0], and says nothing of a phase of bars[1]" in str(run)


def test_a_state_is_that_of_its_own_barrier_wherever_it_was_kept():
    """In memory too, where it is 64 bits like any others."""

    @kernel
    def kept(out):
        bars = ptx.mbarrier_array(3)
        tid = cuda.threadIdx.x
        tokens = cuda.local.array(3, np.int64)
        if tid < 3:
            ptx.mbarrier_init(bars[tid], 3)
        cuda.syncthreads()
        for _ in range(9):
            for s in range(3):
                tokens[s] = ptx.mbarrier_arrive(bars[s])
            for s in range(3):
                while not ptx.mbarrier_try_wait(bars[2 - s], tokens[2 - s]):
                    pass
            out[tid] += ptx.mbarrier_pending_count(tokens[1])

    out = np.zeros(3, np.int64)
    assert not names(kept.run(block=3, args=(out,)))
    assert out.sum() == 9 * (3 + 2 + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_phase_that_may_pass_a_waiter_by_is_flagged_by_state_too(seed):
    @kernel
    def runs_ahead(out):
        bar = ptx.mbarrier_array(1)
        tid = cuda.threadIdx.x
        if tid == 0:
            ptx.mbarrier_init(bar, 2)
        cuda.syncthreads()
        state = ptx.mbarrier_arrive(bar)
        while not ptx.mbarrier_try_wait(bar, state):
            pass
        if tid == 0:
            ptx.mbarrier_arrive(bar, 2)

    assert names(runs_ahead.run(block=2, args=(np.zeros(1),), seed=seed)) == {"phase-alias"}
