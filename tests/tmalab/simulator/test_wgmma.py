"""wgmma in the simulator: right products in every order, and each mistake under its name in every one."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.portion import portion
from tests.tmalab.simulator.wgmma_kernels import RIGHT, edited, product, rows_of_128_bytes
from tmalab import Swizzle, kernel, ptx

SEEDS = range(3)  # one of each way in which copies land
WAIT = "            ptx.wgmma_wait_group(0)\n"
ARRIVE = "            if tid == 0:\n                ptx.mbarrier_arrive(empty[s])\n"
FENCE = "            ptx.wgmma_fence()\n"
LOOP = "            for i in range(4):\n                acc ="
PROXY = "    ptx.fence_proxy_async_shared_cta()\n"
A_IS, B_IS = "wgmma_descriptor(a[s], Swizzle.B128, 1024)", "wgmma_descriptor(b[s], Swizzle.B128, 1024)"

WRONG = {  # what is wrong: the right kernel, the edit, the hazard that has to be told
    "stage released before the wait (B23)": ("ring", WAIT + ARRIVE, ARRIVE + WAIT, "overwrite-in-use"),
    "wait one too weak": ("ring", "wait_group(0)", "wait_group(1)", "overwrite-in-use"),
    "no wait": ("ring", WAIT, "", "wgmma-registers"),
    "no commit": ("ring", "            ptx.wgmma_commit_group()\n", "", "wgmma-registers"),
    "no fence": ("ring", FENCE, "", "wgmma-fence"),
    "fence by part of the warpgroup": ("ring", FENCE, FENCE.replace("ptx", "if tid < 32: ptx"), "wgmma-fence"),
    "no wait for the load": (
        "ring", "            ptx.mbarrier_wait_parity(full[s], k // STAGES % 2)\n", "", "read-before-wait",
    ),
    "parity of another phase": ("ring", "full[s], k // STAGES % 2)", "full[s], k // STAGES % 2 ^ 1)", "wrong-parity"),
    "no wait for the empty stage": (
        "ring", "                ptx.mbarrier_wait_parity(empty[s], k // STAGES % 2 ^ 1)\n", "", "overwrite-in-use",
    ),
    "swizzle of the descriptor": ("ring", A_IS, A_IS.replace("B128, 1024", "B64, 512"), "layout-mismatch"),
    "no swizzle in the descriptor": ("ring", A_IS, A_IS.replace("B128, 1024", "NONE, 1024, 16"), "layout-mismatch"),
    "stride of one row": ("ring", A_IS, A_IS.replace("1024", "128"), "layout-mismatch"),
    "offsets not shifted (D3)": (
        "ring", A_IS, "wgmma_descriptor(a[s], Swizzle.B128, 1024) | 1 << 46", "layout-mismatch",
    ),
    "stride that is no multiple of 16": ("ring", A_IS, A_IS.replace("1024", "1000"), "misaligned"),
    "tile aligned to 128 bytes": (
        "ring", "(STAGES, M, BK), np.uint16, alignment=1024", "(STAGES, M, BK), np.uint16, alignment=128", "misaligned",
    ),
    "stride past shared memory": ("ring", A_IS, A_IS.replace("1024", "16384"), "out-of-bounds"),
    "part of a warp": ("ring", LOOP, LOOP.replace("range(4)", "range(4 * (tid % 32 < 16))"), "partial-warp"),
    "part of a warpgroup": ("ring", LOOP, LOOP.replace("range(4)", "range(4 * (tid < 64))"), "partial-warp"),
    "another descriptor in each warp": (
        "ring", B_IS, B_IS.replace("1024)", "1024) + tid // 32 % 2 * 2"), "partial-warp",
    ),
    "no proxy fence after stores": ("by_threads", PROXY, "", "missing-proxy-fence"),
    "proxy fence for global memory": ("by_threads", PROXY, PROXY.replace("shared_cta", "global"), "proxy-fence-space"),
    "no barrier after stores": ("by_threads", "    cuda.syncthreads()\n", "", "data-race"),
    "operand that nobody wrote": ("by_threads", "if tid < N * 16:", "if tid < N * 8:", "uninitialised-read"),
    "exit before the wait": (
        "by_threads",
        "    ptx.wgmma_wait_group(0)\n    for i in range(4):\n        out[tid // 32 * 16 + tid % 32 // 4 + i // 2 * 8, "
        "tid % 4 * 2 + i % 2] = acc[i]\n",
        "",
        "exit-in-flight",
    ),
    "the two strides exchanged": (
        "core_matrices", "a, Swizzle.NONE, 128, M * 16", "a, Swizzle.NONE, M * 16, 128", "layout-mismatch",
    ),
    "registers that nobody gives up": ("two_warpgroups", "ptx.setmaxnreg_dec(40)", "pass", "register-pool"),
    "too few registers given up": ("two_warpgroups", "dec(40)", "dec(48)", "register-pool"),
    "registers of part of a warpgroup": ("two_warpgroups", "if tid < 128:", "if tid < 96:", "register-pool"),
    "more registers by dec": ("two_warpgroups", "dec(40)", "dec(240)", "register-pool"),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", RIGHT)
def test_a_right_kernel_has_no_hazard_in_any_order(name, seed):
    case = RIGHT[name]()
    run = case.run(seed)
    assert run.ok, str(run)
    assert run.warnings == []
    assert case.is_right()


# CI takes one of the orders of each mistake, another one for the next.
ORDERS = [(what, (number + turn) % len(SEEDS)) for number, what in enumerate(WRONG) for turn in SEEDS]


@pytest.mark.parametrize(("what", "seed"), portion(ORDERS, len(SEEDS), kind=lambda what, seed: what))
def test_a_mistake_is_told_in_every_order(what, seed):
    name, old, new, hazard = WRONG[what]
    run = edited(RIGHT[name](), old, new).run(seed)
    assert run.fault is None, str(run.fault)
    assert hazard in {found.name for found in run.hazards}, str(run)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_of_128_bytes_are_no_core_matrices(seed):
    """D4"""
    case = product(rows_of_128_bytes, 64, 64, Swizzle.NONE)
    run = case.run(seed)
    (found,) = {(hazard.name, hazard.details["operand"]) for hazard in run.hazards if hazard.details["operand"] == "A"}
    assert found == ("layout-mismatch", "A")
    assert not case.is_right()
    assert RIGHT["core_matrices"]().run(seed).ok


def test_of_a_descriptor_that_was_moved_on_by_bytes_it_is_told_where_it_leads():
    run = edited(RIGHT["ring"](), A_IS, f"{A_IS} + 32").run()
    found = next(hazard for hazard in run.hazards if hazard.name == "misaligned")
    assert "the descriptor of A leads to address 0x" in found.message
    assert "1 added to the descriptor for each 16 bytes" in found.fix


def test_of_a_tile_that_lies_askew_sentences_have_separators_and_code_has_none():
    run = edited(RIGHT["ring"](), *WRONG["tile aligned to 128 bytes"][1:3]).run()
    found = next(hazard for hazard in run.hazards if hazard.name == "misaligned")
    assert "every 1,024 bytes" in found.message
    assert "alignment=1024" in found.fix
    assert found.details["size"] == 1024


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_fewer_steps_than_stages_are_right(steps):
    case = RIGHT["ring"](steps)
    assert case.run().ok
    assert case.is_right()


def test_one_fence_before_a_chain_of_wgmmas_is_enough():
    case = RIGHT["ring"]()
    case = edited(case, FENCE, "")
    case = edited(case, "wgmma_zero_8()\n", "wgmma_zero_8()\n        ptx.wgmma_fence()\n")
    assert case.run().ok


def test_a_stage_overwritten_too_early_really_gives_wrong_numbers():
    case = edited(RIGHT["ring"](), WAIT + ARRIVE, ARRIVE)
    case = edited(case, "        for i in range(4):\n            out", "        ptx.wgmma_wait_group(0)\n"
                  "        for i in range(4):\n            out")  # fmt: skip
    assert not case.run(0).ok
    assert not case.is_right()


@kernel
def accumulators(out, way):
    """An accumulator that is read in between, one made of numbers, and one passed on."""
    tid = cuda.threadIdx.x
    tile = cuda.shared.array(512, np.uint16, alignment=1024)
    for i in range(tid, 512, 128):
        tile[i] = 0x3F80 if i < 128 else 0  # bf16 ones in the first 256 bytes
    ptx.fence_proxy_async()
    cuda.syncthreads()
    desc = ptx.wgmma_descriptor(tile, Swizzle.NONE, 0, 128)
    acc = ptx.wgmma_zero_8()
    if way == 2:
        ptx.wgmma_fence()
    before = acc
    if way != 2:
        ptx.wgmma_fence()
    acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc, desc, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    if way == 3:
        out[tid] = before[0]
    read = acc[0]
    if way != 1:
        ptx.wgmma_fence()
    acc = ptx.wgmma_m64n8k16_f32_bf16(acc, desc, desc, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    out[tid] = acc[0] + read


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fence_is_owed_after_an_accumulator_was_read(seed):
    out = np.zeros(128, np.float32)
    assert accumulators.run(block=128, args=(out, 0), seed=seed).ok
    assert (out == 48).all()  # 16 products of ones, then 16 more, and the first 16 again
    run = accumulators.run(block=128, args=(out, 1), seed=seed)
    assert [hazard.name for hazard in run.hazards] == ["wgmma-fence"]


def test_an_accumulator_that_was_passed_on_is_no_more():
    run = accumulators.run(block=128, args=(np.zeros(128, np.float32), 3))
    assert "passed on" in str(run.fault)


def test_a_report_names_both_sides_and_the_fix():
    name, old, new, _ = WRONG["stage released before the wait (B23)"]
    found = next(
        hazard for hazard in edited(RIGHT[name](), old, new).run().hazards if hazard.name == "overwrite-in-use"
    )
    later, earlier = found.accesses
    assert (later.kind, earlier.kind) == ("load", "wgmma")
    assert earlier.who == "the wgmma of a[0] and b[0]"
    assert "ptx.wgmma_wait_group(0)" in found.fix
    assert later.line
    assert earlier.line


def test_a_deadlock_over_registers_says_how_many_are_missing():
    name, old, new, _ = WRONG["registers that nobody gives up"]
    run = edited(RIGHT[name](), old, new).run()
    assert {waiter.what for waiter in run.deadlock.waiters} == {"registers"}
    assert "2048 registers, of which the pool has 0" in run.deadlock.message  # (232 - 168) * 32 for each warp
