"""Memory: alignment, bounds, garbage, neighbours; maps that are used as they stand in memory."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

COPY = "copy_tile"

MUTANTS: dict[str, Mutant] = {
    "too small an alignment": hand(COPY, "alignment=1024", "alignment=16", "misaligned"),
    "no alignment": hand(COPY, ", alignment=1024", "", "misaligned"),
    "stages too small to be aligned": hand(
        "store_ring, 5 tiles",
        "((2, ROWS, COLS), np.float16",
        "((2, ROWS, COLS - 1), np.float16",
        "misaligned",
        "out-of-bounds",
    ),
    "half a tile": hand(
        "load_change_store", "((ROWS, COLS), np.float16", "((ROWS // 2, COLS), np.float16", "out-of-bounds"
    ),
    "a stage too few": hand(
        "copy_column, 5 tiles", "((STAGES, ROWS, COLS), np.float16", "((1, ROWS, COLS), np.float16", "out-of-bounds"
    ),
    "row too far": hand(COPY, "= tile[i // COLS, i % COLS]", "= tile[i // COLS + 1, i % COLS]", "out-of-bounds"),
    "column before the first": hand(
        COPY, "= tile[i // COLS, i % COLS]", "= tile[i // COLS, i % COLS - 1]", "out-of-bounds"
    ),
    "tile stored with a part unwritten": hand(
        "one_warp_stores_its_own",
        "range(tid, ROWS * COLS, 32)",
        "range(tid, ROWS * COLS - 32, 32)",
        "uninitialised-read",
    ),
    "nothing written before the sum": drop("reduction_by_warps", "sums[warp] = part[warp, 0]", "uninitialised-read"),
    "bins not cleared": drop("histogram_by_atomics", "bins[tid] = 0", "uninitialised-read"),
    "garbage decides": hand(
        "the_same_flag",
        "    flag[0] = 7\n    cuda.syncthreads()\n    out[cuda.threadIdx.x] = flag[0]\n",
        "    cuda.syncthreads()\n    if flag[0] > 7:\n        out[cuda.threadIdx.x] = 1\n",
        "uninitialised-read",
    ),
    "map not acquired": drop("a_map_for_each_cta", "ptx.fence_proxy_tensormap_acquire_sys", "map-not-acquired"),
    "map acquired after the load": hand(
        "a_map_for_each_cta",
        "        ptx.fence_proxy_tensormap_acquire_sys(maps[cta])\n"
        "        ptx.mbarrier_arrive_expect_tx(bar, TILE)\n"
        "        ptx.cp_async_bulk_tensor_2d(tile, maps[cta], 0, 0, bar)\n",
        "        ptx.mbarrier_arrive_expect_tx(bar, TILE)\n"
        "        ptx.cp_async_bulk_tensor_2d(tile, maps[cta], 0, 0, bar)\n"
        "        ptx.fence_proxy_tensormap_acquire_sys(maps[cta])\n",
        "map-not-acquired",
    ),
    "map of the other CTA acquired": hand(
        "a_map_for_each_cta", "acquire_sys(maps[cta])", "acquire_sys(maps[1 - cta])", "map-not-acquired"
    ),
    "map of the host acquired for the GPU": turn(
        "instead",
        "a_map_for_each_cta",
        "ptx.fence_proxy_tensormap_acquire_sys",
        "ptx.fence_proxy_tensormap_acquire(",
        "map-not-acquired",
        "scope-too-narrow",
    ),
    "copied map not acquired": drop("map_is_copied", "ptx.fence_proxy_tensormap_acquire", "map-not-acquired"),
    "copied map not released": drop("map_is_copied", "ptx.fence_proxy_tensormap_release()", "map-not-acquired"),
    "another fence for a release": turn(
        "instead", "map_is_copied", "ptx.fence_proxy_tensormap_release", "ptx.fence_acq_rel_cluster", "map-not-acquired"
    ),
    "no barrier after the edit": drop(
        "map_is_copied", "cuda.syncthreads()", "map-edited", "data-race", "map-not-acquired", nth=1
    ),
    "edited before the load is waited for": drop(
        "map_is_copied", "ptx.mbarrier_wait_parity(bar, k)", "map-edited", "read-before-wait"
    ),
    "edited while the load uses it": swap(
        "map_is_copied", "ptx.mbarrier_wait_parity(bar, k)", "for i in range", "read-before-wait", "map-edited"
    ),
}
