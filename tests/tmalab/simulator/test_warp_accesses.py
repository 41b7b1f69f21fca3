"""What warps ask of memory, counted from a run: bank conflicts of shared memory, sectors of global memory."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numba import cuda

from tmalab import device, kernel, ptx
from tmalab.run import Run

SIDE, PADDED = 32, 33


@kernel
def turn_over(source, out):
    tile = cuda.shared.array((SIDE, PADDED), np.float32, alignment=128)
    lane = cuda.threadIdx.x % SIDE
    for row in range(cuda.threadIdx.x // SIDE, SIDE, cuda.blockDim.x // SIDE):
        tile[row, lane] = source[row, lane]
    cuda.syncthreads()
    for row in range(cuda.threadIdx.x // SIDE, SIDE, cuda.blockDim.x // SIDE):
        out[row, lane] = tile[lane, row]


def line_of(function, text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def run_turning(block: int = 64) -> Run:
    source, out = np.arange(SIDE * SIDE, dtype=np.float32).reshape(SIDE, SIDE), np.zeros((SIDE, SIDE), np.float32)
    run = turn_over.run(block=block, args=(source, out))
    assert run.ok
    assert np.array_equal(out, source.T)
    return run


def test_a_row_of_33_words_is_read_down_a_column_without_a_conflict_and_told_line_by_line():
    used = {(line.kind, line.ways, line.count, line.wavefronts) for line in run_turning().bank_conflicts.lines()}
    assert used == {("write", 1, 32, 32), ("read", 1, 32, 32)}
    places = [line.place for line in run_turning().bank_conflicts.lines()]
    wanted = [line_of(turn_over.function, "= source[row, lane]"), line_of(turn_over.function, "= tile[lane, row]")]
    assert places == [f"test_warp_accesses.py:{line}" for line in wanted]


@kernel
def down_a_column(out, pitch):
    words = cuda.shared.array(2048, np.int32, alignment=128)
    for k in range(cuda.threadIdx.x, 2048, cuda.blockDim.x):
        words[k] = k
    cuda.syncthreads()
    out[cuda.threadIdx.x] = words[cuda.threadIdx.x * pitch]


@pytest.mark.parametrize(("pitch", "ways"), [(16, 16), (32, 32), (33, 1), (64, 32), (0, 1), (1, 1), (2, 2)])
def test_a_column_of_words_has_as_many_ways_as_the_pitch_says(pitch, ways):
    run = down_a_column.run(block=32, args=(np.zeros(32, np.int32), pitch))
    (read,) = [line for line in run.bank_conflicts.lines() if line.kind == "read"]
    assert (read.ways, read.wavefronts, read.least) == (ways, ways, 1)
    assert f"read: 1 accesses, {ways}-way at most, {ways} turns (1 without conflicts)" in str(run.bank_conflicts)


@kernel
def of_a_helper(out):
    words = cuda.shared.array(64, np.int64, alignment=128)
    if cuda.threadIdx.x < 48:
        place(words, cuda.threadIdx.x)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = words[cuda.threadIdx.x]


@device
def place(words, thread):
    words[thread] = thread
    if thread < 16:
        words[thread + 48] = thread


def test_a_warp_is_a_warp_and_lanes_that_stand_aside_take_no_part():
    run = of_a_helper.run(block=64, args=(np.zeros(64, np.int64),))
    accesses = [access for access in run.warp_accesses if access.space == "shared"]
    assert [(access.kind, access.warp, len(access.addresses)) for access in accesses] == [
        ("write", 0, 32),
        ("write", 0, 16),
        ("write", 1, 16),
        ("read", 0, 32),
        ("read", 1, 32),
    ]
    first = accesses[0].addresses[0]
    assert accesses[0].addresses == tuple(first + 8 * lane for lane in range(32))
    assert accesses[0].size == 8
    assert run.bank_conflicts.ways == 1
    assert run.bank_conflicts.wavefronts == 2 + 1 + 1 + 2 + 2  # eight bytes a lane: half a warp at a time


@kernel
def scattered(out, step):
    out[cuda.threadIdx.x * step] = np.float32(1.0)


@pytest.mark.parametrize(("step", "sectors"), [(1, 4), (2, 8), (8, 32), (0, 1)])
def test_sectors_of_global_memory_are_those_that_the_lanes_touch(step, sectors):
    run = scattered.run(block=32, args=(np.zeros(256, np.float32), step))
    (line,) = run.global_sectors.lines()
    assert (line.kind, line.count, line.most, line.sectors) == ("write", 1, sectors, sectors)
    assert line.least == (4 if step else 1)


def test_nothing_touched_is_said():
    @kernel
    def idle(out):
        pass

    run = idle.run(block=32, args=(np.zeros(1, np.float32),))
    assert str(run.bank_conflicts) == "no thread has accessed shared memory"
    assert str(run.global_sectors) == "no thread has accessed global memory"
    assert run.bank_conflicts.ways == 0


def test_counting_changes_neither_the_arguments_nor_the_run():
    source, out = np.arange(32 * 32, dtype=np.float32).reshape(32, 32), np.zeros((32, 32), np.float32)
    run = turn_over.run(block=64, args=(source, out))
    source[:], out[:] = -1, -2  # after the run the arrays are the caller's own
    assert run.bank_conflicts.wavefronts == 64
    assert set(source.ravel()) == {-1}
    assert set(out.ravel()) == {-2}


@kernel
def with_matrices(out):
    tile = cuda.shared.array((8, 64), np.uint16, alignment=1024)
    lane = cuda.threadIdx.x
    for k in range(lane, 512, 32):
        tile[k // 64, k % 64] = k
    cuda.syncthreads()
    pair = ptx.ldmatrix_x1(tile[lane % 8, 0:])
    out[lane] = pair


def test_an_ldmatrix_down_rows_of_a_line_without_a_swizzle_is_an_eight_way_conflict():
    run = with_matrices.run(block=32, args=(np.zeros(32, np.int64),))
    reads = [line for line in run.bank_conflicts.lines() if line.kind == "read"]
    assert [line.ways for line in reads] == [8]


def test_a_run_that_was_not_simulated_counts_nothing():
    with pytest.raises(ValueError, match="run the kernel there"):
        _ = Run(on="gpu").bank_conflicts
