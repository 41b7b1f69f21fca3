"""Mistakes where CTAs hand something over through global memory: no fence, a narrow one, no wait, too early."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand

LAST, TURN, MEET, TILE, LOCK = "last_one_adds_up", "in_turn", "all_meet", "tile_through_global", "spin_lock"
FENCE, WAITS = "cuda.threadfence()", "while cuda.atomic"

MUTANTS: dict[str, Mutant] = {
    "sum left without a fence": drop(LAST, FENCE, "data-race"),
    "sum left after the fence": hand(
        LAST,
        "        sums[cuda.blockIdx.x] = total\n        cuda.threadfence()\n",
        "        cuda.threadfence()\n        sums[cuda.blockIdx.x] = total\n",
        "data-race",
    ),
    "fence of the CTA for other CTAs": hand(
        LAST, "cuda.threadfence()", "cuda.threadfence_block()", "scope-too-narrow", "data-race"
    ),
    "last but one adds up": hand(LAST, "== cuda.gridDim.x - 1", "== cuda.gridDim.x - 2", "data-race"),
    "out of turn": drop(TURN, WAITS, "data-race"),
    "turn passed on without fences": drop(TURN, FENCE, "data-race"),
    "turn passed on before all are done": hand(
        TURN,
        "    cuda.syncthreads()\n    if tid == 0:\n        cuda.atomic",
        "    if tid == 0:\n        cuda.atomic",
        "data-race",
    ),
    "grid does not wait": drop(MEET, WAITS, "data-race"),
    "grid waits for all but one": hand(MEET, "< cuda.gridDim.x", "< cuda.gridDim.x - 1", "data-race", seeds=20),
    "cluster's fence for the grid": hand(
        "all_meet, in clusters",
        "        ptx.fence_acq_rel_gpu()\n        cuda.atomic.add(count",
        "        ptx.fence_acq_rel_cluster()\n        cuda.atomic.add(count",
        "scope-too-narrow",
        "data-race",
    ),
    "flag raised before the tile is written": hand(
        TILE, "wait_group(0)", "wait_group_read(0)", "store-not-waited", "data-race"
    ),
    "flag raised without a fence": hand(
        TILE, "            cuda.threadfence()\n            cuda", "            cuda", "data-race"
    ),
    "flag not waited for": drop(TILE, WAITS, "data-race"),
    "lock not taken": drop(LOCK, WAITS, "data-race"),
    "lock taken without a fence": drop(LOCK, "ptx.fence_acq_rel_cta()", "data-race"),
    "lock given back without a fence": drop(LOCK, "ptx.fence_acq_rel_cta()", "data-race", nth=1),
}
