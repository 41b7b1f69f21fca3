"""Mistakes in pipelines of other spellings, and in what their right neighbours are only just right by."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

STATES, BITS, EARLY, BY_HAND = "with_states, 7 tiles", "with_bits, 7 tiles", "armed_early", "credited_by_hand"
ARMS, KINDS, FRO, TWICE = "one_arms_for_two", "two_kinds_of_copies", "to_and_fro", "written_twice"
MEET, ROLES, NAMED = "meet_in_branches", "with_roles, 4 steps", "named_barriers"

MUTANTS: dict[str, Mutant] = {
    "state begins with the consumers' parity": hand(STATES, "state = (0, 1)", "state = (0, 0)", "wrong-parity"),
    "state not carried on": drop(
        STATES, "state = following(state)", "read-before-wait", "over-arrival", "deadlock", "missing-arrival", nth=1
    ),
    "stage released by the next state": hand(
        STATES,
        "            release(empty, state)\n            state = following(state)\n",
        "            state = following(state)\n            release(empty, state)\n",
        "overwrite-in-use",
        "over-arrival",
        "deadlock",
    ),
    "bit not flipped by the consumers": drop(
        BITS, "bits ^= 1 << s", "wrong-parity", "over-arrival", "read-before-wait", nth=1
    ),
    "bit not flipped by the producer": drop(BITS, "bits ^= 1 << s", "over-arrival", "overwrite-in-use", "phase-alias"),
    "producer's bits begin with one stage missing": hand(BITS, "bits = 7", "bits = 3", "wrong-parity"),
    "armed early and loaded early": hand(
        EARLY, "        cuda.syncthreads()\n        if tid == 0 and", "        if tid == 0 and", "overwrite-in-use"
    ),
    "credited before all have seen the last phase": drop(
        BY_HAND, "cuda.syncthreads()", "phase-alias", "data-race", nth=2
    ),
    "half credited by hand": turn(
        "less", BY_HAND, "ptx.mbarrier_complete_tx(bar, 16)", "ptx.mbarrier_complete_tx(bar, 15)", "too-many-bytes"
    ),
    "armed for one load of two": hand(ARMS, "2 * TILE", "TILE", "too-few-bytes"),
    "second loader does not wait": drop(
        ARMS, "ptx.mbarrier_wait_parity(empty[s]", "overwrite-in-use", "too-few-bytes", nth=1
    ),
    "cp.async not counted": hand(KINDS, "init(full[s], 33)", "init(full[s], 32)", "over-arrival"),
    "arrives before its cp.async": swap(
        KINDS, "ptx.cp_async(", "ptx.cp_async_mbarrier_arrive_noinc", "read-before-wait"
    ),
    "arrives beside its cp.async": turn(
        "instead", KINDS, "ptx.cp_async_mbarrier_arrive_noinc", "ptx.mbarrier_arrive(", "read-before-wait"
    ),
    "sent on before it was taken": drop(
        FRO, "ptx.mbarrier_wait_parity_cluster_scope(empty[s]", "store-source-reuse", "overwrite-in-use", "over-arrival"
    ),
    "sent without a proxy fence": drop(FRO, "ptx.fence_proxy_async_shared_cta()", "missing-proxy-fence"),
    "given back to itself": hand(
        FRO,
        "ptx.mbarrier_arrive_cluster_cluster_scope(empty[s], rank ^ 1)",
        "ptx.mbarrier_arrive(empty[s])",
        "store-source-reuse",
        "overwrite-in-use",
        "data-race",
    ),
    "one writer of two fences": hand(
        TWICE,
        "    ptx.fence_proxy_async()\n",
        "    if tid < 32:\n        ptx.fence_proxy_async()\n",
        "missing-proxy-fence",
    ),
    "the other writer fences": hand(
        TWICE,
        "    ptx.fence_proxy_async()\n",
        "    if tid > 31:\n        ptx.fence_proxy_async()\n",
        "missing-proxy-fence",
    ),
    "only one writer is waited for": turn(
        "instead", TWICE, "cuda.syncthreads()", "cuda.syncwarp()", "data-race", "store-source-reuse"
    ),
    "syncthreads in two branches of a warp": turn("less", MEET, "if tid < 32:", "if tid < 31:", "partial-warp"),
    "all arrive and nobody waits": hand(
        MEET, "    if tid < 32:\n", "    ptx.barrier_arrive(1, 64)\n    if tid < 32:\n", "barrier-mismatch"
    ),
    "some arrive and nobody waits": hand(
        MEET, "    if tid < 32:\n", "    ptx.barrier_arrive(1, 96)\n    if tid < 32:\n", "barrier-mismatch"
    ),
    "one lane of each warp waits for the operands": hand(
        ROLES,
        "ptx.mbarrier_wait_parity(full[step % 2], step // 2 % 2)",
        "if tid % 32 == 0:\n                ptx.mbarrier_wait_parity(full[step % 2], step // 2 % 2)",
        "read-before-wait",
    ),
}
