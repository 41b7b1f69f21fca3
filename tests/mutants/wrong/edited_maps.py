"""Maps in memory: edited while copies use them, not released, not acquired, or acquired too early."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap

OWN, SHARED, CLUSTER, TAPS = "address_replaced", "edited_in_shared_memory", "edited_for_a_cluster", "filter_taps"

MUTANTS: dict[str, Mutant] = {
    "replaced: edited map not released": drop(OWN, "ptx.fence_proxy_tensormap_release()", "map-not-acquired"),
    "replaced: edited map not acquired": drop(OWN, "ptx.fence_proxy_tensormap_acquire(", "map-not-acquired"),
    "replaced: edited map acquired too early": swap(
        OWN,
        "ptx.tensormap_replace_global_address(scratch[cta]",
        "ptx.fence_proxy_tensormap_release()",
        "map-not-acquired",
    ),
    "replaced: released after the acquire": swap(
        OWN, "ptx.fence_proxy_tensormap_release()", "ptx.fence_proxy_tensormap_acquire(", "map-not-acquired"
    ),
    "replaced: map edited in flight": hand(
        OWN,
        "        ptx.mbarrier_wait_parity(bar, k)\n",
        "        if k == 0 and tid == 0:\n            ptx.tensormap_replace_global_dim(scratch[cta], 1, 9)\n"
        "        ptx.mbarrier_wait_parity(bar, k)\n",
        "map-edited",
    ),
    "map edited before its store has read": drop(SHARED, "ptx.cp_async_bulk_wait_group_read(0)", "map-edited"),
    "rows that end within 16 bytes": hand(SHARED, "(edited, 0, 48)", "(edited, 0, 44)", "clip-overwrites"),
    "map in shared memory, no syncwarp": drop(SHARED, "cuda.syncwarp()", "data-race", nth=1),
    "map in shared memory, not acquired": drop(SHARED, "ptx.fence_proxy_tensormap_acquire(", "map-not-acquired"),
    "map acquired by one CTA for all": hand(
        CLUSTER,
        "        ptx.fence_proxy_tensormap_acquire(scratch[0])\n",
        "        if rank == 0:\n            ptx.fence_proxy_tensormap_acquire(scratch[0])\n",
        "map-not-acquired",
    ),
    "map edited by all CTAs": hand(CLUSTER, "        if rank == 0:\n", "        if rank >= 0:\n", "data-race"),
    "CTAs do not meet after the edit": hand(
        CLUSTER,
        "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n",
        "    cuda.syncthreads()\n",
        "map-edited",
    ),
    "taps of too few bytes": hand(TAPS, "3 * 128", "2 * 128", "too-few-bytes"),
    "a tap not waited for": drop(TAPS, "ptx.mbarrier_wait_parity(bar, 0)", "read-before-wait"),
}
