"""All distinct orders of small kernels: as many as brute force over every interleaving finds, and each of them once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from interleavings import Interleavings
from numba import cuda

from tests.portion import portion
from tmalab import TensorMap, device, explore, kernel, ptx

ROWS, COLS = 8, 16
TILE = ROWS * COLS * 2  # bytes
ARRIVE, PROMISE, EXPECT, WAIT, ASK, LOAD, MEET, TICKET, COUNT = range(1, 10)  # what a thread of `program` can do


@kernel
def program(what, tensor_map, out, counts):
    """Each thread does what its row says: (operation, barrier, number)."""
    tile = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(2)
    mine = cuda.threadIdx.x
    if mine == 0:
        ptx.mbarrier_init(bars[0], counts[0])
        ptx.mbarrier_init(bars[1], counts[1])
    cuda.syncthreads()
    for k in range(what.shape[1]):
        operation = what[mine, k, 0]
        bar = bars[what[mine, k, 1]]
        number = what[mine, k, 2]
        if operation == ARRIVE:
            ptx.mbarrier_arrive(bar)
        elif operation == PROMISE:
            ptx.mbarrier_arrive_expect_tx(bar, number)
        elif operation == EXPECT:
            ptx.mbarrier_expect_tx(bar, number)
        elif operation == WAIT:
            while not ptx.mbarrier_try_wait_parity(bar, number):
                pass
        elif operation == ASK:
            if ptx.mbarrier_try_wait_parity(bar, number):
                out[mine, k] = 1
        elif operation == LOAD:
            ptx.cp_async_bulk_tensor_2d(tile[number], tensor_map, 0, 0, bar)
        elif operation == MEET:
            cuda.syncthreads()
        elif operation == TICKET:
            out[mine, k] = cuda.atomic.add(out, (3, 0), 1)
        elif operation == COUNT:
            cuda.atomic.add(out, (3, 0), 1)


def arguments(threads, counts=(1, 1)):
    longest = max(map(len, threads))
    what = np.zeros((len(threads), longest, 3), np.int32)
    for row, operations in zip(what, threads):
        for place, operation in zip(row, operations):
            place[: len(operation)] = operation
    source = TensorMap.from_array(np.ones((ROWS, COLS), np.float16), (ROWS, COLS))
    return what, source, np.zeros((4, longest), np.int32), np.array(counts, np.int32)


PROGRAMS = {  # name: threads, counts of the barriers, orders
    "arrivals of one phase": ([[(ARRIVE,)], [(ARRIVE,)]], (2, 1), 1),
    "one arrival a phase, two arrive": ([[(ARRIVE,)], [(ARRIVE,)]], (1, 1), 2),
    "three for a phase of two": ([[(ARRIVE,)], [(ARRIVE,)], [(ARRIVE,)]], (2, 1), 3),
    "a wait, asked early or late": ([[(ARRIVE,)], [(WAIT, 0, 0)]], (1, 1), 1),
    "a wait for parity 1 beside an arrival": ([[(ARRIVE,)], [(WAIT, 0, 1)]], (1, 1), 2),
    "a wait that two arrivals may pass": ([[(ARRIVE,), (ARRIVE,)], [(WAIT, 0, 0)]], (1, 1), 2),
    "a False that is made something of": ([[(ARRIVE,)], [(ASK, 0, 0)]], (1, 1), 2),
    "the same, which thread 0 is not told at first": ([[(ASK, 0, 0)], [(ARRIVE,)]], (1, 1), 2),
    "two looks, of which the second waits": ([[(ASK, 0, 0), (ARRIVE, 1), (ASK, 0, 0)], [(ARRIVE,)]], (1, 1), 2),
    "a promise that nothing holds open": ([[(EXPECT, 0, TILE)], [(ARRIVE,)]], (1, 1), 2),
    "a look after one's own arrival, of two": ([[(ARRIVE,)], [(ARRIVE,), (ASK, 0, 0)]], (2, 1), 2),
    "three arrivals for a phase of two, two by one thread": ([[(ARRIVE,)], [(ARRIVE,), (ARRIVE,)]], (2, 1), 2),
    "too many arrivals around a wait": (
        [[(PROMISE, 0, TILE), (WAIT, 1, 1)], [(PROMISE, 0, 128), (ARRIVE, 1), (PROMISE, 0, 128)]],
        (1, 1),
        4,
    ),
    "too many arrivals beside a load": (
        [[(ARRIVE,), (LOAD, 0, 1), (ARRIVE,)], [(EXPECT, 0, TILE), (ARRIVE,), (WAIT, 0, 0)]],
        (1, 1),
        17,
    ),
    "a look, a load and two arrivals": (
        [[(ASK, 0, 0), (LOAD, 0, 1), (ARRIVE,), (WAIT, 0, 0)], [(ARRIVE,)]],
        (1, 1),
        11,
    ),
    "a load, promised and waited for": ([[(PROMISE, 0, TILE), (LOAD, 0, 0), (WAIT, 0, 0)]], (1, 1), 1),
    "a promise too small": ([[(PROMISE, 0, TILE // 2), (LOAD, 0, 0)], [(WAIT, 0, 0)]], (1, 1), 2),
    "two loads, one promised": ([[(PROMISE, 0, TILE), (LOAD, 0, 0), (LOAD, 0, 1)], [(WAIT, 0, 0)]], (1, 1), 3),
    "two loads, one and a half promised": ([[(PROMISE, 0, 3 * TILE // 2), (LOAD, 0, 0), (LOAD, 0, 1)]], (1, 1), 3),
    "two loads and their barriers": (
        [[(PROMISE, 0, TILE), (PROMISE, 1, TILE), (LOAD, 0, 0), (LOAD, 1, 1)], [(WAIT, 0, 0), (WAIT, 1, 0)]],
        (1, 1),
        1,
    ),
    "a load that lands before or after it is asked for": (
        [[(PROMISE, 0, TILE), (LOAD, 0, 0)], [(ASK, 0, 0)]],
        (1, 1),
        2,
    ),
    "tickets": ([[(TICKET,)], [(TICKET,)], [(TICKET,)]], (1, 1), 6),
    "counts that nobody reads": ([[(COUNT,)], [(COUNT,)], [(COUNT,)]], (1, 1), 1),
    "a ticket among counts": ([[(COUNT,)], [(TICKET,)], [(COUNT,)]], (1, 1), 4),
    "one that leaves early, and the rest meet": ([[], [(MEET,), (ARRIVE,)], [(MEET,)]], (1, 1), 1),
    "an arrival, before and after a meeting": ([[(ARRIVE,), (MEET,)], [(MEET,), (ARRIVE,)]], (1, 1), 1),
}


@pytest.mark.parametrize("name", portion(PROGRAMS, 2))
def test_there_are_as_many_orders_as_brute_force_finds(name):
    threads, counts, orders = PROGRAMS[name]
    args = arguments(threads, counts)
    every = Interleavings(program, len(threads), args)
    found = explore(program, 1, len(threads), args, exhaustive=True)
    assert found.complete
    assert (found.explored, len(every.fingerprints), every.orders) == (orders, orders, orders)


@kernel
def arrives_at_rank_0(out):
    """Each thread of two CTAs arrives once on the barrier of CTA 0, which wants one arrival; nobody waits."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    ptx.mbarrier_arrive_cluster(bar, 0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def multicast_to_one_who_looks(tensor_map, out):
    """CTA 0 loads for CTA 1, which looks once whether it has come, and then waits."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    rank = ptx.cluster_ctarank()
    ptx.mbarrier_init(bar, 1)
    ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 0:
        ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, bar, 2)
    else:
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        if ptx.mbarrier_try_wait_parity(bar, 0):
            out[0] = 1
        ptx.mbarrier_wait_parity(bar, 0)


@kernel
def elects(out):
    if ptx.elect_sync():
        out[0] = cuda.threadIdx.x


@kernel
def elects_twice(out):
    for k in range(2):
        if ptx.elect_sync():
            out[k] = cuda.threadIdx.x


@device
def seen(bar):
    return ptx.mbarrier_pending_count(ptx.mbarrier_arrive(bar))


@kernel
def looks_at_counts(out):
    """Each thread notes how many arrivals were pending when it came: that differs, though they are of one phase."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 3)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = seen(bar)


