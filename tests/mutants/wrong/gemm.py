"""Products on the tensor core: fences and waits that are missing, layouts that disagree, registers that never come."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

ONE, AHEAD, ROLES, WRITTEN = "one_stage, 3 steps", "running_ahead, 5 steps", "with_roles, 4 steps", "written_by_threads"
REGISTERS = "from_registers, 3 steps"

MUTANTS: dict[str, Mutant] = {
    # operands
    "multiplied before it was loaded": drop(ONE, "ptx.mbarrier_wait_parity(full", "read-before-wait"),
    "multiplied before it was loaded, in a ring": drop(AHEAD, "ptx.mbarrier_wait_parity(full", "read-before-wait"),
    "multiplied with parity 0 for ever": turn(
        "less",
        ONE,
        "ptx.mbarrier_wait_parity(full",
        "ptx.mbarrier_wait_parity(full, step % 1)",
        "wrong-parity",
        "read-before-wait",
        "over-arrival",
    ),
    "bytes of A alone": hand(ONE, "expect_tx(full, BYTES)", "expect_tx(full, BM * BK * 2)", "too-few-bytes"),
    "B not loaded": drop(ONE, "ptx.cp_async_bulk_tensor_2d(b, b_map", "too-many-bytes"),
    "loaded anew while it is multiplied": drop(ONE, "ptx.wgmma_wait_group(0)", "overwrite-in-use", "wgmma-registers"),
    "loaded anew one group too early": turn(
        "more", AHEAD, "ptx.wgmma_wait_group(1)", "ptx.wgmma_wait_group(2)", "overwrite-in-use"
    ),
    "stage released before the wait": swap(ROLES, "ptx.wgmma_wait_group(0)", "if tid == 0:", "overwrite-in-use"),
    "stage released with a group pending": turn(
        "more", ROLES, "ptx.wgmma_wait_group(0)", "ptx.wgmma_wait_group(1)", "overwrite-in-use", "wgmma-registers"
    ),
    "every thread of the warpgroup arrives": turn(
        "all", ROLES, "if tid == 0:", "if True:", "over-arrival", "barrier-reinit", nth=1
    ),
    "written by threads, no proxy fence": drop(WRITTEN, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "written by threads, another fence": turn(
        "instead", WRITTEN, "ptx.fence_proxy_async()", "ptx.fence_proxy_async_global()", "proxy-fence-space"
    ),
    "written by threads, no barrier": drop(WRITTEN, "cuda.syncthreads()", "data-race", "uninitialised-read"),
    "result stored without a proxy fence": drop(WRITTEN, "ptx.fence_proxy_async()", "missing-proxy-fence", nth=1),
    "result stored before it is written": drop(
        WRITTEN, "cuda.syncthreads()", "data-race", "store-source-reuse", "uninitialised-read", nth=1
    ),
    # registers
    "no wgmma fence": drop(ONE, "ptx.wgmma_fence()", "wgmma-fence"),
    "no wgmma fence in a role": drop(ROLES, "ptx.wgmma_fence()", "wgmma-fence"),
    "wgmma fence before the zeros": swap(WRITTEN, "acc = ptx.wgmma_zero_8()", "ptx.wgmma_fence()", "wgmma-fence"),
    "accumulator read between wgmmas": hand(
        ONE,
        "        ptx.wgmma_wait_group(0)\n",
        "        ptx.wgmma_wait_group(0)\n        keep(acc, c, tid)\n        acc = ptx.wgmma_zero_8()\n"
        "        acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a, desc_b, 1)\n",
        "wgmma-fence",
    ),
    "accumulator read too early": drop(WRITTEN, "ptx.wgmma_wait_group(0)", "wgmma-registers"),
    "accumulator read with a group pending": turn(
        "more", WRITTEN, "ptx.wgmma_wait_group(0)", "ptx.wgmma_wait_group(1)", "wgmma-registers"
    ),
    "no wait before the epilogue": drop(AHEAD, "ptx.wgmma_wait_group(0)", "wgmma-registers"),
    "wgmma not committed": drop(WRITTEN, "ptx.wgmma_commit_group()", "wgmma-registers"),
    "wgmma committed before it is issued": swap(
        WRITTEN, "acc = ptx.wgmma_m64n8k16", "ptx.wgmma_commit_group()", "wgmma-registers"
    ),
    "registers not given up": drop(ROLES, "ptx.setmaxnreg_dec(24)", "register-pool"),
    "registers given up in vain": hand(ROLES, "setmaxnreg_inc(256)", "setmaxnreg_inc(248)", "register-pool"),
    "registers of one warp alone": hand(
        ROLES,
        "        ptx.setmaxnreg_dec(24)\n",
        "        if tid < 160:\n            ptx.setmaxnreg_dec(24)\n",
        "register-pool",
    ),
    # layouts
    "descriptor without the swizzle": hand(
        ONE,
        "ptx.wgmma_descriptor(a, Swizzle.B128, ROWS8)",
        "ptx.wgmma_descriptor(a, Swizzle.NONE, 256, 128)",
        "layout-mismatch",
    ),
    "descriptor of a smaller swizzle": hand(
        AHEAD, "ptx.wgmma_descriptor(b[s], Swizzle.B128", "ptx.wgmma_descriptor(b[s], Swizzle.B64", "layout-mismatch"
    ),
    "descriptor of half the stride": hand(
        ONE,
        "ptx.wgmma_descriptor(a, Swizzle.B128, ROWS8)",
        "ptx.wgmma_descriptor(a, Swizzle.B128, 512)",
        "layout-mismatch",
    ),
    "strides exchanged": hand(
        WRITTEN,
        "right, Swizzle.NONE, 256, 128",
        "right, Swizzle.NONE, 128, 256",
        "layout-mismatch",
        "uninitialised-read",
        "out-of-bounds",
    ),
    "next columns counted in bytes": hand(
        ONE, "desc_a + i * NEXT_K", "desc_a + i * 32", "layout-mismatch", "misaligned", "out-of-bounds"
    ),
    # warps
    "wgmma by part of a warpgroup": turn(
        "less", ROLES, "if tid >= 128:", "if tid >= 127:", "partial-warp", "register-pool"
    ),
    "wgmma by three warps": hand(
        WRITTEN,
        "    acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a, desc_b, 0)\n",
        "    if tid < 96:\n        acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc_a, desc_b, 0)\n",
        "partial-warp",
    ),
    "A taken from registers before it is there": drop(
        REGISTERS, "ptx.mbarrier_wait_parity(full[0], step % 2)", "read-before-wait"
    ),
    "A loaded anew before all have it in registers": drop(REGISTERS, "cuda.syncthreads()", "overwrite-in-use", nth=1),
    "A in registers, B not waited for": drop(
        REGISTERS, "ptx.mbarrier_wait_parity(full[1], step % 2)", "read-before-wait"
    ),
    "A in registers, no wgmma fence": drop(REGISTERS, "ptx.wgmma_fence()", "wgmma-fence"),
    "A put into registers after the fence": hand(
        REGISTERS,
        "        ptx.wgmma_fence()\n",
        "        ptx.wgmma_fence()\n        a3 = fragment(a, 48)\n",
        "wgmma-fence",
    ),
    "A in registers, B loaded anew before the wait": drop(
        REGISTERS, "ptx.wgmma_wait_group(0)", "overwrite-in-use", "wgmma-registers"
    ),
}
