"""The cluster barrier: all living threads of a cluster meet in two steps, and an init becomes known to the peers."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import kernel, ptx

SEEDS = range(6)


def names(run):
    return {hazard.name for hazard in run.hazards}


@kernel
def ranks(out):
    i = cuda.blockIdx.x + 4 * cuda.blockIdx.y
    out[i, 0] = ptx.cluster_ctarank()
    out[i, 1] = ptx.cluster_nctarank()


def test_ranks_count_x_first_within_each_cluster():
    out = np.zeros((8, 2), np.int32)
    assert not ranks.run(grid=(4, 2), block=1, args=(out,), cluster=(2, 2)).hazards
    assert out[:, 0].tolist() == [0, 1, 0, 1, 2, 3, 2, 3]
    assert set(out[:, 1]) == {4}


def test_without_clusters_every_cta_is_alone_with_rank_0():
    out = np.full((8, 2), -1, np.int32)
    ranks.run(grid=(4, 2), block=1, args=(out,))
    assert set(map(tuple, out.tolist())) == {(0, 1)}


@kernel
def split(out):
    """Between arrive and wait there is other work, but what was written before the arrive is seen after the wait."""
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    out[rank, tid] = tid + 1
    ptx.barrier_cluster_arrive()
    mine = tid * tid
    ptx.barrier_cluster_wait()
    out[2 + rank, tid] = out[1 - rank, 31 - tid] + mine


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_before_an_arrive_is_before_what_follows_a_wait(seed):
    out = np.zeros((4, 32), np.int32)
    run = split.run(grid=2, block=32, args=(out,), cluster=2, seed=seed)
    assert not run.hazards
    assert out[2].tolist() == [32 - t + t * t for t in range(32)]


@kernel
def writes_between(out):
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    ptx.barrier_cluster_arrive()
    out[rank] = rank
    ptx.barrier_cluster_wait()
    if tid == 0 and rank == 0:
        out[2] = out[1]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_follows_the_arrive_is_not_known_after_the_wait(seed):
    run = writes_between.run(grid=2, block=1, args=(np.zeros(3, np.int32),), cluster=2, seed=seed)
    assert names(run) == {"data-race"}
    assert "in different CTAs of a cluster" in run.hazards[0].message


@kernel
def leaves(out, who):
    if ptx.cluster_ctarank() == who:
        return
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    out[cuda.grid(1)] = 1


@pytest.mark.parametrize("seed", SEEDS)
def test_threads_that_have_exited_count_as_arrived(seed):
    out = np.zeros(96, np.int32)
    assert not leaves.run(grid=3, block=32, args=(out, 1), cluster=3, seed=seed).hazards
    assert out.reshape(3, 32).sum(1).tolist() == [32, 0, 32]


def test_a_cluster_of_one_cta_has_a_barrier_as_well():
    out = np.zeros(32, np.int32)
    assert not leaves.run(grid=1, block=32, args=(out, 1)).hazards
    assert out.sum() == 32


@kernel
def waits_only():
    ptx.barrier_cluster_wait()


@kernel
def arrives_twice():
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def test_a_wait_without_an_arrive_is_told():
    (found,) = waits_only.run(grid=2, block=1, cluster=2).hazards
    assert found.name == "barrier-mismatch"
    assert "every thread arrives once before each wait" in found.message


def test_a_second_arrive_without_a_wait_is_told():
    (found,) = arrives_twice.run(grid=2, block=1, cluster=2).hazards
    assert found.name == "barrier-mismatch"
    assert "has arrived already, and not waited since" in found.message


@kernel
def peer_is_elsewhere():
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if ptx.cluster_ctarank() == 1:
        ptx.mbarrier_wait_parity(bar, 0)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def test_a_deadlock_says_how_many_threads_have_not_come():
    run = peer_is_elsewhere.run(grid=2, block=32, cluster=2)
    assert {"barrier-mismatch", "missing-arrival", "deadlock"} == names(run)
    here, there = run.deadlock.waiters
    assert (here.what, here.cta, here.missing) == ("cluster-barrier", 0, 32)
    assert (there.what, there.cta, there.barrier) == ("mbarrier", 1, "bar")
    assert "in the cluster barrier, 32 threads have not come, thread 0 of CTA 1 among them" in run.deadlock.message


@kernel
def arrives_on_a_peer(fence, relaxed):
    """B10: thread 0 of each CTA makes a barrier; the peer uses it."""
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        if fence == 1:
            ptx.fence_mbarrier_init()
        if fence == 2:
            ptx.fence_acq_rel_cluster()
    if relaxed:
        ptx.barrier_cluster_arrive_relaxed()
    else:
        ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_cluster(bar, 1 - rank)
    ptx.mbarrier_wait_parity(bar, 0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("relaxed", [0, 1])
def test_an_init_that_is_fenced_is_known_to_peers_after_the_cluster_barrier(relaxed, seed):
    assert not arrives_on_a_peer.run(grid=2, block=32, args=(1, relaxed), cluster=2, seed=seed).hazards


@pytest.mark.parametrize("seed", SEEDS)
def test_an_init_without_its_fence_is_not_visible_to_peers(seed):
    """B10"""
    run = arrives_on_a_peer.run(grid=2, block=32, args=(0, 0), cluster=2, seed=seed)
    assert names(run) == {"init-not-visible"}
    use, init = run.hazards[0].accesses
    assert use.line - init.line == 11
    assert "missing: fence_mbarrier_init by thread 0 of CTA" in run.hazards[0].message


def test_a_stronger_fence_than_that_for_inits_will_do():
    assert not arrives_on_a_peer.run(grid=2, block=32, args=(2, 0), cluster=2).hazards


def test_a_relaxed_arrive_gives_nothing_but_fenced_inits():
    run = arrives_on_a_peer.run(grid=2, block=32, args=(0, 1), cluster=2)
    assert names(run) == {"init-not-visible", "barrier-not-initialised"}  # the peer's, and its own threads' too


@kernel
def alone():
    """B10: within one CTA a barrier of its threads is enough."""
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 32)
    cuda.syncthreads()
    ptx.mbarrier_arrive(bar)
    ptx.mbarrier_wait_parity(bar, 0)


@pytest.mark.parametrize("cluster", [1, 2])
def test_an_init_needs_no_fence_within_its_own_cta(cluster):
    assert not alone.run(grid=2, block=32, cluster=cluster).hazards


@kernel
def too_early(bars):
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_cluster(bar, 1 - ptx.cluster_ctarank())
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_peer_may_not_be_touched_before_it_is_known_to_have_started(seed):
    run = too_early.run(grid=2, block=32, args=(np.zeros(1),), cluster=2, seed=seed)
    assert "peer-not-started" in names(run)
    assert "reaches into CTA" in next(h for h in run.hazards if h.name == "peer-not-started").message


def test_shared_arrays_lie_at_the_same_place_in_every_cta_whichever_thread_asks_first():
    @kernel
    def asks(out):
        tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
        if tid == rank:
            first = cuda.shared.array(32, np.int32, alignment=128)
            out[rank, 0] = first.address
        else:
            second = cuda.shared.array(16, np.int64, alignment=128)
            out[rank, 1] = second.address

    for seed in SEEDS:
        out = np.zeros((2, 2), np.int64)
        asks.run(grid=2, block=2, args=(out,), cluster=2, seed=seed)
        assert out[0].tolist() == out[1].tolist()
        assert out[0, 0] != out[0, 1]
