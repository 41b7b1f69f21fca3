"""Threads among themselves: subsets, barriers that end and begin, fewer from phase to phase, atomics."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx


@kernel
def subsets(out, rounds):
    """Warp 0 feeds warps 1 and 2 by a named barrier each (arrive there, sync here), and hears back by a third of 96."""
    box = cuda.shared.array((2, 32), np.int32)
    tid = cuda.threadIdx.x
    warp = tid // 32
    lane = tid % 32
    for r in range(rounds):
        if warp == 0:
            box[0, lane] = r * 10 + lane
            ptx.barrier_arrive(1, 64)
            box[1, lane] = r * 20 + lane
            ptx.barrier_arrive(2, 64)
        elif warp == 1:
            ptx.barrier_sync(1, 64)
            out[r, 0, lane] = box[0, 31 - lane]
        else:
            ptx.barrier_sync(2, 64)
            out[r, 1, lane] = box[1, 31 - lane]
        ptx.barrier_sync(3, 96)


def _subsets() -> Case:
    out = np.zeros((3, 2, 32), np.int32)
    lanes = np.arange(32)[::-1]
    exp = np.stack([np.stack([r * 10 + lanes, r * 20 + lanes]) for r in range(3)])
    return Case(subsets, (out, 3), lambda: np.array_equal(out, exp), 96)


@kernel
def two_groups(tm, out):
    """Two groups of two warps each have a named barrier in place of syncthreads, and a load of their own."""
    tile = cuda.shared.array((2, ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    g = tid // 64
    me = tid % 64
    if me == 0:
        ptx.mbarrier_init(bar[g], 1)
    ptx.barrier_sync(g + 1, 64)
    for k in range(2):
        if me == 63:
            ptx.mbarrier_arrive_expect_tx(bar[g], TILE)
            ptx.cp_async_bulk_tensor_2d(tile[g], tm, 0, (2 * k + g) * ROWS, bar[g])
        ptx.mbarrier_wait_parity(bar[g], k)
        for i in range(me, ROWS * COLS, 64):
            out[(2 * k + g) * ROWS + i // COLS, i % COLS] = tile[g, i // COLS, i % COLS]
        ptx.barrier_sync(g + 1, 64)


def _groups() -> Case:
    out = blank(32, COLS)
    return gives(two_groups, out, NARROW[:32], tile_map(NARROW), block=128)


@kernel
def inval_reuse(tm, out):
    """Barriers ended, their memory reused as data through a view, then barriers again with another count."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    for k in range(2):
        if tid == 0:
            ptx.mbarrier_init(bar, 1 + 63 * k)
        cuda.syncthreads()
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, tm, 0, k * ROWS, bar)
        elif k:
            ptx.mbarrier_arrive(bar)
        ptx.mbarrier_wait_parity(bar, 0)
        for i in range(tid, ROWS * COLS, 64):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()
        if tid == 63:
            ptx.mbarrier_inval(bar)
        cuda.syncthreads()


def _inval() -> Case:
    out = blank(16, COLS)
    return gives(inval_reuse, out, NARROW[:16], tile_map(NARROW), block=64)


@kernel
def drops(out, steps):
    """Each step one more warp leaves by arrive_drop; the others go on with fewer."""
    box = cuda.shared.array(4, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    warp = tid // 32
    lane = tid % 32
    if tid == 0:
        ptx.mbarrier_init(bar, 4)
    cuda.syncthreads()
    for k in range(steps):
        if lane == 0:
            if warp == 3 - k and k < 3:
                box[warp] = k
                ptx.mbarrier_arrive_drop(bar)
            elif warp < 3 - k or k >= 3:
                ptx.mbarrier_arrive(bar)
        if warp == 3 - k and k < 3:
            return
        ptx.mbarrier_wait_parity(bar, k % 2)
        cuda.syncwarp()
        if tid == 0 and k < 3:
            out[k] = box[3 - k] + 10


def _drops() -> Case:
    out = np.zeros(3, np.int32)
    return Case(drops, (out, 4), lambda: np.array_equal(out, [10, 11, 12]), 128)


@kernel
def no_complete(out, steps):
    """Lane 0 arrives for 31 by noComplete and once more; the consumer waits by the state of its own arrive."""
    box = cuda.shared.array((2, 32), np.int32)
    bar = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar[0], 33)
        ptx.mbarrier_init(bar[1], 33)
    cuda.syncthreads()
    for k in range(steps):
        s = k % 2
        if tid < 32:
            box[s, tid] = k + tid
            cuda.syncwarp()
            if tid == 0:
                ptx.mbarrier_arrive_no_complete(bar[s], 31)
                ptx.mbarrier_arrive(bar[s])
        elif tid == 32:
            st = ptx.mbarrier_arrive(bar[s])
            while not ptx.mbarrier_test_wait(bar[s], st):
                pass
            out[k] = box[s, 7]
        if k % 2 == 1:
            cuda.syncthreads()


def _noc() -> Case:
    out = np.zeros(4, np.int32)
    return Case(no_complete, (out, 4), lambda: np.array_equal(out, np.arange(4) + 7), 64)


@kernel
def last_arrives(out):
    """The one who finds one pending arrival writes the sum of what all wrote."""
    part = cuda.shared.array(64, np.int32)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 64)
    part[tid] = tid * tid
    cuda.syncthreads()
    part[tid] = part[tid] + 1
    st = ptx.mbarrier_arrive(bar)
    while not ptx.mbarrier_try_wait(bar, st):
        pass
    if ptx.mbarrier_pending_count(st) == 64:
        total = 0
        for i in range(64):
            total += part[i]
        out[0] = total


def _last() -> Case:
    out = np.zeros(1, np.int32)
    return Case(last_arrives, (out,), lambda: out[0] == sum(i * i + 1 for i in range(64)), 64)


@kernel
def flags_by_atomics(out, x):
    """Threads publish by fence and atomic in shared memory; a spinning reader takes by atomic and fence."""
    box = cuda.shared.array(32, np.int32)
    flag = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        flag[0] = 0
    cuda.syncthreads()
    if tid < 32:
        box[tid] = x[tid] * 2
        ptx.fence_acq_rel_cta()
        cuda.atomic.add(flag, 0, 1)
    elif tid == 32:
        while cuda.atomic.add(flag, 0, 0) < 32:
            pass
        ptx.fence_acq_rel_cta()
        for i in range(32):
            out[i] = box[i]


def _flags() -> Case:
    x = np.arange(32, dtype=np.int32)
    out = np.zeros(32, np.int32)
    return Case(flags_by_atomics, (out, x), lambda: np.array_equal(out, 2 * x), 64)


@kernel
def one_counter(out):
    c = cuda.shared.array(1, np.int32)
    tid = cuda.threadIdx.x
    if tid == 0:
        c[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(c, 0, 1)
    cuda.syncthreads()
    if tid == 0:
        out[0] = c[0]


def _one() -> Case:
    out = np.zeros(1, np.int32)
    return Case(one_counter, (out,), lambda: out[0] == 64, 64)


CASES: Cases = {
    "subsets": _subsets,
    "two_groups": _groups,
    "inval_reuse": _inval,
    "drops": _drops,
    "no_complete": _noc,
    "last_arrives": _last,
    "flags_by_atomics": _flags,
    "one_counter": _one,
}
