"""Matrix products on the tensor core: tiles that are loaded, written by threads, or taken from registers."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import Case, Cases
from tmalab import DataType, Swizzle, TensorMap, device, kernel, ptx
from tmalab.kernels.gemm import bf16_map, float32, small_integers

BM, BN, BK = 64, 8, 64  # the tile of C, and the columns of one stage: 128 bytes of bf16
BYTES = (BM + BN) * BK * 2
ROWS8 = 1024  # bytes of 8 rows with the 128B swizzle
NEXT_K = 2  # 16 columns of bf16, in the 16 bytes that a descriptor counts
STAGES = 3


@device
def keep(acc, c, thread):
    """The accumulator of a warpgroup to c; `thread` 0 to 127 of it."""
    row = thread // 32 * 16 + thread % 32 // 4
    column = thread % 4 * 2
    for i in range(4):
        c[row + i // 2 * 8, column + i % 2] = acc[i]


@kernel
def one_stage(a_map, b_map, c, steps):
    """A tile of A and of B at a time: loaded, multiplied, waited for, loaded anew."""
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
    cuda.syncthreads()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, ROWS8)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, ROWS8)
    acc = ptx.wgmma_zero_8()
    for step in range(steps):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full, BYTES)
            ptx.cp_async_bulk_tensor_2d(a, a_map, step * BK, 0, full)
            ptx.cp_async_bulk_tensor_2d(b, b_map, step * BK, 0, full)
        ptx.mbarrier_wait_parity(full, step % 2)
        ptx.wgmma_fence()
        for i in range(4):
            acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
    keep(acc, c, tid)


@kernel
def running_ahead(a_map, b_map, c, steps):
    """Three stages: the newest wgmmas run on while the stage of those before is loaded anew."""
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
        for s in range(STAGES - 1):
            ptx.mbarrier_arrive_expect_tx(full[s], BYTES)
            ptx.cp_async_bulk_tensor_2d(a[s], a_map, s * BK, 0, full[s])
            ptx.cp_async_bulk_tensor_2d(b[s], b_map, s * BK, 0, full[s])
    cuda.syncthreads()
    acc = ptx.wgmma_zero_8()
    for step in range(steps):
        s = step % STAGES
        ptx.mbarrier_wait_parity(full[s], step // STAGES % 2)
        desc_a = ptx.wgmma_descriptor(a[s], Swizzle.B128, ROWS8)
        desc_b = ptx.wgmma_descriptor(b[s], Swizzle.B128, ROWS8)
        ptx.wgmma_fence()
        for i in range(4):
            acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(1)
        if tid == 0 and step + STAGES - 1 < steps:
            s = (step + STAGES - 1) % STAGES
            ptx.mbarrier_arrive_expect_tx(full[s], BYTES)
            ptx.cp_async_bulk_tensor_2d(a[s], a_map, (step + STAGES - 1) * BK, 0, full[s])
            ptx.cp_async_bulk_tensor_2d(b[s], b_map, (step + STAGES - 1) * BK, 0, full[s])
    ptx.wgmma_wait_group(0)
    keep(acc, c, tid)


@kernel
def with_roles(a_map, b_map, c, steps):
    """A warpgroup loads and gives registers up, one multiplies and takes them; one arrive a stage for the whole
    warpgroup, after its wait."""
    a = cuda.shared.array((2, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((2, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
    cuda.syncthreads()
    if tid >= 128:
        ptx.setmaxnreg_dec(24)
        if tid == 128:
            for step in range(steps):
                ptx.mbarrier_wait_parity(empty[step % 2], step // 2 % 2 ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[step % 2], BYTES)
                ptx.cp_async_bulk_tensor_2d(a[step % 2], a_map, step * BK, 0, full[step % 2])
                ptx.cp_async_bulk_tensor_2d(b[step % 2], b_map, step * BK, 0, full[step % 2])
    else:
        ptx.setmaxnreg_inc(256)
        acc = ptx.wgmma_zero_8()
        for step in range(steps):
            ptx.mbarrier_wait_parity(full[step % 2], step // 2 % 2)
            desc_a = ptx.wgmma_descriptor(a[step % 2], Swizzle.B128, ROWS8)
            desc_b = ptx.wgmma_descriptor(b[step % 2], Swizzle.B128, ROWS8)
            ptx.wgmma_fence()
            for i in range(4):
                acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0)
            if tid == 0:
                ptx.mbarrier_arrive(empty[step % 2])
        keep(acc, c, tid)


@kernel
def written_by_threads(a, b_map, c_map):
    """A is written by threads, which fence; C goes through shared memory and is stored. B is loaded in boxes of 16
    bytes, without a swizzle."""
    left = cuda.shared.array((BM, 16), np.uint16, alignment=1024)
    right = cuda.shared.array((2, BN, 8), np.uint16, alignment=128)
    result = cuda.shared.array((BM, BN), np.float32, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 2 * BN * 8 * 2)
        ptx.cp_async_bulk_tensor_2d(right[0], b_map, 0, 0, bar)
        ptx.cp_async_bulk_tensor_2d(right[1], b_map, 8, 0, bar)
    for i in range(tid, BM * 16, 128):
        row, column = i // 16, i % 16
        chunk = row // 8 * 2 + column // 8
        left[chunk * 4 + row % 8 // 2, row % 2 * 8 + column % 8] = a[row, column]
    ptx.fence_proxy_async()
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    desc_a = ptx.wgmma_descriptor(left, Swizzle.NONE, 256, 128)
    desc_b = ptx.wgmma_descriptor(right, Swizzle.NONE, 256, 128)
    acc = ptx.wgmma_zero_8()
    ptx.wgmma_fence()
    acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a, desc_b, 0)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    keep(acc, result, tid)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(c_map, 0, 0, result)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@device
def fragment(tile, column):
    """Rows and columns of A for one wgmma, out of a tile with the 128B swizzle: each warp takes its 16 rows."""
    tid = cuda.threadIdx.x
    row, chunk = tid // 32 * 16 + tid % 16, column // 8 + tid % 32 // 16
    return ptx.ldmatrix_x4(tile[row, (chunk ^ row % 8) * 8 :])


@kernel
def from_registers(a_map, b_map, c, steps):
    """A goes through registers, by ldmatrix: its stage is free as soon as all have read it, while B waits for wgmma."""
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_init(full[1], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], BM * BK * 2)
        ptx.cp_async_bulk_tensor_2d(a, a_map, 0, 0, full[0])
    cuda.syncthreads()
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, ROWS8)
    acc = ptx.wgmma_zero_8()
    for step in range(steps):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full[1], BN * BK * 2)
            ptx.cp_async_bulk_tensor_2d(b, b_map, step * BK, 0, full[1])
        ptx.mbarrier_wait_parity(full[0], step % 2)
        a0 = fragment(a, 0)
        a1 = fragment(a, 16)
        a2 = fragment(a, 32)
        a3 = fragment(a, 48)
        cuda.syncthreads()
        if tid == 0 and step + 1 < steps:
            ptx.mbarrier_arrive_expect_tx(full[0], BM * BK * 2)
            ptx.cp_async_bulk_tensor_2d(a, a_map, (step + 1) * BK, 0, full[0])
        ptx.mbarrier_wait_parity(full[1], step % 2)
        ptx.wgmma_fence()
        acc = ptx.wgmma_m64n8k16_f32_bf16_rs(acc, a0, desc_b, 1)
        acc = ptx.wgmma_m64n8k16_f32_bf16_rs(acc, a1, desc_b + NEXT_K, 1)
        acc = ptx.wgmma_m64n8k16_f32_bf16_rs(acc, a2, desc_b + 2 * NEXT_K, 1)
        acc = ptx.wgmma_m64n8k16_f32_bf16_rs(acc, a3, desc_b + 3 * NEXT_K, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
    keep(acc, c, tid)


def _matrices(steps: int) -> tuple[np.ndarray, np.ndarray]:
    return small_integers(BM, steps * BK, 1), small_integers(BN, steps * BK, 2)


def _product(made, steps: int, block: int = 128) -> Case:
    a, b = _matrices(steps)
    c, expected = np.zeros((BM, BN), np.float32), float32(a) @ float32(b).T
    return Case(made, (bf16_map(a, BM, BK), bf16_map(b, BN, BK), c, steps), lambda: np.array_equal(c, expected), block)


def _written() -> Case:
    a, b = small_integers(BM, 16, 1), small_integers(BN, 16, 2)
    c, expected = np.zeros((BM, BN), np.float32), float32(a) @ float32(b).T
    maps = TensorMap.from_array(b, (BN, 8), data_type=DataType.BFLOAT16), TensorMap.from_array(c, (BM, BN))
    return Case(written_by_threads, (a, *maps), lambda: np.array_equal(c, expected))


CASES: Cases = {
    **{f"from_registers, {n} steps": lambda n=n: _product(from_registers, n) for n in (1, 3)},
    **{f"one_stage, {n} steps": lambda n=n: _product(one_stage, n) for n in (1, 3)},
    **{f"running_ahead, {n} steps": lambda n=n: _product(running_ahead, n) for n in (2, 5)},
    **{f"with_roles, {n} steps": lambda n=n: _product(with_roles, n, 256) for n in (1, 4)},
    "written_by_threads": _written,
}
