"""Trials of matrix products: stages, shapes of tiles, lengths of K, sizes, and tiles of B that two CTAs share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from tmalab import DataType, Swizzle, TensorMap, kernel, ptx
from tmalab.kernels.gemm import BYTES_8_ROWS, NEXT_K, bf16
from tmalab.launch import Kernel
from tmalab.timing.trials.trial import Launching, Trial, trial

BK = 64  # columns of A and B of a step


@cache
def product(consumers: int, bn: int, stages: int, ctas: int = 1) -> Kernel:
    """C = A B' with a warpgroup that loads and some that multiply; each thread stores what it has, as float32.

    `ctas`: 2 for clusters of two, one below the other, that share B: each loads half of it for both.
    """
    multiply, zero = getattr(ptx, f"wgmma_m64n{bn}k16_f32_bf16"), getattr(ptx, f"wgmma_zero_{bn}")
    bm, half = 64 * consumers, bn // ctas
    stage_bytes, registers, leader = (bm + bn) * BK * 2, bn // 2, 128 * consumers
    moves = consumers > 1  # registers; of a CTA of 256 threads each may have all that there are
    arrivals = ctas * consumers  # of both CTAs: a stage of one is written by both

    @kernel
    def gemm(a_map, b_map, c, k):
        a = cuda.shared.array((stages, bm, BK), np.uint16, alignment=1024)
        b = cuda.shared.array((stages, bn, BK), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(stages)
        empty = ptx.mbarrier_array(stages)
        tid = cuda.threadIdx.x
        if ctas == 2:
            rank = ptx.cluster_ctarank()
        row = cuda.blockIdx.y * bm
        column = cuda.blockIdx.x * bn
        steps = k // BK
        if tid == 0:
            for stage in range(stages):
                ptx.mbarrier_init(full[stage], 1)
                ptx.mbarrier_init(empty[stage], arrivals)
            ptx.fence_mbarrier_init()
        if ctas == 2:
            ptx.barrier_cluster_arrive()
            ptx.barrier_cluster_wait()
        else:
            cuda.syncthreads()
        stage = 0
        parity = 0
        warpgroup = tid // 128
        if warpgroup == consumers:
            if moves:
                ptx.setmaxnreg_dec(40)
            if tid == leader:
                for step in range(steps):
                    ptx.mbarrier_wait_parity(empty[stage], parity ^ 1)
                    ptx.mbarrier_arrive_expect_tx(full[stage], stage_bytes)
                    ptx.cp_async_bulk_tensor_2d(a[stage], a_map, step * BK, row, full[stage])
                    if ctas == 2:
                        ptx.cp_async_bulk_tensor_2d_multicast(
                            b[stage, rank * half :], b_map, step * BK, column + rank * half, full[stage], 3
                        )
                    else:
                        ptx.cp_async_bulk_tensor_2d(b[stage], b_map, step * BK, column, full[stage])
                    stage += 1
                    if stage == stages:
                        stage = 0
                        parity ^= 1
        else:
            if moves:
                ptx.setmaxnreg_inc(232)
            acc = zero()
            for _ in range(steps):
                ptx.mbarrier_wait_parity(full[stage], parity)
                desc_a = ptx.wgmma_descriptor(a[stage, warpgroup * 64 :], Swizzle.B128, BYTES_8_ROWS)
                desc_b = ptx.wgmma_descriptor(b[stage], Swizzle.B128, BYTES_8_ROWS)
                ptx.wgmma_fence()
                for i in range(BK // 16):
                    acc = multiply(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
                ptx.wgmma_commit_group()
                ptx.wgmma_wait_group(0)
                if ctas == 2:
                    if tid % 128 < 2:
                        ptx.mbarrier_arrive_cluster(empty[stage], tid % 128)
                elif tid % 128 == 0:
                    ptx.mbarrier_arrive(empty[stage])
                stage += 1
                if stage == stages:
                    stage = 0
                    parity ^= 1
            thread = tid % 128
            r = row + warpgroup * 64 + thread // 32 * 16 + thread % 32 // 4
            j = column + thread % 4 * 2
            for i in range(registers):
                c[r + i // 2 % 2 * 8, j + i // 4 * 8 + i % 2] = acc[i]
        if ctas == 2:
            ptx.barrier_cluster_arrive()
            ptx.barrier_cluster_wait()

    return gemm


def launch_product(m: int, n: int, k: int, consumers: int, bn: int, stages: int, shares: int = 0) -> Launching:
    """A product of random numbers; sizes are multiples of the tile's. `shares`: 1 with tiles of B for two CTAs."""
    bm, ctas = 64 * consumers, 2 if shares else 1
    args = _map(m, k, bm, 1), _map(n, k, bn // ctas, 2), np.zeros((m, n), np.float32), k
    made, grid = product(consumers, bn, stages, ctas), (n // bn, m // bm, 1)
    return Launching(made, grid, 128 * (consumers + 1), args, (1, ctas, 1), "k")


def _map(rows: int, columns: int, box_rows: int, seed: int) -> TensorMap:
    """A matrix of random bf16 numbers: what is multiplied sets the power that it takes."""
    numbers = np.random.default_rng(seed).standard_normal((128, columns), np.float32)
    matrix = np.tile(bf16(numbers), (rows // 128, 1))
    return TensorMap.from_array(matrix, (box_rows, BK), swizzle=Swizzle.B128, data_type=DataType.BFLOAT16)


def _trials() -> list[Trial]:
    made = []

    def add(**settings: int) -> None:
        square: dict[str, Any] = {"m": 2048, "n": 2048, "k": 2048, "consumers": 2, "bn": 128, "stages": 4}
        made.append(trial(launch_product, "product", **square | settings))

    for stages in range(1, 7):
        add(stages=stages)
        add(stages=stages, consumers=1, k=4096)
    for stages in range(1, 5):
        add(stages=stages, bn=256, m=4096, n=4096, k=1024)
    for consumers, bn in ((1, 64), (1, 256), (2, 64), (2, 256)):
        add(consumers=consumers, bn=bn)
    for k in (256, 512, 1024, 8192):
        add(k=k)
    for size in (1024, 4096, 8192):
        add(m=size, n=size, k=size, bn=256)
    for stages in (2, 4):
        for k in (1024, 4096):
            for shares in (0, 1):
                add(stages=stages, k=k, m=4096, n=4096, shares=shares)
    return made


PRODUCTS = tuple(dict.fromkeys(_trials()))
