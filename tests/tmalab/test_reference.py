"""Loads and stores against the slow definition, and each fact of the hardware by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_maps import interleaved, loadable, memory_of, places, storable, tiled
from slow_copy import slow_load, slow_reduce, slow_store
from slow_numbers import REDUCIBLE

from tmalab import DataType, OobFill, Swizzle, TensorMap, TmaFault, reference

RNG = np.random.default_rng(7)


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, np.uint8).copy()


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_load_delivers_what_the_slow_definition_delivers(data):
    tm = data.draw(loadable)
    coordinates, shared_address, offsets = data.draw(places(tm))
    memory = memory_of(tm, slack=0)
    image = reference.load(tm, coordinates, array(memory), shared_address, offsets)
    expected = slow_load(tm, coordinates, memory, shared_address, offsets)
    addresses = shared_address + np.flatnonzero(image.written)
    assert dict(zip(addresses.tolist(), image.data[image.written].tolist(), strict=True)) == expected
    assert image.data.size == image.written.size == tm.shared_bytes
    assert image.transaction_bytes == len(expected)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_store_writes_what_the_slow_definition_writes(data):
    """Where rows share bytes, the last that is delivered wins."""
    tm = data.draw(st.one_of(storable(), tiled(), interleaved()))
    coordinates, shared_address, _ = data.draw(places(tm, stores=True))
    shared = RNG.integers(0, 256, shared_address + tm.shared_bytes, np.uint8)
    memory = array(memory_of(tm, slack=data.draw(st.sampled_from([0, 16]))))
    expected = memory.copy()
    for offset, byte in slow_store(tm, coordinates, shared.tobytes(), shared_address).items():
        if offset < expected.size:
            expected[offset] = byte
    reference.store(tm, coordinates, shared, memory, shared_address)
    assert np.array_equal(memory, expected)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_reduction_computes_what_the_slow_definition_computes(data):
    op = data.draw(st.sampled_from(sorted(REDUCIBLE)))
    tm = data.draw(storable(REDUCIBLE[op]))
    coordinates, shared_address, _ = data.draw(places(tm, stores=True))
    shared = RNG.integers(0, 256, shared_address + tm.shared_bytes, np.uint8)
    memory = array(memory_of(tm))
    expected = bytearray(memory.tobytes())
    slow_reduce(op, tm, coordinates, shared.tobytes(), expected, shared_address)
    reference.reduce(op, tm, coordinates, shared, memory, shared_address)
    assert memory.tobytes() == bytes(expected)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_rows_that_share_bytes_are_reduced_one_after_the_other(data):
    """Integers, whose order cannot be seen."""
    tm = data.draw(tiled(types=REDUCIBLE["xor"]))
    coordinates, shared_address, _ = data.draw(places(tm, stores=True))
    shared = RNG.integers(0, 256, shared_address + tm.shared_bytes, np.uint8)
    memory = array(memory_of(tm))
    expected = bytearray(memory.tobytes())
    slow_reduce("add", tm, coordinates, shared.tobytes(), expected, shared_address)
    reference.reduce("add", tm, coordinates, shared, memory, shared_address)
    assert memory.tobytes() == bytes(expected)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_pieces_of_a_load_are_its_image(data):
    tm = data.draw(loadable)
    coordinates, shared_address, offsets = data.draw(places(tm))
    memory = array(memory_of(tm))
    image = reference.load(tm, coordinates, memory, shared_address, offsets)
    pieces = reference.load_pieces(tm, coordinates, memory, shared_address, im2col_offsets=offsets)
    landed = np.full(image.data.size, -1)
    landed[pieces.addresses - shared_address] = pieces.data
    assert np.array_equal(landed >= 0, image.written)
    assert np.array_equal(landed[image.written], image.data[image.written])
    assert pieces.data.size == image.transaction_bytes


def rows_of(pitch: int, rows: int) -> np.ndarray:
    return np.arange(rows * pitch, dtype=np.uint16).astype(np.uint8)


def test_the_lessons_tile_is_column_xor_row():
    tensor = np.arange(16 * 128, dtype=np.uint16)
    tm = TensorMap(DataType.FLOAT16, 0, (128, 16), (256,), (64, 8), swizzle=Swizzle.B128)
    tile = reference.load(tm, (64, 8), tensor.view(np.uint8)).data.view(np.uint16).reshape(8, 8, 8)
    for row in range(8):
        for sector in range(8):
            assert tile[row, sector ^ row, 0] == (8 + row) * 128 + 64 + sector * 8


def test_a_narrow_box_keeps_the_pitch_of_the_swizzle_span():
    tm = TensorMap(DataType.FLOAT16, 0, (48, 4), (96,), (48, 4), swizzle=Swizzle.B128)
    image = reference.load(tm, (0, 0), rows_of(96, 4))
    assert image.data.size == 4 * 128
    assert image.written.reshape(4, 8, 16).any(-1).tolist() == [
        [(sector ^ row) < 6 for sector in range(8)] for row in range(4)
    ]
    assert image.transaction_bytes == 4 * 96


def test_bytes_out_of_bounds_are_zero_and_credited_to_the_barrier():
    tm = TensorMap(DataType.UINT8, 0, (32, 2), (32,), (16, 2))
    image = reference.load(tm, (32, 5), rows_of(32, 2) | 1)
    assert image.transaction_bytes == 32
    assert image.written.all()
    assert not image.data.any()


@pytest.mark.parametrize("data_type", [t for t in DataType if t >= 6])
def test_nan_fill_is_7ff7_in_every_half_whatever_the_type(data_type):
    tm = TensorMap(data_type, 0, (64, 2), (512,), (16, 2), oob_fill=OobFill.NAN)
    image = reference.load(tm, (64, 0), np.zeros(1024, np.uint8))
    assert set(image.data.view(np.uint16).tolist()) == {0x7FF7}


def test_the_gap_of_a_narrow_row_is_not_filled_with_nan():
    tm = TensorMap(DataType.FLOAT16, 0, (8, 2), (16,), (8, 2), swizzle=Swizzle.B32, oob_fill=OobFill.NAN)
    image = reference.load(tm, (8, 0), np.zeros(32, np.uint8))
    assert image.written.tolist() == ([True] * 16 + [False] * 16) * 2
    assert not image.data[~image.written].any()


def test_tf32_maps_round_on_the_way_in_and_not_on_the_way_out():
    values = np.array([0x3F801000, 0x3F803000, 0x3F801001, 0xFFC12345], np.uint32)
    tm = TensorMap(DataType.TFLOAT32, 0, (4,), (), (4,))
    loaded = reference.load(tm, (0,), values.view(np.uint8)).data.view(np.uint32)
    assert loaded.tolist() == [0x3F800000, 0x3F804000, 0x3F802000, 0x7FFFE000]
    memory = np.zeros(16, np.uint8)
    reference.store(tm, (0,), values.view(np.uint8), memory)
    assert memory.view(np.uint32).tolist() == values.tolist()


def test_ftz_types_keep_subnormals_on_loads():
    subnormals = np.array([1, 0x80000001, 0x007FFFFF, 0], np.uint32)
    tm = TensorMap(DataType.FLOAT32_FTZ, 0, (4,), (), (4,))
    assert reference.load(tm, (0,), subnormals.view(np.uint8)).data.view(np.uint32).tolist() == subnormals.tolist()


def test_element_strides_skip_rows_and_the_innermost_one_is_ignored():
    memory = rows_of(16, 8)
    tm = TensorMap(DataType.UINT8, 0, (16, 8), (16,), (16, 5), element_strides=(4, 2))
    image = reference.load(tm, (0, 1), memory)
    assert image.data.reshape(3, 16)[:, 0].tolist() == [16, 48, 80]
    assert image.transaction_bytes == 48


def test_a_base_that_is_not_pattern_aligned_shifts_the_pattern():
    tm = TensorMap(DataType.UINT8, 0, (128, 1), (128,), (128, 1), swizzle=Swizzle.B128)
    image = reference.load(
        tm, (0, 0), rows_of(128, 1), shared_address=128
    )  # address bit 7 is set: row 1 of the pattern
    assert image.data[:32].tolist() == [*range(16, 32), *range(16)]


def test_a_store_across_the_innermost_edge_writes_up_to_the_next_16_bytes():
    """cases.md C3: int8, dims (466, 32) in rows of 512: bytes 466..479 of each row go too."""
    tm = TensorMap(DataType.UINT8, 0, (466, 32), (512,), (64, 32))
    memory, shared = np.zeros(32 * 512, np.uint8), np.full(64 * 32, 7, np.uint8)
    reference.store(tm, (448, 0), shared, memory)
    assert np.flatnonzero(memory.reshape(32, 512).all(0)).tolist() == list(range(448, 480))
    assert np.flatnonzero(memory.reshape(32, 512).any(0)).tolist() == list(range(448, 480))


def test_a_store_clips_the_other_dimensions_exactly():
    tm = TensorMap(DataType.UINT8, 0, (16, 3), (16,), (16, 8))
    memory = np.zeros(16 * 8, np.uint8)
    reference.store(tm, (0, 1), np.full(128, 9, np.uint8), memory)
    assert memory.reshape(8, 16).any(1).tolist() == [False, True, True, False, False, False, False, False]


def test_a_store_wholly_outside_changes_nothing():
    tm = TensorMap(DataType.UINT8, 0, (20, 3), (32,), (16, 1))
    memory = np.zeros(96, np.uint8)
    reference.store(tm, (0, 3), np.full(16, 9, np.uint8), memory)
    reference.store(tm, (32, 0), np.full(16, 9, np.uint8), memory)
    assert not memory.any()


def test_of_rows_that_share_bytes_the_last_one_stored_wins():
    """Strides of 112, 16 and 96 bytes: NumPy would write the dimensions in another order than the H200 did."""
    tm = TensorMap(DataType.FLOAT64, 0, (22, 5, 1, 8), (112, 16, 96), (2, 4, 1, 4), interleave=1)
    memory, shared = np.zeros(1232, np.uint8), np.repeat(np.arange(1, 33, dtype=np.uint8), 16)
    reference.store(tm, (10, 3, 0, 3), shared, memory)
    chunks = memory.reshape(-1, 16)
    assert (chunks == chunks[:, :1]).all()
    written = {16 * i: n for i, n in enumerate(chunks[:, 0].tolist()) if n}
    assert {at: written[at] for at in (896, 992, 1088)} == {896: 10, 992: 18, 1088: 26}  # and not 3, 11, 19
    assert len(written) == 13


def test_a_reduction_is_clipped_as_a_store():
    tm = TensorMap(DataType.UINT32, 0, (5, 2), (32,), (8, 2))
    memory = np.zeros(64, np.uint8)
    reference.reduce("add", tm, (0, 0), np.ones(64, np.uint8), memory)
    assert np.flatnonzero(memory).tolist() == [*range(32), *range(32, 64)]  # 20 bytes a row, and 12 beyond them


def test_a_reduction_wholly_outside_changes_nothing():
    tm = TensorMap(DataType.UINT32, 0, (8, 2), (32,), (8, 2))
    memory = np.zeros(64, np.uint8)
    reference.reduce("add", tm, (0, 2), np.ones(64, np.uint8), memory)
    assert not memory.any()


def test_the_clip_of_a_reduction_past_the_end_of_the_given_memory_is_left_out():
    tm = TensorMap(DataType.UINT32, 0, (5, 2), (32,), (8, 2))
    memory = np.zeros(32 + 20, np.uint8)
    reference.reduce("add", tm, (0, 0), np.ones(64, np.uint8), memory)
    assert memory.tolist() == [1] * 52


def test_a_column_that_many_pixels_share_adds_up():
    """A stride of 0: 64 rows are added to one, as on the H200."""
    tm = TensorMap(DataType.UINT32, 0, (4, 100), (0,), (4, 64))
    memory = np.zeros(16, np.uint8)
    reference.reduce("add", tm, (0, 0), np.arange(256, dtype=np.uint32).view(np.uint8), memory)
    assert memory.view(np.uint32).tolist() == [sum(range(k, 256, 4)) for k in range(4)]


def test_the_clip_past_the_end_of_the_given_memory_is_left_out():
    tm = TensorMap(DataType.UINT8, 0, (20, 2), (32,), (32, 2))
    memory = np.zeros(32 + 20, np.uint8)
    reference.store(tm, (0, 0), np.full(64, 9, np.uint8), memory)
    assert memory.tolist() == [9] * 52


@pytest.mark.parametrize("copy", ["load", "store"])
def test_in_bounds_bytes_that_memory_lacks_are_an_illegal_address(copy):
    tm = TensorMap(DataType.UINT8, 0x1000, (16, 4), (16,), (16, 2))
    memory, shared = np.zeros(63, np.uint8), np.zeros(1024, np.uint8)

    def move(y):
        if copy == "load":
            reference.load(tm, (0, y), memory)
        else:
            reference.store(tm, (0, y), shared, memory)

    move(1)
    with pytest.raises(TmaFault, match=r"0x1040.*0x103f") as caught:
        move(2)
    assert caught.value.kind == "illegal_address"
    assert not memory.any()


def test_rows_that_share_bytes_are_loaded_as_they_are():
    """A stride of 0 repeats one row: a broadcast."""
    tm = TensorMap(DataType.UINT8, 0, (16, 100), (0,), (16, 3))
    assert reference.load(tm, (0, 50), rows_of(16, 1)).data.tolist() == list(range(16)) * 3


@pytest.mark.parametrize("kind", ["tiled", "im2col"])
def test_a_map_of_huge_strides_faults_instead_of_overflowing(kind):
    big, most = 2**40 - 16, 2**31
    if kind == "tiled":
        tm = TensorMap(DataType.UINT8, 0, (most,) * 5, (big,) * 4, (16, 1, 1, 1, 1), element_strides=(1, 8, 8, 8, 8))
    else:
        tm = TensorMap.im2col(DataType.UINT8, 0, (most,) * 5, (big,) * 4, (0,) * 3, (-1,) * 3, 16, 8)
    far = (2**31 - 16, *(2**31 - 2,) * 4)
    for use in (
        lambda: reference.load(tm, far, np.zeros(16, np.uint8)),
        lambda: reference.store(tm, far, np.zeros(1024, np.uint8), np.zeros(16, np.uint8)),
        lambda: reference.load_footprint(tm, far, 0),
    ):
        with pytest.raises(TmaFault) as caught:
            use()
        assert caught.value.kind == "illegal_address"


def test_a_tile_may_end_where_shared_memory_ends_even_in_its_last_gap():
    tm = TensorMap(DataType.UINT8, 0, (16, 2), (16,), (16, 2), swizzle=Swizzle.B128)
    memory = np.zeros(32, np.uint8)
    shared = RNG.integers(1, 256, 128 + 32, np.uint8)  # row 1's chunk lies at 128 + 16
    reference.store(tm, (0, 0), shared, memory)
    assert memory.tolist() == [*shared[:16].tolist(), *shared[144:160].tolist()]
    with pytest.raises(TmaFault) as caught:
        reference.store(tm, (0, 0), shared[:-1], memory)
    assert caught.value.kind == "illegal_address"
