"""Answers to lesson 6 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import cuda

from tmalab import DataType, TensorMap, kernel, ptx

PATCH, CHANNELS = 4, 16
PATCH_BYTES = PATCH * PATCH * CHANNELS * 4


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- numbers, letters and maps, class seed 0

VIEW = {
    "data_type": DataType.FLOAT32,
    "global_dim": (16, 12, 10, 2),
    "global_strides": (64, 768, 7680),
    "box_dim": (16, 8, 8, 1),
    "element_strides": (1, 2, 2, 1),
}
VIEW_MAP = TensorMap(
    DataType.FLOAT32, 0x1000, (16, 12, 10, 2), (64, 768, 7680), (16, 8, 8, 1), element_strides=(1, 2, 2, 1)
)
COUNTS = [128, 384, 768, 1024, 768]
LAST = [2, 1, 0, -1, 2, 0, 0, -1, 2]
DIAGNOSES = ["d", "a", "g", "f", "e", "c", "a", "b", "i", "h"]
NEEDS = ["d", "a", "b", "b", "a", "c"]
CULPRITS = {"bug_a": "a", "bug_b": "c", "bug_c": "d", "bug_d": "f"}


def described(data_type, sizes, strides, box):
    return {"data_type": data_type, "global_dim": sizes, "global_strides": strides, "box_dim": box}


MENDED = {
    "padded": described(DataType.FLOAT16, (100, 64), (208,), (64, 8)),
    "long": described(DataType.UINT16, (2048, 64), (4096,), (256, 8)),
    "steps": described(DataType.FLOAT32, (64, 16), (16 * 256,), (64, 8)),
    "flipped": described(DataType.FLOAT16, (1024, 64), (2048,), (64, 8)),
}
IN_PIECES = {  # other ways: a dimension more, wider elements, a step that is legal beside a longer stride
    "padded": TensorMap(DataType.BFLOAT16, 0x1000, (100, 64), (208,), (64, 8)),
    "long": described(DataType.UINT8, (256, 16, 64), (256, 4096), (256, 2, 8)),
    "steps": described(DataType.FLOAT64, (32, 16), (4096,), (32, 8)),
    "flipped": described("FLOAT16", (1024, 64), (2048,), (64, 8)),  # by name, as `tmalab map` reads it
}


# ---- copy_patch


@kernel
def patch_of_exchanged_coordinates(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, h, w, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_of_the_first_image(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_of_the_example(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, 6, 3, 1, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_in_numpys_order(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, n, h, w, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_without_wait(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_of_elements_promised(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH * PATCH * CHANNELS)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_of_every_thread(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
    ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_that_is_not_written(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        tile[row, column, channel] += 0


@kernel
def patch_by_the_last_thread(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 63:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 63:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def patch_by_hand(tensor_map, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, tensor_map, 0, w, h, n, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


# ---- copy_from


@kernel
def from_a_map_that_is_not_acquired(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_a_map_acquired_on_this_gpu(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire(maps[which])
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_a_map_acquired_too_late(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
        ptx.fence_proxy_tensormap_acquire_sys(maps[which])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_a_map_beside_the_acquired(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire_sys(maps[0])
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_the_first_map(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire_sys(maps[0])
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[0], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_a_map_behind_an_ordinary_fence(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_acq_rel_sys()
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_exchanged_coordinates(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire_sys(maps[which])
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, h, w, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_a_map_that_is_fetched_first(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire_sys(maps[which])
        ptx.prefetch_tensormap(maps[which])
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


@kernel
def from_a_map_acquired_at_the_start(maps, which, n, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.fence_proxy_tensormap_acquire_sys(maps[which])
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
        ptx.cp_async_bulk_tensor_4d(tile, maps[which], 0, w, h, n, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
        row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
        out[row, column, channel] = tile[row, column, channel]


# ---- copy_each


@kernel
def each_without_release(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_without_acquire(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_acquired_before_its_edit(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_of_the_first_image(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[0])
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_without_a_barrier_at_the_end(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]


@kernel
def each_at_parity_0(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_edited_after_its_load(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.fence_proxy_tensormap_release()
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
            ptx.tensormap_replace_global_address(own[0], images[k])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_loaded_by_another_thread(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release()
        cuda.syncthreads()
        if thread == 32:
            ptx.fence_proxy_tensormap_acquire(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


@kernel
def each_through_the_system(maps, own, images, steps, h, w, out):
    tile = cuda.shared.array((PATCH, PATCH, CHANNELS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        for i in range(128):
            own[0, i] = maps[0, i]
    cuda.syncthreads()
    for k in range(steps):
        if thread == 0:
            ptx.tensormap_replace_global_address(own[0], images[k])
            ptx.fence_proxy_tensormap_release_sys()
            ptx.fence_proxy_tensormap_acquire_sys(own[0])
            ptx.mbarrier_arrive_expect_tx(full[0], PATCH_BYTES)
            ptx.cp_async_bulk_tensor_3d(tile, own[0], 0, w, h, full[0])
        ptx.mbarrier_wait_parity(full[0], k % 2)
        for i in range(thread, PATCH * PATCH * CHANNELS, cuda.blockDim.x):
            row, column, channel = i // (PATCH * CHANNELS), i // CHANNELS % PATCH, i % CHANNELS
            out[k, row, column, channel] = tile[row, column, channel]
        cuda.syncthreads()


WRONG = {
    "maps.view": [
        Wrong(VIEW | {"global_dim": (2, 10, 12, 16)}, "fields", "right numbers in the wrong order"),
        Wrong(VIEW | {"global_strides": (64, 768)}, "fields", "should hold 3"),
        Wrong(VIEW | {"global_strides": (128, 1536, 7680)}, "fields", "not the distance between"),
        Wrong(VIEW | {"box_dim": (16, 4, 4, 1)}, "fields", "box_dim: (16, 4, 4, 1) is not what"),
        Wrong(VIEW | {"element_strides": (1, 1, 1, 1)}, "bytes", "it delivers 4,096"),
        Wrong(VIEW | {"data_type": DataType.FLOAT16}, "fields", "data_type: you say DataType.FLOAT16"),
    ],
    "maps.counts": [
        Wrong([128, 384, 128, 1024, 384], "bytes", "3 of 5 right; rank 3: not 128"),
        Wrong([128, 1024, 768, 4096, 1280], "bytes", "2 of 5 right; rank 2"),
        Wrong([128, 256, 768, 1024, 512], "bytes", "3 of 5 right; rank 2"),
        Wrong([64, 384, 768, 1024, 768], "bytes", "4 of 5 right; rank 1: not 64"),
        Wrong([64, 96, 384, 256, 192], "bytes", "0 of 5 right"),
    ],
    "maps.patch": [
        Wrong(patch_of_exchanged_coordinates, "bytes", "bytes right for n = 1, h = 3, w = 6"),
        Wrong(patch_of_the_first_image, "bytes", "bytes right for n = 1"),
        Wrong(patch_without_wait, "order", "read-before-wait"),
        Wrong(patch_of_elements_promised, "order", "too-few-bytes"),
        Wrong(patch_of_the_example, "bytes", "bytes right for n = 0, h = -"),
        Wrong(patch_in_numpys_order, "bytes", "did not come to its end"),
        Wrong(patch_of_every_thread, "order", "over-arrival"),
        Wrong(patch_that_is_not_written, "bytes", "out[0, 0, 0] should be"),
    ],
    "maps.column": [
        Wrong([3, 1, 0, 0, 2, 0, 1, -1, 2], "numbers", "copy 0: w"),
        Wrong([0, 1, 0, 5, 1, 0, 0, 4, 1], "numbers", "copy 1: w"),
        Wrong([2, 1, 0, 2, 2, 0, 2, 0, 2], "numbers", "copy 1: w"),
        Wrong([6, 0, 0, 17, -1, 0, 12, 2, 1], "numbers", "copy 0: w"),
    ],
    "maps.doctor": [
        Wrong(["a"] * 10, "rules", "2 of 10 right"),
        Wrong(["d", "a", "g", "f", "e", "c", "a", "b", "g", "h"], "rules", "9 of 10 right"),
        Wrong(["d", "a", "g", "f", "e", "c", "a", "c", "i", "h"], "rules", "9 of 10 right"),
        Wrong(["i"] * 10, "rules", "1 of 10 right"),
        Wrong("dagfecabih", "rules", "type str"),
    ],
    "maps.mend": [
        Wrong(MENDED | {"padded": described(DataType.FLOAT16, (100, 64), (200,), (64, 8))}, "maps", "multiple of 16"),
        Wrong(MENDED | {"padded": described(DataType.FLOAT16, (104, 64), (208,), (64, 8))}, "maps", "covers 13,312"),
        Wrong(MENDED | {"long": described(DataType.UINT8, (4096, 64), (4096,), (256, 8))}, "maps", "delivers 2,048"),
        Wrong(
            MENDED | {"steps": described(DataType.FLOAT32, (64, 16), (256,), (64, 8))},
            "maps",
            "steps: a copy at the origin",
        ),
        Wrong(
            MENDED | {"flipped": described(DataType.FLOAT16, (64, 1024), (128,), (64, 8))}, "maps", "flipped: a copy"
        ),
        Wrong(MENDED | {"long": None}, "maps", "long: "),
        Wrong(list(MENDED), "maps", "0 of 4 are mended"),
    ],
    "maps.life": [
        Wrong(["a"] * 6, "places", "2 of 6 right"),
        Wrong(["b"] * 6, "places", "2 of 6 right"),
        Wrong(["a", "a", "b", "b", "a", "c"], "places", "5 of 6 right; question 0: not a"),
        Wrong(["d", "a", "b", "b", "a", "b"], "places", "question 5: not b"),
        Wrong(["d", "a", "a", "a", "a", "c"], "places", "4 of 6 right"),
    ],
    "maps.rows": [
        Wrong(from_a_map_that_is_not_acquired, "order", "map-not-acquired"),
        Wrong(from_a_map_acquired_on_this_gpu, "order", "does not reach that far"),
        Wrong(from_the_first_map, "bytes", "bytes right for which = 1"),
        Wrong(from_a_map_acquired_too_late, "order", "map-not-acquired"),
        Wrong(from_a_map_beside_the_acquired, "order", "map-not-acquired"),
        Wrong(from_a_map_behind_an_ordinary_fence, "order", "map-not-acquired"),
        Wrong(from_exchanged_coordinates, "bytes", "bytes right for which = 1"),
    ],
    "maps.each": [
        Wrong(each_without_release, "order", "missing: a release"),
        Wrong(each_without_acquire, "order", "map-not-acquired"),
        Wrong(each_of_the_first_image, "bytes", "bytes right for 3 images"),
        Wrong(each_without_a_barrier_at_the_end, "order", "overwrite-in-use"),
        Wrong(each_acquired_before_its_edit, "order", "map-not-acquired"),
        Wrong(each_at_parity_0, "order", "wrong-parity"),
        Wrong(each_edited_after_its_load, "order", "map-edited"),
    ],
    "maps.hunt": [
        Wrong(CULPRITS | {"bug_a": "b"}, "culprits", "3 of 4 right; bug_a: not b"),
        Wrong(CULPRITS | {"bug_b": "b"}, "culprits", "bug_b: not b"),
        Wrong(CULPRITS | {"bug_c": "e"}, "culprits", "bug_c: not e"),
        Wrong(CULPRITS | {"bug_d": "d"}, "culprits", "bug_d: not d"),
        Wrong("acdf", "culprits", "type str"),
    ],
}

RIGHT = {
    "maps.view": [VIEW_MAP, {name: list(value) if isinstance(value, tuple) else value for name, value in VIEW.items()}],
    "maps.counts": [COUNTS, np.array(COUNTS)],
    "maps.patch": [patch_by_the_last_thread, patch_by_hand],
    "maps.column": [LAST, np.array(LAST)],
    "maps.doctor": [DIAGNOSES, tuple(letter.upper() for letter in DIAGNOSES)],
    "maps.mend": [IN_PIECES, list(MENDED.values())],
    "maps.life": [NEEDS, tuple(letter.upper() for letter in NEEDS)],
    "maps.rows": [from_a_map_that_is_fetched_first, from_a_map_acquired_at_the_start],
    "maps.each": [each_loaded_by_another_thread, each_through_the_system],
    "maps.hunt": [["a", "c", "d", "f"], {bug: letter.upper() for bug, letter in CULPRITS.items()}],
}
