"""Where a kernel makes nothing of a False but to ask again, and where it does: the number of orders tells."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import device, explore, kernel, ptx


def orders(body):
    """How many orders a kernel has in which thread 1 waits, as `body` does, for one arrival of thread 0."""

    @kernel
    def waits(out):
        bar = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bar, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_arrive(bar)
        else:
            body(bar, out)

    found = explore(waits, 1, 2, (np.zeros(4, np.int32),), exhaustive=True)
    assert found.complete
    return found.explored


@device
def loop(bar, out):
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        pass


@device
def asks_in_a_loop(bar, out):
    while not ptx.mbarrier_test_wait_parity(bar, 0):
        pass
    out[0] = 1


@device
def helper(bar, out):
    ptx.mbarrier_wait_parity(bar, 0)


@device
def tries_then_waits(bar, out):
    if not ptx.mbarrier_try_wait_parity(bar, 0):
        ptx.mbarrier_wait_parity(bar, 0)
    out[0] = 1


@device
def tries_then_loops(bar, out):
    if not ptx.mbarrier_try_wait_parity(bar, 0):
        while not ptx.mbarrier_try_wait_parity(bar, 0):
            pass


@device
def breaks(bar, out):
    while True:
        if ptx.mbarrier_try_wait_parity(bar, 0):
            break


@pytest.mark.parametrize("body", [loop, asks_in_a_loop, helper, tries_then_waits, tries_then_loops, breaks])
def test_to_ask_again_is_to_wait(body):
    assert orders(body) == 1


@device
def counts(bar, out):
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        out[0] += 1


@device
def remembers(bar, out):
    tries = 0
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        tries += 1
    out[0] = tries


@device
def keeps_the_answer(bar, out):
    out[0] = ptx.mbarrier_try_wait_parity(bar, 0)


@device
def does_something_else_first(bar, out):
    if not ptx.mbarrier_try_wait_parity(bar, 0):
        out[1] = 1
        ptx.mbarrier_wait_parity(bar, 0)


@device
def goes_on_elsewhere(bar, out):
    if ptx.mbarrier_try_wait_parity(bar, 0):
        out[0] = 1
    else:
        ptx.mbarrier_wait_parity(bar, 0)
        out[0] = 2


@device
def gives_up(bar, out):
    for _ in range(3):
        if ptx.mbarrier_try_wait_parity(bar, 0):
            out[0] = 1
            break


@pytest.mark.parametrize(
    "body", [counts, remembers, keeps_the_answer, does_something_else_first, goes_on_elsewhere, gives_up]
)
def test_a_false_that_leads_to_something_is_an_order_of_its_own(body):
    assert orders(body) == 2
