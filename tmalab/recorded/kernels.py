"""The kernels that ask what one tensor copy does: a load into known shared memory, a store or reduction from it.

They are written in the kernel language, so the recorder runs them on the GPU and the tests in the simulator. One thread
issues the copy; the others carry the images of shared memory in and out, as 64-bit words.

>>> from tmalab.recorded.kernels import LOADS
>>> LOADS[2, False]
<kernel load(tensor_map, before, after, at, bytes, coordinates, offsets, how)>
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import device, kernel, ptx
from tmalab.launch import Device, Kernel
from tmalab.ptx.boxes import IM2COL, TILED, Box
from tmalab.recorded.case import BUFFER_BYTES
from tmalab.recorded.spelled import one_of
from tmalab.reductions import OPERATIONS

WORDS = BUFFER_BYTES // 8
LOAD_FORMS = ("", "cache hint", "prefetch", "prefetch of the map")  # a load, and what changes nothing of it
STORE_FORMS = ("store", "store cache hint", *OPERATIONS, "add cache hint")


@device
def fill(buffer, before):
    """The whole buffer from `before`, in sight of the copy engine."""
    for i in range(cuda.threadIdx.x, before.size, cuda.blockDim.x):
        buffer[i] = before[i]
    ptx.fence_proxy_async_shared_cta()


@device
def meet():
    """A cluster barrier: all that any CTA did is seen by all."""
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def load_kernel(copy: Device) -> Kernel:
    """A kernel that loads one box to byte `at` of the buffer, and hands out what the buffer then holds."""

    @kernel
    def load(tensor_map, before, after, at, bytes, coordinates, offsets, how):
        buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
        full = ptx.mbarrier_array(1)
        policy = ptx.createpolicy_fractional_evict_last()
        fill(buffer, before)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], bytes)
            copy(how, buffer[at // 8 :], tensor_map, coordinates, offsets, full[0], policy)
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(cuda.threadIdx.x, after.size, cuda.blockDim.x):
            after[i] = buffer[i]

    return load


def multicast_kernel(copy: Device) -> Kernel:
    """A kernel in which CTA `issuer` of a cluster loads one box for the CTAs in the mask; each hands out its buffer."""

    @kernel
    def multicast(tensor_map, before, after, at, bytes, coordinates, offsets, cta_mask, issuer):
        buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
        full = ptx.mbarrier_array(1)
        rank = ptx.cluster_ctarank()
        fill(buffer, before)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
            ptx.fence_mbarrier_init()
            ptx.mbarrier_arrive_expect_tx(full[0], bytes)
        meet()
        if cuda.threadIdx.x == 0 and rank == issuer:
            copy(0, buffer[at // 8 :], tensor_map, coordinates, offsets, full[0], cta_mask)
        if (cta_mask >> rank) & 1 == 1:
            ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(cuda.threadIdx.x, after.shape[1], cuda.blockDim.x):
            after[rank, i] = buffer[i]
        meet()

    return multicast


def store_kernel(copy: Device) -> Kernel:
    """A kernel that stores, or reduces, one box from byte `at` of the buffer."""

    @kernel
    def store(tensor_map, before, at, coordinates, how):
        buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
        policy = ptx.createpolicy_fractional_evict_first()
        fill(buffer, before)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            copy(how, tensor_map, coordinates, buffer[at // 8 :], policy)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)

    return store


def _loads(box: Box) -> Device:
    plain = f"cp_async_bulk_tensor_{box.rank}d{box.suffix}"
    prefetch = f"cp_async_bulk_prefetch_tensor_{box.rank}d{box.suffix}"
    choices = ((plain,), (f"{plain}_cache_hint",), (prefetch, plain), ("prefetch_tensormap", plain))
    return one_of("dst, tensor_map, coordinates, offsets, bar, policy", choices)


def _multicasts(box: Box) -> Device:
    name = f"cp_async_bulk_tensor_{box.rank}d{box.suffix}_multicast"
    return one_of("dst, tensor_map, coordinates, offsets, bar, cta_mask", ((name,),))


def _stores(box: Box) -> Device:
    store = f"cp_async_bulk_tensor_{box.rank}d_store{box.suffix}"
    reductions = [f"cp_reduce_async_bulk_tensor_{box.rank}d_{name}{box.suffix}" for name in OPERATIONS]
    names = (store, f"{store}_cache_hint", *reductions, f"{reductions[0]}_cache_hint")
    return one_of("tensor_map, coordinates, src, policy", [(name,) for name in names])


# By rank, and whether the box is an im2col map's.
LOADS = {(box.rank, box.im2col): load_kernel(_loads(box)) for box in (*TILED, *IM2COL)}
MULTICASTS = {(box.rank, box.im2col): multicast_kernel(_multicasts(box)) for box in (*TILED, *IM2COL)}
STORES = {(box.rank, box.im2col): store_kernel(_stores(box)) for box in (*TILED, *IM2COL)}
