"""What faults, with which kind, and what the message tells the learner to write."""

import re

import numpy as np
import pytest

from tmalab import TensorMap, TmaFault, reference
from tmalab.copy_checks import check_load, check_reduce, check_store

F16 = TensorMap(6, 0, (1024, 64), (2048,), (64, 8))
F32 = TensorMap(7, 0, (1024, 64), (4096,), (32, 8))
MEMORY = np.zeros(1 << 18, np.uint8)


def fault(check, *arguments) -> TmaFault:
    with pytest.raises(TmaFault) as caught:
        check(*arguments)
    return caught.value


@pytest.mark.parametrize("check", [check_load, check_store])
@pytest.mark.parametrize(("tm", "x", "nearest"), [(F16, 130, "128 or 136"), (F32, 2, "0 or 4")])
def test_an_innermost_coordinate_inside_a_chunk_is_an_illegal_instruction(check, tm, x, nearest):
    found = fault(check, tm, (x, 0), 0)
    assert found.kind == "illegal_instruction"
    assert nearest in str(found)


def test_an_innermost_coordinate_at_a_chunk_is_fine_and_so_are_negative_and_other_ones():
    assert check_load(F32, (4, 0), 0) == (4, 0)
    assert check_load(F16, (-8, -3), 0) == (-8, -3)


@pytest.mark.parametrize("check", [check_load, check_store])
@pytest.mark.parametrize("address", [16, 64, 1024 + 127])
def test_a_shared_address_off_128_bytes_is_misaligned(check, address):
    assert fault(check, F16, (0, 0), address).kind == "misaligned_address"


def test_three_stages_of_16_bytes_each_are_misaligned_but_the_first():
    """cases.md C4."""
    tm = TensorMap(0, 0, (64,), (), (16,))
    check_load(tm, (0,), 0)
    for stage in (1, 2):
        assert fault(check_load, tm, (0,), 16 * stage).kind == "misaligned_address"


@pytest.mark.parametrize("check", [check_load, check_store])
def test_a_tile_past_227_kib_of_shared_memory_is_an_illegal_address(check):
    check(F16, (0, 0), 232_448 - 1024)
    assert fault(check, F16, (0, 0), 232_448 - 896).kind == "illegal_address"
    assert fault(check, F16, (0, 0), -128).kind == "illegal_address"


def test_the_simulator_may_name_another_end_of_shared_memory():
    check_load(F16, (0, 0), 0, 1024)
    assert fault(check_load, F16, (0, 0), 0, 1023).kind == "illegal_address"


def test_only_delivered_bytes_must_lie_inside_shared_memory_not_the_last_gap():
    narrow = TensorMap(0, 0, (16, 2), (16,), (16, 2), swizzle=3)  # row 1's chunk lies at 128 + 16
    check_load(narrow, (0, 0), 0, 160)
    assert fault(check_load, narrow, (0, 0), 0, 159).kind == "illegal_address"


@pytest.mark.parametrize("coordinates", [(-8, 0), (0, -1)])
def test_a_negative_coordinate_of_a_store_faults_and_of_a_load_does_not(coordinates):
    check_load(F16, coordinates, 0)
    assert "negative" in str(fault(check_store, F16, coordinates, 0))


def test_load_and_store_check_what_they_are_given():
    shared = np.zeros(2048, np.uint8)
    assert fault(reference.load, F16, (130, 0), MEMORY).kind == "illegal_instruction"
    assert fault(reference.load, F16, (0, 0), MEMORY, 64).kind == "misaligned_address"
    assert fault(reference.load_pieces, F16, (0, 0), MEMORY, 64).kind == "misaligned_address"
    assert fault(reference.store, F16, (0, -1), shared, MEMORY).kind == "illegal_instruction"
    assert fault(reference.store, F16, (0, 0), shared, MEMORY, 1152).kind == "illegal_address"


@pytest.mark.parametrize(
    ("coordinates", "error", "says"),
    [
        ((0,), ValueError, "1 coordinates for a map of rank 2, which takes 2: one for each dimension"),
        ((0, 0, 0), ValueError, "3 coordinates"),
        ((0, 2**31), ValueError, "coordinate 1 .y. = 2147483648"),
        ((0, -(2**31) - 1), ValueError, "32 bits"),
        ((0, 1.0), TypeError, r"coordinates\[1\] must be an integer, not float"),
        (7, TypeError, "coordinates must be a short sequence of integers, .* not int"),
        (None, TypeError, "not NoneType"),
    ],
)
def test_coordinates_that_no_kernel_can_pass_are_refused_in_one_sentence(coordinates, error, says):
    with pytest.raises(error, match=says):
        check_load(F16, coordinates, 0)


def test_coordinates_may_be_numpy_integers():
    assert check_load(F16, np.array([64, 3], np.int32), np.int64(128)) == (64, 3)


