"""gemm_naive: a matrix product on the tensor core, one tile of A and of B at a time.

Shows      wgmma: two tiles in shared memory, a descriptor for each, an accumulator that stays in registers.
Differs    from copy_2d: nobody reads the tiles but the tensor core, which is waited for before they are overwritten.
Run        python -m tmalab.kernels.gemm_naive            (simulator)
           python -m tmalab.kernels.gemm_naive --on gpu   (Hopper)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tmalab import Swizzle, kernel, ptx
from tmalab.kernels.command import Shown, main
from tmalab.kernels.gemm import BYTES_8_ROWS, NEXT_K, bf16_map, shown, small_integers, store_accumulator

BM, BN, BK = 64, 64, 64  # the tile of C, and how much of K is loaded at once: 128 bytes of bf16
TILE_BYTES = (BM + BN) * BK * 2
THREADS = 128  # one warpgroup


@kernel
def gemm_naive(a_map, b_map, c, k):
    """C = A B' for one tile of C a CTA; grid (n / BN, m / BM)."""
    a = cuda.shared.array((BM, BK), np.uint16, alignment=1024)
    b = cuda.shared.array((BN, BK), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    row = cuda.blockIdx.y * BM
    column = cuda.blockIdx.x * BN
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    desc_a = ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)
    desc_b = ptx.wgmma_descriptor(b, Swizzle.B128, BYTES_8_ROWS)
    acc = ptx.wgmma_zero_64()
    for step in range((k + BK - 1) // BK):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
            ptx.cp_async_bulk_tensor_2d(a, a_map, step * BK, row, full[0])
            ptx.cp_async_bulk_tensor_2d(b, b_map, step * BK, column, full[0])
        ptx.mbarrier_wait_parity(full[0], step % 2)
        ptx.wgmma_fence()
        for i in range(BK // 16):
            acc = ptx.wgmma_m64n64k16_f32_bf16(acc, desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)  # for what all four warps have issued: thread 0 may load anew
    store_accumulator(acc, BN // 2, c, row, column, tid)


def launch_of(a: Any, b: Any, c: Any) -> dict[str, Any]:
    """How to launch it for these bf16 matrices: the kernel, and the arguments of `run` or `prepare`."""
    (m, k), n = a.shape, b.shape[0]
    args = (bf16_map(a, BM, BK), bf16_map(b, BN, BK), c, k)
    return {"kernel": gemm_naive, "grid": (-(-n // BN), -(-m // BM)), "block": THREADS, "args": args}


def demonstrate(on: str) -> list[Shown]:
    """One tile in two steps, and a product whose sizes are no multiples of the tile."""
    results = []
    for m, n, k in ((64, 64, 128), (72, 72, 72)):
        a, b, c = small_integers(m, k, 1), small_integers(n, k, 2), np.zeros((m, n), np.uint16)
        how = launch_of(a, b, c)
        run = how.pop("kernel").run(on=on, **how)
        results.append(shown("gemm_naive", run, a, b, c))
    return results


if __name__ == "__main__":
    main(demonstrate)
