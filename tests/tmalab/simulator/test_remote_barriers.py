"""Operations on the barriers of peers: what they order, at which scope, and that their CTA must not leave too early."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import kernel, ptx

SEEDS = range(6)


def names(run):
    return {hazard.name for hazard in run.hazards}


@kernel
def hands_over(out, arrive_wide, wait_wide):
    """CTA 1 writes global memory and arrives on CTA 0's barrier; CTA 0 waits and reads."""
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 32)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        out[tid] = tid + 1
        if arrive_wide:
            ptx.mbarrier_arrive_cluster_cluster_scope(bar, 0)
        else:
            ptx.mbarrier_arrive_cluster(bar, 0)
    else:
        if wait_wide:
            while not ptx.mbarrier_try_wait_parity_cluster_scope(bar, 0):
                pass
        else:
            while not ptx.mbarrier_try_wait_parity(bar, 0):
                pass
        out[32 + tid] = out[31 - tid]


@pytest.mark.parametrize("seed", SEEDS)
def test_cluster_scope_on_both_sides_hands_over_what_threads_wrote(seed):
    out = np.zeros(64, np.int32)
    run = hands_over.run(grid=2, block=32, args=(out, 1, 1), cluster=2, seed=seed)
    assert not run.hazards
    assert out[32:].tolist() == list(range(32, 0, -1))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("arrive_wide", "wait_wide"), [(0, 0), (1, 0), (0, 1)])
def test_cta_scope_on_either_side_is_too_narrow_for_what_threads_wrote(arrive_wide, wait_wide, seed):
    run = hands_over.run(grid=2, block=32, args=(np.zeros(64, np.int32), arrive_wide, wait_wide), cluster=2, seed=seed)
    assert names(run) == {"scope-too-narrow"}


def test_the_report_names_both_accesses_and_the_wider_forms():
    (found,) = hands_over.run(grid=2, block=32, args=(np.zeros(64, np.int32), 0, 0), cluster=2).hazards
    first = hands_over.function.__code__.co_firstlineno
    read, write = found.accesses
    assert (read.kind, write.kind) == ("read", "write")
    assert (read.line, write.line) == (first + 23, first + 11)
    assert "has CTA scope, the default, which orders nothing that threads of another CTA write" in found.message
    assert "ptx.mbarrier_arrive_cluster_cluster_scope(...)" in found.fix


@kernel
def hands_over_within(out):
    """The same within one CTA: the default scope reaches far enough."""
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 32)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    out[rank, tid] = tid
    ptx.mbarrier_arrive_cluster(bar, rank)
    ptx.mbarrier_wait_parity(bar, 0)
    out[2 + rank, tid] = out[rank, 31 - tid]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("ctas", [1, 2])
def test_an_arrive_on_ones_own_rank_is_an_ordinary_arrive(ctas, seed):
    """Measured, H200: without clusters as well."""
    out = np.zeros((4, 32), np.int32)
    assert not hands_over_within.run(grid=ctas, block=32, args=(out,), cluster=ctas, seed=seed).hazards
    assert out[2].tolist() == list(range(31, -1, -1))


@kernel
def to_rank(rank):
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 2)
    ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    ptx.mbarrier_arrive_cluster(bar, rank)


@pytest.mark.parametrize("rank", [2, 5])
def test_a_rank_beyond_the_cluster_faults(rank):
    """Measured, H200."""
    run = to_rank.run(grid=2, block=1, args=(rank,), cluster=2)
    assert run.fault.kind == "launch_failed"
    assert names(run) == {"out-of-bounds"}
    assert f"there is nothing at rank {rank}" in run.hazards[0].message


@kernel
def counts(out, bytes):
    """CTA 1 promises bytes to CTA 0's barrier and credits them by hand; the barriers of both count on."""
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 3)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        ptx.mbarrier_expect_tx_cluster(bar, 0, bytes)
        ptx.mbarrier_arrive_expect_tx_cluster(bar, 0, bytes)
        ptx.mbarrier_complete_tx_cluster(bar, 0, 2 * bytes)
        ptx.mbarrier_arrive_drop_cluster(bar, 0, 1)
    else:
        ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)
        ptx.mbarrier_arrive(bar, 2)
        ptx.mbarrier_wait_parity(bar, 1)
        out[0] = 1
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_peer_may_promise_credit_arrive_and_drop(seed):
    out = np.zeros(1, np.int32)
    assert not counts.run(grid=2, block=1, args=(out, 64), cluster=2, seed=seed).hazards
    assert out[0] == 1


