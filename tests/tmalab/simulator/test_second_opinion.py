"""Kernels that are stuck: what another order of the threads shows of the mistake is told first."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.wrong import MUTANTS
from tmalab import TensorMap, kernel, ptx

ROWS, COLS, TILES = 8, 64, 2


@kernel
def no_wait_for_full(tensor_map, out):
    """A ring of two stages whose consumers, numbered before the producer, do not wait for what they read."""
    ring = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    t = cuda.threadIdx.x
    if t == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 32)
    cuda.syncthreads()
    if t == 32:
        for k in range(TILES):
            ptx.mbarrier_wait_parity(empty[k % 2], (k // 2 & 1) ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[k % 2], ROWS * COLS * 2)
            ptx.cp_async_bulk_tensor_2d(ring[k % 2], tensor_map, 0, k * ROWS, full[k % 2])
    elif t < 32:
        for k in range(TILES):
            for i in range(t, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[k % 2, i // COLS, i % COLS]
            ptx.mbarrier_arrive(empty[k % 2])


@pytest.mark.parametrize("seed", range(6))
def test_the_missing_wait_is_named_and_not_what_follows_from_it(seed):
    source = np.ones((TILES * ROWS, COLS), np.float16)
    args = (TensorMap.from_array(source, (ROWS, COLS)), np.zeros_like(source))
    names = {hazard.name for hazard in no_wait_for_full.run(block=64, args=args, seed=seed).hazards}
    assert "read-before-wait" in names
    assert not names & {"uninitialised-read", "wrong-parity"}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["bulk stage filled again while read", "next load before the last read"])
def test_a_stage_that_is_refilled_too_early_is_told_before_the_phase_that_a_waiter_misses(name, seed):
    """Also where that waiter is stuck, and has not read anything yet."""
    found = [hazard.name for hazard in MUTANTS[name].fresh().run(seed).hazards]
    assert found[0] == "overwrite-in-use"
    assert "phase-alias" in found
