"""Maps in global memory: rows of 128 bytes that a kernel acquires before a copy uses one."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import kernel, ptx
from tmalab.maps_in_memory import map_rows


@kernel
def a_map_for_each_cta(maps, out):
    """Each CTA takes another tensor: its row of the maps, which the host wrote, is acquired first."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_proxy_tensormap_acquire_sys(maps[cta])
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, maps[cta], 0, 0, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cta * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def map_is_copied(maps, scratch, out):
    """A warp copies a map's 128 bytes and releases them; a barrier; the loading thread acquires the copy. Then another
    map takes the place, once the load that used the first is waited for."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    for k in range(2):
        if tid < 32:
            for i in range(4):
                scratch[0, tid * 4 + i] = maps[k, tid * 4 + i]
            ptx.fence_proxy_tensormap_release()
        cuda.syncthreads()
        if tid == 32:
            ptx.fence_proxy_tensormap_acquire(scratch[0])
            ptx.mbarrier_arrive_expect_tx(bar, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, k)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()


def _maps():
    return map_rows(tile_map(part) for part in np.split(NARROW.copy(), 2))


def _copied() -> Case:
    maps = _maps()
    expected = np.concatenate([NARROW[:8], NARROW[32:40]])
    return gives(map_is_copied, blank(16, COLS), expected, maps, blank(1, 128, dtype=np.uint8), block=64)


def _each_cta() -> Case:
    expected = np.concatenate([NARROW[:8], NARROW[32:40]])
    return gives(a_map_for_each_cta, blank(16, COLS), expected, _maps(), block=64, grid=2)


CASES: Cases = {"a_map_for_each_cta": _each_cta, "map_is_copied": _copied}
