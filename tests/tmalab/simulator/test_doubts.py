"""What is legal but doubtful: a sentence in run.warnings, and the run is ok."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import WIDE
from tmalab import Swizzle, TensorMap, kernel, ptx


def loading(rows: int):
    """A kernel that loads a tile of 8 rows of 128 bytes, `rows` rows behind a multiple of 1,024 bytes."""

    @kernel
    def loads(tensor_map, out):
        room = cuda.shared.array((16, 64), np.float16, alignment=1024)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(room[rows:], tensor_map, 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        for i in range(512):
            out[i // 64, i % 64] = room[rows + i // 64, i % 64]

    return loads


@pytest.mark.parametrize(
    ("swizzle", "width", "rows", "shift"),
    [
        (Swizzle.NONE, 64, 1, None),
        (Swizzle.B128, 64, 0, None),
        (Swizzle.B128, 64, 1, "1 rows into the pattern of the swizzle B128, which repeats every 1024 bytes"),
        (Swizzle.B64, 32, 4, None),
        (Swizzle.B64, 32, 2, "4 rows into the pattern of the swizzle B64, which repeats every 512 bytes"),
    ],
)
def test_a_tile_that_begins_within_the_pattern_of_its_swizzle_is_doubtful(swizzle, width, rows, shift):
    """C6: the copy is legal, and a reader must go by the address."""
    height = 1024 // (2 * width)
    tm = TensorMap.from_array(WIDE, (height, width), swizzle)
    run = loading(rows).run(block=1, args=(tm, np.zeros((8, 64), np.float16)))
    assert not run.hazards, str(run)
    if shift is None:
        assert not run.warnings
    else:
        (warning,) = run.warnings
        assert shift in warning


def test_the_rows_of_a_tile_within_the_pattern_are_those_of_its_address():
    """C6: chunk c of row r of a 128B tile one row behind a multiple of 1,024 lies at c ^ (r + 1)."""
    out = np.zeros((8, 64), np.float16)
    loading(1).run(block=1, args=(TensorMap.from_array(WIDE, (8, 64), Swizzle.B128), out))
    chunks = WIDE[:8, :64].reshape(8, 8, 8)
    expected = np.stack([chunks[r, [c ^ (r + 1) % 8 for c in range(8)]] for r in range(8)])
    assert np.array_equal(out.reshape(8, 8, 8), expected)


@kernel
def turns(out, more):
    """Two warps take turns; the one that goes last has told the other once more than that waits (if more)."""
    tid = cuda.threadIdx.x
    warp = tid // 32
    if warp == 1:
        ptx.barrier_arrive(1, 64)
    for k in range(2):
        ptx.barrier_sync(1 + warp, 64)
        out[k, tid] = k
        if k == 0 or more or warp == 0:
            ptx.barrier_arrive(2 - warp, 64)


def test_arrives_that_no_named_barrier_takes_are_doubtful():
    """A ping-pong's last turn is told to nobody, which harms nobody."""
    run = turns.run(block=64, args=(np.zeros((2, 64)), True))
    assert not run.hazards, str(run)
    (warning,) = run.warnings
    assert "1 (32 of 64)" in warning
    assert not turns.run(block=64, args=(np.zeros((2, 64)), False)).warnings