def test_a_shared_address_must_be_an_integer():
    with pytest.raises(TypeError):
        check_load(F16, (0, 0), 128.0)


# Interleaved and im2col maps, and what only stores and reductions ask for. All seen on an H200.

SLICES = TensorMap(6, 0, (8, 4, 3, 2), (128, 512, 1536), (8, 2, 1, 1), interleave=1)
IMAGES = {
    "data_type": 2,
    "global_address": 0,
    "global_dim": (32, 7, 6, 3),
    "global_strides": (128, 896, 5376),
    "pixel_box_lower_corner": (0, 0),
    "pixel_box_upper_corner": (0, 0),
    "channels_per_pixel": 8,
    "pixels_per_column": 10,
}
PIXELS = TensorMap.im2col(**IMAGES)


def test_any_slice_may_be_the_first():
    assert check_load(SLICES, (1, 0, 0, 0), 0) == (1, 0, 0, 0)
    assert check_store(SLICES, (3, 0, 0, 0), 128) == (3, 0, 0, 0)


@pytest.mark.parametrize("tm", [SLICES, PIXELS])
@pytest.mark.parametrize("check", [check_load, check_store])
def test_tiles_of_slices_and_of_pixels_are_128_byte_aligned_too(check, tm):
    check(tm, (0, 0, 0, 0), 1024)
    for address in (16, 64):
        assert fault(check, tm, (0, 0, 0, 0), address).kind == "misaligned_address"


@pytest.mark.parametrize("check", [check_load, check_store])
def test_channels_of_an_im2col_copy_start_at_a_chunk(check):
    found = fault(check, PIXELS, (2, 0, 0, 0), 0)
    assert found.kind == "illegal_instruction"
    assert "(c) = 2" in str(found)
    assert "0 or 4" in str(found)


@pytest.mark.parametrize("check", [check_load, check_store])
@pytest.mark.parametrize(
    ("place", "says"),
    [
        ((0, -1, 0, 0), r"\(w\) = -1 .* 0 to 6"),
        ((0, 7, 0, 0), r"\(w\) = 7"),
        ((0, 0, -1, 0), r"\(h\) = -1 .* 0 to 5"),
        ((0, 0, 6, 0), r"\(h\) = 6"),
    ],
)
def test_an_im2col_copy_begins_inside_the_bounding_box(check, place, says):
    found = fault(check, PIXELS, place, 0)
    assert found.kind == "illegal_instruction"
    assert re.search(says, str(found))


def test_the_bounding_box_moves_with_the_corners():
    padded = TensorMap.im2col(**IMAGES | {"pixel_box_lower_corner": (-2, 1), "pixel_box_upper_corner": (1, -3)})
    for place in ((0, -2, 1, 0), (0, 7, 2, 0)):
        check_load(padded, place, 0)
    for place in ((0, -3, 1, 0), (0, 8, 1, 0), (0, 0, 0, 0), (0, 0, 3, 0)):
        assert fault(check_load, padded, place, 0).kind == "illegal_instruction"


def test_an_interleaved_im2col_copy_names_the_pixel_first():
    tm = TensorMap.im2col(**IMAGES | {"global_dim": (7, 6, 2, 3), "interleave": 1})
    check_load(tm, (6, 5, 9, 9), 0)
    assert "coordinate 0 (w) = 7" in str(fault(check_load, tm, (7, 5, 0, 0), 0))
    assert "coordinate 1 (h) = 6" in str(fault(check_load, tm, (0, 6, 0, 0), 0))
    assert "coordinate 2 (c) = -1" in str(fault(check_store, tm, (0, 0, -1, 0), 0))
    assert "coordinate 3 (n) = -1" in str(fault(check_store, tm, (0, 0, 0, -1), 0))


def test_images_and_channels_of_a_load_may_lie_anywhere():
    for place in ((0, 0, 0, -(2**31)), (0, 0, 0, 2**31 - 1), (-8, 0, 0, 0), (2**31 - 4, 0, 0, 0)):
        check_load(PIXELS, place, 0)


@pytest.mark.parametrize("place", [(-4, 0, 0, 0), (0, 0, 0, -1)])
def test_a_negative_channel_or_image_of_an_im2col_store_faults(place):
    assert "negative" in str(fault(check_store, PIXELS, place, 0))


@pytest.mark.parametrize(("lower", "upper"), [((-1, 0), (0, 0)), ((0, -1), (0, 0)), ((0, 0), (1, 0)), ((0, 0), (0, 1))])
def test_the_bounding_box_of_an_im2col_store_lies_inside_the_tensor(lower, upper):
    tm = TensorMap.im2col(**IMAGES | {"pixel_box_lower_corner": lower, "pixel_box_upper_corner": upper})
    check_load(tm, (0, 2, 2, 0), 0)
    found = fault(check_store, tm, (0, 2, 2, 0), 0)
    assert found.kind == "illegal_instruction"
    assert "inside the tensor" in str(found)
    check_store(TensorMap.im2col(**IMAGES | {"pixel_box_lower_corner": (1, 2)}), (0, 2, 2, 0), 0)


