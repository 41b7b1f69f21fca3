"""Readers that run ahead into a deadlock: the missing wait is named although no load was issued in this order."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

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
