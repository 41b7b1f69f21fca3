"""Accesses are checked in batches, the quick way where all threads have met: nothing is lost between the batches."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import tile_map
from tmalab import kernel, ptx
from tmalab.simulator.access_log import Track

SEEDS = range(3)


@kernel
def leaves_early(out, meetings):
    """Thread 0 writes and is gone; the others meet some times, and thread 7 reads."""
    box = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    box[t] = 0
    for _ in range(3):
        cuda.syncthreads()
    if t == 0:
        box[5] = 1
        return
    for _ in range(meetings):
        cuda.syncthreads()
    if t == 7:
        out[0] = box[5]
    cuda.syncthreads()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("meetings", [0, 1, 2])
def test_what_a_thread_did_before_its_exit_is_known_to_nobody_however_often_the_others_meet(seed, meetings):
    run = leaves_early.run(block=64, args=(np.zeros(1, np.float32), meetings), seed=seed)
    assert [hazard.name for hazard in run.hazards] == ["data-race"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_thread_that_leaves_without_an_access_spoils_nothing(seed):
    @kernel
    def guarded(out, n):
        box = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        if t >= n:
            return
        box[t] = t
        cuda.syncthreads()
        out[t] = box[(t + 1) % n]

    out = np.zeros(64, np.float32)
    assert guarded.run(block=64, args=(out, 40), seed=seed).ok
    assert out[:40].tolist() == [*range(1, 40), 0]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_array_of_smaller_elements_may_come_in_the_middle_of_a_threads_accesses(seed):
    @kernel
    def late_array(source, out):
        box = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        box[t] = source[t]
        if t == 33:
            box[t] += source[t]
            small = cuda.shared.array(64, np.int8)
            small[0] = 1
        out[t] = box[t]

    out = np.zeros(64, np.float32)
    assert late_array.run(block=64, args=(np.ones(64, np.float32), out), seed=seed).ok
    assert out.sum() == 65


@pytest.mark.parametrize("seed", SEEDS)
def test_a_read_beside_the_thread_that_waits_for_the_copy_is_found_at_the_next_meeting_and_at_the_end(seed):
    @kernel
    def one_waits(tensor_map, out, meets):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        full = ptx.mbarrier_array(1)
        t = cuda.threadIdx.x
        if t == 0:
            ptx.mbarrier_init(full, 1)
        cuda.syncthreads()
        if t == 0:
            ptx.mbarrier_arrive_expect_tx(full, 1024)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full)
            ptx.mbarrier_wait_parity(full, 0)
        elif t == 40:
            out[0] = tile[0, 0]
        if meets:
            cuda.syncthreads()

    for meets in (0, 1):
        args = tile_map(np.zeros((8, 64), np.float16)), np.zeros(1, np.float16), meets
        assert "read-before-wait" in [hazard.name for hazard in one_waits.run(block=64, args=args, seed=seed).hazards]


def test_batches_that_recur_are_packed_once_and_no_other_is_taken_for_one():
    track, packed = Track(), []
    for entries in ([1, 2, 3], [4, 5], [1, 2, 3], [1, 2, 4], [1, 2], [1, 2, 3, 4]):
        track.entries[:] = entries
        packed.append(track.packed())
        assert packed[-1].array.tolist() == entries
    assert packed[2] is packed[0]


def test_a_loop_that_repeats_its_accesses_is_looked_at_each_time():
    """The same accesses four times over; only before the last is a meeting missing."""

    @kernel
    def repeats(out, meets):
        box = cuda.shared.array(64, np.float32)
        t = cuda.threadIdx.x
        for k in range(4):
            box[t] = k
            if k < meets:
                cuda.syncthreads()
            out[t] = box[63 - t]
            cuda.syncthreads()

    out = np.zeros(64, np.float32)
    assert repeats.run(block=64, args=(out, 4)).ok
    assert "data-race" in [hazard.name for hazard in repeats.run(block=64, args=(out, 3)).hazards]
