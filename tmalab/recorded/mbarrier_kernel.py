"""The kernel that asks what an mbarrier does: it performs operations from an array, and notes what each left.

Each step is done by one thread of the CTA, and all meet after it. `raw` also notes the 64 bits of the barrier after it
was invalidated, which the simulator would call garbage: the recorder does, on the GPU alone. Before, they do not lie in
memory.

>>> from tmalab.recorded.mbarrier_kernel import mbarrier_sequence
>>> mbarrier_sequence
<kernel mbarrier_sequence(steps, seen, raw)>
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import device, kernel, ptx
from tmalab.recorded.barrier_case import (
    ANSWER,
    ARRIVE,
    ARRIVE_EXPECT_TX,
    COMPLETE_TX,
    DROP,
    EXPECT_TX,
    INIT,
    INVAL,
    NO_COMPLETE,
    PARITY_0,
    PARITY_1,
    PENDING_COUNT,
    STATE,
    TEST_WAIT,
    TEST_WAIT_PARITY,
    WORD,
)


@device
def change(bar, operation, amount):
    """Do what changes the barrier; the state that it gives, or 0."""
    state = 0
    if operation == INIT:
        ptx.mbarrier_init(bar, amount)
    elif operation == INVAL:
        ptx.mbarrier_inval(bar)
    elif operation == ARRIVE:
        state = ptx.mbarrier_arrive(bar, amount)
    elif operation == NO_COMPLETE:
        state = ptx.mbarrier_arrive_no_complete(bar, amount)
    elif operation == DROP:
        state = ptx.mbarrier_arrive_drop(bar, amount)
    elif operation == ARRIVE_EXPECT_TX:
        state = ptx.mbarrier_arrive_expect_tx(bar, amount)
    elif operation == EXPECT_TX:
        ptx.mbarrier_expect_tx(bar, amount)
    elif operation == COMPLETE_TX:
        ptx.mbarrier_complete_tx(bar, amount)
    return state


@kernel
def mbarrier_sequence(steps, seen, raw):
    bar = ptx.mbarrier_array(1)
    live = 0
    for i in range(steps.shape[0]):
        operation, amount = steps[i, 0], steps[i, 1]
        if operation == INIT:
            live = 1
        elif operation == INVAL:
            live = 0
        if cuda.threadIdx.x == steps[i, 2]:
            state = change(bar[0], operation, amount)
            seen[i, STATE] = state
            if ARRIVE <= operation <= ARRIVE_EXPECT_TX:
                seen[i, PENDING_COUNT] = ptx.mbarrier_pending_count(state)
            elif operation == TEST_WAIT:
                seen[i, ANSWER] = ptx.mbarrier_test_wait(bar[0], seen[amount, STATE])
            elif operation == TEST_WAIT_PARITY:
                seen[i, ANSWER] = ptx.mbarrier_test_wait_parity(bar[0], amount)
            if live == 1:
                seen[i, PARITY_0] = ptx.mbarrier_test_wait_parity(bar[0], 0)
                seen[i, PARITY_1] = ptx.mbarrier_test_wait_parity(bar[0], 1)
            elif raw == 1:  # an atomic that changes nothing: the compiler would move an ordinary read
                seen[i, WORD] = np.int64(cuda.atomic.add(bar, (0, 0), np.uint64(0)))
        cuda.syncthreads()
