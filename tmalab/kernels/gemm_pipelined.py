"""gemm_pipelined: the matrix product with loads that run ahead, through a ring of stages.

Shows      loads, multiplication and waiting at the same time: wgmma_wait_group(1) leaves the newest wgmmas running, and
           what the ones before them have read is loaded anew.
Differs    from gemm_naive: several stages, and two warpgroups for a tile of four times the size, for which half as many
           bytes must come; a stage is refilled one step after both have multiplied it.
Run        python -m tmalab.kernels.gemm_pipelined            (simulator)
           python -m tmalab.kernels.gemm_pipelined --on gpu   (Hopper)
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import cuda

from tmalab import Swizzle, device, kernel, ptx
from tmalab.kernels.command import Shown, main
from tmalab.kernels.gemm import BYTES_8_ROWS, NEXT_K, bf16_map, shown, small_integers, store_accumulator
from tmalab.launch import Kernel

BM, BN, BK = 128, 128, 64
STAGE_BYTES = (BM + BN) * BK * 2
THREADS = 256  # two warpgroups, of 64 rows each
STAGES = 3  # as many as leave room for a second CTA on the SM


@device
def load_stage(a, b, full, stage, a_map, b_map, step, row, column):
    """Start the loads of one step into a stage."""
    ptx.mbarrier_arrive_expect_tx(full[stage], STAGE_BYTES)
    ptx.cp_async_bulk_tensor_2d(a[stage], a_map, step * BK, row, full[stage])
    ptx.cp_async_bulk_tensor_2d(b[stage], b_map, step * BK, column, full[stage])


@cache
def with_stages(STAGES: int) -> Kernel:
    """The kernel with a ring of so many stages: from 2 on."""

    @kernel
    def gemm_pipelined(a_map, b_map, c, k):
        """C = A B' for one tile of C a CTA; grid (n / BN, m / BM)."""
        a = cuda.shared.array((STAGES, BM, BK), np.uint16, alignment=1024)
        b = cuda.shared.array((STAGES, BN, BK), np.uint16, alignment=1024)
        full = ptx.mbarrier_array(STAGES)
        tid = cuda.threadIdx.x
        row = cuda.blockIdx.y * BM
        column = cuda.blockIdx.x * BN
        steps = (k + BK - 1) // BK
        if tid == 0:
            for stage in range(STAGES):
                ptx.mbarrier_init(full[stage], 1)
            ptx.fence_mbarrier_init()
            for step in range(min(STAGES - 1, steps)):
                load_stage(a, b, full, step, a_map, b_map, step, row, column)
        cuda.syncthreads()
        rows = tid // 128 * 64  # the warpgroup's first one
        acc = ptx.wgmma_zero_128()
        stage = 0
        parity = 0
        for step in range(steps):
            ptx.mbarrier_wait_parity(full[stage], parity)
            desc_a = ptx.wgmma_descriptor(a[stage, rows:], Swizzle.B128, BYTES_8_ROWS)
            desc_b = ptx.wgmma_descriptor(b[stage], Swizzle.B128, BYTES_8_ROWS)
            ptx.wgmma_fence()
            for i in range(BK // 16):
                acc = ptx.wgmma_m64n128k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group(1)
            cuda.syncthreads()  # the step before is multiplied by both: its stage is free
            following = step + STAGES - 1
            if tid == 0 and following < steps:
                load_stage(a, b, full, (stage + STAGES - 1) % STAGES, a_map, b_map, following, row, column)
            stage += 1
            if stage == STAGES:
                stage = 0
                parity ^= 1
        ptx.wgmma_wait_group(0)
        store_accumulator(acc, BN // 2, c, row + rows, column, tid % 128)

    return gemm_pipelined


gemm_pipelined = with_stages(STAGES)


def launch_of(a: Any, b: Any, c: Any, stages: int = STAGES) -> dict[str, Any]:
    """How to launch it for these bf16 matrices: the kernel, and the arguments of `run` or `prepare`."""
    (m, k), n = a.shape, b.shape[0]
    args = (bf16_map(a, BM, BK), bf16_map(b, BN, BK), c, k)
    return {"kernel": with_stages(stages), "grid": (-(-n // BN), -(-m // BM)), "block": THREADS, "args": args}


def demonstrate(on: str) -> list[Shown]:
    """More steps than stages, two and three; and a single step."""
    results = []
    for stages, (m, n, k) in ((2, (128, 128, 320)), (3, (128, 128, 448)), (3, (136, 136, 40))):
        a, b, c = small_integers(m, k, 1), small_integers(n, k, 2), np.zeros((m, n), np.uint16)
        how = launch_of(a, b, c, stages)
        run = how.pop("kernel").run(on=on, **how)
        results.append(shown(f"gemm_pipelined, {stages} stages", run, a, b, c))
    return results


if __name__ == "__main__":
    main(demonstrate)
