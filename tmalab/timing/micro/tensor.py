"""Micro-benchmarks of the tensor cores: what a column takes, how late the result is, what all of them sustain."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.timing.micro.benchmark import EVENT, Benchmark

K, WIDE, NARROW = 64, 256, 64  # numbers in a row of an operand; columns of the product
BYTES_8_ROWS = 1024
STAGES, STEPS = 4, 16  # of the ring of tiles; of tiles in memory
BOX = 128  # rows of what is loaded at once: those of A, for two warpgroups


@kernel
def one_multiplication(out, turns, start, numbers):
    """One wgmma of 64 columns, and the wait for it."""
    a = cuda.shared.array((BOX, K), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar[0], BOX * K * 2)
        ptx.cp_async_bulk_tensor_2d(a, numbers, 0, start, bar[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar[0], 0)
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)
    desc_b = ptx.wgmma_descriptor(a[64:], Swizzle.B128, BYTES_8_ROWS)
    acc = ptx.wgmma_zero_64()
    begin = ptx.clock64()
    for _ in range(turns):
        ptx.wgmma_fence()
        acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a, desc_b, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
    end = ptx.clock64()
    if tid == 0:
        out[0] = end - begin
        if acc[0] == -1.0:
            out[1] = 1


@kernel
def multiplications(out, turns, start, numbers):
    """Wgmmas of 256 columns by two warpgroups, without a pause."""
    a = cuda.shared.array((BOX, K), np.uint16, alignment=1024)
    b = cuda.shared.array((WIDE, K), np.uint16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar[0], (BOX + WIDE) * K * 2)
        ptx.cp_async_bulk_tensor_2d(a, numbers, 0, start, bar[0])
        ptx.cp_async_bulk_tensor_2d(b, numbers, 0, start + BOX, bar[0])
        ptx.cp_async_bulk_tensor_2d(b[BOX:], numbers, 0, start + 2 * BOX, bar[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar[0], 0)
    desc_a = ptx.wgmma_descriptor(a[tid // 128 * 64 :], Swizzle.B128, BYTES_8_ROWS)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
    acc = ptx.wgmma_zero_256()
    begin = ptx.clock64()
    for _ in range(turns):
        ptx.wgmma_fence()
        acc = ptx.wgmma_m64n256k16_f32_bf16(acc, desc_a, desc_b, 1)
        acc = ptx.wgmma_m64n256k16_f32_bf16(acc, desc_a + 2, desc_b + 2, 1)
        acc = ptx.wgmma_m64n256k16_f32_bf16(acc, desc_a + 4, desc_b + 4, 1)
        acc = ptx.wgmma_m64n256k16_f32_bf16(acc, desc_a + 6, desc_b + 6, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(1)
    ptx.wgmma_wait_group(0)
    end = ptx.clock64()
    if cuda.grid(1) == 0:
        out[0] = end - begin
    if acc[0] == -1.0:
        out[1] = 1


@kernel
def fed_multiplications(out, turns, start, numbers):
    """The same of tiles that come from L2 meanwhile, as in a product: what all SMs sustain at the power that takes."""
    a = cuda.shared.array((STAGES, BOX, K), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, WIDE, K), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for stage in range(STAGES):
            ptx.mbarrier_init(full[stage], 1)
            ptx.mbarrier_init(empty[stage], 2)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    stage = 0
    parity = 0
    warpgroup = tid // 128
    if warpgroup == 2:
        ptx.setmaxnreg_dec(40)
        if tid == 256:
            for i in range(turns):
                row = start + i % STEPS * (BOX + WIDE)
                ptx.mbarrier_wait_parity(empty[stage], parity ^ 1)
                ptx.mbarrier_arrive_expect_tx(full[stage], (BOX + WIDE) * K * 2)
                ptx.cp_async_bulk_tensor_2d(a[stage], numbers, 0, row, full[stage])
                ptx.cp_async_bulk_tensor_2d(b[stage], numbers, 0, row + BOX, full[stage])
                ptx.cp_async_bulk_tensor_2d(b[stage, BOX:], numbers, 0, row + 2 * BOX, full[stage])
                stage += 1
                if stage == STAGES:
                    stage = 0
                    parity ^= 1
    else:
        ptx.setmaxnreg_inc(232)
        acc = ptx.wgmma_zero_256()
        for _ in range(turns):
            ptx.mbarrier_wait_parity(full[stage], parity)
            desc_a = ptx.wgmma_descriptor(a[stage, warpgroup * 64 :], Swizzle.B128, BYTES_8_ROWS)
            desc_b = ptx.wgmma_descriptor(b[stage], Swizzle.B128, BYTES_8_ROWS)
            ptx.wgmma_fence()
            for i in range(K // 16):
                acc = ptx.wgmma_m64n256k16_f32_bf16(acc, desc_a + i * 2, desc_b + i * 2, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0)
            if tid % 128 == 0:
                ptx.mbarrier_arrive(empty[stage])
            stage += 1
            if stage == STAGES:
                stage = 0
                parity ^= 1
        if acc[0] == -1.0:
            out[1] = 1


def _numbers(memory: int) -> tuple[TensorMap]:
    """Random bf16 numbers around zero: what is multiplied sets how much power that takes, and so the clock."""
    numbers = np.random.default_rng(0).standard_normal((memory // (2 * K), K)).astype(np.float32)
    tensor = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    return (TensorMap.from_array(tensor, (BOX, K), swizzle=Swizzle.B128),)


TENSOR = (
    Benchmark("wgmma_one", one_multiplication, 64, block=128, data=_numbers, memory=1 << 16),
    Benchmark("wgmma_many", multiplications, 256, block=256, data=_numbers, memory=1 << 16),
    Benchmark("wgmma_fed", fed_multiplications, 20_000, EVENT, block=384, grid=0, data=_numbers, memory=1 << 20),
)
