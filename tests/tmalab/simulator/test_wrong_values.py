"""run.explain: where the elements of a wrong result came from, and whether a swizzle was overlooked."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import COLS, ROWS, TILE, WIDE, tile_map
from tests.mutants.right import CASES
from tmalab import Swizzle, TensorMap, kernel, ptx


@kernel
def copies(tensor_map, out, x, y):
    """A tile, read as if there were no swizzle."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def copied(swizzle=Swizzle.NONE, x=0, y=0, width=COLS):
    out = np.zeros((ROWS, COLS), np.float16)
    height = TILE // (2 * width)
    run = copies.run(block=32, args=(TensorMap.from_array(WIDE, (height, width), swizzle), out, x, y))
    return run, out


def test_what_is_right_needs_no_explanation():
    run, out = copied(x=64, y=8)
    assert run.explain(out, WIDE[8:16, 64:]) is None


def test_another_tile_is_told_by_the_element_that_came():
    run, out = copied(x=0, y=8)
    told = run.explain(out, WIDE[:8, :64])
    assert told.name is None
    assert (told.index, told.source) == ((0, 0), ("tensor_map", (8, 0)))
    assert (told.seen, told.expected) == (WIDE[8, 0], WIDE[0, 0])
    assert told.count == int((WIDE[8:16, :64] != WIDE[:8, :64]).sum())
    assert "it came from tensor_map[8, 0]" in str(told)


@pytest.mark.parametrize("x", [0, 64])
def test_a_swizzle_that_the_reader_overlooks_is_named(x):
    run, out = copied(Swizzle.B128, x=x, y=16)
    told = run.explain(out, WIDE[16:24, x : x + 64])
    assert told.name == "layout-mismatch"
    assert "as the swizzle B128 has it" in told.message
    assert told.index == (1, 0)
    assert told.source == ("tensor_map", (17, x + 8))  # chunk 0 of row 1 holds chunk 1
    assert told.fix


def test_a_swizzle_that_only_the_reader_follows_is_named():
    case = CASES["over_the_corner"]()
    out = case.args[-1]
    args = (TensorMap.from_array(WIDE, (ROWS, COLS)), 0, 0, out)
    run = case.kernel.run(block=128, args=args)
    told = run.explain(out, WIDE[:8, :64])
    assert told.name == "layout-mismatch"
    assert "as the swizzle B128 has it" in told.message


def test_columns_in_reverse_are_no_swizzle():
    @kernel
    def reverses(x, out):
        out[0, cuda.threadIdx.x] = x[0, 63 - cuda.threadIdx.x]

    x, out = np.arange(64, dtype=np.float16).reshape(1, 64), np.zeros((1, 64), np.float16)
    told = reverses.run(block=64, args=(x, out)).explain(out, x)
    assert told.name is None
    assert told.source == ("x", (0, 63))


def test_what_was_never_written_and_what_was_computed_are_told_apart():
    @kernel
    def halves(x, out):
        i = cuda.threadIdx.x
        if i < 16:
            out[i] = x[i] + np.float32(1)

    x, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    run = halves.run(block=32, args=(x, out))
    computed, unwritten = run.explain(out, x), run.explain(out, np.concatenate([x[:16] + 1, x[16:]]))
    assert computed.source is None
    assert "it is computed" in computed.message
    assert unwritten.index == (16,)
    assert "nothing was written there" in unwritten.message


def test_elements_are_told_in_a_tensor_of_more_than_the_digits_of_one_number():
    big = np.arange(2048 * 64, dtype=np.uint16).reshape(2048, 64).view(np.float16)
    out = np.zeros((8, 64), np.float16)
    run = copies.run(block=32, args=(tile_map(big), out, 0, 2000))
    assert run.explain(out, np.full((8, 64), 1.0)).source == ("tensor_map", (2000, 0))


def test_bytes_are_traced_too():
    @kernel
    def stores(source, target):
        tile = cuda.shared.array((8, 128), np.uint8, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, source, 0, 8, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)

    source, target = np.arange(16 * 128).astype(np.uint8).reshape(16, 128), np.zeros((8, 128), np.uint8)
    maps = [TensorMap.from_array(array, (8, 128)) for array in (source, target)]
    told = stores.run(block=1, args=tuple(maps)).explain(target, source[:8] + np.uint8(1))
    assert told.source == ("source", (8, 0))


def test_only_arrays_of_a_simulated_launch_can_be_explained():
    from tmalab.run import Run

    run, out = copied()
    with pytest.raises(ValueError, match="no array of the launch"):
        run.explain(out.copy(), WIDE[8:16, :64])
    with pytest.raises(ValueError, match="simulator"):
        Run(on="gpu").explain(out, out)