@kernel
def copies_by_threads(source, out):
    """Each thread arrives when its own copy has landed; one arrival too few is wanted."""
    tile = cuda.shared.array((2, 4), np.int32, alignment=16)
    bar = ptx.mbarrier_array(1)
    mine = cuda.threadIdx.x
    if mine == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    ptx.cp_async(tile[mine], source[mine], 16)
    ptx.cp_async_mbarrier_arrive_noinc(bar)


@kernel
def takes_a_lock(out):
    while cuda.atomic.cas(out, 0, 0, 1) != 0:
        pass
    cuda.atomic.exch(out, 0, 0)


def ints(*shape):
    return np.zeros(shape, np.int32)


def tensor_map():
    return TensorMap.from_array(np.ones((ROWS, COLS), np.float16), (ROWS, COLS))


KERNELS = {  # name: kernel, arguments, launch, orders
    "remote arrivals in two phases": (arrives_at_rank_0, lambda: (ints(1),), {"grid": 2, "block": 1, "cluster": 2}, 2),
    "a multicast": (
        multicast_to_one_who_looks,
        lambda: (tensor_map(), ints(1)),
        {"grid": 2, "block": 1, "cluster": 2},
        2,
    ),
    "a lane is elected": (elects, lambda: (ints(1),), {"block": 4}, 4),
    "the same lane is elected again": (elects_twice, lambda: (ints(2),), {"block": 3}, 3),
    "arrivals of cp.async in two phases": (copies_by_threads, lambda: (ints(2, 4), ints(1)), {"block": 2}, 2),
    "arrivals whose counts are looked at": (looks_at_counts, lambda: (ints(3),), {"block": 3}, 6),
    "a spin lock": (takes_a_lock, lambda: (ints(1),), {"block": 2}, 6),
}


@pytest.mark.parametrize("name", KERNELS)
def test_clusters_elections_and_atomics_have_their_orders(name):
    made, arguments, launch, orders = KERNELS[name]
    every = Interleavings(made, launch["block"], arguments(), launch.get("grid", 1), launch.get("cluster", 1))
    found = explore(made, args=arguments(), exhaustive=True, **launch)
    assert found.complete
    assert (found.explored, len(every.fingerprints), every.orders) == (orders, orders, orders)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_tickets_have_as_many_orders_as_permutations_and_each_is_run_once(count):
    found = explore(program, 1, count, arguments([[(TICKET,)]] * count), exhaustive=True)
    assert (found.explored, found.runs) == (math.factorial(count),) * 2


@pytest.mark.parametrize("name", ["a promise too small", "two loads, one promised"])
def test_a_promise_too_small_is_told_in_every_order(name):
    threads, counts, orders = PROGRAMS[name]
    found = explore(program, 1, len(threads), arguments(threads, counts), exhaustive=True)
    assert {each.name: each.count for each in found.hazards}["too-few-bytes"] == orders
