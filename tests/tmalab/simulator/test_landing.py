"""Copies land late, in parts, and credit their barrier as they land; memory is one for all who look at it."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import ROWS, TILE, WIDE, tile_map
from tmalab import DataType, Swizzle, TensorMap, kernel, ptx, reference

LATE, AT_ONCE, MIXED = 0, 1, 2  # seeds that land copies so


@kernel
def looks_without_waiting(tensor_map, out):
    """Wrong: reads a tile that may be anywhere between issued and landed."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    ptx.mbarrier_arrive_expect_tx(bar, 1024)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 64, 8, bar)
    for i in range(512):
        out[0, i // 64, i % 64] = tile[i // 64, i % 64]
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(512):
        out[1, i // 64, i % 64] = tile[i // 64, i % 64]


def look(seed):
    out = np.zeros((2, 8, 64), np.float16)
    run = looks_without_waiting.run(block=1, args=(tile_map(WIDE), out), seed=seed)
    assert [hazard.name for hazard in run.hazards] == ["read-before-wait"]
    assert np.array_equal(out[1], WIDE[8:16, 64:])
    return out[0]


def test_seed_0_lands_a_copy_as_late_as_can_be():
    assert len(np.unique(look(LATE))) == 1  # the garbage that shared memory starts with


def test_some_seeds_land_a_copy_at_once_and_the_hazard_is_found_all_the_same():
    assert np.array_equal(look(AT_ONCE), WIDE[8:16, 64:])


@kernel
def polls(tensor_map, seen):
    """Wrong as well: counts how many chunks of 32 bytes have landed, again and again, while it waits."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    ptx.mbarrier_arrive_expect_tx(bar, 1024)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 64, 8, bar)
    polled = 0
    while not ptx.mbarrier_try_wait_parity(bar, 0):
        landed = 0
        for chunk in range(32):
            first = np.float32(tile[chunk // 4, chunk % 4 * 16])
            last = np.float32(tile[chunk // 4, chunk % 4 * 16 + 15])
            if first > -1000 and last > -1000:
                landed += 1
            elif first > -1000 or last > -1000:
                seen[63] = 1  # a piece is not landed in part
        if polled < 63:
            seen[polled] = landed
            polled += 1


def test_pieces_of_32_bytes_land_one_after_the_other_in_any_order():
    partial, orders = set(), set()
    for seed in range(MIXED, 60, 3):
        seen = np.zeros(64, np.int32)
        polls.run(block=1, args=(tile_map(WIDE), seen), seed=seed)
        assert seen[63] == 0
        partial |= set(seen[:63].tolist())
        orders.add(tuple(seen))
    assert partial - {0, 32}
    assert len(orders) > 4


@kernel
def expects_too_little(tensor_map, out):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    ptx.mbarrier_arrive_expect_tx(bar, 512)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    out[0] = 1


def test_too_few_bytes_pass_early_in_some_orders_and_hang_in_others_and_are_reported_in_all():
    """B1: a partial sum of the credits meets the promise, or it does not (hardware.md, section 2)."""
    passed, hung = 0, 0
    for seed in range(120):
        out = np.zeros(1, np.int32)
        run = expects_too_little.run(block=1, args=(tile_map(WIDE), out), seed=seed)
        assert "too-few-bytes" in [hazard.name for hazard in run.hazards]
        assert (run.deadlock is None) == bool(out[0])
        passed, hung = passed + bool(out[0]), hung + (run.deadlock is not None)
    assert passed
    assert hung


@kernel
def load_2d(tensor_map, out, x, y, rows, words):
    """One tile as it lies in shared memory, gaps included, in 32-bit words."""
    tile = cuda.shared.array(2048, np.uint32, alignment=1024)
    bar = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    for i in range(t, words, 32):
        tile[i] = 0x11111111
    ptx.fence_proxy_async()
    if t == 0:
        ptx.mbarrier_init(bar, 1)
    cuda.syncthreads()
    if t == 0:
        ptx.mbarrier_arrive_expect_tx(bar, rows)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    for i in range(t, words, 32):
        out[i] = tile[i]


@pytest.mark.parametrize("swizzle", list(Swizzle))
@pytest.mark.parametrize(("x", "y"), [(0, 0), (112, 13), (-8, -3), (200, 0)])
def test_a_load_leaves_what_the_reference_says_and_nothing_else(swizzle, x, y):
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)
    tm = TensorMap.from_array(tensor, (8, 16), swizzle)
    words = tm.shared_bytes // 4
    out = np.zeros(words, np.uint32)
    for seed in (LATE, AT_ONCE, MIXED):
        run = load_2d.run(block=32, args=(tm, out, x, y, tm.transaction_bytes, words), seed=seed)
        assert not run.hazards, str(run)
        image = reference.load(tm, (x, y), tensor.reshape(-1).view(np.uint8), shared_address=1024)
        expected = np.where(image.written, image.data, 0x11)
        assert np.array_equal(out.view(np.uint8), expected)


@kernel
def through_two_maps(bytes_map, halves_map, view, out):
    """Stored through one map, loaded through another, read through a view: all are the same memory."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    again = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        for i in range(512):
            tile[i // 64, i % 64] = np.float32(i)
        ptx.fence_proxy_async()
        ptx.cp_async_bulk_tensor_2d_store(bytes_map, 128, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
        ptx.mbarrier_arrive_expect_tx(bar, TILE)
        ptx.cp_async_bulk_tensor_2d(again, halves_map, 0, 0, bar)
        ptx.mbarrier_wait_parity(bar, 0)
        for i in range(512):
            out[i // 64, i % 64] = again[i // 64, i % 64]
            view[i // 64, i % 64] = view[i // 64, i % 64] + np.float32(1)


def test_a_buffer_seen_through_several_maps_and_views_is_one_memory():
    whole = np.zeros((8, 128), np.float16)
    raw, right_half = whole.view(np.uint8), whole[:, 64:]
    maps = TensorMap.from_array(raw, (8, 128)), TensorMap.from_array(right_half, (8, 64))
    out = np.zeros((8, 64), np.float16)
    run = through_two_maps.run(block=1, args=(*maps, right_half, out))
    assert not run.hazards, str(run)
    counted = np.arange(512).reshape(8, 64)
    assert np.array_equal(out, counted)
    assert np.array_equal(right_half, counted + 1)
    assert not whole[:, :64].any()


@kernel
def stores_late(tensor_map):
    """Wrong: overwrites the source before the copy engine has read it."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    for i in range(512):
        tile[i // 64, i % 64] = np.float32(1)
    ptx.fence_proxy_async()
    ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
    ptx.cp_async_bulk_commit_group()
    for i in range(512):
        tile[i // 64, i % 64] = np.float32(2)
    ptx.cp_async_bulk_wait_group(0)


@pytest.mark.parametrize(("seed", "stored"), [(LATE, 2), (AT_ONCE, 1)])
def test_a_store_reads_its_source_when_it_likes(seed, stored):
    target = np.zeros((8, 64), np.float16)
    run = stores_late.run(block=1, args=(tile_map(target),), seed=seed)
    assert [hazard.name for hazard in run.hazards] == ["store-source-reuse"]
    assert (target == stored).all()


def test_a_store_past_the_edge_writes_up_to_the_next_16_bytes():
    """The clip of hardware.md, section 3: 15 columns of f16 are 30 bytes, and the 16th column is overwritten."""
    whole = np.zeros((8, 64), np.float16)
    tm = TensorMap(DataType.FLOAT16, 0, (15, 8), (128,), (64, 8)).bind(whole)
    run = stores_late.run(block=1, args=(tm,), seed=AT_ONCE)
    assert run.fault is None
    assert (whole[:, :16] == 1).all()
    assert not whole[:, 16:].any()


def test_what_the_host_wrote_is_known_to_all():
    out = np.zeros((ROWS, 64), np.float16)
    run = one_reads.run(block=32, args=(WIDE, out))
    assert not run.hazards
    assert np.array_equal(out, WIDE[:8, :64])


@kernel
def one_reads(x, out):
    for i in range(cuda.threadIdx.x, 512, 32):
        out[i // 64, i % 64] = x[i // 64, i % 64]


@kernel
def writes_then_loads(tensor_map, x, out, fence):
    """Global memory that a thread wrote is loaded: the copy engine sees it after a proxy fence."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    x[3, 5] = np.float32(99)
    if fence == 1:
        ptx.fence_proxy_async()
    if fence == 2:
        ptx.fence_proxy_async_shared_cta()
    ptx.mbarrier_arrive_expect_tx(bar, 1024)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    out[0] = tile[3, 5]


@pytest.mark.parametrize(("fence", "expected"), [(0, ["missing-proxy-fence"]), (1, []), (2, ["proxy-fence-space"])])
def test_a_load_of_what_a_thread_wrote_needs_a_fence_for_global_memory(fence, expected):
    x, out = np.zeros((8, 64), np.float16), np.zeros(1, np.float16)
    run = writes_then_loads.run(block=1, args=(tile_map(x), x, out, fence))
    assert [hazard.name for hazard in run.hazards] == expected
    assert out[0] == 99


@kernel
def clears_then_loads(tensor_map, out, fence):
    """Shared memory that threads wrote is loaded into: the writes must be carried over as well."""
    tile = cuda.shared.array((8, 64), np.float16, alignment=128)
    bar = ptx.mbarrier_array(1)
    t = cuda.threadIdx.x
    if t == 0:
        ptx.mbarrier_init(bar, 1)
    for i in range(t, 512, 32):
        tile[i // 64, i % 64] = np.float32(0)
    if fence:
        ptx.fence_proxy_async()
    cuda.syncthreads()
    if t == 0:
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    out[t] = tile[0, t]


@pytest.mark.parametrize(("fence", "expected"), [(0, ["missing-proxy-fence"]), (1, [])])
def test_a_load_over_what_threads_wrote_needs_a_fence_and_says_so_in_its_own_words(fence, expected):
    out = np.zeros(32, np.float16)
    run = clears_then_loads.run(block=32, args=(tile_map(WIDE), out, fence))
    assert [hazard.name for hazard in run.hazards] == expected
    if expected:
        assert "they may land after those of the copy engine" in run.hazards[0].message
