"""Waits that are missing, for the wrong phase, of the wrong barrier, or not looked at."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

COPY, RING, ROLES = "copy_tile", "copy_column, 5 tiles", "producer_and_consumers, 5 tiles"
WAIT = "while not ptx.mbarrier_try_wait_parity(bar, 0):\n        pass"
EARLY = ("read-before-wait", "wrong-parity")
TRY = "for _ in range(3):\n        if ptx.mbarrier_try_wait_parity(bar, 0):\n            break"

MUTANTS: dict[str, Mutant] = {
    "wait removed": drop(COPY, "while not ptx.mbarrier_try_wait_parity(bar, 0)", "read-before-wait"),
    "wait after the read": swap(COPY, "while not ptx", "for i in range", "read-before-wait"),
    "wait before the load": swap(COPY, "if tid == 0:", "while not ptx", "deadlock", nth=0),
    "read long before the load": hand(
        COPY,
        "    cuda.syncthreads()\n",
        "    cuda.syncthreads()\n    out[tid // 64, tid % 64] = tile[tid // 64, tid % 64]\n    cuda.syncthreads()\n",
        "read-before-wait",
    ),
    "wait asked once": hand(COPY, WAIT, "ptx.mbarrier_try_wait_parity(bar, 0)", "wait-ignored"),
    "test asked once": hand(COPY, WAIT, "ptx.mbarrier_test_wait_parity(bar, 0)", "wait-ignored"),
    "wait negated and dropped": hand(COPY, WAIT, "not ptx.mbarrier_try_wait_parity(bar, 0)", "wait-ignored"),
    "try for a wait": turn(
        "instead", "a_tile_for_each_cta", "ptx.mbarrier_wait_parity", "ptx.mbarrier_try", "wait-ignored"
    ),
    "test for a wait": turn(
        "instead", "each_warp_its_own", "ptx.mbarrier_wait_parity", "ptx.mbarrier_test", "wait-ignored"
    ),
    "wait's result kept, not looked at": hand(
        COPY, WAIT, "seen = ptx.mbarrier_try_wait_parity(bar, 0)", "read-before-wait", "wait-ignored"
    ),
    "wait tried three times": hand(COPY, WAIT, TRY, "read-before-wait"),
    "polled eight times, then read": drop(
        "work_while_it_comes", "while not ptx.mbarrier_try_wait(bar, state)", "read-before-wait", seeds=20
    ),
    "parity 1 of a fresh barrier": turn("more", COPY, "while not", "while not", *EARLY),
    "parity 1 for every tile": turn("more", "a_tile_for_each_cta", "ptx.mbarrier_wait_parity", "ptx", *EARLY),
    "parity never flipped": drop(RING, "parity ^= 1", *EARLY),
    "parity flipped at every step": hand(
        RING, "        stage += 1\n", "        stage += 1\n        parity ^= 1\n", *EARLY
    ),
    "parity by the wrong number of stages": turn(
        "more",
        "every_consumer_arrives, 4 tiles",
        "ptx.mbarrier_wait_parity(full[s], (k // STAGES)",
        "ptx.mbarrier_wait_parity(full[s], (k // (STAGES",
        *EARLY,
    ),
    "producer begins with parity 0": turn(
        "less",
        "ping_pong, 8 tiles",
        "ptx.mbarrier_wait_parity(empty[k % 4], (k // 4) % 2 ^ 1)",
        "ptx.mbarrier_wait_parity(empty[k % 4], (k // 4) % 2 ^ 0)",
        "missing-arrival",
        "wrong-parity",
    ),
    "phase not carried to the next tile": hand(
        "persistent",
        "        for row in range(rows_of_tiles):\n",
        "        phase = 0\n        for row in range(rows_of_tiles):\n",
        *EARLY,
        "over-arrival",
        "deadlock",
    ),
    "stage not carried to the next tile": hand(
        "persistent",
        "            if stage == STAGES:\n                stage = 0\n                phase ^= 1\n",
        "            if stage == STAGES:\n                stage = 0\n        phase ^= 0\n",
        *EARLY,
        "over-arrival",
        "overwrite-in-use",
    ),
    "wait for the other stage": turn("stage", RING, "while not", "while not", "read-before-wait"),
    "read of the other stage": turn("stage", RING, "out[k * ROWS", "out[k * ROWS", "read-before-wait"),
    "consumer waits for the other stage": turn(
        "stage", "product", "ptx.mbarrier_wait_parity(full[s]", "ptx.mbarrier_wait_parity(full[(s", "read-before-wait"
    ),
    "full barrier not waited for": drop(
        "every_consumer_arrives, 4 tiles", "ptx.mbarrier_wait_parity(full[s]", "read-before-wait"
    ),
    "full barrier of a product not waited for": drop("product", "ptx.mbarrier_wait_parity(full[s]", "read-before-wait"),
    "one of two warps does not wait": hand(
        "each_promises_its_own",
        "    ptx.mbarrier_wait_parity(bar, 0)\n",
        "    if tid < 32:\n        ptx.mbarrier_wait_parity(bar, 0)\n",
        "read-before-wait",
    ),
    "one thread waits, nothing tells the others": drop("one_waits_for_all", "cuda.syncthreads()", "read-before-wait"),
    "stored before it was loaded": drop(
        "store_what_was_loaded", "ptx.mbarrier_wait_parity(bar, 0)", "read-before-wait"
    ),
    "stored, then waited for": swap(
        "store_what_was_loaded",
        "ptx.mbarrier_wait_parity(bar, 0)",
        "ptx.cp_async_bulk_tensor_2d_store",
        "read-before-wait",
    ),
    "computed before it was loaded": drop("load_compute_store", "ptx.mbarrier_wait_parity(full", "read-before-wait"),
    "cp.async not waited for": drop("cp_async_and_syncthreads", "ptx.cp_async_wait_group(0)", "read-before-wait"),
    "cp.async not committed": drop("cp_async_and_syncthreads", "ptx.cp_async_commit_group()", "read-before-wait"),
    "cp.async not handed over": drop("cp_async_and_syncthreads", "cuda.syncthreads()", "read-before-wait"),
    "cp.async of the other kind of group": turn(
        "instead", "cp_async_and_syncthreads", "ptx.cp_async_wait_group", "ptx.cp_async_bulk", "read-before-wait"
    ),
    "cp.async one group too weak": turn(
        "more", "cp_async_pipeline, 4 tiles", "ptx.cp_async_wait_group(1)", "ptx", "read-before-wait"
    ),
}