@pytest.mark.parametrize("check", [check_load, check_store])
@pytest.mark.parametrize("i", [0, 1, 2])
def test_a_dimension_of_more_than_2_to_the_31_makes_every_copy_fault(check, i):
    for dim in (2**31, 2**31 + 16):
        tm = TensorMap(0, 0, tuple(dim if k == i else 64 for k in range(3)), (64, 0), (16, 1, 1))
        if dim == 2**31:
            check(tm, (0, 0, 0), 0)
        else:
            found = fault(check, tm, (0, 0, 0), 0)
            assert found.kind == "illegal_instruction"
            assert f"global_dim[{i}]" in str(found)


def test_c11_a_reduction_that_the_type_does_not_have_is_an_illegal_instruction():
    """cases.md C11: 16-bit integers have none. (float64 has add, in contrast to what is said elsewhere: measured.)"""
    int16 = TensorMap(1, 0, (64,), (), (64,))
    found = fault(check_reduce, "add", int16)
    assert found.kind == "illegal_instruction"
    assert "UINT16" in str(found)
    assert "FLOAT64" in str(found)  # among those that have it
    check_reduce("add", TensorMap(8, 0, (64,), (), (64,)))
    for op, data_type in (("inc", 3), ("add", 5), ("and", 5), ("min", 7), ("xor", 6), ("max", 8), ("or", 0)):
        assert fault(check_reduce, op, TensorMap(data_type, 0, (64,), (), (64,))).kind == "illegal_instruction"


def test_what_is_no_operation_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"'mul' is no reduction; there are add, min"):
        check_reduce("mul", F32)


def test_loads_fault_for_what_they_fill_and_stores_only_for_what_they_keep():
    """A box of 64 rows that ends past shared memory; 1 row, or none, of the tensor is in it."""
    tm = TensorMap(0, 0, (16, 8), (128,), (16, 64))
    for y in (7, 100):
        assert fault(check_load, tm, (0, y), 0, 128).kind == "illegal_address"
        check_store(tm, (0, y), 0, 128)
    assert fault(check_store, tm, (0, 7), 0, 15).kind == "illegal_address"
    wide = TensorMap(0, 0, (128, 8), (128,), (256, 1))
    check_store(wide, (0, 0), 0, 128)
    assert fault(check_load, wide, (0, 0), 0, 128).kind == "illegal_address"


def test_of_several_faults_the_hardware_tells_of_the_instruction_then_alignment_then_the_address():
    assert fault(check_load, F16, (4, 0), 16, 100).kind == "illegal_instruction"
    assert fault(check_load, F16, (0, 0), 16, 100).kind == "misaligned_address"
    assert fault(check_store, F16, (0, -1), 16, 100).kind == "illegal_instruction"
    assert fault(check_store, F16, (0, 0), 16, 100).kind == "misaligned_address"
    assert fault(check_load, PIXELS, (0, -1, 0, 0), 16, 100).kind == "illegal_instruction"


@pytest.mark.parametrize(
    ("offsets", "error", "says"),
    [
        ((0,), ValueError, "1 im2col offsets for a map of rank 4, which takes 2: one for each spatial dimension"),
        ((0, -1), ValueError, "offset 1 .h. = -1 is outside 0 to 255"),
        ((256, 0), ValueError, "offset 0 .w. = 256"),
        ((0.5, 0), TypeError, r"im2col_offsets\[0\] must be an integer, not float"),
        (3, TypeError, "im2col_offsets must be a short sequence of integers"),
    ],
)
def test_offsets_that_the_instruction_has_no_bits_for_are_refused(offsets, error, says):
    check_load(PIXELS, (0, 0, 0, 0), 0, im2col_offsets=(255, np.int64(0)))
    with pytest.raises(error, match=says):
        check_load(PIXELS, (0, 0, 0, 0), 0, im2col_offsets=offsets)


@pytest.mark.parametrize(("rank", "last"), [(3, 65535), (4, 255), (5, 31)])
def test_offsets_have_16_8_or_5_bits(rank, last):
    dims, strides = (16, *(8,) * (rank - 1)), tuple(16 * 8**k for k in range(rank - 1))
    tm = TensorMap.im2col(0, 0, dims, strides, (0,) * (rank - 2), (0,) * (rank - 2), 16, 4)
    check_load(tm, (0,) * rank, 0, im2col_offsets=(last,) * (rank - 2))
    with pytest.raises(ValueError, match=f"0 to {last}, which is all that a copy of rank {rank}"):
        check_load(tm, (0,) * rank, 0, im2col_offsets=(last + 1,) * (rank - 2))
