"""Clusters: peers that are not there yet or no longer, multicasts to the wrong CTAs, stages that a peer still uses,
hand-overs between CTAs at too narrow a scope."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand

ALL, SLICES = "one_loads_for_all, 2 CTAs", "each_loads_its_slice"
RING, LEADER = "multicast_ring, 2 CTAs, 5 tiles", "one_producer_for_all, 2 CTAs, 4 tiles"
TOKEN, RELAXED, WORLD, PEER = "token_passed_round", "relaxed_token", "global_memory_between_ctas", "promised_by_a_peer"
MEET = "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n"
START = f"        ptx.fence_mbarrier_init()\n{MEET}"
COPY_OUT = (
    "    for i in range(tid, ROWS * COLS, cuda.blockDim.x):\n"
    "        out[cuda.blockIdx.x * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]\n"
)
PROMISE = "        ptx.mbarrier_arrive_expect_tx(full, TILE)\n        if rank == 0:\n"
RELEASE = "            if tid - 32 < ctas:\n                ptx.mbarrier_arrive_cluster(empty[s], tid - 32)\n"

MUTANTS: dict[str, Mutant] = {
    # before a peer is there
    "peer may not have started": hand(ALL, START, "        ptx.fence_mbarrier_init()\n", "peer-not-started"),
    "CTAs meet alone": hand(ALL, MEET, "    cuda.syncthreads()\n", "peer-not-started"),
    "init not fenced": drop(ALL, "ptx.fence_mbarrier_init()", "init-not-visible"),
    "init not fenced, relaxed": drop(
        SLICES, "ptx.fence_mbarrier_init()", "init-not-visible", "barrier-not-initialised"
    ),
    "init not fenced in a ring": drop(RING, "ptx.fence_mbarrier_init()", "init-not-visible", "barrier-not-initialised"),
    "init fenced by another thread": hand(
        ALL,
        "        ptx.fence_mbarrier_init()\n",
        "    if tid == 1:\n        ptx.fence_mbarrier_init()\n",
        "init-not-visible",
    ),
    "init after the cluster barrier": hand(
        ALL,
        "    if tid == 0:\n        ptx.mbarrier_init(full, 1)\n" + START,
        MEET + "    if tid == 0:\n        ptx.mbarrier_init(full, 1)\n        ptx.fence_mbarrier_init()\n"
        "    cuda.syncthreads()\n",
        "init-not-visible",
        "barrier-not-initialised",
    ),
    # multicast
    "peer not armed": hand(
        ALL,
        PROMISE,
        PROMISE.replace(
            "        ptx",
            "        if rank == 1:\n            ptx.mbarrier_arrive(full)\n        else:\n            ptx",
            1,
        ),
        "multicast-mask",
        "too-few-bytes",
    ),
    "peer does not even arrive": hand(
        ALL,
        PROMISE,
        PROMISE.replace("        ptx", "        if rank == 0:\n            ptx", 1),
        "missing-arrival",
        "multicast-mask",
        "too-few-bytes",
    ),
    "mask beyond the cluster": hand(ALL, "ptx.cluster_nctarank()) - 1)", "ptx.cluster_nctarank()))", "multicast-mask"),
    "mask of all but its own CTA": hand(
        ALL, "ptx.cluster_nctarank()) - 1)", "ptx.cluster_nctarank()) - 2)", "multicast-mask", "too-many-bytes"
    ),
    "mask of its own CTA alone": hand(
        ALL, "(1 << ptx.cluster_nctarank()) - 1)", "1)", "multicast-mask", "too-many-bytes"
    ),
    "mask of nobody": hand(ALL, "(1 << ptx.cluster_nctarank()) - 1)", "0)", "multicast-mask"),
    "no multicast": hand(
        ALL,
        "ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full, (1 << ptx.cluster_nctarank()) - 1)",
        "ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full)",
        "too-many-bytes",
    ),
    "every CTA loads for all": hand(
        ALL, "        if rank == 0:\n", "        if rank >= 0:\n", "too-few-bytes", "overwrite-in-use"
    ),
    "only its own slice expected": hand(SLICES, "expect_tx(full, TILE)", "expect_tx(full, TILE // 2)", "too-few-bytes"),
    "slice for its own CTA alone": hand(SLICES, "full, 0b11)", "full, 1 << rank)", "multicast-mask", "too-many-bytes"),
    "both load one slice": hand(
        SLICES,
        "multicast(tile[rank * HALF], tensor_map",
        "multicast(tile[0], tensor_map",
        "overwrite-in-use",
    ),
    "multicast not waited for": drop(ALL, "ptx.mbarrier_wait_parity(full, 0)", "read-before-wait"),
    "multicast waited for by its issuer alone": hand(
        ALL,
        "    ptx.mbarrier_wait_parity(full, 0)\n",
        "    if rank == 0:\n        ptx.mbarrier_wait_parity(full, 0)\n",
        "read-before-wait",
    ),
    "multicast and parity 1": hand(
        ALL, "wait_parity(full, 0)", "wait_parity(full, 1)", "wrong-parity", "read-before-wait"
    ),
    "peer's promise missing": drop(
        PEER,
        "ptx.mbarrier_arrive_expect_tx_cluster(full, 1, TILE)",
        "missing-arrival",
        "multicast-mask",
        "too-few-bytes",
    ),
    "promised to itself twice": hand(
        PEER, "expect_tx_cluster(full, 1, TILE)", "expect_tx_cluster(full, 0, TILE)", "over-arrival", "too-many-bytes"
    ),
    # a stage that a peer still uses
    "stage released to its own CTA alone": hand(
        RING,
        RELEASE,
        "            if tid == 32:\n                ptx.mbarrier_arrive(empty[s], ctas)\n",
        "overwrite-in-use",
    ),
    "stage released by one CTA for all": hand(
        RING, "mbarrier_init(empty[s], ctas)", "mbarrier_init(empty[s], 1)", "overwrite-in-use", "over-arrival"
    ),
    "stage released to CTA 0 alone": hand(
        RING, "            if tid - 32 < ctas:\n", "            if tid == 32:\n", "missing-arrival"
    ),
    "stage not waited for": drop(RING, "ptx.mbarrier_wait_parity(empty[s]", "overwrite-in-use"),
    "warp releases without syncwarp": drop(RING, "cuda.syncwarp()", "overwrite-in-use"),
    "leader does not count its peers": hand(
        LEADER, "ctas if rank == 0 else 1", "1 if rank == 0 else 1", "overwrite-in-use", "over-arrival"
    ),
    "peers do not tell the leader": hand(
        LEADER,
        "                if rank > 0:\n                    ptx.mbarrier_arrive_cluster(empty[s], 0)\n",
        "",
        "missing-arrival",
    ),
    "too many CTAs counted": hand(
        RING, "mbarrier_init(empty[s], ctas)", "mbarrier_init(empty[s], ctas + 1)", "missing-arrival"
    ),
    "ring and the slice's bytes alone": hand(
        RING, "arrive_expect_tx(full[s], TILE)", "arrive_expect_tx(full[s], TILE // 2)", "too-few-bytes"
    ),
    "ring without its peers in the mask": hand(
        RING, "full[s], (1 << ctas) - 1\n", "full[s], 1 << rank\n", "multicast-mask", "too-many-bytes"
    ),
    # exits
    "no tail": hand(
        RING,
        "            for k in range(tiles, tiles + STAGES):\n"
        "                ptx.mbarrier_wait_parity(empty[k % STAGES], (k // STAGES) % 2 ^ 1)\n",
        "",
        "exit-in-flight",
    ),
    "tail too short": hand(RING, "range(tiles, tiles + STAGES)", "range(tiles, tiles + STAGES - 1)", "exit-in-flight"),
    "leader leaves before its peers arrive": hand(
        LEADER,
        "                    ptx.mbarrier_arrive_cluster(empty[s], 0)\n" + MEET,
        "                    ptx.mbarrier_arrive_cluster(empty[s], 0)\n",
        "exit-in-flight",
    ),
    "peer leaves before a multicast has come": hand(
        ALL,
        "    ptx.mbarrier_wait_parity(full, 0)\n" + COPY_OUT,
        "    if rank == 0:\n        ptx.mbarrier_wait_parity(full, 0)\n",
        "exit-in-flight",
    ),
    # hand-overs between CTAs
    "arrive at CTA scope": hand(TOKEN, "arrive_cluster_cluster_scope(", "arrive_cluster(", "scope-too-narrow"),
    "wait at CTA scope": hand(TOKEN, "try_wait_parity_cluster_scope(", "try_wait_parity(", "scope-too-narrow"),
    "relaxed arrive to a peer": hand(
        TOKEN, "arrive_cluster_cluster_scope(", "arrive_cluster_relaxed_cluster_scope(", "data-race"
    ),
    "token not waited for": hand(
        TOKEN,
        "            while not ptx.mbarrier_try_wait_parity_cluster_scope(turn, 0):\n                pass\n",
        "            pass\n",
        "data-race",
    ),
    "token to the wrong CTA": hand(TOKEN, "(turn, rank + 1)", "(turn, rank)", "missing-arrival", "over-arrival"),
    "token to a CTA that is not there": hand(TOKEN, "if rank + 1 < ctas", "if rank < ctas", "out-of-bounds"),
    "no fence before a relaxed arrive": drop(RELAXED, "ptx.fence_acq_rel_cluster()", "data-race", nth=0),
    "no fence after a relaxed wait": drop(RELAXED, "ptx.fence_acq_rel_cluster()", "data-race", nth=1),
    "cluster barrier not waited in": drop(WORLD, "ptx.barrier_cluster_wait()", "data-race"),
    "cluster barrier without an arrive": drop(WORLD, "ptx.barrier_cluster_arrive()", "barrier-mismatch"),
    "no cluster barrier": hand(WORLD, MEET, "", "data-race"),
    "syncthreads in a cluster": hand(WORLD, MEET, "    cuda.syncthreads()\n", "data-race"),
    "relaxed cluster barrier": hand(WORLD, "cluster_arrive()", "cluster_arrive_relaxed()", "data-race"),
    "some threads do not meet the others": hand(
        WORLD, MEET, "    if tid < 16 or rank == 0:\n" + MEET.replace("    ptx", "        ptx"), "data-race"
    ),
    "arrives twice": hand(WORLD, MEET, "    ptx.barrier_cluster_arrive()\n" + MEET, "barrier-mismatch"),
}
