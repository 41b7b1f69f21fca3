"""What a simulated run costs: time for the lesson's kernel, and memory that does not grow with the steps."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
from numba import cuda

from tests.mutants.case import TILE, tile_map
from tests.mutants.right import CASES
from tmalab import kernel, ptx
from tmalab.launch import Launch
from tmalab.simulator import simulate


def test_the_kernel_of_lesson_1_runs_in_under_50_ms():
    """8x64 tile, 128 threads, all checks on; seconds of the processor, so that a busy machine fails nobody."""
    case = CASES["copy_tile"]()
    launch = Launch.of(case.kernel, 1, 128, case.args, 1, 0, False)
    simulate(launch)
    times = []
    for _ in range(7):
        start = time.process_time()
        simulate(launch)
        times.append(time.process_time() - start)
    assert min(times) < 0.050


@kernel
def laps(tensor_map, count):
    """A ring of one stage, round and round: 32 consumers read it without ever meeting the producer at syncthreads."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    empty = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(full, 1)
        ptx.mbarrier_init(empty, 32)
    cuda.syncthreads()
    if t == 32:
        for k in range(count):
            ptx.mbarrier_wait_parity(empty, (k + 1) & 1)
            ptx.mbarrier_arrive_expect_tx(full, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full)
    elif t < 32:
        total = np.float32(0)
        for k in range(count):
            ptx.mbarrier_wait_parity(full, k & 1)
            for i in range(t, 512, 32):
                total += np.float32(tile[i // 64, i % 64])
            ptx.mbarrier_arrive(empty)


def peak(count):
    args = tile_map(np.zeros((8, 64), np.float16)), count
    launch = Launch.of(laps, 1, 64, args, 1, 0, False)
    simulate(launch)
    tracemalloc.start()
    run = simulate(launch)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert not run.hazards
    return memory


def test_memory_does_not_grow_with_the_number_of_steps():
    assert peak(90) < 1.25 * peak(45)
