"""B17: maps in memory. What the host wrote is acquired, what a kernel edits is released and acquired, and no copy that
uses a map is in flight while it is edited."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import NARROW, tile_map
from tmalab import TensorMap, kernel, ptx
from tmalab.maps_in_memory import map_rows

SEEDS = range(6)


def names(run):
    return {hazard.name for hazard in run.hazards}


def variants(run):
    """What is missing, in the reports' words."""
    return [hazard.message.splitlines()[-1].strip() for hazard in run.hazards]


@kernel
def host_wrote(maps, out, how):
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        if how == 1:
            ptx.fence_proxy_tensormap_acquire(maps[1])
        if how == 2:
            ptx.fence_proxy_tensormap_acquire_sys(maps[0])
        if how == 3:
            ptx.fence_proxy_tensormap_acquire_sys(maps[1])
    if tid == 1 and how == 4:
        ptx.fence_proxy_tensormap_acquire_sys(maps[1])
    if how >= 4:
        cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d(tile, maps[1], 0, 8, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    out[tid] = tile[0, tid]


def host(how, **launch):
    rows = map_rows([tile_map(NARROW.copy()), tile_map(NARROW)])
    return host_wrote.run(block=64, args=(rows, np.zeros(64, np.float16), how), **launch)


@pytest.mark.parametrize("how", [3, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_map_of_the_hosts_is_acquired_by_any_thread_of_the_cta_before_the_copy(how, seed):
    assert not host(how, seed=seed).hazards


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (0, "missing: an acquire of maps[1] in this CTA: the host wrote it"),
        (1, "the host wrote maps[1]: an acquire at the scope of this GPU does not reach that far"),
        (2, "missing: an acquire of maps[1] in this CTA: the host wrote it"),
    ],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_map_of_the_hosts_that_is_not_acquired_is_told_of(how, words, seed):
    run = host(how, seed=seed)
    assert names(run) == {"map-not-acquired"}
    assert variants(run)[0].startswith(words)


def test_a_map_that_is_an_argument_needs_no_fence():
    @kernel
    def by_argument(tensor_map, out):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 8, bar)
        ptx.mbarrier_wait_parity(bar, 0)

    assert not by_argument.run(block=1, args=(tile_map(NARROW), np.zeros(1))).hazards


@kernel
def one_edits(maps, scratch, x, out, release, acquire, order):
    """Thread 32 edits a map, thread 0 loads through it."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
    if tid == 32:
        for i in range(128):
            scratch[0, i] = maps[0, i]
        ptx.tensormap_replace_global_address(scratch[0], x[16:])
        if release:
            ptx.fence_proxy_tensormap_release()
    if tid == 0 and acquire == 1:
        ptx.fence_proxy_tensormap_acquire(scratch[0])
    if order:
        cuda.syncthreads()
    if tid == 0 and acquire == 2:
        ptx.fence_proxy_tensormap_acquire(scratch[0])
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, 0, bar)
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(bar, 0)
    out[tid] = tile[0, tid]


def edited(release=1, acquire=2, order=1, **launch):
    x, out = NARROW.copy(), np.zeros(64, np.float16)
    args = map_rows([tile_map(x)]), map_rows([tile_map(x)]), x, out, release, acquire, order
    return one_edits.run(block=64, args=args, **launch), out


@pytest.mark.parametrize("seed", SEEDS)
def test_an_edit_reaches_copies_by_release_order_and_acquire(seed):
    run, out = edited(seed=seed)
    assert not run.hazards
    assert np.array_equal(out, NARROW[16])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ({"release": 0}, "missing: a release by thread 32 after its edit of scratch[0]"),
        ({"acquire": 0}, "missing: an acquire of scratch[0] in this CTA after the edit by thread 32"),
        ({"acquire": 1}, "scratch[0] was acquired before thread 32 edited it"),
    ],
)
def test_each_step_between_an_edit_and_a_copy_is_missed(missing, words, seed):
    run, _ = edited(**missing, seed=seed)
    assert names(run) == {"map-not-acquired"}
    assert variants(run)[0].startswith(words)
    use, edit = run.hazards[0].accesses
    first = one_edits.function.__code__.co_firstlineno
    assert (use.line, edit.line) == (first + 22, first + 11)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_that_nothing_orders_after_the_edit_is_told_of(seed):
    run, _ = edited(order=0, seed=seed)
    assert "map-edited" in names(run)


@kernel
def edited_in_flight(maps, scratch, stores, waits):
    """A second edit, while the copy that used the map may be on its way."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    for i in range(512):
        tile[i // 64, i % 64] = 0.0
    ptx.fence_proxy_async()
    for i in range(128):
        scratch[0, i] = maps[0, i]
    ptx.fence_proxy_tensormap_release()
    ptx.fence_proxy_tensormap_acquire(scratch[0])
    if stores:
        ptx.cp_async_bulk_tensor_2d_store(scratch[0], 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        if waits:
            ptx.cp_async_bulk_wait_group_read(0)
    else:
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, 0, bar)
        if waits:
            ptx.mbarrier_wait_parity(bar, 0)
    ptx.tensormap_replace_global_dim(scratch[0], 1, 32)
    ptx.cp_async_bulk_wait_group(0)
    if not stores:
        ptx.mbarrier_wait_parity(bar, 0)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stores", [0, 1])
@pytest.mark.parametrize("waits", [0, 1])
def test_copies_that_use_a_map_are_done_or_have_read_before_it_is_edited(waits, stores, seed):
    x = NARROW.copy()
    args = map_rows([tile_map(x)]), np.zeros((1, 128), np.uint8), stores, waits
    run = edited_in_flight.run(block=1, args=args, seed=seed)
    assert names(run) == (set() if waits else {"map-edited"})
    if not waits:
        edit, use = run.hazards[0].accesses
        assert "may still be using the map" in use.does
        assert edit.line > use.line


@kernel
def fields(scratch, out, x):
    """Every field that a tiled map has, one by one; then a copy through the map that came of it."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    ptx.tensormap_replace_global_address(scratch[0], x[8:])
    ptx.tensormap_replace_rank(scratch[0], 1)
    ptx.tensormap_replace_global_dim(scratch[0], 0, 32)
    ptx.tensormap_replace_global_dim(scratch[0], 1, 4)
    ptx.tensormap_replace_global_stride(scratch[0], 0, 256)
    ptx.tensormap_replace_box_dim(scratch[0], 0, 64)
    ptx.tensormap_replace_box_dim(scratch[0], 1, 8)
    ptx.tensormap_replace_element_stride(scratch[0], 1, 2)
    ptx.tensormap_replace_elemtype(scratch[0], 6)
    ptx.tensormap_replace_interleave_layout(scratch[0], 0)
    ptx.tensormap_replace_swizzle_mode(scratch[0], 3)
    ptx.tensormap_replace_fill_mode(scratch[0], 1)
    ptx.fence_proxy_tensormap_release()
    ptx.fence_proxy_tensormap_acquire(scratch[0])
    ptx.mbarrier_arrive_expect_tx(bar, 512)
    ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(256):
        out[i // 64, i % 64] = tile[i // 64, i % 64]


def test_a_copy_follows_the_fields_whatever_the_driver_had_derived_from_others():
    """Measured, H200."""
    from tmalab import reference

    x, out = NARROW.copy(), np.zeros((4, 64), np.float16)
    scratch = np.frombuffer(TensorMap.from_array(x, (2, 16)).encode(), np.uint8).reshape(1, 128).copy()
    assert not fields.run(block=1, args=(scratch, out, x)).hazards
    expected = TensorMap(6, 0, (32, 4), (256,), (64, 8), (1, 2), swizzle=3, oob_fill=1)
    image = reference.load(expected, (0, 0), x[8:].view(np.uint8).reshape(-1))
    assert out.tobytes() == image.data.tobytes()


@kernel
def loads_through(scratch):
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    ptx.fence_proxy_tensormap_acquire_sys(scratch[0])
    ptx.mbarrier_arrive_expect_tx(bar, 1024)
    ptx.cp_async_bulk_tensor_2d(tile, scratch[0], 0, 0, bar)


def test_bytes_that_are_no_map_are_an_illegal_instruction():
    """Measured, H200: a map of zeros."""
    run = loads_through.run(block=1, args=(np.zeros((1, 128), np.uint8),))
    assert run.fault.kind == "illegal_instruction"
    assert "are no map that the copy engine takes" in str(run.fault)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: TensorMap.from_array(np.zeros((4, 8, 64), np.float16), (1, 8, 64)),
            "names 2 coordinates, the map has 3",
        ),
        (lambda: TensorMap.from_array(np.zeros(64, np.float16), (64,)), "names 2 coordinates, the map has 1"),
    ],
)
def test_an_instruction_of_another_rank_than_its_maps_is_illegal(make, words):
    """Measured, H200."""

    @kernel
    def loads(tensor_map):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        bar = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bar, 1)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)

    run = loads.run(block=1, args=(make(),))
    assert run.fault.kind == "illegal_instruction"
    assert words in str(run.fault)


@kernel
def in_mode(tensor_map, what):
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    if what == 0:
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, 0, 0, bar)
    if what == 1:
        ptx.cp_async_bulk_tensor_3d_im2col(tile, tensor_map, 0, 0, 0, bar, 0)
    if what == 2:
        ptx.cp_async_bulk_tensor_3d_store(tensor_map, 0, 0, 0, tile)
    if what == 3:
        ptx.cp_async_bulk_tensor_3d_store_im2col(tensor_map, 0, 0, 0, tile)
    if what == 4:
        ptx.cp_async_bulk_prefetch_tensor_3d(tensor_map, 0, 0, 0)
    if what == 5:
        ptx.cp_async_bulk_prefetch_tensor_3d_im2col(tensor_map, 0, 0, 0, 0)


@pytest.mark.parametrize("what", range(6))
def test_an_instruction_in_another_mode_than_its_maps_is_illegal(what):
    """Measured, H200, for loads and prefetches."""
    tiled = TensorMap.from_array(np.zeros((1, 8, 64), np.float16), (1, 8, 64))
    columns = TensorMap.im2col(6, 0x1000, (64, 8, 1), (128, 1024), (0,), (0,), 64, 8).bind(np.zeros(512, np.float16))
    wrong = columns if what % 2 == 0 else tiled
    run = in_mode.run(block=1, args=(wrong, what))
    assert run.fault.kind == "illegal_instruction"
    assert ("through a tiled map" if what % 2 else "through an im2col map") in str(run.fault)
