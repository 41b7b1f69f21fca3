"""Small matrix products, right ones, of which the tests make wrong ones by an edit of their source."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import Case
from tests.mutants.mutant import mutated, source_of
from tmalab import DataType, Swizzle, TensorMap, kernel, ptx
from tmalab.kernels.gemm import float32, small_integers

M, N, BK, STAGES = 64, 8, 64, 2
COLUMNS = 8  # of core matrices, 8 elements wide
STAGE_BYTES = (M + N) * BK * 2


@kernel
def ring(a_map, b_map, out, steps):
    """A producer warp and a consumer warpgroup."""
    a = cuda.shared.array((STAGES, M, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, N, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid >= 128:
        if tid == 128:
            for k in range(steps):
                s = k % STAGES
                ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[s], STAGE_BYTES)
                ptx.cp_async_bulk_tensor_2d(a[s], a_map, k * BK, 0, full[s])
                ptx.cp_async_bulk_tensor_2d(b[s], b_map, k * BK, 0, full[s])
    else:
        acc = ptx.wgmma_zero_8()
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)
            desc_a = ptx.wgmma_descriptor(a[s], Swizzle.B128, 1024)
            desc_b = ptx.wgmma_descriptor(b[s], Swizzle.B128, 1024)
            ptx.wgmma_fence()
            for i in range(4):
                acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a + 2 * i, desc_b + 2 * i, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0)
            if tid == 0:
                ptx.mbarrier_arrive(empty[s])
        for i in range(4):
            out[tid // 32 * 16 + tid % 32 // 4 + i // 2 * 8, tid % 4 * 2 + i % 2] = acc[i]


@kernel
def by_threads(a_in, b_in, out):
    """Operands that threads write, as core matrices without a swizzle, one step of 16 columns."""
    a = cuda.shared.array((2, M, 8), np.uint16, alignment=128)
    b = cuda.shared.array((2, N, 8), np.uint16, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, M * 16, 128):
        a[i % 16 // 8, i // 16, i % 8] = a_in[i // 16, i % 16]
    if tid < N * 16:
        b[tid % 16 // 8, tid // 16, tid % 8] = b_in[tid // 16, tid % 16]
    ptx.fence_proxy_async_shared_cta()
    cuda.syncthreads()
    acc = ptx.wgmma_zero_8()
    ptx.wgmma_fence()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.NONE, 128, M * 16)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.NONE, 128, N * 16)
    acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a, desc_b, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    for i in range(4):
        out[tid // 32 * 16 + tid % 32 // 4 + i // 2 * 8, tid % 4 * 2 + i % 2] = acc[i]


@kernel
def core_matrices(a_map, b_map, out):
    """Tiles loaded without a swizzle in boxes of 16 bytes, each a column of core matrices."""
    a = cuda.shared.array((COLUMNS, M, 8), np.uint16, alignment=128)
    b = cuda.shared.array((COLUMNS, N, 8), np.uint16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], (M + N) * 16 * COLUMNS)
        for i in range(COLUMNS):
            ptx.cp_async_bulk_tensor_2d(a[i], a_map, 8 * i, 0, full[0])
            ptx.cp_async_bulk_tensor_2d(b[i], b_map, 8 * i, 0, full[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    acc = ptx.wgmma_zero_8()
    ptx.wgmma_fence()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.NONE, 128, M * 16)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.NONE, 128, N * 16)
    for i in range(COLUMNS // 2):  # two columns of core matrices at a time
        acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a + 2 * M * i, desc_b + 2 * N * i, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    for i in range(4):
        out[tid // 32 * 16 + tid % 32 // 4 + i // 2 * 8, tid % 4 * 2 + i % 2] = acc[i]


@kernel
def rows_of_128_bytes(a_map, b_map, out):
    """Tiles loaded without a swizzle in rows of 128 bytes, and read as core matrices: the layouts differ."""
    a = cuda.shared.array((M, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((N, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], STAGE_BYTES)
        ptx.cp_async_bulk_tensor_2d(a, a_map, 0, 0, full[0])
        ptx.cp_async_bulk_tensor_2d(b, b_map, 0, 0, full[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    acc = ptx.wgmma_zero_8()
    ptx.wgmma_fence()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.NONE, 128, 1024)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.NONE, 128, 128)
    acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a, desc_b, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    for i in range(4):
        out[tid // 32 * 16 + tid % 32 // 4 + i // 2 * 8, tid % 4 * 2 + i % 2] = acc[i]


@kernel
def two_warpgroups(out, n):
    """One gives registers up, the other takes them."""
    tid = cuda.threadIdx.x
    if tid < 128:
        ptx.setmaxnreg_dec(40)
    elif tid < 384:
        ptx.setmaxnreg_inc(232)
    if tid < 384:
        out[tid] = n


def product(made: Any, k: int, box: int, swizzle: Swizzle, *after: Any, block: int = 128) -> Case:
    """A product of small integers; the expected one is float32's, and exact."""
    a, b, out = small_integers(M, k, 1), small_integers(N, k, 2), np.zeros((M, N), np.float32)
    options = {"swizzle": swizzle, "data_type": DataType.BFLOAT16}
    maps = TensorMap.from_array(a, (M, box), **options), TensorMap.from_array(b, (N, box), **options)
    depth = 16 if made is rows_of_128_bytes else k
    expected = float32(a[:, :depth]) @ float32(b[:, :depth]).T
    return Case(made, (*maps, out, *after), lambda: np.array_equal(out, expected), block=block)


def of_threads() -> Case:
    """The product whose operands threads write."""
    a, b, out = small_integers(M, 16, 1), small_integers(N, 16, 2), np.zeros((M, N), np.float32)
    return Case(by_threads, (a, b, out), lambda: np.array_equal(out, float32(a) @ float32(b).T), block=128)


def of_registers() -> Case:
    out = np.zeros(384, np.int32)
    return Case(two_warpgroups, (out, 7), lambda: (out == 7).all(), block=384)


RIGHT = {
    "ring": lambda steps=5: product(ring, steps * BK, BK, Swizzle.B128, steps, block=160),
    "by_threads": of_threads,
    "core_matrices": lambda: product(core_matrices, 8 * COLUMNS, 8, Swizzle.NONE),
    "two_warpgroups": of_registers,
}


def edited(case: Case, old: str, new: str) -> Case:
    """A case whose kernel's source has other text in one place."""
    source = source_of(case.kernel)
    assert source.count(old) == 1, f"{source.count(old)} places: {old}"
    return mutated(case, source.replace(old, new))
