"""Kernels that fault, each by one instruction, and the kind of fault that an H200 gave. For both worlds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import cuda

from tmalab import DataType, TensorMap, kernel, map_rows, ptx
from tmalab.launch import Device, Kernel

OUTSIDE = 0x3FFF0  # of every CTA's shared memory, in the window of shared addresses
ILLEGAL, MISALIGNED, ADDRESS, FAILED = "illegal_instruction", "misaligned_address", "illegal_address", "launch_failed"


class FaultCase(NamedTuple):
    """A kernel, the CTAs of its cluster, and the kind of its fault."""

    kernel: Kernel
    cluster: int
    kind: str


CASES: dict[str, FaultCase] = {}


def faults(kind: str, cluster: int = 1):
    """Make a case of the instruction that one thread, the first of rank 0, executes."""

    def make(body):
        issue = Device(body)

        @kernel
        def faulty(plane, volume, image, shorts, floats, rows, source):
            tile = cuda.shared.array((16, 64), np.uint32, alignment=1024)
            full = ptx.mbarrier_array(1)
            t = cuda.threadIdx.x
            for i in range(t, 1024, cuda.blockDim.x):
                tile[i // 64, i % 64] = 0
            ptx.fence_proxy_async()
            if t == 0:
                ptx.mbarrier_init(full[0], 2)
                ptx.fence_mbarrier_init()
            ptx.barrier_cluster_arrive()
            ptx.barrier_cluster_wait()
            if t == 0 and ptx.cluster_ctarank() == 0:
                issue(plane, volume, image, shorts, floats, rows, source, tile, full)
                ptx.cp_async_bulk_commit_group()
                ptx.cp_async_bulk_wait_group(0)
            ptx.barrier_cluster_arrive()
            ptx.barrier_cluster_wait()

        CASES[body.__name__] = FaultCase(faulty, cluster, kind)
        return body

    return make


def run_case(name: str, on: str):
    """The Run of a case."""
    volume = np.zeros((6, 8, 64), np.uint32)
    plane, shorts, floats = volume[0], np.zeros((8, 64), np.uint16), np.zeros((8, 64), np.float32)
    image = np.zeros((2, 5, 6, 32), np.uint16)
    dims, strides = image.shape[::-1], image.strides[::-1][1:]
    tiled = [TensorMap.from_array(array, (4, 32)) for array in (plane, shorts, floats)]
    arguments = (
        tiled[0],
        TensorMap.from_array(volume, (2, 4, 32)),
        TensorMap.im2col(DataType.UINT16, 0x1000, dims, strides, (-1, -1), (-1, -1), 16, 12).bind(image),
        *tiled[1:],
        map_rows([tiled[0]] * 2),
        np.zeros(256, np.uint32),
    )
    case = CASES[name]
    return case.kernel.run(grid=case.cluster, block=32, cluster=case.cluster, args=arguments, on=on)


@faults(ILLEGAL)
def load_of_too_few_dimensions(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d(tile, volume, 0, 0, full[0])


@faults(ILLEGAL)
def load_of_too_many_dimensions(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_3d(tile, plane, 0, 0, 0, full[0])


@faults(ILLEGAL)
def store_of_too_few_dimensions(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d_store(volume, 0, 0, tile)


@faults(ILLEGAL)
def reduction_of_too_few_dimensions(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_reduce_async_bulk_tensor_2d_add(volume, 0, 0, tile)


@faults(ILLEGAL)
def prefetch_of_too_few_dimensions(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_prefetch_tensor_2d(volume, 0, 0)


@faults(ILLEGAL)
def tiled_load_of_an_im2col_map(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d(tile, image, 0, 0, 0, 0, full[0])


@faults(ILLEGAL)
def im2col_load_of_a_tiled_map(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_3d_im2col(tile, volume, 0, 0, 0, full[0], 0)


@faults(ILLEGAL)
def tiled_store_to_an_im2col_map(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d_store(image, 0, 0, 0, 0, tile)


@faults(ILLEGAL)
def im2col_prefetch_of_a_tiled_map(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_prefetch_tensor_3d_im2col(volume, 0, 0, 0, 0)


@faults(ILLEGAL)
def column_that_starts_left_of_the_bounding_box(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d_im2col(tile, image, 0, -2, 0, 0, full[0], 2, 0)


@faults(ILLEGAL)
def column_that_starts_right_of_the_bounding_box(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d_im2col(tile, image, 0, 5, 0, 0, full[0], 0, 0)


@faults(ILLEGAL)
def im2col_store_that_wraps_to_a_negative_pixel(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d_store_im2col(image, 0, 1, 1, 0, tile)


@faults(ILLEGAL)
def channel_in_the_middle_of_16_bytes(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d_im2col(tile, image, 1, 0, 0, 0, full[0], 0, 0)


@faults(MISALIGNED)
def im2col_load_to_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_4d_im2col(tile[0, 4:], image, 0, 0, 0, 0, full[0], 0, 0)


@faults(ILLEGAL)
def prefetch_in_the_middle_of_16_bytes(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_prefetch_tensor_2d(plane, 1, 0)


@faults(ILLEGAL)
def sum_of_shorts(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_reduce_async_bulk_tensor_2d_add(shorts, 0, 0, tile)


@faults(ILLEGAL)
def smallest_of_floats(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_reduce_async_bulk_tensor_2d_min(floats, 0, 0, tile)


@faults(ILLEGAL)
def reduction_at_a_negative_coordinate(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_reduce_async_bulk_tensor_2d_add(plane, 0, -1, tile)


@faults(MISALIGNED)
def reduction_from_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_reduce_async_bulk_tensor_2d_add(plane, 0, 0, tile[0, 4:])


@faults(FAILED, cluster=2)
def multicast_beyond_the_cluster(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d_multicast(tile, plane, 0, 0, full[0], 4)


@faults(FAILED, cluster=2)
def multicast_within_and_beyond_the_cluster(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d_multicast(tile, plane, 0, 0, full[0], 5)


@faults(ILLEGAL)
def multicast_to_a_peer_without_a_cluster(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d_multicast(tile, plane, 0, 0, full[0], 2)


@faults(FAILED, cluster=2)
def arrive_beyond_the_cluster(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.mbarrier_arrive_cluster(full[0], 2)


@faults(FAILED, cluster=2)
def copy_beyond_the_cluster(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_cluster(tile, 2, tile[8], 64, full[0])


@faults(ILLEGAL)
def copy_within_shared_memory_without_a_cluster(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_cluster(tile, 0, tile[8], 64, full[0])


@faults(MISALIGNED)
def bulk_load_from_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk(tile, source[2:], 64, full[0])


@faults(MISALIGNED)
def bulk_load_to_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk(tile[0, 2:], source, 64, full[0])


@faults(MISALIGNED)
def bulk_store_to_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_store(source[2:], tile, 64)


@faults(MISALIGNED)
def bulk_reduction_from_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_reduce_async_bulk_add_u32(source, tile[0, 2:], 64)


@faults(MISALIGNED)
def bulk_prefetch_of_a_misaligned_place(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_prefetch(source[2:], 64)


@faults(MISALIGNED, cluster=2)
def copy_to_a_misaligned_place_of_a_peer(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_cluster(tile[0, 2:], 1, tile[8], 64, full[0])


@faults(ADDRESS)
def bulk_load_past_the_shared_memory(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk(OUTSIDE, source, 64, full[0])


@faults(ADDRESS)
def bulk_store_from_past_the_shared_memory(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_store(source, OUTSIDE, 64)


@faults(ADDRESS, cluster=2)
def copy_past_the_shared_memory_of_a_peer(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_cluster(OUTSIDE, 1, tile, 64, full[0])


@faults(ILLEGAL)
def nan_fill_of_integers(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.tensormap_replace_fill_mode(rows[0], 1)
    ptx.fence_proxy_tensormap_release()
    ptx.fence_proxy_tensormap_acquire(rows[0])
    ptx.cp_async_bulk_tensor_2d(tile, rows[0], 0, 0, full[0])


@faults(MISALIGNED)
def address_edited_to_a_multiple_of_8(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.tensormap_replace_global_address(rows[0], source[2:])
    ptx.fence_proxy_tensormap_release()
    ptx.fence_proxy_tensormap_acquire(rows[0])
    ptx.cp_async_bulk_tensor_2d(tile, rows[0], 0, 0, full[0])


@faults(MISALIGNED)
def map_at_a_multiple_of_32(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d(tile, rows[0, 32:], 0, 0, full[0])


@faults(ILLEGAL)
def policy_that_nobody_made(plane, volume, image, shorts, floats, rows, source, tile, full):
    ptx.cp_async_bulk_tensor_2d_cache_hint(tile, plane, 0, 0, full[0], -1)
