"""Copies of a warp of its own, per-thread copies, maps of all ranks, edited maps."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, Case, Cases, blank, gives, tile_map
from tmalab import TensorMap, kernel, ptx
from tmalab.maps_in_memory import map_rows


@kernel
def warp_shuffle_role(tm, out, tiles):
    """Each warp is its own producer and consumer; elect for issue, syncwarp for reuse; three stages, no syncthreads."""
    ring = cuda.shared.array((2, 3, 4, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(6)
    tid = cuda.threadIdx.x
    w = tid // 32
    lane = tid % 32
    if lane < 3:
        ptx.mbarrier_init(full[3 * w + lane], 1)
    cuda.syncwarp()
    leader = ptx.elect_sync()
    for k in range(tiles + 2):
        if leader and k < tiles:
            ptx.mbarrier_arrive_expect_tx(full[3 * w + k % 3], 512)
            ptx.cp_async_bulk_tensor_2d(ring[w, k % 3], tm, 0, (2 * k + w) * 4, full[3 * w + k % 3])
        if k >= 2:
            j = k - 2
            ptx.mbarrier_wait_parity(full[3 * w + j % 3], j // 3 % 2)
            for i in range(lane, 256, 32):
                out[(2 * j + w) * 4 + i // 64, i % 64] = ring[w, j % 3, i // 64, i % 64]
            cuda.syncwarp()


def _wsr() -> Case:
    out = blank(40, COLS)
    return gives(warp_shuffle_role, out, NARROW[:40], TensorMap.from_array(NARROW, (4, COLS)), after=(5,), block=64)


@kernel
def cp_async_ring(x, out, steps):
    """cp.async with groups: two in flight, wait_group(1), syncthreads each step."""
    buf = cuda.shared.array((3, 64, 4), np.float32, alignment=16)
    tid = cuda.threadIdx.x
    for k in range(2):
        ptx.cp_async(buf[k, tid], x[k, tid], 16)
        ptx.cp_async_commit_group()
    for k in range(steps):
        ptx.cp_async_wait_group(1)
        cuda.syncthreads()
        out[k, tid] = buf[k % 3, 63 - tid, 1]
        if k + 2 < steps:
            ptx.cp_async(buf[(k + 2) % 3, tid], x[k + 2, tid], 16)
        ptx.cp_async_commit_group()


def _cpa() -> Case:
    x = np.arange(5 * 64 * 4, dtype=np.float32).reshape(5, 64, 4)
    out = np.zeros((5, 64), np.float32)
    return gives(cp_async_ring, out, x[:, ::-1, 1], x, after=(5,), block=64)


@kernel
def noinc_arrive(x, out, steps):
    """cp.async by a warp, each lane's noinc arrive on a barrier of 32; the other warp consumes and hands back."""
    buf = cuda.shared.array((2, 32, 4), np.int32, alignment=16)
    full = ptx.mbarrier_array(2)
    empty = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid < 2:
        ptx.mbarrier_init(full[tid], 32)
        ptx.mbarrier_init(empty[tid], 32)
    cuda.syncthreads()
    for k in range(steps):
        s = k % 2
        if tid < 32:
            ptx.mbarrier_wait_parity(empty[s], k // 2 % 2 ^ 1)
            ptx.cp_async(buf[s, tid], x[k, tid], 16)
            ptx.cp_async_mbarrier_arrive_noinc(full[s])
        else:
            ptx.mbarrier_wait_parity(full[s], k // 2 % 2)
            out[k, tid - 32] = buf[s, 63 - tid, 2]
            ptx.mbarrier_arrive(empty[s])


def _noinc() -> Case:
    x = np.arange(5 * 128, dtype=np.int32).reshape(5, 32, 4)
    out = np.zeros((5, 32), np.int32)
    return gives(noinc_arrive, out, x[:, ::-1, 2], x, after=(5,), block=64)


@kernel
def all_shapes(t1, t3, t4, out):
    """Loads of rank 1, 3 and 4 on one barrier, into arrays of other types, at odd places of the maps."""
    a = cuda.shared.array(64, np.float32, alignment=128)
    b = cuda.shared.array((2, 4, 16), np.uint8, alignment=128)
    c = cuda.shared.array((2, 2, 2, 4), np.float64, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 256 + 128 + 256)
        ptx.cp_async_bulk_tensor_1d(a, t1, 4, bar)
        ptx.cp_async_bulk_tensor_3d(b, t3, 16, -1, 1, bar)
        ptx.cp_async_bulk_tensor_4d(c, t4, 0, 1, 0, -1, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    out[tid] = (
        np.float64(a[tid])
        + np.float64(b[tid // 32, tid // 16 % 2, tid % 16])
        + c[tid // 16 % 2, tid // 8 % 2, tid // 4 % 2, tid % 4]
    )


def _shapes() -> Case:
    x1 = np.arange(80, dtype=np.float32)
    x3 = np.arange(3 * 5 * 32, dtype=np.uint16).reshape(3, 5, 32).astype(np.uint8)
    x4 = np.arange(3 * 3 * 3 * 4, dtype=np.float64).reshape(3, 3, 3, 4)
    a = x1[4:68]
    b = np.zeros((2, 4, 16))
    b[:, 1:] = x3[1:3, 0:3, 16:32]
    c = np.zeros((2, 2, 2, 4))
    c[1] = x4[0, 0:2, 1:3, :]
    out = np.zeros(64)
    t = np.arange(64)
    exp = a + b[t // 32, t // 16 % 2, t % 16] + c[t // 16 % 2, t // 8 % 2, t // 4 % 2, t % 4]
    return gives(
        all_shapes,
        out,
        exp,
        TensorMap.from_array(x1, (64,)),
        TensorMap.from_array(x3, (2, 4, 16)),
        TensorMap.from_array(x4, (2, 2, 2, 4)),
        block=64,
    )


@kernel
def maps_per_group(maps, scratch, x, out):
    """A group's map is made from the host's by the loading warp: box and dim replaced, released, acquired by another
    warp after a named barrier."""
    tile = cuda.shared.array((4, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 32:
        ptx.mbarrier_init(bar, 1)
    if tid < 32:
        for i in range(4):
            scratch[0, tid * 4 + i] = maps[0, tid * 4 + i]
        cuda.syncwarp()
        if tid == 0:
            ptx.tensormap_replace_global_address(scratch[0], x[8:])
            ptx.tensormap_replace_box_dim(scratch[0], 1, 4)
        cuda.syncwarp()
        ptx.fence_proxy_tensormap_release()
        ptx.barrier_sync(1, 64)
    else:
        ptx.barrier_sync(1, 64)
        if tid == 32:
            ptx.fence_proxy_tensormap_acquire(scratch[0])
            ptx.mbarrier_arrive_expect_tx(bar, 512)
            ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, 2, bar)
        cuda.syncwarp()
        ptx.mbarrier_wait_parity(bar, 0)
        for i in range(tid - 32, 256, 32):
            out[i // 64, i % 64] = tile[i // 64, i % 64]


def _mpg() -> Case:
    x = NARROW.copy()
    out = blank(4, COLS)
    maps = map_rows([tile_map(x)])
    scratch = blank(1, 128, dtype=np.uint8)
    return Case(maps_per_group, (maps, scratch, x, out), lambda: np.array_equal(out, NARROW[10:14]), 64)


@kernel
def bulk_prefetched(x, out):
    """Bulk prefetches of all rows, then a ring of 1D copies with waits by test_wait and nanosleep."""
    buf = cuda.shared.array((2, 128), np.float32, alignment=128)
    bar = ptx.mbarrier_array(2)
    tid = cuda.threadIdx.x
    if tid == 0:
        for s in range(2):
            ptx.mbarrier_init(bar[s], 1)
        for k in range(4):
            ptx.cp_async_bulk_prefetch(x[k], 512)
    cuda.syncthreads()
    for k in range(4):
        s = k & 1
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar[s], 512)
            ptx.cp_async_bulk(buf[s], x[k], 512, bar[s])
        while not ptx.mbarrier_test_wait_parity(bar[s], k >> 1):
            cuda.nanosleep(32)
        for i in range(tid, 128, 64):
            out[k, i] = buf[s, 127 - i]
        cuda.syncthreads()


def _bpf() -> Case:
    x = np.arange(512, dtype=np.float32).reshape(4, 128)
    out = np.zeros_like(x)
    return gives(bulk_prefetched, out, x[:, ::-1], x, block=64)


CASES: Cases = {
    "warp_shuffle_role": _wsr,
    "cp_async_ring": _cpa,
    "noinc_arrive": _noinc,
    "all_shapes": _shapes,
    "maps_per_group": _mpg,
    "bulk_prefetched": _bpf,
}
