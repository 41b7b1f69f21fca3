"""Threads among themselves: races, barriers that not all meet, warps of which a part is elsewhere, relaxed orders."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

NAMED, ROLES = "named_barriers", "producer_and_consumers, 5 tiles"

MUTANTS: dict[str, Mutant] = {
    "no syncthreads in the tree": drop("reduction", "cuda.syncthreads()", "data-race", nth=1),
    "no syncthreads before the tree": drop("reduction", "cuda.syncthreads()", "data-race"),
    "no syncwarp in the tree": drop("reduction_by_warps", "cuda.syncwarp()", "data-race", nth=1),
    "syncwarp between warps": turn(
        "instead", "reduction_by_warps", "cuda.syncthreads()", "cuda.syncwarp()", "data-race"
    ),
    "plain addition of several CTAs": hand(
        "reduction", "cuda.atomic.add(out, 0, part[0])", "out[0] += part[0]", "data-race"
    ),
    "plain addition to shared bins": hand(
        "histogram_by_atomics", "cuda.atomic.add(bins, x[i], 1)", "bins[x[i]] += 1", "data-race"
    ),
    "two CTAs write one tile": hand(
        "a_tile_for_each_cta", "out[cta * ROWS + i // COLS", "out[cta // 2 * ROWS + i // COLS", "data-race"
    ),
    "flags of different values": hand("the_same_flag", "flag[0] = 7", "flag[0] = cuda.threadIdx.x", "data-race"),
    "flag read before the barrier": swap(
        "the_same_flag", "cuda.syncthreads()", "out[", "data-race", "uninitialised-read"
    ),
    "turned without a barrier": drop("transpose", "cuda.syncthreads()", "data-race"),
    "tiles used before they are whole": drop("tiled_product", "cuda.syncthreads()", "data-race"),
    "tiles replaced while they are used": drop("tiled_product", "cuda.syncthreads()", "data-race", nth=1),
    "one buffer for two steps": hand(
        "in_step_by_mbarrier",
        "box[k % 2, tid] = value",
        "box[0, tid] = value",
        "data-race",
    ),
    "handed over before it is written": swap(
        "handed_over_by_mbarrier", "box[tid] = tid * tid", "ptx.mbarrier_arrive(bar)", "data-race"
    ),
    "taken without a wait": drop("handed_over_by_mbarrier", "ptx.mbarrier_wait_parity(bar, 0)", "data-race"),
    "relaxed arrive without a fence": drop("relaxed_with_fences", "ptx.fence_acq_rel_cluster()", "data-race"),
    "relaxed wait without a fence": drop("relaxed_with_fences", "ptx.fence_acq_rel_cluster()", "data-race", nth=1),
    "fence before the write": swap("relaxed_with_fences", "box[tid] = tid", "ptx.fence_acq_rel_cluster()", "data-race"),
    "relaxed arrive for a release": turn(
        "instead", "handed_over_by_mbarrier", "ptx.mbarrier_arrive(bar)", "ptx.mbarrier_arrive_relaxed", "data-race"
    ),
    # barriers that not all meet
    "syncthreads in a role": hand(
        NAMED, "            ptx.barrier_sync(2, 64)\n", "            cuda.syncthreads()\n", "barrier-mismatch"
    ),
    "syncthreads in one branch": hand(
        "store_ring, 5 tiles",
        "        cuda.syncthreads()\n        if tid == 0:\n            ptx.cp_async_bulk_tensor_2d_store",
        "        if tid == 0:\n            cuda.syncthreads()\n            ptx.cp_async_bulk_tensor_2d_store",
        "barrier-mismatch",
        "data-race",
        "store-source-reuse",
        "uninitialised-read",
    ),
    "syncthreads missed by those who leave": hand(
        "histogram_by_atomics",
        "    if tid >= 32:\n        cuda.syncthreads()\n        return\n    cuda.syncthreads()\n",
        "    if tid >= 32:\n        return\n    cuda.syncthreads()\n",
        "data-race",
    ),
    "named barrier for a warp more": hand(
        NAMED, "ptx.barrier_sync(1, 64)", "ptx.barrier_sync(1, 96)", "barrier-mismatch"
    ),
    "the other named barrier": turn(
        "more", NAMED, "ptx.barrier_sync(1, 64)", "ptx.barrier_sync(2, 64)", "barrier-mismatch", "data-race"
    ),
    "arrive in the place of a sync": turn(
        "instead", NAMED, "ptx.barrier_sync(2, 64)", "ptx.barrier_arrive", "barrier-mismatch", "data-race"
    ),
    "one arrive too many": drop(NAMED, "ptx.barrier_arrive(2, 64)", "barrier-mismatch", "deadlock"),
    "buffer handed back for the wrong turn": turn(
        "more",
        "load_compute_store",
        "ptx.barrier_arrive(3 + (k - 1) % 2, 96)",
        "ptx.barrier_arrive(3 + (k - 2) % 2, 96)",
        "barrier-mismatch",
        "store-source-reuse",
        "deadlock",
    ),
    # warps
    "elected by part of a warp": turn("less", ROLES, "if tid < 32:", "if tid < 31:", "partial-warp"),
    "elected by those who are left": hand(
        "ping_pong, 8 tiles",
        "    if warp == 2:\n        if ptx.elect_sync():\n",
        "    if warp == 2:\n        if tid % 32 >= 16:\n            return\n        if ptx.elect_sync():\n",
        "partial-warp",
    ),
    "syncwarp in one branch of a warp": hand(
        "reduction_by_warps",
        "            part[warp, lane] += part[warp, lane + n]\n        cuda.syncwarp()\n",
        "            part[warp, lane] += part[warp, lane + n]\n            cuda.syncwarp()\n",
        "partial-warp",
        "data-race",
    ),
}
