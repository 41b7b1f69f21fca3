"""Stores: sources that are not in the copy engine's sight, reused or gone too early, results that are not there yet."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

RING, BACK, ONE = "store_ring, 5 tiles", "read_back", "one_warp_stores_its_own"
ROLES, TWICE = "load_compute_store", "written_then_loaded"
FENCE = "    ptx.fence_proxy_async()\n"
STORE = "    cuda.syncthreads()\n    if tid == 0:\n        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)\n"

MUTANTS: dict[str, Mutant] = {
    "no proxy fence": drop(RING, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "no proxy fence in a role": drop(ROLES, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "no proxy fence after cp.async": drop("cp_async_then_store", "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "no proxy fence before a load of written memory": drop(
        TWICE, "ptx.fence_proxy_async_global()", "missing-proxy-fence"
    ),
    "no proxy fence before the next load": hand(
        "load_change_store",
        "        ptx.fence_proxy_async()\n        cuda.syncthreads()\n        if tid == 0:\n"
        "            ptx.cp_async_bulk_tensor_2d_store(target, 0, k * ROWS, tile)\n"
        "            ptx.cp_async_bulk_commit_group()\n            ptx.cp_async_bulk_wait_group_read(0)\n",
        "",
        "missing-proxy-fence",
    ),
    "proxy fence before the writes": swap(BACK, "for i in range", "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "proxy fence after the store": hand(BACK, FENCE + STORE, STORE + "    " + FENCE, "missing-proxy-fence"),
    "proxy fence after the hand-over": swap(
        ROLES, "ptx.fence_proxy_async()", "ptx.barrier_arrive(1 + k % 2, 96)", "missing-proxy-fence"
    ),
    "proxy fence by one writer of many": hand(
        RING,
        "        ptx.fence_proxy_async()\n",
        "        if tid == 1:\n            ptx.fence_proxy_async()\n",
        "missing-proxy-fence",
    ),
    "proxy fence for global memory": turn(
        "instead", RING, "ptx.fence_proxy_async()", "ptx.fence_proxy_async_global", "proxy-fence-space"
    ),
    "proxy fence for shared memory": turn(
        "instead", TWICE, "ptx.fence_proxy_async_global", "ptx.fence_proxy_async_shared_cta", "proxy-fence-space"
    ),
    "another fence for a proxy fence": turn(
        "instead", RING, "ptx.fence_proxy_async()", "ptx.fence_acq_rel_cluster", "missing-proxy-fence"
    ),
    "no barrier between the writes and the store": drop(BACK, "cuda.syncthreads()", "data-race", "store-source-reuse"),
    "store before the barrier": swap(
        "over_the_edge", "cuda.syncthreads()", "if tid == 0:", "data-race", "store-source-reuse", "uninitialised-read"
    ),
    "writes of a warp stored without syncwarp": drop(
        ONE, "cuda.syncwarp()", "data-race", "store-source-reuse", "uninitialised-read"
    ),
    "source reused before it is read": drop(RING, "ptx.cp_async_bulk_wait_group_read(1)", "store-source-reuse"),
    "source reused behind the wait": swap(RING, "if tid == 0:", "cuda.syncthreads()", "store-source-reuse"),
    "wait one group too weak": turn("more", RING, "ptx.cp_async_bulk_wait_group_read(1)", "ptx", "store-source-reuse"),
    "wait for two groups of three": turn(
        "more", "two_stores_a_group", "ptx.cp_async_bulk_wait_group_read(2)", "ptx", "store-source-reuse"
    ),
    "wait in a role too weak": turn("more", ROLES, "ptx.cp_async_bulk_wait_group_read(1)", "ptx", "store-source-reuse"),
    "waited for by another thread": turn("more", RING, "if tid == 0:", "if tid == 1:", "store-source-reuse"),
    "waited for as cp.async": turn(
        "instead", RING, "ptx.cp_async_bulk_wait_group_read(1)", "ptx.cp_async_wait_group", "store-source-reuse"
    ),
    "the other buffer stored": turn(
        "stage", RING, "ptx.cp_async_bulk_tensor_2d_store", "ptx", "store-source-reuse", "uninitialised-read"
    ),
    "the other buffer filled": turn(
        "stage", RING, "ring[k % 2, i // COLS", "ring[", "store-source-reuse", "uninitialised-read"
    ),
    "one commit for two stores too early": swap(
        "two_stores_a_group",
        "ptx.cp_async_bulk_tensor_2d_store(right",
        "ptx.cp_async_bulk_commit_group()",
        "store-source-reuse",
        "store-not-committed",
    ),
    "hand-back before the source is read": hand(
        ROLES,
        "                ptx.cp_async_bulk_wait_group_read(1)\n            cuda.syncwarp()\n            if k > 0:\n"
        "                ptx.barrier_arrive(3 + (k - 1) % 2, 96)\n",
        "                ptx.cp_async_bulk_wait_group_read(1)\n            cuda.syncwarp()\n"
        "            ptx.barrier_arrive(3 + k % 2, 96)\n",
        "store-source-reuse",
    ),
    "result read after .read alone": turn(
        "instead", BACK, "ptx.cp_async_bulk_wait_group(0)", "ptx.cp_async_bulk_wait_group_read", "store-not-waited"
    ),
    "result loaded after .read alone": turn(
        "instead", TWICE, "ptx.cp_async_bulk_wait_group(0)", "ptx.cp_async_bulk_wait_group_read", "store-not-waited"
    ),
    "result read, nothing waited for": drop(BACK, "ptx.cp_async_bulk_wait_group(0)", "store-not-waited"),
    "result read, one group pending": turn("more", BACK, "ptx.cp_async_bulk_wait_group(0)", "ptx", "store-not-waited"),
    "result read before the barrier": drop(BACK, "cuda.syncthreads()", "data-race", "store-not-waited", nth=1),
    "store not committed": drop(BACK, "ptx.cp_async_bulk_commit_group()", "store-not-committed"),
    "last store not committed": drop(ONE, "ptx.cp_async_bulk_commit_group()", "store-not-committed"),
    "commit before the store": swap(
        ONE, "ptx.cp_async_bulk_tensor_2d_store", "ptx.cp_async_bulk_commit_group()", "store-not-committed"
    ),
    "wait before the commit": swap(
        ONE, "ptx.cp_async_bulk_commit_group()", "ptx.cp_async_bulk_wait_group_read", "exit-in-flight"
    ),
    "committed by another thread": hand(
        "over_the_edge",
        "        ptx.cp_async_bulk_commit_group()\n",
        "    if tid == 1:\n        ptx.cp_async_bulk_commit_group()\n",
        "store-not-committed",
    ),
    "committed as cp.async": turn(
        "instead", BACK, "ptx.cp_async_bulk_commit_group()", "ptx.cp_async_commit_group", "store-not-committed"
    ),
    "no wait before the exit": drop(ONE, "ptx.cp_async_bulk_wait_group_read(0)", "exit-in-flight"),
    "last wait one group too weak": turn(
        "more", "over_the_edge", "ptx.cp_async_bulk_wait_group_read(0)", "ptx", "exit-in-flight"
    ),
}
