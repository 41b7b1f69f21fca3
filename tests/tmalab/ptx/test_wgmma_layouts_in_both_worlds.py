"""Layouts of wgmma's operands, and every width: the product is NumPy's, in the simulator and on a Hopper GPU."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.launch import Kernel
from tmalab.wgmma_fragments import place_of

RNG = np.random.default_rng(7)
SPANS = {Swizzle.NONE: 16, Swizzle.B32: 16, Swizzle.B64: 32, Swizzle.B128: 64}  # columns of 16 bits that are loaded


def integers(rows: int, columns: int) -> np.ndarray:
    """Small integers as float16: their sums are exact."""
    return RNG.integers(-4, 5, (rows, columns)).astype(np.float16)


def product(n: int, swizzle: Swizzle) -> Kernel:
    """A kernel for 64 x n outputs from operands whose rows run along K, laid down with a swizzle."""
    COLUMNS, N, SWIZZLE = SPANS[swizzle], n, int(swizzle)
    ROW = 2 * COLUMNS  # bytes
    STRIDE = 128 if swizzle == Swizzle.NONE else 8 * ROW
    LEADING_A, LEADING_B = (64 * 16, n * 16) if swizzle == Swizzle.NONE else (0, 0)
    BYTES = (64 + n) * ROW
    multiply, zero = getattr(ptx, f"wgmma_m64n{n}k16_f32_f16"), getattr(ptx, f"wgmma_zero_{n}")
    load = ptx.cp_async_bulk_tensor_3d

    @kernel
    def product(a_map, b_map, out):
        a = cuda.shared.array((64, COLUMNS), np.float16, alignment=1024)
        b = cuda.shared.array((N, COLUMNS), np.float16, alignment=1024)
        full = ptx.mbarrier_array(1)
        tid = cuda.threadIdx.x
        if tid == 0:
            ptx.mbarrier_init(full[0], 1)
            ptx.fence_mbarrier_init()
            ptx.mbarrier_arrive_expect_tx(full[0], BYTES)
            load(a, a_map, 0, 0, 0, full[0])
            load(b, b_map, 0, 0, 0, full[0])
        cuda.syncthreads()
        ptx.mbarrier_wait_parity(full[0], 0)
        desc_a = ptx.wgmma_descriptor(a, SWIZZLE, STRIDE, LEADING_A)
        desc_b = ptx.wgmma_descriptor(b, SWIZZLE, STRIDE, LEADING_B)
        acc = zero()
        ptx.wgmma_fence()
        for i in range(COLUMNS // 16):
            acc = multiply(acc, desc_a + 2 * i, desc_b + 2 * i, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
        for i in range(N // 2):
            out[tid, i] = acc[i]

    return product


def map_of(matrix: np.ndarray, swizzle: Swizzle) -> TensorMap:
    """Rows as they are; without a swizzle in chunks of 16 bytes, each chunk's rows one after the other."""
    rows, columns = matrix.shape
    width = 8 if swizzle == Swizzle.NONE else columns
    chunks = matrix.reshape(rows, columns // width, width).transpose(1, 0, 2)
    return TensorMap.from_array(chunks, (columns // width, rows, width), swizzle)


def check(run, n: int, swizzle: Swizzle) -> None:
    a, b = integers(64, SPANS[swizzle]), integers(n, SPANS[swizzle])
    registers = np.zeros((128, n // 2), np.float32)
    run(product(n, swizzle), map_of(a, swizzle), map_of(b, swizzle), registers)
    expected = a.astype(np.float32) @ b.astype(np.float32).T
    for thread in range(128):
        places = [place_of(thread, register) for register in range(n // 2)]
        assert registers[thread].tolist() == [expected[place] for place in places], thread


@pytest.mark.parametrize("swizzle", list(SPANS))
def test_rows_along_k_are_multiplied_however_they_are_swizzled(run, swizzle):
    check(run, 32, swizzle)


@pytest.mark.gpu
@pytest.mark.parametrize("n", range(8, 257, 8))
def test_every_width_has_the_registers_that_the_fragments_say(n):
    check(lambda made, *args: _right(made.run(args=args, on="gpu")), n, Swizzle.B128)


def _right(run):
    assert run.ok, str(run)
