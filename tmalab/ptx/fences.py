"""Fences: between the proxies, and before others may use a barrier or a map.

Threads work through the generic proxy, the copy engine through the asynchronous one. A barrier orders two threads; it
does not carry what one of them stored to the copy engine's sight. That takes fence_proxy_async, by the thread that
stored, before the barrier.
"""

from __future__ import annotations

from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import MapRow


@instruction("fence.proxy.async;")
def fence_proxy_async(thread) -> None:
    """Carry all that this thread wrote, or has seen, to the asynchronous proxy, in every state space.

    Source: PTX ISA, fence.proxy.async.
    """
    thread.fences.proxy_async(None)


@instruction("fence.proxy.async.shared::cta;")
def fence_proxy_async_shared_cta(thread) -> None:
    """fence_proxy_async for this CTA's shared memory alone. Source: PTX ISA, fence.proxy.async."""
    thread.fences.proxy_async("shared::cta")


@instruction("fence.proxy.async.shared::cluster;")
def fence_proxy_async_shared_cluster(thread) -> None:
    """fence_proxy_async for the shared memory of the cluster alone. Source: PTX ISA, fence.proxy.async."""
    thread.fences.proxy_async("shared::cluster")


@instruction("fence.proxy.async.global;")
def fence_proxy_async_global(thread) -> None:
    """fence_proxy_async for global memory alone. Source: PTX ISA, fence.proxy.async."""
    thread.fences.proxy_async("global")


@instruction("fence.mbarrier_init.release.cluster;")
def fence_mbarrier_init(thread) -> None:
    """Release this thread's mbarrier_init to the cluster; a cluster barrier then shows it to the other CTAs.

    Source: PTX ISA, fence.mbarrier_init.
    """
    thread.fences.mbarrier_init()


@instruction("fence.acq_rel.cta;")
def fence_acq_rel_cta(thread) -> None:
    """Acquire and release at CTA scope, for relaxed operations and atomics beside it. Source: PTX ISA, fence."""
    thread.fences.acq_rel("cta")


@instruction("fence.acq_rel.cluster;")
def fence_acq_rel_cluster(thread) -> None:
    """Acquire and release at cluster scope, for relaxed operations and atomics beside it. Source: PTX ISA, fence."""
    thread.fences.acq_rel("cluster")


@instruction("fence.acq_rel.gpu;")
def fence_acq_rel_gpu(thread) -> None:
    """Acquire and release at the scope of the GPU, for relaxed operations and atomics beside it.

    What CTAs hand over through global memory takes one before the atomic that tells, and one after the atomic that
    hears of it. `cuda.threadfence()` is the same. Source: PTX ISA, fence.
    """
    thread.fences.acq_rel("gpu")


@instruction("fence.acq_rel.sys;")
def fence_acq_rel_sys(thread) -> None:
    """fence_acq_rel_gpu towards the host and other GPUs as well. Source: PTX ISA, fence."""
    thread.fences.acq_rel("gpu")


@instruction("fence.proxy.tensormap::generic.acquire.gpu [$tensor_map], 128;")
def fence_proxy_tensormap_acquire(thread, tensor_map: MapRow) -> None:
    """See the 128 bytes of a map in global memory as this GPU last wrote them, before a copy uses the map.

    Once per map and CTA. A map that is a kernel argument needs none. Source: PTX ISA, fence.proxy.tensormap.
    """
    thread.fences.proxy_tensormap_acquire(tensor_map, scope="gpu")


@instruction("fence.proxy.tensormap::generic.acquire.sys [$tensor_map], 128;")
def fence_proxy_tensormap_acquire_sys(thread, tensor_map: MapRow) -> None:
    """fence_proxy_tensormap_acquire for a map that the host or another GPU wrote.

    Source: PTX ISA, fence.proxy.tensormap.
    """
    thread.fences.proxy_tensormap_acquire(tensor_map, scope="sys")


@instruction("fence.proxy.tensormap::generic.release.gpu;")
def fence_proxy_tensormap_release(thread) -> None:
    """Release this thread's edits of maps to this GPU's copies; the users acquire.

    Source: PTX ISA, fence.proxy.tensormap.
    """
    thread.fences.proxy_tensormap_release(scope="gpu")


@instruction("fence.proxy.tensormap::generic.release.sys;")
def fence_proxy_tensormap_release_sys(thread) -> None:
    """fence_proxy_tensormap_release towards other GPUs and the host. Source: PTX ISA, fence.proxy.tensormap."""
    thread.fences.proxy_tensormap_release(scope="sys")