@kernel
def leaves_early(out, waits, meets):
    """B19: CTA 1 arrives on the barrier of CTA 0, which need not wait for it."""
    bar = ptx.mbarrier_array(1)
    rank = ptx.cluster_ctarank()
    ptx.mbarrier_init(bar, 1)
    ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        ptx.mbarrier_arrive_cluster(bar, 0)
    elif waits:
        ptx.mbarrier_wait_parity(bar, 0)
    if meets:
        ptx.barrier_cluster_arrive_relaxed()
        ptx.barrier_cluster_wait()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("waits", "meets"), [(1, 0), (0, 1), (1, 1)])
def test_a_cta_may_leave_once_it_knows_that_its_peers_are_done(waits, meets, seed):
    assert not leaves_early.run(grid=2, block=1, args=(np.zeros(1), waits, meets), cluster=2, seed=seed).hazards


@pytest.mark.parametrize("seed", range(12))
def test_a_cta_that_leaves_while_a_peer_may_still_arrive_is_told_of(seed):
    """B19"""
    run = leaves_early.run(grid=2, block=1, args=(np.zeros(1), 0, 0), cluster=2, seed=seed)
    assert names(run) == {"exit-in-flight"}
    assert any(words in run.hazards[0].message for words in ("CTA 0 may exit before that", "CTA 0 has exited"))


@kernel
def credits_late(out, waits):
    """The same with bytes that a peer credits: the end of the phase shows them."""
    bar = ptx.mbarrier_array(1)
    rank = ptx.cluster_ctarank()
    ptx.mbarrier_init(bar, 1)
    ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        ptx.mbarrier_complete_tx_cluster(bar, 0, 16)
    else:
        ptx.mbarrier_arrive_expect_tx(bar, 16)
        if waits:
            ptx.mbarrier_wait_parity(bar, 0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("waits", [0, 1])
def test_bytes_credited_by_a_peer_are_known_with_their_phase(waits, seed):
    run = credits_late.run(grid=2, block=1, args=(np.zeros(1), waits), cluster=2, seed=seed)
    assert names(run) == (set() if waits else {"exit-in-flight"})


@kernel
def too_many(n):
    bar = ptx.mbarrier_array(1)
    rank = ptx.cluster_ctarank()
    ptx.mbarrier_init(bar, 1)
    ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1:
        for _ in range(n):
            ptx.mbarrier_arrive_cluster(bar, 0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_remote_arrive_for_the_next_phase_must_know_of_a_wait_for_the_last(seed):
    assert not too_many.run(grid=2, block=1, args=(1,), cluster=2, seed=seed).hazards
    run = too_many.run(grid=2, block=1, args=(2,), cluster=2, seed=seed)
    assert names(run) == {"over-arrival"}
    assert "arrives on bar of CTA 0, phase 1" in run.hazards[0].message


@kernel
def some_arrive(who):
    """CTA 0 waits for one arrive of each CTA; twice."""
    bar = ptx.mbarrier_array(1)
    rank, ctas = ptx.cluster_ctarank(), ptx.cluster_nctarank()
    ptx.mbarrier_init(bar, ctas)
    ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(2):
        if k == 0 or (who >> rank) & 1:
            ptx.mbarrier_arrive_cluster(bar, 0)
        if rank == 0:
            ptx.mbarrier_wait_parity(bar, k)
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()


def test_a_deadlock_says_which_ctas_have_not_arrived():
    assert not some_arrive.run(grid=4, block=1, args=(0b1111,), cluster=4).hazards
    run = some_arrive.run(grid=4, block=1, args=(0b0101,), cluster=4)
    assert "missing-arrival" in names(run)
    waiter = next(waiter for waiter in run.deadlock.waiters if waiter.what == "mbarrier")
    assert (waiter.cta, waiter.phase, waiter.pending, waiter.arrivals) == (0, 1, 2, 2)
    assert waiter.arrived_from == {0: 1, 2: 1}
    assert waiter.missing_from == (1, 3)
    assert "2 of 4 arrivals missing; arrivals from CTA 0 (1), CTA 2 (1); none from CTA 1, CTA 3" in run.deadlock.message


def test_a_deadlock_in_the_first_phase_says_who_has_not_arrived():
    @kernel
    def first(who):
        bar = ptx.mbarrier_array(1)
        rank = ptx.cluster_ctarank()
        ptx.mbarrier_init(bar, 3)
        ptx.fence_mbarrier_init()
        ptx.barrier_cluster_arrive()
        ptx.barrier_cluster_wait()
        if rank != who:
            ptx.mbarrier_arrive_cluster(bar, 0)
        if rank == 0:
            ptx.mbarrier_wait_parity(bar, 0)

    run = first.run(grid=3, block=1, args=(2,), cluster=3)
    (waiter,) = run.deadlock.waiters
    assert (waiter.arrived_from, waiter.missing_from) == ({0: 1, 1: 1}, (2,))
