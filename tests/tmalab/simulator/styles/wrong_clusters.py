"""Wrong edits of clusters: the kernel, what stands in it, what it becomes, names of which one is right."""

from __future__ import annotations

WRONG = [
    ("odd_masks", "0b1010", "0b1110", "too-few-bytes overwrite-in-use multicast-mask"),
    ("odd_masks", "0b1010", "0b0010", "multicast-mask too-many-bytes"),
    ("odd_masks", "bar, 0b0101)", "bar, 0b10101)", "multicast-mask"),
    (
        "odd_masks",
        "        ptx.fence_mbarrier_init()\n    ptx.barrier_cluster_arrive()",
        "    ptx.barrier_cluster_arrive_relaxed()",
        "init-not-visible",
    ),
    (
        "odd_masks",
        "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n",
        "    cuda.syncthreads()\n",
        "peer-not-started init-not-visible",
    ),
    (
        "odd_masks",
        "        ptx.mbarrier_arrive_expect_tx(bar, TILE)\n",
        "        if rank % 2:\n            ptx.mbarrier_arrive_expect_tx(bar, TILE)\n",
        "missing-arrival too-few-bytes multicast-mask",
    ),
    ("odd_masks", "tid == 32 and rank == 2", "tid >= 32 and rank == 2", "multiple-issue"),
    ("pair_ring", "empty[s], 2)", "empty[s], 1)", "over-arrival overwrite-in-use"),
    ("pair_ring", "arrive_cluster(empty[s], 0)", "arrive(empty[s])", "missing-arrival"),
    ("pair_ring", "arrive_cluster(empty[s], 0)", "arrive_cluster(empty[s], rank ^ 1)", "missing-arrival"),
    (
        "pair_ring",
        "                if k >= 2:\n                    ptx.mbarrier_wait_parity(full[s], k // 2 % 2 ^ 1)\n",
        "",
        "over-arrival",
    ),
    ("pair_ring", "full[s], 3)", "full[s], 1)", "multicast-mask too-many-bytes"),
    ("pair_ring", "full[s], 3)", "full[s], 2)", "multicast-mask too-many-bytes"),
    ("pair_ring", "            cuda.syncwarp()\n", "", "overwrite-in-use"),
    (
        "pair_ring",
        "            else:\n"
        "                if k >= 2:\n"
        "                    ptx.mbarrier_wait_parity(full[s], k // 2 % 2 ^ 1)\n"
        "                ptx.mbarrier_arrive_expect_tx(full[s], TILE)\n",
        "            else:\n"
        "                if k >= 2:\n"
        "                    ptx.mbarrier_wait_parity(full[s], k // 2 % 2 ^ 1)\n"
        "                ptx.mbarrier_arrive(full[s])\n",
        "too-few-bytes multicast-mask",
    ),
    (
        "pair_ring",
        "                ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)\n",
        "",
        "over-arrival overwrite-in-use",
    ),
    ("pair_ring", "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n", "", "exit-in-flight"),
    ("handing_over", "arrive_cluster_cluster_scope(turn", "arrive_cluster(turn", "scope-too-narrow"),
    ("handing_over", "arrive_cluster_cluster_scope(turn", "arrive_cluster_relaxed_cluster_scope(turn", "data-race"),
    (
        "handing_over",
        "            ptx.mbarrier_wait_parity_cluster_scope(turn",
        "            ptx.mbarrier_wait_parity(turn",
        "scope-too-narrow",
    ),
    (
        "handing_over",
        "    if rank == 0:\n        ptx.mbarrier_wait_parity_cluster_scope(turn, (rounds - 1) % 2)\n",
        "",
        "exit-in-flight",
    ),
    ("handing_over", "if rank == 1 or r > 0:", "if rank == 1 or r > 1:", "data-race over-arrival"),
    ("handing_over", "init(turn, 32)", "init(turn, 31)", "over-arrival data-race"),
    (
        "cluster_fence_relaxed",
        "        out[0, tid] = tid + 1\n        ptx.fence_acq_rel_cluster()\n",
        "        out[0, tid] = tid + 1\n",
        "data-race",
    ),
    ("cluster_fence_relaxed", "        ptx.fence_acq_rel_cluster()\n        out[1", "        out[1", "data-race"),
    (
        "cluster_fence_relaxed",
        "        ptx.fence_acq_rel_cluster()\n        out[1",
        "        ptx.fence_acq_rel_cta()\n        out[1",
        "data-race scope-too-narrow",
    ),
    (
        "cluster_fence_relaxed",
        "        ptx.fence_acq_rel_cluster()\n        ptx.mbarrier_arrive",
        "        ptx.fence_proxy_async()\n        ptx.mbarrier_arrive",
        "data-race",
    ),
    ("reduce_tree", "bar[level], 256)", "bar[level], 128)", "too-few-bytes"),
    ("reduce_tree", "        acc[level, tid] = 0\n", "        pass\n", "uninitialised-read"),
    ("reduce_tree", "    ptx.fence_proxy_async()\n", "", "missing-proxy-fence"),
    ("reduce_tree", "            ptx.mbarrier_wait_parity(bar[0], 0)\n", "", "read-before-wait data-race"),
    ("reduce_tree", "rank // 2, acc[0]", "rank // 3, acc[0]", "too-many-bytes too-few-bytes"),
    (
        "reduce_tree",
        "out[tid] = acc[2, tid]\n    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n",
        "out[tid] = acc[2, tid]\n",
        "exit-in-flight",
    ),
    ("leader_loads_all", "free, 3)", "free, 2)", "over-arrival overwrite-in-use too-few-bytes multicast-mask"),
    ("leader_loads_all", "range(1, 4)", "range(1, 3)", "too-many-bytes multicast-mask"),
    ("leader_loads_all", "range(1, 4)", "range(4)", "exit-in-flight too-few-bytes multicast-mask"),
    ("leader_loads_all", "            cuda.syncthreads()\n", "", "overwrite-in-use"),
    ("leader_loads_all", "free, k % 2)", "free, 0)", "overwrite-in-use wrong-parity too-few-bytes"),
    ("leader_loads_all", "1 << c", "1 << (c - 1)", "multicast-mask too-many-bytes"),
    ("quarter_slices", "empty[s], 4)", "empty[s], 3)", "over-arrival overwrite-in-use"),
    ("quarter_slices", "if tid < 4:", "if tid < 3:", "missing-arrival"),
    (
        "quarter_slices",
        "            for k in range(tiles, tiles + 2):\n"
        "                ptx.mbarrier_wait_parity(empty[k % 2], k // 2 % 2 ^ 1)\n",
        "",
        "exit-in-flight",
    ),
    ("quarter_slices", "ring[s, 2 * rank]", "ring[s, 0]", "overwrite-in-use multiple-issue"),
    ("quarter_slices", "expect_tx(full[s], TILE)", "expect_tx(full[s], TILE // 4)", "too-few-bytes"),
    ("quarter_slices", "full[s], 15)", "full[s], 1 << rank)", "too-many-bytes multicast-mask"),
    ("store_from_peer_data", "            ptx.mbarrier_wait_parity(ok, 0)\n", "", "exit-in-flight"),
    (
        "store_from_peer_data",
        "            ptx.mbarrier_wait_parity(bar, 0)\n            ptx.cp",
        "            ptx.cp",
        "read-before-wait",
    ),
    ("store_from_peer_data", "        ptx.fence_proxy_async_shared_cta()\n", "", "missing-proxy-fence"),
    (
        "store_from_peer_data",
        "        ptx.mbarrier_arrive_expect_tx(bar, TILE)\n",
        "        if rank == 0:\n            ptx.mbarrier_arrive_expect_tx(bar, TILE)\n",
        "missing-arrival too-few-bytes",
    ),
    ("store_from_peer_data", "tile, 1, tile, TILE, bar", "tile, 1, tile, TILE // 2, bar", "too-many-bytes"),
    ("two_d_cluster", "3 << (rank // 2 * 2)", "3", "too-few-bytes too-many-bytes multicast-mask"),
    ("two_d_cluster", "tile[4 * (bx % 2):]", "tile[0:]", "overwrite-in-use multiple-issue"),
    ("two_d_cluster", "expect_tx(bar, TILE)", "expect_tx(bar, TILE // 2)", "too-few-bytes"),
]
