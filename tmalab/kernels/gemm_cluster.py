"""gemm_cluster: the persistent matrix product in which two CTAs share what they load of B.

Shows      what neighbours share. Multicast: each CTA of a pair loads half of the tile of B for both; a stage is empty
           when the consumers of both have given it back, and full when the halves of both have come. And the order of
           tiles: those at work share rows of A and columns of B, which come from memory once.
Differs    from gemm_persistent: tiles go to pairs of CTAs, one below the other; two thirds of the bytes come from L2.
Run        python -m tmalab.kernels.gemm_cluster            (simulator)
           python -m tmalab.kernels.gemm_cluster --on gpu   (Hopper)
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from tmalab import Swizzle, kernel, ptx
from tmalab.kernels.command import Shown, main
from tmalab.kernels.gemm import (
    BYTES_8_ROWS,
    NEXT_K,
    PART,
    WARP_ROWS,
    bf16_map,
    place_of,
    shown,
    small_integers,
    store_part,
)
from tmalab.kernels.gemm_tiles import BK, SMS, Tile, choose
from tmalab.launch import Kernel

CTAS = 2
BOTH = 0b11  # ranks 0 and 1


@cache
def gemm_cluster(tile: Tile) -> Kernel:
    """The kernel for one shape of tiles."""
    CONSUMERS, BN, STAGES, _, GROUP, DEPTH = tile
    (BM, _), STAGE_BYTES, HALF = tile.shape, tile.stage_bytes, tile.bn // CTAS
    WARPS = 4 * CONSUMERS
    NEXT_A, NEXT_B = BM * BK * 2 // 16, BN * BK * 2 // 16  # the next block in a descriptor, which counts 16 bytes
    multiply, zero = getattr(ptx, f"wgmma_m64n{BN}k16_f32_bf16"), getattr(ptx, f"wgmma_zero_{BN}")

    @kernel
    def gemm_cluster(a_map, b_map, c_map, m, n, k):
        """C = A B'. Any number of clusters of two CTAs."""
        a = cuda.shared.array((STAGES, DEPTH, BM, BK), np.uint16, alignment=1024)
        b = cuda.shared.array((STAGES, DEPTH, BN, BK), np.uint16, alignment=1024)
        c = cuda.shared.array((2, WARPS, WARP_ROWS, PART), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(STAGES)
        empty = ptx.mbarrier_array(STAGES)
        tid = cuda.threadIdx.x
        rank = ptx.cluster_ctarank()
        if tid == 0:
            ptx.prefetch_tensormap(a_map)
            ptx.prefetch_tensormap(b_map)
            ptx.prefetch_tensormap(c_map)
            for stage in range(STAGES):
                ptx.mbarrier_init(full[stage], 1)
                ptx.mbarrier_init(empty[stage], CONSUMERS * CTAS)
            ptx.fence_mbarrier_init()
        rows = (m + CTAS * BM - 1) // (CTAS * BM)  # of pairs
        columns = (n + BN - 1) // BN
        steps = (k + BK * DEPTH - 1) // (BK * DEPTH)
        pair = cuda.blockIdx.x // CTAS
        row, column = place_of(pair, rows, columns, GROUP)  # slow divisions, while the barriers come to be
        ptx.barrier_cluster_arrive_relaxed()
        ptx.barrier_cluster_wait()
        stage = 0
        parity = 0
        warpgroup = tid // 128
        if warpgroup == CONSUMERS:
            if CONSUMERS == 2:  # one consumer has registers enough
                ptx.setmaxnreg_dec(56)
            if tid == CONSUMERS * 128:
                while pair < rows * columns:
                    y = (row * CTAS + rank) * BM
                    x = column * BN + rank * HALF
                    for step in range(steps):
                        ptx.mbarrier_wait_parity(empty[stage], parity ^ 1)  # until both CTAs have multiplied it
                        ptx.mbarrier_arrive_expect_tx(full[stage], STAGE_BYTES)
                        for block in range(DEPTH):
                            at = (step * DEPTH + block) * BK
                            ptx.cp_async_bulk_tensor_2d(a[stage, block], a_map, at, y, full[stage])
                            half = b[stage, block, rank * HALF :]
                            ptx.cp_async_bulk_tensor_2d_multicast(half, b_map, at, x, full[stage], BOTH)
                        stage += 1
                        if stage == STAGES:
                            stage = 0
                            parity ^= 1
                    pair += cuda.gridDim.x // CTAS
                    row, column = place_of(pair, rows, columns, GROUP)
        else:
            if CONSUMERS == 2:
                ptx.setmaxnreg_inc(224)
            warp = tid // 32
            lane = tid % 32
            first_a = ptx.wgmma_descriptor(a[0, 0, warpgroup * 64 :], Swizzle.B128, BYTES_8_ROWS)
            first_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
            acc = zero()
            while pair < rows * columns:
                previous = 0
                for step in range(steps):
                    ptx.mbarrier_wait_parity(full[stage], parity)
                    desc_a = first_a + stage * DEPTH * NEXT_A
                    desc_b = first_b + stage * DEPTH * NEXT_B
                    ptx.wgmma_fence()
                    for i in range(DEPTH * BK // 16):
                        block = i // (BK // 16)
                        at = i % (BK // 16) * NEXT_K
                        acc = multiply(
                            acc, desc_a + block * NEXT_A + at, desc_b + block * NEXT_B + at, step > 0 or i > 0
                        )
                    ptx.wgmma_commit_group()
                    ptx.wgmma_wait_group(1)  # the step before is multiplied, this one runs
                    if step > 0 and tid % 128 < CTAS:
                        ptx.mbarrier_arrive_cluster(empty[previous], tid % 128)  # one thread tells each CTA
                    previous = stage
                    stage += 1
                    if stage == STAGES:
                        stage = 0
                        parity ^= 1
                row, column = place_of(pair, rows, columns, GROUP)  # while the last step is multiplied
                ptx.wgmma_wait_group(0)
                if tid % 128 < CTAS:
                    ptx.mbarrier_arrive_cluster(empty[previous], tid % 128)
                x = column * BN
                y = (row * CTAS + rank) * BM + warp * WARP_ROWS
                store_part(acc, 0, c[0, warp], c_map, x, y, lane)  # registers have names: each part is written out
                store_part(acc, 32, c[1, warp], c_map, x + PART, y, lane)
                if BN == 4 * PART:
                    store_part(acc, 64, c[0, warp], c_map, x + 2 * PART, y, lane)
                    store_part(acc, 96, c[1, warp], c_map, x + 3 * PART, y, lane)
                pair += cuda.gridDim.x // CTAS
            if lane == 0:
                ptx.cp_async_bulk_wait_group_read(0)  # what is stored is seen when the grid has ended
        ptx.barrier_cluster_arrive()  # nobody leaves while a peer may still arrive here, or load for both
        ptx.barrier_cluster_wait()

    return gemm_cluster


def launch_of(a: Any, b: Any, c: Any, tile: Tile | None = None, sms: int = SMS) -> dict[str, Any]:
    """How to launch it for these bf16 matrices: the kernel, and the arguments of `run` or `prepare`."""
    (m, k), n = a.shape, b.shape[0]
    tile = tile or choose(m, n, k, cluster=CTAS, sms=sms)
    maps = bf16_map(a, tile.shape[0], BK), bf16_map(b, tile.bn // CTAS, BK), bf16_map(c, WARP_ROWS, PART)
    how = {"kernel": gemm_cluster(tile), "grid": tile.grid(m, n, sms), "block": tile.threads, "args": (*maps, m, n, k)}
    return how | {"cluster": CTAS}


def demonstrate(on: str) -> list[Shown]:
    """One pair of CTAs for two tiles each, and a product whose second CTA has nothing but what lies outside."""
    results = []
    for tile, (m, n, k) in ((Tile(1, 128, 2, CTAS), (128, 256, 192)), (Tile(1, 128, 2, CTAS), (40, 72, 40))):
        a, b, c = small_integers(m, k, 1), small_integers(n, k, 2), np.zeros((m, n), np.uint16)
        how = launch_of(a, b, c, tile, sms=2)
        results.append(shown("gemm_cluster", how.pop("kernel").run(on=on, **how), a, b, c))
    return results


if __name__ == "__main__":
    main(demonstrate)
