"""gemm_warp_specialized: the matrix product with a warpgroup that loads and two that multiply.

Shows      roles: a producer that waits for empty stages and fills them, consumers that wait for full ones and empty
           them; registers handed from the one to the others; one arrive for a whole warpgroup, after its wgmma wait.
Differs    from gemm_pipelined: whoever multiplies never issues a load, so neither waits for the other's work; the
           registers that the producer hands on hold a tile twice as wide, for which a quarter less must come.
Run        python -m tmalab.kernels.gemm_warp_specialized            (simulator)
           python -m tmalab.kernels.gemm_warp_specialized --on gpu   (Hopper)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tmalab import Swizzle, kernel, ptx
from tmalab.kernels.command import Shown, main
from tmalab.kernels.gemm import BYTES_8_ROWS, NEXT_K, bf16_map, shown, small_integers, store_accumulator

CONSUMERS = 2  # warpgroups, of 64 rows each
BM, BN, BK = 64 * CONSUMERS, 256, 64
STAGE_BYTES = (BM + BN) * BK * 2
STAGES = 4
THREADS = 128 * (1 + CONSUMERS)


@kernel
def gemm_warp_specialized(a_map, b_map, c, k):
    """C = A B' for one tile of C a CTA; grid (n / BN, m / BM)."""
    a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    row = cuda.blockIdx.y * BM
    column = cuda.blockIdx.x * BN
    steps = (k + BK - 1) // BK
    if tid == 0:
        for stage in range(STAGES):
            ptx.mbarrier_init(full[stage], 1)
            ptx.mbarrier_init(empty[stage], CONSUMERS)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    stage = 0
    parity = 0
    warpgroup = tid // 128
    if warpgroup == CONSUMERS:
        ptx.setmaxnreg_dec(40)
        if tid == CONSUMERS * 128:
            for step in range(steps):
                ptx.mbarrier_wait_parity(empty[stage], parity ^ 1)  # a fresh barrier's phase before the first is over
                ptx.mbarrier_arrive_expect_tx(full[stage], STAGE_BYTES)
                ptx.cp_async_bulk_tensor_2d(a[stage], a_map, step * BK, row, full[stage])
                ptx.cp_async_bulk_tensor_2d(b[stage], b_map, step * BK, column, full[stage])
                stage += 1
                if stage == STAGES:
                    stage = 0
                    parity ^= 1
    else:
        ptx.setmaxnreg_inc(232)
        acc = ptx.wgmma_zero_256()
        for _ in range(steps):
            ptx.mbarrier_wait_parity(full[stage], parity)
            desc_a = ptx.wgmma_descriptor(a[stage, warpgroup * 64 :], Swizzle.B128, BYTES_8_ROWS)
            desc_b = ptx.wgmma_descriptor(b[stage], Swizzle.B128, BYTES_8_ROWS)
            ptx.wgmma_fence()
            for i in range(BK // 16):
                acc = ptx.wgmma_m64n256k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(0)
            if tid % 128 == 0:
                ptx.mbarrier_arrive(empty[stage])
            stage += 1
            if stage == STAGES:
                stage = 0
                parity ^= 1
        store_accumulator(acc, BN // 2, c, row + warpgroup * 64, column, tid % 128)


def launch_of(a: Any, b: Any, c: Any) -> dict[str, Any]:
    """How to launch it for these bf16 matrices: the kernel, and the arguments of `run` or `prepare`."""
    (m, k), n = a.shape, b.shape[0]
    args = (bf16_map(a, BM, BK), bf16_map(b, BN, BK), c, k)
    return {"kernel": gemm_warp_specialized, "grid": (-(-n // BN), -(-m // BM)), "block": THREADS, "args": args}


def demonstrate(on: str) -> list[Shown]:
    """More steps than stages, and a single one."""
    results = []
    for m, n, k in ((128, 256, 448), (136, 248, 40)):
        a, b, c = small_integers(m, k, 1), small_integers(n, k, 2), np.zeros((m, n), np.uint16)
        how = launch_of(a, b, c)
        run = how.pop("kernel").run(on=on, **how)
        results.append(shown("gemm_warp_specialized", run, a, b, c))
    return results


if __name__ == "__main__":
    main(demonstrate)
