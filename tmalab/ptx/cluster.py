"""Clusters: CTAs that run at the same time and reach each other's shared memory and barriers.

A CTA's rank in its cluster is what multicast masks and remote operations name it by. Before a CTA touches a peer's
shared memory, and before it exits while peers may still touch its own, all meet in a cluster barrier.

>>> from tmalab import ptx
>>> ptx.barrier_cluster_wait.text
'barrier.cluster.wait.acquire;'
"""

from __future__ import annotations

from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import U32, Shared


@instruction("mov.u32 $result, %cluster_ctarank;", pure=True)
def cluster_ctarank(thread) -> U32:
    """The rank of this CTA in its cluster, from 0; 0 where there is no cluster. Source: PTX ISA, %cluster_ctarank."""
    return thread.cluster.ctarank()


@instruction("mov.u32 $result, %cluster_nctarank;", pure=True)
def cluster_nctarank(thread) -> U32:
    """The number of CTAs in this cluster; 1 where there is no cluster. Source: PTX ISA, %cluster_nctarank."""
    return thread.cluster.nctarank()


@instruction("mapa.shared::cluster.u32 $result, $place, $cta_rank;", pure=True)
def mapa(thread, place: Shared, cta_rank: U32) -> U32:
    """The address of the same place in the CTA of rank `cta_rank`, in the cluster's window of shared memory.

    Operations on a peer take a place of the own CTA and the rank, and map by themselves; this shows what they do. The
    result is no address within this CTA. Source: PTX ISA, mapa.
    """
    return thread.cluster.mapa(place, cta_rank)


@instruction("barrier.cluster.arrive.release;")
def barrier_cluster_arrive(thread) -> None:
    """Arrive at the cluster barrier without waiting. Release at cluster scope.

    Every thread of the cluster arrives, then waits; one that has exited counts as arrived.
    Source: PTX ISA, barrier.cluster.
    """
    thread.cluster.barrier_arrive(release=True)


@instruction("barrier.cluster.arrive.relaxed;")
def barrier_cluster_arrive_relaxed(thread) -> None:
    """Arrive at the cluster barrier without waiting. Relaxed: it orders nothing.

    After fence_mbarrier_init it shows that mbarrier_init to the peers. Source: PTX ISA, barrier.cluster.
    """
    thread.cluster.barrier_arrive(release=False)


@instruction("barrier.cluster.wait.acquire;")
def barrier_cluster_wait(thread) -> None:
    """Wait until every thread of the cluster has arrived. Acquire at cluster scope: what they wrote before is seen.

    Source: PTX ISA, barrier.cluster.
    """
    thread.cluster.barrier_wait(acquire=True)
