"""Instructions of clusters, from one source in the simulator and on a Hopper GPU: multicast, remote barriers, copies
between CTAs. What must come out is said by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx

ROWS, COLS = 8, 64
ROW_BYTES = COLS * 2
ALL_ROWS = 4 * ROWS
BYTES = 512
WORDS = 128  # of 4 bytes


def numbers(shape, dtype=np.uint16):
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


@kernel
def ranks(out):
    rank = ptx.cluster_ctarank()
    out[cuda.blockIdx.x, 0] = rank
    out[cuda.blockIdx.x, 1] = ptx.cluster_nctarank()


@pytest.mark.parametrize("cluster", [1, 2, 4, 8])
def test_a_cta_has_its_rank_in_a_cluster_of_so_many(run, cluster):
    out = np.zeros((8, 2), np.int64)
    run(ranks, out, grid=8, block=1, cluster=cluster)
    assert out.tolist() == [[cta % cluster, cluster] for cta in range(8)]


@kernel
def shared_tile(tensor_map, out, ctas):
    """Every CTA loads its share of the rows for the whole cluster."""
    tile = cuda.shared.array((ALL_ROWS, COLS), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], ctas * ROWS * ROW_BYTES)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if t == 0:
        mask = (1 << ctas) - 1
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * ROWS], tensor_map, 0, rank * ROWS, full[0], mask)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(t, ctas * ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@pytest.mark.parametrize("cluster", [2, 4])
def test_a_multicast_gives_every_cta_of_the_mask_the_same_bytes(run, cluster):
    tensor = numbers((cluster * ROWS, COLS))
    out = np.zeros((cluster, cluster * ROWS, COLS), np.uint16)
    run(shared_tile, TensorMap.from_array(tensor, (ROWS, COLS)), out, cluster, grid=cluster, cluster=cluster)
    assert (out == tensor).all()


def test_a_multicast_is_swizzled_in_every_cta(run):
    tensor = numbers((2 * ROWS, COLS))
    out = np.zeros((2, 2 * ROWS, COLS), np.uint16)
    tensor_map = TensorMap.from_array(tensor, (ROWS, COLS), swizzle=Swizzle.B128)
    run(shared_tile, tensor_map, out, 2, grid=2, cluster=2)
    chunks = tensor.reshape(-1, 8, 8)
    swizzled = np.stack([row[[c ^ r % 8 for c in range(8)]] for r, row in enumerate(chunks)])
    assert (out.reshape(2, -1, 8, 8) == swizzled).all()


@kernel
def one_of_two(tensor_map, out):
    """CTA 0 loads for CTA 1 alone."""
    tile = cuda.shared.array((ROWS, COLS), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        if rank == 1:
            ptx.mbarrier_arrive_expect_tx(full[0], ROWS * ROW_BYTES)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 0:
        if t == 0:
            ptx.cp_async_bulk_tensor_2d_multicast(tile, tensor_map, 0, 0, full[0], 2)
    else:
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(t, ROWS * COLS, cuda.blockDim.x):
            out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def test_a_multicast_need_not_reach_the_cta_that_issues_it(run):
    tensor = numbers((ROWS, COLS))
    out = np.zeros((ROWS, COLS), np.uint16)
    run(one_of_two, TensorMap.from_array(tensor, (ROWS, COLS)), out, grid=2, cluster=2)
    assert (out == tensor).all()


@kernel
def bulk_for_all(source, out, ctas):
    """CTA 0 loads contiguous bytes for the whole cluster."""
    tile = cuda.shared.array(WORDS, np.uint32, alignment=16)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], BYTES)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 0 and t == 0:
        ptx.cp_async_bulk_multicast(tile, source[16:], BYTES, full[0], (1 << ctas) - 1)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(t, WORDS, cuda.blockDim.x):
        out[rank, i] = tile[i]


@pytest.mark.parametrize("cluster", [2, 4])
def test_a_bulk_copy_is_multicast(run, cluster):
    source = numbers(WORDS + 32, np.uint32)
    out = np.zeros((cluster, WORDS), np.uint32)
    run(bulk_for_all, source, out, cluster, grid=cluster, cluster=cluster)
    assert (out == source[16 : 16 + WORDS]).all()


@kernel
def gather(out, ctas):
    """Every CTA fills BYTES bytes and copies them into its slot in CTA 0, which waits for all of them."""
    mine = cuda.shared.array(WORDS, np.uint32, alignment=128)
    slots = cuda.shared.array((4, WORDS), np.uint32, alignment=128)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    for i in range(t, WORDS, cuda.blockDim.x):
        mine[i] = rank * 1000 + i
    ptx.fence_proxy_async_shared_cta()
    if t == 0 and rank == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], ctas * BYTES)
    cuda.syncthreads()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if t == 0:
        ptx.cp_async_bulk_cluster(slots[rank], 0, mine, BYTES, full[0])
    if rank == 0:
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(t, ctas * WORDS, cuda.blockDim.x):
            out[i // (WORDS), i % (WORDS)] = slots[i // (WORDS), i % (WORDS)]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@pytest.mark.parametrize("cluster", [2, 4])
def test_bytes_are_copied_into_the_shared_memory_of_a_peer(run, cluster):
    out = np.zeros((cluster, WORDS), np.uint32)
    run(gather, out, cluster, grid=cluster, cluster=cluster)
    assert (out == np.arange(cluster)[:, None] * 1000 + np.arange(WORDS)).all()


@kernel
def signals(out):
    """CTA 0 waits for arrivals, a promise and a credit of CTA 1; phase 1 then expects one arrival fewer."""
    full = ptx.mbarrier_array(2)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_init(full[1], 3 + 1 + 1 + 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if rank == 1 and t == 0:
        ptx.mbarrier_arrive_cluster_cluster_scope(full[1], 0, 3)
        ptx.mbarrier_arrive_expect_tx_cluster_cluster_scope(full[1], 0, 48)
        ptx.mbarrier_arrive_drop_cluster_cluster_scope(full[1], 0)
        ptx.mbarrier_expect_tx_cluster(full[1], 0, 16)
        ptx.mbarrier_complete_tx_cluster(full[1], 0, 64)
        ptx.mbarrier_arrive_cluster_relaxed_cluster_scope(full[1], 0)
    if rank == 0 and t == 0:
        while not ptx.mbarrier_try_wait_parity_cluster_scope(full[1], 0):
            pass
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if rank == 1 and t == 0:
        ptx.mbarrier_arrive_cluster_cluster_scope(full[1], 0, count=5)
    if rank == 0 and t == 0:
        while not ptx.mbarrier_try_wait_parity_cluster_scope(full[1], 1):
            pass
        out[0] = ptx.mbarrier_pending_count(ptx.mbarrier_arrive(full[1]))
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def test_a_peer_arrives_promises_credits_and_drops_out(run):
    out = np.zeros(1, np.int64)
    run(signals, out, grid=2, cluster=2, block=32)
    assert out.tolist() == [5]


@kernel
def sum_up(out, ctas):
    """Every CTA adds its numbers to those of CTA 0, in CTA 0's shared memory."""
    mine = cuda.shared.array(WORDS, np.uint32, alignment=128)
    total = cuda.shared.array(WORDS, np.uint32, alignment=128)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    for i in range(t, WORDS, cuda.blockDim.x):
        mine[i] = (rank + 1) * i
        total[i] = 7
    ptx.fence_proxy_async_shared_cta()
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        if rank == 0:
            ptx.mbarrier_arrive_expect_tx(full[0], ctas * BYTES)
    cuda.syncthreads()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if t == 0:
        ptx.cp_reduce_async_bulk_cluster_add_u32(total, 0, mine, BYTES, full[0])
    if rank == 0:
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(t, WORDS, cuda.blockDim.x):
            out[i] = total[i]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def test_numbers_are_added_in_the_shared_memory_of_a_peer(run):
    out = np.zeros(WORDS, np.uint32)
    run(sum_up, out, 4, grid=4, cluster=4)
    assert (out == 7 + 10 * np.arange(WORDS)).all()
