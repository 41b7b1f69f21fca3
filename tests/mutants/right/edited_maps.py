"""Maps that a kernel edits: in global memory, or in shared memory and copied from there; and a map of another mode."""

from __future__ import annotations

import numpy as np
from numba import cuda

from tests.mutants.case import COLS, NARROW, ROWS, TILE, Case, Cases, blank, gives, tile_map
from tmalab import DataType, TensorMap, kernel, ptx
from tmalab.maps_in_memory import map_rows


@kernel
def address_replaced(maps, scratch, x, out):
    """Thread 0 makes a map of its own of another tensor: a copy of the host's, whose address it replaces. It releases
    what it wrote, and acquires it before the load. Once that has come, another address takes its place."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, cta = cuda.threadIdx.x, cuda.blockIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        for i in range(128):
            scratch[cta, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(2):
        if tid == 0:
            ptx.tensormap_replace_global_address(scratch[cta], x[(2 * cta + k) * ROWS :])
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(scratch[cta])
            ptx.mbarrier_arrive_expect_tx(bar, TILE)
            ptx.cp_async_bulk_tensor_2d(tile, scratch[cta], 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, k)
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[(2 * cta + k) * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]
        cuda.syncthreads()


@kernel
def edited_in_shared_memory(maps, scratch, x, out):
    """CUTLASS's way: a warp copies a map to shared memory, one thread edits it there, the warp writes it back by
    cp_fenceproxy, which releases it; the loading thread acquires. A second edit waits until the store that used the map
    has read its source."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    edited = cuda.shared.array(128, np.uint8, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, 32):
        tile[i // COLS, i % COLS] = np.float32(i)
    ptx.fence_proxy_async()
    for i in range(4):
        edited[4 * tid + i] = maps[0, 4 * tid + i]
    cuda.syncwarp()
    for k in range(2):
        if tid == 0:
            ptx.tensormap_replace_global_address_shared_cta(edited, out[k * ROWS :])
            ptx.tensormap_replace_global_dim_shared_cta(edited, 0, 48)
            ptx.tensormap_replace_global_dim_shared_cta(edited, 1, 4 + k)
        cuda.syncwarp()
        ptx.tensormap_cp_fenceproxy(scratch[0], edited)
        cuda.syncwarp()
        if tid == 0:
            ptx.fence_proxy_tensormap_acquire(scratch[0])
            ptx.cp_async_bulk_tensor_2d_store(scratch[0], 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncwarp()
    if tid == 0:
        ptx.cp_async_bulk_wait_group(0)


@kernel
def edited_for_a_cluster(maps, scratch, x, out):
    """CTA 0 edits a map, releases it, and all meet in the cluster barrier; each CTA acquires the map for itself."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        if rank == 0:
            for i in range(128):
                scratch[0, i] = maps[0, i]
            ptx.tensormap_replace_global_address(scratch[0], x[ROWS:])
            ptx.fence_proxy_tensormap_release()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.fence_proxy_tensormap_acquire(scratch[0])
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, rank * ROWS, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[rank * ROWS + i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def filter_taps(image, out):
    """An im2col map: the same column of pixels, moved by the offsets of a filter's three taps."""
    tile = cuda.shared.array((3, 8, 8), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 3 * 128)
        ptx.cp_async_bulk_prefetch_tensor_3d_im2col(image, 0, 0, 0, 0)
        for t in range(3):
            ptx.cp_async_bulk_tensor_3d_im2col(tile[t], image, 0, 0, 0, bar, t)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    for t in range(3):
        out[t, tid // 8, tid % 8] = tile[t, tid // 8, tid % 8]


def _scratch(rows: int) -> np.ndarray:
    return blank(rows, 128, dtype=np.uint8)


def _address() -> Case:
    x, maps = NARROW.copy(), map_rows([tile_map(NARROW.copy())])
    return gives(address_replaced, blank(64, COLS), _first(32), maps, _scratch(2), x, block=64, grid=2)


def _first(rows: int) -> np.ndarray:
    expected = blank(64, COLS)
    expected[:rows] = NARROW[:rows]
    return expected


def _in_shared() -> Case:
    out, expected = blank(64, COLS), blank(64, COLS)
    tile = np.arange(ROWS * COLS).reshape(ROWS, COLS)
    expected[:4, :48], expected[ROWS : ROWS + 5, :48] = tile[:4, :48], tile[:5, :48]
    args = map_rows([tile_map(out)]), _scratch(1), NARROW.copy(), out
    return Case(edited_in_shared_memory, args, lambda: np.array_equal(out, expected), block=32)


def _cluster() -> Case:
    x = NARROW.copy()
    return gives(
        edited_for_a_cluster,
        blank(16, COLS),
        NARROW[ROWS : 3 * ROWS],
        map_rows([tile_map(x)]),
        _scratch(1),
        x,
        block=64,
        grid=2,
        cluster=2,
    )


def _taps() -> Case:
    image = np.arange(10 * 8, dtype=np.float16).reshape(1, 10, 8)  # one image, 10 pixels, 8 channels
    columns = TensorMap.im2col(DataType.FLOAT16, 0x1000, (8, 10, 1), (16, 160), (0,), (-2,), 8, 8).bind(image)
    expected = np.stack([image[0, t : t + 8] for t in range(3)])
    return gives(filter_taps, blank(3, 8, 8), expected, columns, block=64)


CASES: Cases = {
    "address_replaced": _address,
    "edited_in_shared_memory": _in_shared,
    "edited_for_a_cluster": _cluster,
    "filter_taps": _taps,
}
