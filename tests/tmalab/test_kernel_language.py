"""The kernel language, line by line: one source, the same result in the simulator, compiled, and on a Hopper GPU."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, device, kernel, map_rows, ptx

WORLDS = [pytest.param("simulator"), pytest.param("gpu", marks=pytest.mark.gpu)]
ROWS, COLS, STAGES = 8, 64, 2
NOTHING_PENDING = 0


@pytest.fixture(params=WORLDS)
def run(request):
    """Run a kernel in one of the worlds; it must be right there, and compile for sm_90a."""

    def launch(made, *args, **options):
        done = made.run(args=args, on=request.param, **options)
        assert done.ok, str(done)
        return done

    return launch


def test_indices_are_those_of_cuda(run):
    @kernel
    def indices(out):
        x, y = cuda.threadIdx.x, cuda.threadIdx.y
        at = cuda.blockIdx.x * 64 + y * cuda.blockDim.x + x
        out[at, 0], out[at, 1], out[at, 2] = x, y, cuda.blockIdx.x
        out[at, 3], out[at, 4], out[at, 5] = cuda.blockDim.x, cuda.blockDim.y, cuda.gridDim.x

    out = np.zeros((128, 6), np.int64)
    run(indices, out, grid=2, block=(32, 2))
    at = np.arange(128)
    assert np.array_equal(out[:, :3], np.stack([at % 32, at // 32 % 2, at // 64], axis=1))
    assert (out[:, 3:] == (32, 2, 2)).all()


def test_grid_is_the_index_in_the_whole_grid(run):
    @kernel
    def whole(out):
        out[cuda.grid(1)] = cuda.grid(1) + 1

    out = np.zeros(128, np.int32)
    run(whole, out, grid=4, block=32)
    assert out.tolist() == list(range(1, 129))


def test_syncthreads_and_syncwarp_hand_over_shared_memory(run):
    @kernel
    def turn(out):
        tile = cuda.shared.array(64, np.int32)
        t = cuda.threadIdx.x
        tile[t] = t
        cuda.syncthreads()
        other = tile[63 - t]
        cuda.syncthreads()
        tile[t] = other
        cuda.syncwarp()
        out[t] = tile[t ^ 1]

    out = np.zeros(64, np.int32)
    run(turn, out, block=64)
    assert out.tolist() == [63 - (t ^ 1) for t in range(64)]


def test_a_place_is_an_array_or_a_part_of_it(run):
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)

    @kernel
    def places(whole, part, out):
        ring = cuda.shared.array((3, ROWS, COLS), np.float16, alignment=1024)
        bars = ptx.mbarrier_array(2)
        if cuda.threadIdx.x == 0:
            for i in range(2):
                ptx.mbarrier_init(bars[i], 1)
            ptx.mbarrier_arrive_expect_tx(bars[0], 1024)
            ptx.cp_async_bulk_tensor_2d(ring[1], whole, 0, 0, bars[0])
            ptx.mbarrier_arrive_expect_tx(bars[1:], 512)
            ptx.cp_async_bulk_tensor_2d(ring[2, 4:], part, 64, 4, bars[1])
        cuda.syncthreads()
        for i in range(2):
            ptx.mbarrier_wait_parity(bars[i, 0:], 0)
        for i in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
            out[0, i // COLS, i % COLS] = ring[1, i // COLS, i % COLS]
            if i >= 256:
                out[1, i // COLS, i % COLS] = ring[2, i // COLS, i % COLS]

    maps = [TensorMap.from_array(tensor, box) for box in ((8, 64), (4, 64))]
    out = np.zeros((2, 8, 64), np.float16)
    run(places, *maps, out, block=32)
    assert np.array_equal(out[0].view(np.uint16), tensor[:8, :64].view(np.uint16))
    assert np.array_equal(out[1, 4:].view(np.uint16), tensor[4:8, 64:].view(np.uint16))


def test_every_thread_sees_the_barriers_of_one_call(run):
    @kernel
    def gather(out):
        bars = ptx.mbarrier_array(1)
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bars[0], 64)
        cuda.syncthreads()
        state = ptx.mbarrier_arrive(bars[0])
        while not ptx.mbarrier_try_wait(bars[0], state):
            pass
        out[cuda.threadIdx.x] = 1

    out = np.zeros(64, np.int32)
    run(gather, out, block=64)
    assert out.all()


def test_two_arrays_on_one_line_are_two(run):
    @kernel
    def swap(out):
        a, b = cuda.shared.array(32, np.int32), cuda.shared.array(32, np.int32)
        t = cuda.threadIdx.x
        a[t] = t
        b[t] = 100 + t
        cuda.syncthreads()
        out[t] = 1000 * a[31 - t] + b[31 - t]

    out = np.zeros(32, np.int32)
    run(swap, out, block=32)
    assert out.tolist() == [1000 * (31 - t) + 131 - t for t in range(32)]


def test_states_are_plain_integers_that_can_be_kept_and_passed(run):
    @device
    def waits(bar, state):
        while not ptx.mbarrier_test_wait(bar, state):
            pass

    @kernel
    def keeps(out):
        bars = ptx.mbarrier_array(1)
        ptx.mbarrier_init(bars[0], 1)
        state = ptx.mbarrier_arrive(bars[0])
        kept = (state, 0)
        waits(bars[0], kept[0])
        out[0] = ptx.mbarrier_pending_count(state)
        out[1] = kept[1]

    out = np.zeros(2, np.int64)
    run(keeps, out, block=1)
    assert out.tolist() == [1, 0]


def test_immediates_are_literals_or_module_level_names(run):
    tensor = np.zeros((16, 128), np.float16)

    @kernel
    def stores(tensor_map):
        tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
        for i in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
            tile[i // COLS, i % COLS] = 1.5
        ptx.fence_proxy_async()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(NOTHING_PENDING)
            ptx.cp_async_bulk_wait_group(0)

    run(stores, TensorMap.from_array(tensor, (8, 64)), block=32)
    assert (tensor[:8, :64] == 1.5).all()
    assert np.count_nonzero(tensor) == 512


def test_arithmetic_is_float32_and_assignment_narrows(run):
    @kernel
    def third(a, out, wide):
        tile = cuda.shared.array(32, np.float16)
        t = cuda.threadIdx.x
        tile[t] = np.float32(a[t]) / np.float32(3)
        cuda.syncthreads()
        out[t] = np.float32(tile[31 - t]) + np.float32(1)
        wide[t] = np.float32(a[t]) / np.float32(3)

    a = np.arange(32, dtype=np.float16)
    out, wide = np.zeros(32, np.float16), np.zeros(32, np.float32)
    run(third, a, out, wide, block=32)
    thirds = a.astype(np.float32) / np.float32(3)
    assert np.array_equal(wide, thirds)
    narrowed = thirds.astype(np.float16)[::-1].astype(np.float32)
    assert np.array_equal(out, (narrowed + np.float32(1)).astype(np.float16))


def test_bf16_is_storage_with_conversions(run):
    @kernel
    def twice(a, out):
        t = cuda.threadIdx.x
        out[t] = ptx.cvt_rn_bf16_f32(ptx.cvt_f32_bf16(a[t]) * np.float32(2))

    a = np.array([0x3F80, 0x4049, 0xC000, 0x0001, 0x7F7F], np.uint16)
    out = np.zeros(5, np.uint16)
    run(twice, a, out, block=5)
    assert [hex(bits) for bits in out] == ["0x4000", "0x40c9", "0xc080", "0x2", "0x7f80"]


def test_packed_conversions_put_the_low_number_first_in_memory(run):
    @kernel
    def pack(out):
        out[0] = ptx.cvt_rn_bf16x2_f32(np.float32(2.0), np.float32(1.0))
        out[1] = ptx.cvt_rn_f16x2_f32(np.float32(2.0), np.float32(1.0))

    out = np.zeros(2, np.uint32)
    run(pack, out, block=1)
    assert [hex(bits) for bits in out] == ["0x40003f80", "0x40003c00"]
    assert out[1:].view(np.float16).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("form", ["loop", "helper", "state"])
def test_each_form_of_a_wait_waits(run, form):
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)

    @device
    def loop(bar, state):
        while not ptx.mbarrier_try_wait_parity(bar, 0):
            pass

    @device
    def helper(bar, state):
        ptx.mbarrier_wait_parity(bar, 0)

    @device
    def state(bar, state):
        while not ptx.mbarrier_try_wait(bar, state):
            pass

    wait = {"loop": loop, "helper": helper, "state": state}[form]

    @kernel
    def loads(tensor_map, out):
        tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
        bars = ptx.mbarrier_array(1)
        arrived = 0
        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(bars[0], 32)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            arrived = ptx.mbarrier_arrive_expect_tx(bars[0], 1024)
            ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bars[0])
        else:
            arrived = ptx.mbarrier_arrive(bars[0])
        wait(bars[0], arrived)
        for i in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
            out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]

    out = np.zeros((8, 64), np.float16)
    run(loads, TensorMap.from_array(tensor, (8, 64)), out, block=32)
    assert np.array_equal(out.view(np.uint16), tensor[:8, :64].view(np.uint16))


def test_a_helper_may_take_maps_places_and_numbers_and_return_one(run):
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)

    @device
    def begin(tile, tensor_map, column, bar):
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, column * COLS, 0, bar)
        return column + 1

    @kernel
    def loads(tensor_map, out):
        ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=128)
        full = ptx.mbarrier_array(STAGES)
        column = 0
        if cuda.threadIdx.x == 0:
            for stage in range(STAGES):
                ptx.mbarrier_init(full[stage], 1)
            for stage in range(STAGES):
                column = begin(ring[stage], tensor_map, column, full[stage])
        cuda.syncthreads()
        for stage in range(STAGES):
            ptx.mbarrier_wait_parity(full[stage], 0)
            for i in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
                out[i // COLS, stage * COLS + i % COLS] = ring[stage, i // COLS, i % COLS]

    out = np.zeros((8, 128), np.float16)
    run(loads, TensorMap.from_array(tensor, (8, 64)), out, block=32)
    assert np.array_equal(out.view(np.uint16), tensor[:8].view(np.uint16))


def test_one_thread_of_a_warp_is_elected(run):
    @kernel
    def elects(out):
        if ptx.elect_sync():
            cuda.atomic.add(out, cuda.threadIdx.x // 32, 1)

    out = np.zeros(2, np.int32)
    run(elects, out, block=64)
    assert out.tolist() == [1, 1]


def test_named_barriers_order_the_warps_that_meet_in_them(run):
    @kernel
    def hand_over(out):
        box = cuda.shared.array(1, np.int32)
        t = cuda.threadIdx.x
        if t < 32:
            if t == 0:
                box[0] = 42
            ptx.barrier_arrive(1, 64)
        else:
            ptx.barrier_sync(1, 64)
            out[t - 32] = box[0]

    out = np.zeros(32, np.int32)
    run(hand_over, out, block=64)
    assert (out == 42).all()


def test_cp_async_copies_and_waits(run):
    @kernel
    def ampere(source, out):
        tile = cuda.shared.array(128, np.float32, alignment=16)
        t = cuda.threadIdx.x
        ptx.cp_async(tile[4 * t :], source[4 * t :], 16)
        ptx.cp_async_commit_group()
        ptx.cp_async_wait_group(0)
        cuda.syncthreads()
        for k in range(4):
            out[4 * t + k] = tile[(4 * t + k + 8) % 128]

    source = np.arange(128, dtype=np.float32)
    out = np.zeros_like(source)
    run(ampere, source, out, block=32)
    assert np.array_equal(out, np.roll(source, -8))


def test_a_map_may_lie_in_a_row_of_global_memory(run):
    @kernel
    def pick(maps, which, out):
        tile = cuda.shared.array((ROWS, COLS), np.uint16, alignment=128)
        full = ptx.mbarrier_array(1)
        t = cuda.threadIdx.x
        if t == 0:
            ptx.mbarrier_init(full[0], 1)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()
        if t == 0:
            ptx.fence_proxy_tensormap_acquire_sys(maps[which])
            ptx.mbarrier_arrive_expect_tx(full[0], ROWS * COLS * 2)
            ptx.cp_async_bulk_tensor_2d(tile, maps[which], 64, 8, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        for i in range(t, ROWS * COLS, cuda.blockDim.x):
            out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]

    tensors = [np.arange(16 * 128, dtype=np.uint16).reshape(16, 128) + 1000 * i for i in range(3)]
    maps = map_rows([TensorMap.from_array(tensor, (ROWS, COLS)) for tensor in tensors])
    before = maps.copy()
    for which, tensor in enumerate(tensors):
        out = np.zeros((ROWS, COLS), np.uint16)
        run(pick, maps, which, out)
        assert np.array_equal(out, tensor[8:16, 64:128])
    assert np.array_equal(maps, before)


def test_a_map_without_an_array_makes_no_row():
    with pytest.raises(TypeError, match="map 0 is a TensorMap without an array"):
        map_rows([TensorMap(6, 0x1000, (128, 16), (256,), (64, 8))])


def test_a_kernel_that_only_the_simulator_would_take_is_told_so():
    @kernel
    def listed(out):
        numbers = [1, 2, 3]
        out[0] = numbers[cuda.threadIdx.x]

    done = listed.run(block=1, args=(np.zeros(1, np.int32),))
    assert not done.ok
    assert "a kernel has no lists" in str(done.compile_error)
