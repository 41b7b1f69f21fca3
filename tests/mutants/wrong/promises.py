"""Promises of bytes and arrivals that do not fit: too few, too many, too late, by the wrong ones."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

COPY, TWO, ROLES = "copy_tile", "loads_before_the_expectation", "producer_and_consumers, 5 tiles"
EVERY = "every_consumer_arrives, 4 tiles"

MUTANTS: dict[str, Mutant] = {
    # bytes
    "half of the bytes expected": hand(
        COPY, "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, TILE // 2)", "too-few-bytes"
    ),
    "a byte too few expected": turn("less", COPY, "ptx.mbarrier_arrive_expect_tx", "ptx", "too-few-bytes"),
    "a byte too many expected": turn("more", COPY, "ptx.mbarrier_arrive_expect_tx", "ptx", "too-many-bytes"),
    "no bytes expected": hand(COPY, "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, 0)", "too-few-bytes"),
    "arrive without an expectation": hand(
        COPY, "mbarrier_arrive_expect_tx(bar, TILE)", "mbarrier_arrive(bar)", "too-few-bytes"
    ),
    "elements for bytes": hand(
        COPY, "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, ROWS * COLS)", "too-few-bytes"
    ),
    "one load of two missing": drop(TWO, "ptx.cp_async_bulk_tensor_2d(tile[1]", "too-many-bytes"),
    "one load of two not expected": turn(
        "less", TWO, "state = ptx.mbarrier_arrive_expect_tx", "state", "too-few-bytes"
    ),
    "three loads' bytes for two": turn("more", TWO, "state = ptx.mbarrier_arrive_expect_tx", "state", "too-many-bytes"),
    "second operand not loaded": drop("product", "ptx.cp_async_bulk_tensor_2d(b[s]", "too-many-bytes"),
    "second operand not promised": hand(
        "product", "(full[s], 2 * 8 * DEPTH * 4)", "(full[s], 8 * DEPTH * 4)", "too-few-bytes"
    ),
    "load on the other barrier": hand(
        "copy_column, 5 tiles",
        "(ring[stage], tensor_map, 0, (k + STAGES) * ROWS, full[stage])",
        "(ring[stage], tensor_map, 0, (k + STAGES) * ROWS, full[1 - stage])",
        "too-many-bytes",
        "too-few-bytes",
    ),
    "promise on the other barrier": turn(
        "stage",
        EVERY,
        "ptx.mbarrier_expect_tx(full[s]",
        "ptx",
        "too-many-bytes",
        "too-few-bytes",
        "expect-after-completion",
    ),
    "bytes outside the tensor not counted": hand(
        "over_the_corner", "arrive_expect_tx(bar, TILE)", "arrive_expect_tx(bar, 5 * 56 * 2)", "too-few-bytes"
    ),
    "credited by hand": turn(
        "instead", "each_promises_its_own", "ptx.mbarrier_expect_tx", "ptx.mbarrier_complete_tx", "too-few-bytes"
    ),
    "expectation after the arrive": swap(
        "work_while_it_comes", "if tid == 0:", "state = ptx.mbarrier_arrive", "expect-after-completion"
    ),
    "expectation after an arrive that completes": hand(
        EVERY,
        "            ptx.mbarrier_expect_tx(full[s], TILE)\n"
        "            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])\n"
        "            ptx.mbarrier_arrive(full[s])\n",
        "            ptx.mbarrier_arrive(full[s])\n"
        "            ptx.mbarrier_expect_tx(full[s], TILE)\n"
        "            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, full[s])\n",
        "expect-after-completion",
    ),
    "cp.async announced after the arrive": swap(
        "cp_async_then_store",
        "ptx.cp_async_mbarrier_arrive(bar)",
        "ptx.mbarrier_arrive(bar)",
        "expect-after-completion",
    ),
    "expectation by one who does not arrive": hand(
        "each_promises_its_own",
        "        ptx.mbarrier_arrive(bar)\n    elif tid == 32:\n",
        "    elif tid == 33:\n        ptx.mbarrier_arrive(bar)\n    elif tid == 32:\n",
        "expect-after-completion",
    ),
    # arrivals
    "expect_tx is no arrival": turn(
        "instead", COPY, "ptx.mbarrier_arrive_expect_tx", "ptx.mbarrier_expect_tx", "missing-arrival"
    ),
    "count one too large": turn("more", COPY, "ptx.mbarrier_init(bar, 1)", "ptx", "missing-arrival"),
    "count one too small": turn("less", TWO, "ptx.mbarrier_init(bar, 128)", "ptx", "over-arrival"),
    "count of the wrong role": hand(EVERY, "mbarrier_init(empty[s], 32)", "mbarrier_init(empty[s], 1)", "over-arrival"),
    "an arrival too many": hand(
        "handed_over_by_mbarrier",
        "        ptx.mbarrier_arrive(bar)\n",
        "        ptx.mbarrier_arrive(bar, 2)\n",
        "over-arrival",
    ),
    "three arrivals for two": turn("more", "in_step_by_mbarrier", "ptx.mbarrier_arrive(bar, 2)", "ptx", "over-arrival"),
    "one arrival for two": turn("less", "in_step_by_mbarrier", "ptx.mbarrier_arrive(bar, 2)", "ptx", "missing-arrival"),
    "consumers do not arrive": drop(ROLES, "ptx.mbarrier_arrive(empty[s])", "missing-arrival"),
    "producer does not arrive": drop(EVERY, "ptx.mbarrier_arrive(full[s])", "missing-arrival"),
    "every lane arrives": turn("all", ROLES, "if tid % 32 == 0:", "if True:", "over-arrival"),
    "empty barrier's count too small": turn(
        "more",
        ROLES,
        "ptx.mbarrier_init(empty[s], WARPS - 1)",
        "ptx.mbarrier_init(empty[s], WARPS - 2)",
        "over-arrival",
        "overwrite-in-use",
    ),
    "empty barrier's count too large": turn(
        "more", ROLES, "ptx.mbarrier_init(empty[s], WARPS - 1)", "ptx.mbarrier_init(empty[s], (WARPS", "missing-arrival"
    ),
    "arrive on the other stage": turn(
        "stage", ROLES, "ptx.mbarrier_arrive(empty[s])", "ptx", "over-arrival", "missing-arrival", "overwrite-in-use"
    ),
    "dropped threads arrive on": turn(
        "instead",
        "fewer_from_phase_to_phase",
        "ptx.mbarrier_arrive_drop(bar)",
        "ptx.mbarrier_arrive(bar)",
        "missing-arrival",
    ),
    "cp.async arrives for nobody": drop(
        "cp_async_and_mbarrier", "ptx.cp_async_mbarrier_arrive_noinc(bar)", "missing-arrival"
    ),
    "cp.async arrives beside the count": turn(
        "instead",
        "cp_async_and_mbarrier",
        "ptx.cp_async_mbarrier_arrive_noinc",
        "ptx.cp_async_mbarrier_arrive(",
        "missing-arrival",
    ),
    "cp.async arrives within the count": turn(
        "instead",
        "cp_async_then_store",
        "ptx.cp_async_mbarrier_arrive(bar)",
        "ptx.cp_async_mbarrier_arrive_noinc",
        "over-arrival",
    ),
    "arrive that does not wait for cp.async": turn(
        "instead",
        "cp_async_and_mbarrier",
        "ptx.cp_async_mbarrier_arrive_noinc",
        "ptx.mbarrier_arrive",
        "read-before-wait",
    ),
    # phases
    "no wait between two phases": drop(
        "in_step_by_mbarrier", "ptx.mbarrier_wait_parity(bar, k % 2)", "over-arrival", "data-race"
    ),
    "a phase that may pass a waiter by": hand(
        "written_then_loaded",
        "        ptx.mbarrier_arrive_expect_tx(bars[1], TILE)\n"
        "        ptx.cp_async_bulk_tensor_2d(tile, scratch_map, 0, ROWS, bars[1])\n"
        "    ptx.mbarrier_wait_parity(bars[1], 0)\n",
        "        ptx.mbarrier_arrive_expect_tx(bars[0], TILE)\n"
        "        ptx.cp_async_bulk_tensor_2d(tile, scratch_map, 0, ROWS, bars[0])\n"
        "    ptx.mbarrier_wait_parity(bars[0], 0)\n"
        "    ptx.mbarrier_wait_parity(bars[0], 1)\n",
        "phase-alias",
    ),
    "one thread runs ahead": hand(
        "in_step_by_mbarrier",
        "        if tid == 0:\n            ptx.mbarrier_arrive(bar, 2)\n"
        "        else:\n            ptx.mbarrier_arrive(bar)\n",
        "        if tid == 0:\n            ptx.mbarrier_arrive(bar, 65)\n",
        "phase-alias",
        "data-race",
    ),
    "state of an older phase": hand(
        "fewer_from_phase_to_phase",
        "            state = ptx.mbarrier_arrive(bar)\n",
        "            now = ptx.mbarrier_arrive(bar)\n            if phase == 0:\n                state = now\n",
        "phase-alias",
        "over-arrival",
    ),
}
