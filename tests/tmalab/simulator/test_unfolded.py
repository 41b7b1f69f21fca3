"""A kernel does, logs and is told the same whether the accesses to its arrays are spelt out or called."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda, float32, int32

from tmalab import device, kernel
from tmalab.simulator import access_log, simulation
from tmalab.simulator.arrays import make_array
from tmalab.simulator.memory import Memory
from tmalab.simulator.quick_arrays import SmallMatrix
from tmalab.simulator.unfolded import unfolded

THREADS = 32
FIRST = 1


@kernel
def neighbours(out):
    tile = cuda.shared.array((4, THREADS), float32)
    i = cuda.threadIdx.x
    for row in range(4):
        tile[row, i] = row
        tile[row, i] += float32(i) * 2
    cuda.syncthreads()
    total = float32(0)
    for row in range(1, 4):
        total += tile[row, i] * tile[row - 1, (i + 1) % THREADS] + abs(tile[0, 0]) - tile[3, THREADS - 1 - i]
    out[i] = total


@kernel
def stages(out):
    ring = cuda.shared.array((2, 4, THREADS), int32)
    i = cuda.threadIdx.x
    for step in range(6):
        stage = ring[step % 2]
        stage[step % 4, i] = step * i
        ring[step % 2, 3, i] = step
        cuda.syncthreads()
        if stage[step % 4, THREADS - 1 - i] > 40 and ring[step % 2, 3, i] < 5:
            out[i] += stage[step % 4, THREADS - 1 - i] - ring[step % 2][3, i]
        cuda.syncthreads()


@kernel
def chain(out):
    order, seen = cuda.shared.array(THREADS, int32), cuda.local.array(4, int32)
    i = cuda.threadIdx.x
    order[i] = (i + 5) % THREADS
    cuda.syncthreads()
    place = i
    for step in range(4):
        place = order[order[place]]
        seen[step] = place
    while out[i] < seen[3]:
        out[i] += seen[0] if seen[0] > seen[1] else 1


@kernel
def below_zero(out):
    tile = cuda.shared.array(THREADS, float32)
    i = cuda.threadIdx.x
    tile[i] = i
    cuda.syncthreads()
    for back in range(3):
        out[i] += tile[i - back]


@kernel
def beyond_the_end(out):
    tile = cuda.shared.array((2, THREADS), float32)
    i = cuda.threadIdx.x
    for row in range(3):
        tile[row, i] = row
    out[i] = tile[1, i]


@kernel
def half_an_index(out):
    i = cuda.threadIdx.x
    for row in range(2):
        out[row] = out[i / 2]


@kernel
def no_barrier(out):
    tile = cuda.shared.array((2, THREADS), float32)
    i = cuda.threadIdx.x
    for row in range(2):
        tile[row, i] = row
        out[i] = tile[row, i ^ 1] + i // (row + 1)


@device
def meets(value):
    cuda.syncthreads()
    return value


@kernel
def meeting_between(out):
    tile = cuda.shared.array(THREADS, int32)
    i = cuda.threadIdx.x
    tile[i] = -1
    for step in range(3):
        cuda.syncthreads()
        tile[i] = step
        out[i] += meets(i) + tile[THREADS - 1 - i]


@kernel
def ways_out(out):
    i = cuda.threadIdx.x
    for step in range(8):
        if out[i] > i:
            return
        if out[i] == i - 1 or out[step % 4] < 0:
            out[i] = 3
        elif out[step] == 1:
            out[i] = 2
            continue
        out[i] += 1 if step else out[i] + 1


KERNELS = (
    neighbours, stages, chain, below_zero, beyond_the_end, half_an_index, no_barrier, meeting_between, ways_out,
)  # fmt: skip


def came_to(made, seed, monkeypatch):
    """What a run came to: its text, the result, and each access as it was logged."""
    logged, check = [], access_log.AccessLog.check

    def noting(log, **how):
        logged.extend([*log.shared.entries, None, *log.world.entries, None])
        return check(log, **how)

    with monkeypatch.context() as patch:
        patch.setattr(access_log.AccessLog, "check", noting)
        out = np.zeros(THREADS, np.float32 if made is neighbours else np.int32)
        run = made.run(block=THREADS, args=(out,), seed=seed)
    return str(run), out.tolist(), logged


def as_called(function, arguments):
    """No function is unfolded."""
    return function.__code__


@pytest.mark.parametrize("made", KERNELS, ids=lambda made: made.__name__)
def test_it_does_the_same_in_the_same_order(made, monkeypatch):
    assert unfolded(made.function, (argument(),)) is not made.function.__code__
    for seed in (0, 2):
        spelt_out = came_to(made, seed, monkeypatch)
        with monkeypatch.context() as patch:
            patch.setattr(simulation, "unfolded", as_called)
            assert came_to(made, seed, monkeypatch) == spelt_out


def test_the_methods_are_called_for_the_first_access_to_each_row_only(monkeypatch):
    called = []

    def noted(method):
        return lambda *operands: called.append(operands[1]) or method(*operands)

    for name in ("__getitem__", "__setitem__"):
        monkeypatch.setattr(SmallMatrix, name, noted(getattr(SmallMatrix, name)))
    came_to(neighbours, 0, monkeypatch)
    assert set(called) == {(row, 0) for row in range(4)}


def test_a_name_from_outside_that_changes_is_looked_at_again(monkeypatch):
    @kernel
    def shifted(out):
        for i in range(2):
            out[i] = out[i + FIRST]

    came_to(shifted, 0, monkeypatch)
    monkeypatch.setitem(globals(), "FIRST", -1)
    run, _, _ = came_to(shifted, 0, monkeypatch)
    assert "out-of-bounds" in run


def test_a_source_that_is_not_that_of_the_code_is_left_alone():
    scope = {}
    exec("def summed(out):\n    for i in range(4):\n        out[0] += out[i]\n", scope)
    assert unfolded(scope["summed"], (argument(),)) is scope["summed"].__code__
    other = neighbours.function.__code__
    scope["summed"].__code__ = other.replace(co_consts=tuple(3 if each == 4 else each for each in other.co_consts))
    assert unfolded(scope["summed"], (argument(),)) is scope["summed"].__code__


def argument():
    """An array as a kernel is given it."""
    values = np.zeros(THREADS, np.int32)
    return make_array(Memory(values.view(np.uint8), 0x1000, "global"), 0, values.shape, values.dtype, [].append)
