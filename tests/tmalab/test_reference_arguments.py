"""What the reference is given: memory as rows of bytes, maps, offsets; anything else is refused in one sentence."""

import numpy as np
import pytest

from tmalab import DataType, TensorMap, TmaFault, reference


def rows_of(pitch: int, rows: int) -> np.ndarray:
    return np.arange(rows * pitch, dtype=np.uint16).astype(np.uint8)


@pytest.mark.parametrize(
    "bad",
    [
        [0] * 64,
        np.zeros(64, np.int8),
        np.zeros(128, np.uint8)[::2],
        bytes(64),
        None,
    ],
    ids=["list", "int8", "strided", "bytes", "None"],
)
def test_memory_that_is_no_array_of_bytes_without_gaps_is_refused_in_one_sentence(bad):
    tm = TensorMap(DataType.UINT8, 0, (16, 4), (16,), (16, 2))
    with pytest.raises(TypeError, match=r"memory must be .* uint8"):
        reference.load(tm, (0, 0), bad)
    with pytest.raises(TypeError, match=r"shared must be .* uint8"):
        reference.store(tm, (0, 0), bad, np.zeros(64, np.uint8))


def test_an_array_of_any_shape_is_its_bytes_in_a_row():
    tm = TensorMap(DataType.UINT8, 0, (16, 4), (16,), (16, 2))
    memory = np.arange(64, dtype=np.uint8)
    shared = np.arange(100, 132, dtype=np.uint8)
    for shaped in (memory.reshape(4, 16), memory.reshape(2, 2, 16), memory.view(np.memmap), memory.copy()):
        assert reference.load(tm, (0, 1), shaped).data.tolist() == list(range(16, 48))
        after = shaped.copy()
        reference.store(tm, (0, 2), shared.reshape(2, 16), after)
        assert np.asarray(after).reshape(-1).tolist() == [*range(32), *range(100, 132)]


INTEGERS = (np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_numpy_are_taken_everywhere(kind):
    """Coordinates, offsets and addresses: NumPy would make floats of uint64 and int64, and let int16 run over."""
    tm = TensorMap.im2col(DataType.UINT8, 0, (128, 9, 2), (128, 1152), (0,), (-2,), 128, 16, swizzle=3)
    memory, shared = rows_of(128, 18), rows_of(128, 280)
    address, offsets, zeros = kind(32_640), np.ones(1, kind), np.zeros(3, kind)
    plain = reference.load(tm, (0, 0, 0), memory, 32_640, (1,))
    image = reference.load(tm, zeros, memory, address, offsets)
    assert np.array_equal(image.data, plain.data)
    assert np.array_equal(image.written, plain.written)
    pieces = reference.load_pieces(tm, zeros, memory, address, im2col_offsets=offsets)
    assert np.array_equal(
        pieces.addresses, reference.load_pieces(tm, (0, 0, 0), memory, 32_640, im2col_offsets=(1,)).addresses
    )
    footprint = reference.load_footprint(tm, zeros, address, im2col_offsets=offsets)
    assert (footprint.shared.dtype, footprint.global_starts[0]) == (np.int64, 128)
    after, expected = memory.copy(), memory.copy()
    reference.store(tm, zeros, shared, after, address)
    reference.store(tm, (0, 0, 0), shared, expected, 32_640)
    assert np.array_equal(after, expected)


@pytest.mark.parametrize("address", [None, 128.0, "128"])
def test_an_address_that_is_no_integer_is_refused_by_name(address):
    tm = TensorMap(DataType.UINT8, 0, (16, 4), (16,), (16, 2))
    for use in (
        lambda: reference.load(tm, (0, 0), np.zeros(64, np.uint8), address),
        lambda: reference.store(tm, (0, 0), np.zeros(64, np.uint8), np.zeros(64, np.uint8), address),
    ):
        with pytest.raises(TypeError, match=r"^shared_address must be an integer, not"):
            use()


@pytest.mark.parametrize("address", [232_448, 2**40, 2**63, 2**80, -128, -(2**80)])
def test_an_address_anywhere_past_shared_memory_is_an_illegal_address(address):
    tm = TensorMap(DataType.UINT8, 0, (16, 4), (16,), (16, 2))
    memory, shared = np.zeros(64, np.uint8), np.zeros(300_000, np.uint8)
    for use in (
        lambda: reference.load(tm, (0, 0), memory, address),
        lambda: reference.store(tm, (0, 0), shared, memory, address),
    ):
        with pytest.raises(TmaFault, match="does not lie within the CTA's shared memory") as caught:
            use()
        assert caught.value.kind == "illegal_address"


def test_a_store_into_read_only_memory_is_refused_and_a_reduction_too():
    memory = np.zeros(64, np.uint8)
    memory.flags.writeable = False
    tm = TensorMap(DataType.UINT32, 0, (4, 4), (16,), (4, 2))
    with pytest.raises(ValueError, match="pass a copy"):
        reference.store(tm, (0, 0), np.zeros(64, np.uint8), memory)
    with pytest.raises(ValueError, match="pass a copy"):
        reference.reduce("add", tm, (0, 0), np.zeros(64, np.uint8), memory)
    assert not reference.load(tm, (0, 0), memory).data.any()


def test_what_is_not_a_map_is_refused():
    with pytest.raises(TypeError, match="TensorMap, not int"):
        reference.load(3, (0, 0), np.zeros(64, np.uint8))
    with pytest.raises(TypeError, match="TensorMap, not str"):
        reference.reduce("add", "map", (0, 0), np.zeros(64, np.uint8), np.zeros(64, np.uint8))


def test_im2col_offsets_are_refused_by_a_tiled_map():
    tm = TensorMap(DataType.UINT8, 0, (16, 4), (16,), (16, 2))
    with pytest.raises(ValueError, match="tiled"):
        reference.load(tm, (0, 0), np.zeros(64, np.uint8), im2col_offsets=(0,))
    for none in (None, (), []):
        assert not reference.load(tm, (0, 0), np.zeros(64, np.uint8), im2col_offsets=none).data.any()


def test_im2col_offsets_none_are_zeros():
    tm = TensorMap.im2col(DataType.UINT8, 0, (16, 4, 2), (16, 64), (0,), (0,), 16, 8)
    memory = rows_of(16, 8)
    assert np.array_equal(reference.load(tm, (0, 0, 0), memory).data, memory)
    for offsets in ((0,), [0], np.zeros(1, np.uint16)):
        assert np.array_equal(reference.load(tm, (0, 0, 0), memory, im2col_offsets=offsets).data, memory)


def test_the_written_mask_cannot_be_changed():
    tm = TensorMap(DataType.UINT8, 0, (16, 4), (16,), (16, 2))
    with pytest.raises(ValueError, match="read-only"):
        reference.load(tm, (0, 0), np.zeros(64, np.uint8)).written[0] = False
