"""Pipelines in other spellings: helpers with a state, phases as bits, barriers armed early, several who load."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import device, kernel, ptx

STAGES = 3
BARRIERS = 2 * STAGES


@device
def following(state):
    """The next stage, and the parity of its phase."""
    stage, parity = state
    if stage + 1 == STAGES:
        return 0, parity ^ 1
    return stage + 1, parity


@device
def acquire(full, empty, state, bytes):
    """The producer's: an empty stage, armed."""
    ptx.mbarrier_wait_parity(empty[state[0]], state[1])
    ptx.mbarrier_arrive_expect_tx(full[state[0]], bytes)


@device
def release(empty, state):
    """A consuming warp's: the stage is empty again."""
    cuda.syncwarp()
    if ptx.elect_sync():
        ptx.mbarrier_arrive(empty[state[0]])


@kernel
def with_states(tensor_map, out, tiles):
    """CUTLASS's pipeline as helpers with a state of two numbers; one elected thread of each warp releases."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 2)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid >= 64:
        if ptx.elect_sync():
            state = (0, 1)
            for k in range(tiles):
                acquire(full, empty, state, TILE)
                ptx.cp_async_bulk_tensor_2d(ring[state[0]], tensor_map, 0, k * ROWS, full[state[0]])
                state = following(state)
    else:
        state = (0, 0)
        for k in range(tiles):
            ptx.mbarrier_wait_parity(full[state[0]], state[1])
            for i in range(tid, ROWS * COLS, 64):
                out[k * ROWS + i // COLS, i % COLS] = ring[state[0], i // COLS, i % COLS]
            release(empty, state)
            state = following(state)


@kernel
def with_bits(tensor_map, out, tiles):
    """The parities of all stages are bits of one number, flipped as each is waited for; loops end by a break."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
    bars = ptx.mbarrier_array(BARRIERS)
    tid = cuda.threadIdx.x
    if tid < STAGES:
        ptx.mbarrier_init(bars[tid], 1)
        ptx.mbarrier_init(bars[STAGES + tid], 32)
    cuda.syncthreads()
    k = 0
    if tid == 32:
        bits = 7
        while True:
            if k == tiles:
                break
            s = k % STAGES
            while True:
                if ptx.mbarrier_try_wait_parity(bars[STAGES + s], bits >> s & 1):
                    break
            bits ^= 1 << s
            ptx.cp_async_bulk_tensor_2d(ring[s], tensor_map, 0, k * ROWS, bars[s])
            ptx.mbarrier_arrive_expect_tx(bars[s], TILE)
            k += 1
    elif tid < 32:
        bits = 0
        while k < tiles:
            s = k % STAGES
            while not ptx.mbarrier_test_wait_parity(bars[s], bits >> s & 1):
                pass
            bits ^= 1 << s
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = ring[s, i // COLS, i % COLS]
            ptx.mbarrier_arrive(bars[STAGES + s])
            k += 1


@kernel
def armed_early(tensor_map, out, tiles):
    """The next phase is armed at once, while slower threads have not seen the last one: the load that it waits for is
    issued after they have."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full, 1)
        ptx.mbarrier_arrive_expect_tx(full, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full)
    cuda.syncthreads()
    for k in range(tiles):
        ptx.mbarrier_wait_parity(full, k % 2)
        if tid == 0 and k + 1 < tiles:
            ptx.mbarrier_arrive_expect_tx(full, TILE)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 0 and k + 1 < tiles:
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, (k + 1) * ROWS, full)


@kernel
def credited_by_hand(out, steps):
    """A phase that is held open by a promise, which a thread keeps by hand once all have met."""
    box = cuda.shared.array(32, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, 16)
    for k in range(steps):
        box[tid] = tid + k
        cuda.syncthreads()
        if tid == 0:
            ptx.mbarrier_complete_tx(bar, 16)
        ptx.mbarrier_wait_parity(bar, k % 2)
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 16)
        out[k, tid] = box[31 - tid]
        cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_complete_tx(bar, 16)


@kernel
def one_arms_for_two(a_map, b_map, out, tiles):
    """Two warps load, each a part of a stage and each after its own wait; one of them promises the bytes of both."""
    a = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    b = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 1)
    cuda.syncthreads()
    for k in range(tiles):
        s = k % 2
        if tid == 32:
            ptx.mbarrier_wait_parity(empty[s], (k // 2 + 1) % 2)
            ptx.mbarrier_arrive_expect_tx(full[s], 2 * TILE)
            ptx.cp_async_bulk_tensor_2d(a[s], a_map, 0, k * ROWS, full[s])
        elif tid == 64:
            ptx.mbarrier_wait_parity(empty[s], (k // 2 + 1) % 2)
            ptx.cp_async_bulk_tensor_2d(b[s], b_map, 0, k * ROWS, full[s])
        elif tid < 32:
            ptx.mbarrier_wait_parity(full[s], (k // 2) % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = np.float32(a[s, i // COLS, i % COLS]) + b[s, i // COLS, i % COLS]
            cuda.syncwarp()
            if tid == 31:
                ptx.mbarrier_arrive(empty[s])


@kernel
def two_kinds_of_copies(tensor_map, numbers, out, tiles):
    """A stage is filled by a load and by cp.async of a whole warp, which arrives as they land; the warp knows that its
    stage is empty by its own wait alone."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    more = cuda.shared.array((2, 32, 4), np.int32, alignment=16)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 33)
            ptx.mbarrier_init(empty[s], 32)
    cuda.syncthreads()
    for k in range(tiles):
        s = k % 2
        if tid >= 32:
            ptx.mbarrier_wait_parity(empty[s], (k // 2 + 1) % 2)
            if tid == 32:
                ptx.mbarrier_arrive_expect_tx(full[s], TILE)
                ptx.cp_async_bulk_tensor_2d(tile[s], tensor_map, 0, k * ROWS, full[s])
            ptx.cp_async(more[s, tid - 32], numbers[k, tid - 32], 16)
            ptx.cp_async_mbarrier_arrive_noinc(full[s])
        else:
            ptx.mbarrier_wait_parity(full[s], (k // 2) % 2)
            for i in range(tid, ROWS * COLS, 32):
                out[k * ROWS + i // COLS, i % COLS] = np.float32(tile[s, i // COLS, i % COLS]) + more[s, i % 32, i % 4]
            ptx.mbarrier_arrive(empty[s])


@kernel
def to_and_fro(out, steps):
    """Two CTAs send each other their rows; a stage is given back at cluster scope, since threads write it next."""
    inbox = cuda.shared.array((2, 32), np.int32, alignment=128)
    outbox = cuda.shared.array((2, 32), np.int32, alignment=128)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], 32)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    for k in range(steps):
        s = k % 2
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(full[s], 128)
            ptx.mbarrier_wait_parity_cluster_scope(empty[s], (k // 2 + 1) % 2)
        cuda.syncthreads()
        outbox[s, tid] = rank * 1000 + k * 32 + tid
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_cluster(inbox[s], rank ^ 1, outbox[s], 128, full[s])
        ptx.mbarrier_wait_parity_cluster_scope(full[s], (k // 2) % 2)
        out[rank, k, tid] = inbox[s, tid]
        ptx.mbarrier_arrive_cluster_cluster_scope(empty[s], rank ^ 1)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


@kernel
def written_twice(tensor_map):
    """Two warps write the same values to a tile, and both fence, before it is stored."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid % 32, ROWS * COLS, 32):
        tile[i // COLS, i % COLS] = np.float16(7)
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group_read(0)


@kernel
def meet_in_branches(out):
    """Whole warps come to syncthreads at different places of the source."""
    box = cuda.shared.array(64, np.int32)
    tid = cuda.threadIdx.x
    box[tid] = tid
    if tid < 32:
        cuda.syncthreads()
        out[tid] = box[63 - tid]
    else:
        cuda.syncthreads()
        out[tid] = box[63 - tid] + 1


def _ring(made: Any, tiles: int, block: int) -> Case:
    out, expected = blank(64, COLS), blank(64, COLS)
    expected[: tiles * ROWS] = NARROW[: tiles * ROWS]
    return gives(made, out, expected, tile_map(NARROW), after=(tiles,), block=block)


def _by_hand() -> Case:
    expected = np.arange(32, dtype=np.int32)[::-1] + np.arange(4, dtype=np.int32)[:, None]
    return gives(credited_by_hand, blank(4, 32, dtype=np.int32), expected, after=(4,), block=32)


def _one_arms() -> Case:
    x = NARROW / np.float16(4)
    maps = tile_map(x), tile_map(x.copy())
    return gives(one_arms_for_two, blank(40, COLS), x[:40] * 2, *maps, after=(5,), block=96)


def _two_kinds() -> Case:
    numbers = np.random.default_rng(5).integers(0, 9, (4, 32, 4)).astype(np.int32)
    i = np.arange(ROWS * COLS)
    more = np.concatenate([part[i % 32, i % 4].reshape(ROWS, COLS) for part in numbers])
    out = blank(32, COLS, dtype=np.float32)
    return gives(
        two_kinds_of_copies, out, NARROW[:32].astype(np.float32) + more, tile_map(NARROW), numbers, after=(4,), block=64
    )


def _to_and_fro() -> Case:
    expected = np.arange(160, dtype=np.int32).reshape(1, 5, 32) + np.int32([1000, 0])[:, None, None]
    return gives(to_and_fro, blank(2, 5, 32, dtype=np.int32), expected, after=(5,), block=32, grid=2, cluster=2)


def _twice() -> Case:
    out = blank(ROWS, COLS)
    return Case(written_twice, (tile_map(out),), lambda: bool((out == 7).all()), block=64)


def _branches() -> Case:
    expected = np.arange(64, dtype=np.int32)[::-1] + (np.arange(64) >= 32)
    return gives(meet_in_branches, blank(64, dtype=np.int32), expected, block=64)


CASES: Cases = {
    **{f"with_states, {n} tiles": lambda n=n: _ring(with_states, n, 96) for n in (0, 1, 7)},
    **{f"with_bits, {n} tiles": lambda n=n: _ring(with_bits, n, 33) for n in (2, 7)},
    "armed_early": lambda: _ring(armed_early, 5, 64),
    "credited_by_hand": _by_hand,
    "one_arms_for_two": _one_arms,
    "two_kinds_of_copies": _two_kinds,
    "to_and_fro": _to_and_fro,
    "written_twice": _twice,
    "meet_in_branches": _branches,
}
