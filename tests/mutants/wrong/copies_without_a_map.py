"""Bulk copies, copies between CTAs, reductions: sizes and ends, sources that go too early, sums that are not there."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, turn

BACK, SMALL, SUMS, ADDED = "there_and_back", "small_stages", "sums_by_copies, 2 CTAs", "sums_by_reduction, 2 CTAs"
ROUND, MANY, TWICE = "passed_round, 2 CTAs", "many_into_one_tile", "reduced_twice_then_read"
WRITTEN, COUNTS, LARGEST = "written_then_reduced", "histogram", "largest_of_a_cluster"
MEET = "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n"

MUTANTS: dict[str, Mutant] = {
    # bulk copies
    "bulk load past the end": hand(
        BACK, "cp_async_bulk(v, x, BYTES, bar)", "cp_async_bulk(v, x[16:], BYTES, bar)", "out-of-bounds"
    ),
    "bulk store past the end": hand(BACK, "cp_async_bulk_store(y, v", "cp_async_bulk_store(y[4:], v", "out-of-bounds"),
    "bulk load past the shared array": hand(
        SMALL, "ring[s], x[k * 16 :], 64", "ring[s, 12:], x[k * 16 :], 64", "out-of-bounds", "overwrite-in-use"
    ),
    "bulk load of more than expected": hand(SMALL, "expect_tx(full[s], 64)", "expect_tx(full[s], 32)", "too-few-bytes"),
    "bulk load to a misaligned place": hand(
        SMALL, "ring[s], x[k * 16 :], 64", "ring[s, 2:], x[k * 16 :], 64", "misaligned"
    ),
    "bulk load not waited for": drop(BACK, "ptx.mbarrier_wait_parity(bar, 0)", "read-before-wait"),
    "bulk stage filled again while read": drop(SMALL, "cuda.syncthreads()", "overwrite-in-use", "phase-alias", nth=1),
    "bulk store without a proxy fence": drop(BACK, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "bulk store not committed": drop(BACK, "ptx.cp_async_bulk_commit_group()", "store-not-committed"),
    "bulk store not waited for": drop(BACK, "ptx.cp_async_bulk_wait_group(0)", "exit-in-flight"),
    "bulk multicast to itself alone": hand(
        "bulk_multicast", "BYTES, bar, 3)", "BYTES, bar, 2)", "multicast-mask", "too-many-bytes"
    ),
    # copies between CTAs
    "copy to a peer without a proxy fence": drop(SUMS, "ptx.fence_proxy_async_shared_cta()", "missing-proxy-fence"),
    "copy to a peer before all have written": drop(
        SUMS, "cuda.syncwarp()", "data-race", "store-source-reuse", "uninitialised-read"
    ),
    "copy to a peer not waited for": drop(
        SUMS, "ptx.mbarrier_wait_parity(bar, 0)", "read-before-wait", "uninitialised-read"
    ),
    "copy to a peer, too few bytes": hand(SUMS, "128 * (ctas - 1)", "64 * (ctas - 1)", "too-few-bytes"),
    "copy to the wrong peer": hand(
        SUMS, "cluster(parts[rank], 0, part", "cluster(parts[rank], 1, part", "too-many-bytes", "too-few-bytes"
    ),
    "copies to one place": hand(
        "sums_by_copies, 4 CTAs", "cluster(parts[rank], 0, part", "cluster(parts[1], 0, part", "overwrite-in-use"
    ),
    "source leaves before it is read": hand(SUMS, "128, bar)\n" + MEET, "128, bar)\n", "exit-in-flight"),
    "copies before the peer has started": hand(
        SUMS,
        "    ptx.barrier_cluster_wait()\n    cuda.syncwarp()\n",
        "    cuda.syncwarp()\n",
        "peer-not-started",
        "barrier-mismatch",
    ),
    "box written again before it was read": hand(
        ROUND,
        "        while not ptx.mbarrier_try_wait_parity_cluster_scope(free, k % 2):\n            pass\n",
        "",
        "store-source-reuse",
    ),
    "box released at CTA scope": hand(
        ROUND, "arrive_cluster_cluster_scope(free", "arrive_cluster(free", "scope-too-narrow"
    ),
    "box filled again while it is read": hand(
        ROUND,
        "        seen = box[0, tid]\n        cuda.syncwarp()\n",
        "        cuda.syncwarp()\n        seen = box[0, tid]\n",
        "overwrite-in-use",
    ),
    "round without a proxy fence": drop(ROUND, "ptx.fence_proxy_async_shared_cta()", "missing-proxy-fence"),
    "fence for the wrong memory of the cluster": turn(
        "instead", ROUND, "ptx.fence_proxy_async_shared_cta()", "ptx.fence_proxy_async_global", "proxy-fence-space"
    ),
    # reductions
    "reduction without a proxy fence": drop(MANY, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "reduction and a plain store": hand(
        MANY,
        "reduce_async_bulk_tensor_2d_add(target, 0, 0, tile)",
        "async_bulk_tensor_2d_store(target, 0, 0, tile)",
        "data-race",
    ),
    "reduction not committed": drop(MANY, "ptx.cp_async_bulk_commit_group()", "store-not-committed"),
    "exit before a reduction has read": drop(MANY, "ptx.cp_async_bulk_wait_group_read(0)", "exit-in-flight"),
    "sum read before it is there": hand(
        TWICE, "cp_async_bulk_wait_group(0)", "cp_async_bulk_wait_group_read(0)", "store-not-waited"
    ),
    "sum waited for by one of two": hand(
        TWICE,
        "        ptx.cp_async_bulk_wait_group(0)\n",
        "        if tid == 0:\n            ptx.cp_async_bulk_wait_group(0)\n",
        "store-not-waited",
    ),
    "sum read without a barrier": drop(TWICE, "cuda.syncthreads()", "data-race", "store-not-waited", nth=1),
    "reduced onto what is still written": drop(
        WRITTEN, "cuda.syncthreads()", "data-race", "uninitialised-read", "store-source-reuse"
    ),
    "reduced onto what threads wrote, fenced for shared memory": hand(
        WRITTEN, "fence_proxy_async()", "fence_proxy_async_shared_cta()", "proxy-fence-space"
    ),
    "reduced onto what threads wrote, no fence": drop(WRITTEN, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "atomic beside a reduction": hand(
        COUNTS,
        "        ptx.cp_async_bulk_wait_group_read(0)\n",
        "        ptx.cp_async_bulk_wait_group_read(0)\n    if tid == 32:\n        cuda.atomic.add(counts, 0, 0)\n",
        "data-race",
    ),
    "counts reduced while they are counted": drop(
        COUNTS, "cuda.syncthreads()", "data-race", "store-source-reuse", nth=1
    ),
    "maximum read before the CTAs meet": hand(LARGEST, MEET, "", "data-race", "store-not-waited"),
    "maximum not waited for": hand(LARGEST, "wait_group(0)", "wait_group_read(0)", "store-not-waited"),
    "added to what nobody has written": hand(ADDED, "    total[tid] = 0\n", "", "uninitialised-read"),
    "added to what is not in sight": hand(
        ADDED,
        "    total[tid] = 0\n    ptx.fence_proxy_async()\n",
        "    ptx.fence_proxy_async()\n    total[tid] = 0\n",
        "missing-proxy-fence",
    ),
}
