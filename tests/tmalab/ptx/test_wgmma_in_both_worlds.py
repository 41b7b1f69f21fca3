"""wgmma, ldmatrix and stmatrix as kernels use them: the same numbers in the simulator and on a Hopper GPU."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.kernels import gemm, gemm_naive, gemm_pipelined, gemm_warp_specialized

N = 16
RNG = np.random.default_rng(5)


def halves(*shape: int) -> np.ndarray:
    """Small integers as float16."""
    return RNG.integers(-4, 5, shape).astype(np.float16)


@kernel
def from_registers(a_map, b_map, out):
    """A loaded by ldmatrix from swizzled rows, B from shared memory."""
    a = cuda.shared.array((64, 64), np.float16, alignment=1024)
    b = cuda.shared.array((N, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], (64 + N) * 128)
        ptx.cp_async_bulk_tensor_2d(a, a_map, 0, 0, full[0])
        ptx.cp_async_bulk_tensor_2d(b, b_map, 0, 0, full[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    row = tid // 32 * 16 + tid % 16  # lanes 0-15 name rows of columns 0-7, lanes 16-31 of columns 8-15
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, 1024)
    acc = ptx.wgmma_zero_16()
    for i in range(4):
        chunk = 2 * i + tid % 32 // 16
        words = ptx.ldmatrix_x4(a[row, 8 * (chunk ^ row % 8) :])
        ptx.wgmma_fence()
        acc = ptx.wgmma_m64n16k16_f32_f16_rs(acc, words, desc_b + 2 * i, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
    for i in range(N // 2):
        out[tid // 32 * 16 + tid % 32 // 4 + i // 2 % 2 * 8, i // 4 * 8 + tid % 4 * 2 + i % 2] = acc[i]


def test_a_may_come_from_registers(run):
    a, b, out = halves(64, 64), halves(N, 64), np.zeros((64, N), np.float32)
    maps = (TensorMap.from_array(a, (64, 64), Swizzle.B128), TensorMap.from_array(b, (N, 64), Swizzle.B128))
    run(from_registers, *maps, out)
    assert np.array_equal(out, a.astype(np.float32) @ b.astype(np.float32).T)


@kernel
def transposed(a_map, b_map, out):
    """A and B stored with K as rows: M and N run along them. The product is subtracted from nothing."""
    a = cuda.shared.array((16, 64), np.float16, alignment=1024)
    b = cuda.shared.array((16, N), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], 16 * (64 + N) * 2)
        ptx.cp_async_bulk_tensor_2d(a, a_map, 0, 0, full[0])
        ptx.cp_async_bulk_tensor_2d(b, b_map, 0, 0, full[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    acc = ptx.wgmma_zero_16()
    ptx.wgmma_fence()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, 1024)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B32, 256)
    acc = ptx.wgmma_m64n16k16_f32_f16(acc, desc_a, desc_b, 0, scale_a=-1, trans_a=1, trans_b=1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    for i in range(N // 2):
        out[tid // 32 * 16 + tid % 32 // 4 + i // 2 % 2 * 8, i // 4 * 8 + tid % 4 * 2 + i % 2] = acc[i]


def test_rows_may_run_along_m_and_n(run):
    a, b, out = halves(16, 64), halves(16, N), np.zeros((64, N), np.float32)
    maps = (TensorMap.from_array(a, (16, 64), Swizzle.B128), TensorMap.from_array(b, (16, N), Swizzle.B32))
    run(transposed, *maps, out)
    assert np.array_equal(out, -(a.astype(np.float32).T @ b.astype(np.float32)))


@kernel
def matrices(out):
    """Four matrices stored from registers, loaded again, and stored transposed."""
    tile = cuda.shared.array((2, 32, 8), np.uint16, alignment=128)
    lane = cuda.threadIdx.x
    word = lane * 2 | (lane * 2 + 1) << 16
    ptx.stmatrix_x4(tile[0, lane], word, word + 0x00400040, word + 0x00800080, word + 0x00C000C0)
    cuda.syncwarp()
    a, b, c, d = ptx.ldmatrix_x4(tile[0, lane])
    ptx.stmatrix_x4_trans(tile[1, lane], a, b, c, d)
    cuda.syncwarp()
    for i in range(8):
        out[0, lane, i] = tile[0, lane, i]
        out[1, lane, i] = tile[1, lane, i]


def test_a_warp_stores_and_loads_matrices(run):
    out = np.zeros((2, 32, 8), np.uint16)
    run(matrices, out, block=32)
    expected = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    assert np.array_equal(out[0].reshape(4, 8, 8), expected)
    assert np.array_equal(out[1].reshape(4, 8, 8), expected.transpose(0, 2, 1))


@pytest.mark.parametrize("module", [gemm_naive, gemm_pipelined, gemm_warp_specialized])
def test_products_of_random_numbers_agree_with_float32(run, module):
    m, n, k = 72, 136, 200
    a, b, c = (
        gemm.bf16(RNG.standard_normal((m, k))),
        gemm.bf16(RNG.standard_normal((n, k))),
        np.zeros((m, n), np.uint16),
    )
    made = getattr(module, module.__name__.rpartition(".")[2])
    maps = gemm.bf16_map(a, module.BM, module.BK), gemm.bf16_map(b, module.BN, module.BK)
    run(made, *maps, c, k, grid=(-(-n // module.BN), -(-m // module.BM)), block=module.THREADS)
    expected = gemm.float32(a) @ gemm.float32(b).T
    error = gemm.float32(c) - expected
    assert np.linalg.norm(error) / np.linalg.norm(expected) < 3e-3
    assert (np.abs(error) <= 2.0**-8 * np.abs(expected) + 1e-4).all()  # half a step of bf16, and the sum's own error
