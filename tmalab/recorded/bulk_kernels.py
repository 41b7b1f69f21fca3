"""The kernels that ask what one copy without a map does: into shared memory, out of it, to a peer of the cluster.

>>> from tmalab.recorded.bulk_kernels import bulk_store
>>> bulk_store
<kernel bulk_store(memory, before, offset, at, bytes, how)>
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel, ptx
from tmalab.ptx.bulk_reductions import TO_GLOBAL, TO_PEER
from tmalab.recorded.kernels import WORDS, fill, meet
from tmalab.recorded.spelled import one_of

LOADS: dict[str, tuple[str, ...]] = {"load": ("cp_async_bulk",), "load cache hint": ("cp_async_bulk_cache_hint",)}
LOADS |= {"load prefetch": ("cp_async_bulk_prefetch", "cp_async_bulk")}
LOADS |= {"load multicast": ("cp_async_bulk_multicast",)}
TO_MEMORY = {"store": ("cp_async_bulk_store",), "store cache hint": ("cp_async_bulk_store_cache_hint",)}
TO_MEMORY |= {
    f"{operation} {element}": (f"cp_reduce_async_bulk_{operation}_{element}",)
    for operation, elements in TO_GLOBAL.items()
    for element in elements
}
TO_PEERS = {"to peer": ("cp_async_bulk_cluster",)}
TO_PEERS |= {
    f"{operation} {element}": (f"cp_reduce_async_bulk_cluster_{operation}_{element}",)
    for operation, elements in TO_PEER.items()
    for element in elements
}

load = one_of("dst, src, bytes, bar, cta_mask, policy", list(LOADS.values()))
store = one_of("dst, src, bytes, policy", list(TO_MEMORY.values()))
send = one_of("dst, cta_rank, src, bytes, bar", list(TO_PEERS.values()))


@kernel
def bulk_load(memory, before, after, offset, at, bytes, cta_mask, issuer, how):
    buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
    full = ptx.mbarrier_array(1)
    policy = ptx.createpolicy_fractional_evict_first()
    rank = ptx.cluster_ctarank()
    fill(buffer, before[rank])
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], bytes)
    meet()
    if cuda.threadIdx.x == 0 and rank == issuer:
        load(how, buffer[at // 8 :], memory[offset:], bytes, full[0], cta_mask, policy)
    if (cta_mask >> rank) & 1 == 1:
        ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(cuda.threadIdx.x, after.shape[1], cuda.blockDim.x):
        after[rank, i] = buffer[i]
    meet()


@kernel
def bulk_store(memory, before, offset, at, bytes, how):
    buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
    policy = ptx.createpolicy_fractional_evict_last()
    fill(buffer, before[0])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        store(how, memory[offset:], buffer[at // 8 :], bytes, policy)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


@kernel
def bulk_send(before, after, to, at, bytes, issuer, peer, how):
    buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
    full = ptx.mbarrier_array(1)
    rank = ptx.cluster_ctarank()
    fill(buffer, before[rank])
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], bytes)
    meet()
    if cuda.threadIdx.x == 0 and rank == issuer:
        send(how, buffer[to // 8 :], peer, buffer[at // 8 :], bytes, full[0])
    if rank == peer:
        ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(cuda.threadIdx.x, after.shape[1], cuda.blockDim.x):
        after[rank, i] = buffer[i]
    meet()
