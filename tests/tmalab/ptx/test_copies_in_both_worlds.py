"""Copies of every family, from one source in the simulator and on a Hopper GPU. What must come out is said by NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numba import cuda

from tmalab import DataType, TensorMap, kernel, map_rows, ptx

PIXELS, CHANNELS = 20, 16
COLUMN_BYTES = PIXELS * CHANNELS * 2
BYTES = 256
WORDS, LONGS = 64, 32  # of 4 and 8 bytes


@kernel
def column_3d(tensor_map, out, start, offsets):
    tile = cuda.shared.array((PIXELS, CHANNELS), np.uint16, alignment=128)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], COLUMN_BYTES)
        ptx.cp_async_bulk_prefetch_tensor_3d_im2col(tensor_map, start[0], start[1], start[2], offsets[0])
        ptx.cp_async_bulk_tensor_3d_im2col(tile, tensor_map, start[0], start[1], start[2], full[0], offsets[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(t, PIXELS * CHANNELS, cuda.blockDim.x):
        out[i // CHANNELS, i % CHANNELS] = tile[i // CHANNELS, i % CHANNELS]


@kernel
def column_4d(tensor_map, out, start, offsets):
    tile = cuda.shared.array((PIXELS, CHANNELS), np.uint16, alignment=128)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], COLUMN_BYTES)
        policy = ptx.createpolicy_fractional_evict_first()
        ptx.cp_async_bulk_tensor_4d_im2col_cache_hint(
            tile, tensor_map, start[0], start[1], start[2], start[3], full[0], offsets[0], offsets[1], policy
        )
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(t, PIXELS * CHANNELS, cuda.blockDim.x):
        out[i // CHANNELS, i % CHANNELS] = tile[i // CHANNELS, i % CHANNELS]


@kernel
def column_5d(tensor_map, out, start, offsets):
    tile = cuda.shared.array((PIXELS, CHANNELS), np.uint16, alignment=128)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], COLUMN_BYTES)
        ptx.cp_async_bulk_tensor_5d_im2col_multicast(
            tile, tensor_map, start[0], start[1], start[2], start[3], start[4], full[0],
            offsets[0], offsets[1], offsets[2], 1,
        )  # fmt: skip
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(t, PIXELS * CHANNELS, cuda.blockDim.x):
        out[i // CHANNELS, i % CHANNELS] = tile[i // CHANNELS, i % CHANNELS]


COLUMNS = {3: column_3d, 4: column_4d, 5: column_5d}


def convolution_rows(image, start, offsets, lower, upper):
    """What a convolution reads: PIXELS pixels from `start` on, in the bounding box, moved by `offsets`; zeros outside.

    image: (n, ..., w, c). The rest is innermost first: start (c, w, ..., n), offsets and corners (w, ...).
    """
    c, *pixel, n = start
    dims = image.shape[1:-1][::-1]
    boxes = [range(low, dim + up) for low, up, dim in zip(lower, upper, dims)]
    order = itertools.product(range(n, n + PIXELS), *boxes[::-1])  # the innermost moves fastest
    places = [place[::-1] for place in order]  # (w, ..., n)
    first = places.index((*pixel, n))
    column = np.zeros((PIXELS, CHANNELS), image.dtype)
    for row, (*at, number) in zip(column, places[first : first + PIXELS]):
        moved = [p + o for p, o in zip(at, offsets)]
        if number < image.shape[0] and all(0 <= p < dim for p, dim in zip(moved, dims)):
            row[:] = image[(number, *moved[::-1])][c : c + CHANNELS]
    return column


@pytest.mark.parametrize(
    ("shape", "lower", "upper", "start", "offsets"),
    [
        ((3, 9, 32), (-1,), (-1,), (0, -1, 0), (0,)),
        ((3, 9, 32), (-1,), (-1,), (16, 4, 1), (2,)),
        ((2, 5, 7, 32), (0, 0), (-2, -2), (0, 2, 1, 0), (1, 2)),
        ((2, 5, 7, 32), (-1, -1), (-1, -1), (16, 3, -1, 1), (2, 0)),
        ((2, 3, 4, 5, 16), (-1, 0, -1), (-1, -1, 0), (0, 2, 1, 1, 0), (1, 1, 2)),
    ],
)
def test_an_im2col_load_is_what_a_convolution_reads(run, shape, lower, upper, start, offsets):
    image = np.arange(1, 1 + int(np.prod(shape)), dtype=np.uint16).reshape(shape)
    dims, strides = image.shape[::-1], image.strides[::-1][1:]
    tensor_map = TensorMap.im2col(DataType.UINT16, 0x1000, dims, strides, lower, upper, CHANNELS, PIXELS).bind(image)
    out = np.zeros((PIXELS, CHANNELS), np.uint16)
    run(COLUMNS[len(shape)], tensor_map, out, np.array(start), np.array(offsets))
    assert (out == convolution_rows(image, start, offsets, lower, upper)).all()


@kernel
def there_and_back(source, out):
    """A bulk copy in, one out, both with a cache hint; a prefetch before."""
    tile = cuda.shared.array(WORDS, np.uint32, alignment=16)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        policy = ptx.createpolicy_fractional_evict_last_evict_first(0.5)
        ptx.cp_async_bulk_prefetch_cache_hint(source, BYTES, policy)
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], BYTES)
        ptx.cp_async_bulk_cache_hint(tile, source[4:], BYTES - 16, full[0], policy)
        ptx.cp_async_bulk(tile[WORDS - 4 :], source, 16, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        ptx.cp_async_bulk_store_cache_hint(out[4:], tile, BYTES, policy)
        ptx.cp_async_bulk_store(out, tile[4:], 16)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


def test_bytes_are_copied_without_a_map(run):
    source = np.arange(1, 1 + WORDS, dtype=np.uint32)
    out = np.zeros(WORDS + 4, np.uint32)
    run(there_and_back, source, out, block=1)
    tile = np.concatenate([source[4:], source[:4]])
    assert (out == np.concatenate([tile[4:8], tile])).all()


@kernel
def reduce_tile(tensor_map, tile, which):
    """One reduction of the tile, by number."""
    shared = cuda.shared.array((4, 32), np.uint32, alignment=128)
    t = cuda.threadIdx.x
    for i in range(t, 128, cuda.blockDim.x):
        shared[i // 32, i % 32] = tile[i // 32, i % 32]
    ptx.fence_proxy_async_shared_cta()
    cuda.syncthreads()
    if t == 0:
        if which == 0:
            ptx.cp_reduce_async_bulk_tensor_2d_add(tensor_map, 4, 2, shared)
        elif which == 1:
            ptx.cp_reduce_async_bulk_tensor_2d_min(tensor_map, 4, 2, shared)
        elif which == 2:
            ptx.cp_reduce_async_bulk_tensor_2d_max(tensor_map, 4, 2, shared)
        elif which == 3:
            ptx.cp_reduce_async_bulk_tensor_2d_inc(tensor_map, 4, 2, shared)
        elif which == 4:
            ptx.cp_reduce_async_bulk_tensor_2d_dec(tensor_map, 4, 2, shared)
        elif which == 5:
            ptx.cp_reduce_async_bulk_tensor_2d_and(tensor_map, 4, 2, shared)
        elif which == 6:
            ptx.cp_reduce_async_bulk_tensor_2d_or(tensor_map, 4, 2, shared)
        else:
            policy = ptx.createpolicy_range_evict_last(tile, 512, 1024)
            ptx.cp_reduce_async_bulk_tensor_2d_xor_cache_hint(tensor_map, 4, 2, shared, policy)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


MEANING = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda d, s: np.where(d >= s, 0, d + 1),
    "dec": lambda d, s: np.where((d == 0) | (d > s), s, d - 1),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


@pytest.mark.parametrize("which", range(8), ids=list(MEANING))
def test_a_tensor_reduction_combines_the_box_with_the_tensor(run, which):
    generator = np.random.default_rng(which)
    small, large = [0, 1, 2, 3], 1 << 32
    tensor, tile = (
        np.where(generator.random(shape) < 0.5, generator.choice(small, shape), generator.integers(0, large, shape))
        .astype(np.uint32)
        for shape in ((8, 40), (4, 32))
    )  # fmt: skip
    expected = tensor.copy()
    expected[2:6, 4:36] = list(MEANING.values())[which](tensor[2:6, 4:36], tile)
    run(reduce_tile, TensorMap.from_array(tensor, (4, 32)), tile, which)
    assert (tensor == expected).all()


def reduction_kernel(instruction):
    @kernel
    def reduce(tile, out):
        shared = cuda.shared.array(LONGS, np.int64, alignment=128)
        t = cuda.threadIdx.x
        for i in range(t, LONGS, cuda.blockDim.x):
            shared[i] = tile[i]
        ptx.fence_proxy_async_shared_cta()
        cuda.syncthreads()
        if t == 0:
            instruction(out, shared, BYTES)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group(0)

    return reduce


TYPED = {
    "add_u32": (np.uint32, np.add),
    "add_s32": (np.int32, np.add),
    "add_u64": (np.uint64, np.add),
    "add_f16": (np.float16, np.add),
    "add_f32": (np.float32, np.add),
    "add_f64": (np.float64, np.add),
    "min_s32": (np.int32, np.minimum),
    "max_u64": (np.uint64, np.maximum),
    "min_s64": (np.int64, np.minimum),
    "max_f16": (np.float16, np.maximum),
    "inc_u32": (np.uint32, MEANING["inc"]),
    "dec_u32": (np.uint32, MEANING["dec"]),
    "and_b32": (np.uint32, np.bitwise_and),
    "or_b64": (np.uint64, np.bitwise_or),
    "xor_b64": (np.uint64, np.bitwise_xor),
}


@pytest.mark.parametrize("name", TYPED)
def test_a_bulk_reduction_combines_elements_of_its_type(run, name):
    dtype, meaning = TYPED[name]
    generator = np.random.default_rng(list(TYPED).index(name))
    count = BYTES // np.dtype(dtype).itemsize
    if np.dtype(dtype).kind == "f":
        out, tile = (generator.integers(-99, 99, count).astype(dtype) for _ in range(2))
    else:
        out, tile = (np.frombuffer(generator.bytes(BYTES), dtype).copy() for _ in range(2))
    expected = meaning(out, tile)
    kept = out.view(np.int64)
    run(reduction_kernel(ptx.INSTRUCTIONS[f"cp_reduce_async_bulk_{name}"]), tile.view(np.int64), kept)
    assert (out == expected).all()


@kernel
def edited(maps, a, b, out):
    """The map of `a` becomes one of `b`: in global memory in row 0, by way of shared memory in row 1."""
    tile = cuda.shared.array((2, 4, 32), np.uint32, alignment=128)
    copy = cuda.shared.array(128, np.uint8, alignment=128)
    full = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    copy[t] = maps[1, t]
    if t == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * 512)
        ptx.tensormap_replace_global_address(maps[0], b)
        ptx.tensormap_replace_global_dim(maps[0], 1, 3)
        ptx.tensormap_replace_global_stride(maps[0], 0, 256)
        ptx.fence_proxy_tensormap_release()
    cuda.syncthreads()
    if t == 0:
        ptx.tensormap_replace_global_address_shared_cta(copy, b[1, 16:])
        ptx.tensormap_replace_global_dim_shared_cta(copy, 0, 24)
        ptx.tensormap_replace_global_stride_shared_cta(copy, 0, 256)
    cuda.syncwarp()
    if t < 32:
        ptx.tensormap_cp_fenceproxy(maps[1], copy)
    cuda.syncthreads()
    if t == 0:
        ptx.fence_proxy_tensormap_acquire(maps[0])
        ptx.fence_proxy_tensormap_acquire(maps[1])
        ptx.cp_async_bulk_tensor_2d(tile[0], maps[0], 16, 1, full[0])
        ptx.cp_async_bulk_tensor_2d(tile[1], maps[1], 0, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(t, 256, cuda.blockDim.x):
        out[i // 128, i // 32 % 4, i % 32] = tile[i // 128, i // 32 % 4, i % 32]


def test_a_kernel_edits_a_map_and_loads_through_it(run):
    a = np.zeros((8, 32), np.uint32)
    b = np.arange(1, 1 + 8 * 64, dtype=np.uint32).reshape(8, 64)
    out = np.full((2, 4, 32), 7, np.uint32)
    tensor_map = TensorMap.from_array(a, (4, 32))
    run(edited, map_rows([tensor_map, tensor_map]), a, b, out)
    expected = np.zeros((2, 4, 32), np.uint32)
    expected[0, :2, :16] = b[1:3, 16:32]
    expected[1, :4, :24] = b[1:5, 16:40]
    assert (out == expected).all()
