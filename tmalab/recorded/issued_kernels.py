"""The kernels that ask what copies do that several threads issue, each one of its own.

>>> from tmalab.recorded.issued_kernels import load_by_several
>>> load_by_several
<kernel load_by_several(tensor_map, before, after, threads, coordinates, bytes, each)>
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel, ptx
from tmalab.recorded.kernels import WORDS, fill


@kernel
def load_by_several(tensor_map, before, after, threads, coordinates, bytes, each):
    buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread, parts = cuda.threadIdx.x, threads.size
    fill(buffer, before)
    if thread == 0:
        ptx.mbarrier_init(full[0], parts if each == 1 else 1)
    cuda.syncthreads()
    if each == 0 and thread == threads[0]:
        ptx.mbarrier_arrive_expect_tx(full[0], parts * bytes)
    for k in range(parts):
        if thread == threads[k]:
            if each == 1:
                ptx.mbarrier_arrive_expect_tx(full[0], bytes)
            x, y = coordinates[k, 0], coordinates[k, 1]
            ptx.cp_async_bulk_tensor_2d(buffer[k * bytes // 8 :], tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, after.size, cuda.blockDim.x):
        after[i] = buffer[i]


@kernel
def store_by_several(tensor_map, before, threads, coordinates, bytes):
    buffer = cuda.shared.array(WORDS, np.int64, alignment=1024)
    fill(buffer, before)
    cuda.syncthreads()
    for k in range(threads.size):
        if cuda.threadIdx.x == threads[k]:
            x, y = coordinates[k, 0], coordinates[k, 1]
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, buffer[k * bytes // 8 :])
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)
