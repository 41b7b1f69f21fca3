"""The kernels that ask what one copy does: a load into known shared memory, a store from it.

They are written in the kernel language, so the recorder runs them on the GPU and the tests in the simulator. One thread
issues the copy that a helper names; the others carry the images of shared memory in and out, as 64-bit words.

>>> from tmalab.recorded.kernels import LOADS
>>> LOADS[2]
<kernel load(tensor_map, before, after, at, bytes, coordinates)>
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import device, kernel, ptx
from tmalab.launch import Device, Kernel
from tmalab.recorded.case import BUFFER_BYTES

WORDS = BUFFER_BYTES // 8


@device
def load_1d(dst, tensor_map, c, bar):
    ptx.cp_async_bulk_tensor_1d(dst, tensor_map, c[0], bar)


@device
def load_2d(dst, tensor_map, c, bar):
    ptx.cp_async_bulk_tensor_2d(dst, tensor_map, c[0], c[1], bar)


@device
def load_3d(dst, tensor_map, c, bar):
    ptx.cp_async_bulk_tensor_3d(dst, tensor_map, c[0], c[1], c[2], bar)


@device
def load_4d(dst, tensor_map, c, bar):
    ptx.cp_async_bulk_tensor_4d(dst, tensor_map, c[0], c[1], c[2], c[3], bar)


@device
def load_5d(dst, tensor_map, c, bar):
    ptx.cp_async_bulk_tensor_5d(dst, tensor_map, c[0], c[1], c[2], c[3], c[4], bar)


@device
def store_1d(tensor_map, c, src):
    ptx.cp_async_bulk_tensor_1d_store(tensor_map, c[0], src)


@device
def store_2d(tensor_map, c, src):
    ptx.cp_async_bulk_tensor_2d_store(tensor_map, c[0], c[1], src)


@device
def store_3d(tensor_map, c, src):
    ptx.cp_async_bulk_tensor_3d_store(tensor_map, c[0], c[1], c[2], src)


@device
def store_4d(tensor_map, c, src):
    ptx.cp_async_bulk_tensor_4d_store(tensor_map, c[0], c[1], c[2], c[3], src)


@device
def store_5d(tensor_map, c, src):
    ptx.cp_async_bulk_tensor_5d_store(tensor_map, c[0], c[1], c[2], c[3], c[4], src)


@device
def fill(buffer, before):
    """The whole buffer from `before`, in sight of the copy engine."""
    for i in range(cuda.threadIdx.x, before.size, cuda.blockDim.x):
        buffer[i] = before[i]
    ptx.fence_proxy_async_shared_cta()


def load_kernel(copy: Device) -> Kernel:
    """A kernel that loads one box to byte `at` of the buffer, and hands out what the buffer then holds."""

    @kernel
    def load(tensor_map, before, after, at, bytes, coordinates):
        buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
        full = ptx.mbarrier_array(1)
        fill(buffer, before)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full[0], 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], bytes)
            copy(buffer[at // 8 :], tensor_map, coordinates, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(cuda.threadIdx.x, after.size, cuda.blockDim.x):
            after[i] = buffer[i]

    return load


def store_kernel(copy: Device) -> Kernel:
    """A kernel that stores one box from byte `at` of the buffer."""

    @kernel
    def store(tensor_map, before, at, coordinates):
        buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
        fill(buffer, before)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            copy(tensor_map, coordinates, buffer[at // 8 :])
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)

    return store


LOADS = dict(enumerate(map(load_kernel, (load_1d, load_2d, load_3d, load_4d, load_5d)), start=1))
STORES = dict(enumerate(map(store_kernel, (store_1d, store_2d, store_3d, store_4d, store_5d)), start=1))
