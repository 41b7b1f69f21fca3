"""The kernel that asks what a barrier does when the bytes that it was promised are not those that come.

Every CTA tries it by itself. It loads one box after another on one barrier, with a promise that may be wrong for each,
and all threads look at the barrier a bounded number of times: nothing can hang. As soon as a thread sees the phase
ended it counts the words of its share of the tile that have not come. When the loads are over, the barrier is
invalidated and its word noted, as tmalab.recorded.mbarrier_kernel does.

>>> from tmalab.recorded.promise_kernel import promised
>>> promised
<kernel promised(tensor_map, promises, ended, missing, waited, word, words, looks, raw)>
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import kernel, ptx

MOST_WORDS = 1024  # of a box, 8 bytes each
NOT_YET = -1  # a word that has not come; the memory that is loaded from holds none


@kernel
def promised(tensor_map, promises, ended, missing, waited, word, words, looks, raw):
    tile = cuda.shared.array(MOST_WORDS, np.int64, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
    going = 1
    for use in range(promises.size):
        for i in range(thread, words, cuda.blockDim.x):
            tile[i] = NOT_YET
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if going == 1:
            began = ptx.globaltimer()
            if thread == 0:
                ptx.mbarrier_arrive_expect_tx(full[0], promises[use])
                ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
            going = 0
            for _ in range(looks):
                if ptx.mbarrier_test_wait_parity(full[0], use & 1) and going == 0:  # looks on: nothing stays under way
                    going = 1
                    late = 0
                    for i in range(thread, words, cuda.blockDim.x):
                        if tile[i] == NOT_YET:
                            late += 1
                    ended[cta, use, thread] = 1
                    missing[cta, use, thread] = late
            waited[cta, use, thread] = ptx.globaltimer() - began
        cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_inval(full[0])
        if raw == 1:
            word[cta] = np.int64(cuda.atomic.add(full, (0, 0), np.uint64(0)))
