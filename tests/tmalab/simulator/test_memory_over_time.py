"""The memory of a simulated run grows with the memory that the kernel uses, not with the steps that it takes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.launch import Launch
from tmalab.simulator import access_log, shadow, simulate, tiles, trace

FEW, MANY = 50, (300, 350)  # rounds; the last where the collector came late
ALLOWED = 128 * 1024  # bytes: what is not collected yet, and that depends on when the collector comes
STAGES = 4


@kernel
def ring_by_tries(tensor_map, out, rounds):
    """A producer and four consumers, who never meet after the start."""
    tiles = cuda.shared.array((STAGES, 8, 64), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    t = cuda.threadIdx.x
    if t == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 4)
    cuda.syncthreads()
    if t == 32:
        for k in range(rounds):
            while not ptx.mbarrier_try_wait_parity(empty[k % STAGES], (k // STAGES + 1) & 1):
                pass
            ptx.mbarrier_arrive_expect_tx(full[k % STAGES], 1024)
            ptx.cp_async_bulk_tensor_2d(tiles[k % STAGES], tensor_map, 0, 0, full[k % STAGES])
    elif t < 4:
        for k in range(rounds):
            while not ptx.mbarrier_try_wait_parity(full[k % STAGES], (k // STAGES) & 1):
                pass
            out[t, k % 64] = tiles[k % STAGES, t, k % 64]
            ptx.mbarrier_arrive(empty[k % STAGES])


@kernel
def stores(tensor_map, out, rounds):
    """One thread fills a tile and stores it, again and again."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    if cuda.threadIdx.x == 0:
        for i in range(512):
            tile[i // 64, i % 64] = 0
        for k in range(rounds):
            tile[k % 8, k % 64] = k % 100
            ptx.fence_proxy_async_shared_cta()
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)


@kernel
def meetings(tensor_map, out, rounds):
    """Threads hand a value around, by syncthreads."""
    box = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    box[t] = t
    for _ in range(rounds):
        cuda.syncthreads()
        value = box[(t + 1) % 64]
        cuda.syncthreads()
        box[t] = value
        out[t % 8, t // 8] = value


@kernel
def atomics(tensor_map, out, rounds):
    """Threads count together."""
    count = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        count[0] = 0
    cuda.syncthreads()
    for _ in range(rounds):
        cuda.atomic.add(count, 0, 1)


@kernel
def same_values(tensor_map, out, rounds):
    """All threads raise one flag, which none reads."""
    flags = cuda.shared.array(8, np.int32)
    for k in range(rounds):
        flags[k % 8] = 1


@kernel
def copies_by_threads(tensor_map, out, rounds):
    """cp.async of each thread, two groups ahead."""
    ring = cuda.shared.array((STAGES, 8, 64), np.float16, alignment=16)
    t = cuda.threadIdx.x
    for k in range(rounds):
        ptx.cp_async(ring[k % STAGES, t % 8, 8 * (t // 8 % 8) :], out[t % 8, 8 * (t // 8 % 8) :], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(2)
    ptx.cp_async_wait_group(0)


def peak(made: object, rounds: int, block: int) -> int:
    """Bytes at most, above those before, of a run that must be clean."""
    source, out = np.ones((8, 64), np.float16), np.zeros((8, 64), np.float16)
    launch = Launch.of(made, 1, block, (TensorMap.from_array(source, (8, 64)), out, rounds), 1, 0, False)
    tracemalloc.start()
    run = simulate(launch)
    memory = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [*run.hazards, run.deadlock, run.fault] == [None, None], str(run)
    return memory


@pytest.mark.parametrize(
    ("made", "block"),
    [(ring_by_tries, 33), (stores, 1), (meetings, 64), (atomics, 32), (same_values, 32), (copies_by_threads, 2)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_many_times_the_rounds_take_no_more_memory(made, block, monkeypatch):
    """What is kept up to a limit is kept up to a lower one here, which a few rounds reach as well."""
    monkeypatch.setitem(trace.TRACES, "last", 64)
    monkeypatch.setattr(access_log, "BATCH", 256)
    monkeypatch.setattr(access_log, "SMALL", 64)
    monkeypatch.setattr(shadow, "COMPACT_FROM", 128)
    monkeypatch.setattr(tiles, "KEPT", 8)
    peak(made, 5, block)  # what the first run leaves for the next
    few = peak(made, FEW, block)
    assert any(peak(made, rounds, block) < few + ALLOWED for rounds in MANY)
