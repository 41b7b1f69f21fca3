"""Legal but doubtful: each warning where it is true, and silence where nothing is doubtful."""

import pytest

from tmalab import DataType, Interleave, Swizzle, TensorMap
from tmalab.tensor_map_doubts import object_address_doubts

U8 = DataType.UINT8


def test_a_plain_map_has_no_warnings():
    assert TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=Swizzle.B128).warnings == []


@pytest.mark.parametrize(("dim", "extra"), [(466, 14), (465, 15), (472, 8), (479, 1)])
def test_an_inner_edge_inside_a_chunk_is_warned_of_with_the_bytes_at_risk(dim, extra):
    """cases.md C3."""
    (warning,) = TensorMap(U8, 0x1000, (dim, 32), (512,), (64, 8)).warnings
    assert f"overwrites the {extra} bytes after it" in warning


def test_an_inner_edge_at_a_chunk_is_not_warned_of():
    assert TensorMap(U8, 0x1000, (464, 32), (512,), (64, 8)).warnings == []


@pytest.mark.parametrize("strides", [(0, 4096), (16, 4096), (128, 128)])
def test_coordinates_that_share_bytes_are_warned_of(strides):
    warnings = TensorMap(U8, 0x1000, (128, 8, 4), strides, (64, 8, 2)).warnings
    assert len(warnings) == 1
    assert "same bytes" in warnings[0]


def test_the_stride_of_a_dimension_of_one_element_shares_nothing():
    assert TensorMap(U8, 0x1000, (128, 1), (0,), (64, 1)).warnings == []


def test_an_innermost_element_stride_is_said_to_be_ignored():
    (warning,) = TensorMap(U8, 0x1000, (128, 8), (128,), (64, 8), (2, 1)).warnings
    assert warning.startswith("element_strides[0] = 2 is ignored")


def test_a_ragged_innermost_stride_is_ignored_not_ragged():
    (warning,) = TensorMap(U8, 0x1000, (128, 8), (128,), (64, 8), (3, 1)).warnings
    assert "ignored" in warning


def test_a_tile_that_no_cta_can_hold_is_warned_of():
    """228 KiB is a legal box, 227 KiB all that a CTA can have; narrow rows take their gaps as well."""
    (warning,) = TensorMap(7, 0x1000, (256, 256), (1024,), (256, 228)).warnings
    assert "233472 bytes" in warning
    (_, warning) = TensorMap(7, 0x1000, (4, 256, 256), (1024, 1 << 18), (4, 256, 8), swizzle=3).warnings
    assert "262144 bytes" in warning
    assert TensorMap(7, 0x1000, (256, 256), (1024,), (256, 227)).warnings == []


def test_interleave_32b_without_its_documented_swizzle_is_warned_of():
    arguments = (U8, 0x1000, (16, 8, 4), (512, 4096), (32, 1, 2))
    assert TensorMap(*arguments, interleave=Interleave.B32, swizzle=Swizzle.B32).warnings == []
    (warning,) = TensorMap(*arguments, interleave=Interleave.B32).warnings
    assert "SWIZZLE_32B" in warning or "not NONE" in warning


def test_what_an_interleave_ignores_is_said():
    arguments = (U8, 0x1000, (16, 8, 4, 2), (256, 2048, 8192), (16, 2, 3, 1))
    (warning,) = TensorMap(*arguments, (1, 1, 2, 1), Interleave.B16).warnings
    assert warning.startswith("box_dim[2] = 3 is ignored")
    image = (6, 0x1000, (5, 9, 8, 2), (80, 720, 5760), (0, 0), (0, 0))
    (warning,) = TensorMap.im2col(*image, 64, 32, interleave=Interleave.B16).warnings
    assert warning.startswith("channels_per_pixel = 64 is ignored")
    assert TensorMap.im2col(*image, 8, 32, interleave=Interleave.B16).warnings == []


def test_interleaved_rows_are_counted_in_slices():
    assert TensorMap(U8, 0x1000, (16, 8, 4), (256, 2048), (16, 1, 1), None, Interleave.B16).warnings == []
    warning, _ = TensorMap(U8, 0x1000, (17, 8, 4), (256, 2048), (16, 1, 1), None, Interleave.B16).warnings
    assert "less than the 272 bytes inside" in warning


def test_an_im2col_maps_channels_can_end_inside_a_chunk():
    (warning,) = TensorMap.im2col(0, 0x1000, (20, 5, 8), (32, 160), (0,), (0,), 32, 8).warnings
    assert "overwrites the 12 bytes after it" in warning


def test_m16_a_map_object_at_64_mod_128_is_for_cuda_12_only():
    assert object_address_doubts(0x1000) == []
    (warning,) = object_address_doubts(0x1040)
    assert "CUDA 13" in warning
    (warning,) = object_address_doubts(0x1020)
    assert "fault" in warning


def test_a_dimension_that_the_driver_takes_and_the_hardware_does_not_is_warned_of():
    long = 2**31 + 1
    (warning,) = TensorMap(U8, 0x1000, (128, long), (128,), (64, 8)).warnings
    assert f"global_dim[1] = {long} is more than 2^31" in warning
    assert TensorMap(U8, 0x1000, (128, 2**31), (128,), (64, 8)).warnings == []
    images = TensorMap.im2col(U8, 0x1000, (16, 4, long), (16, 64), (0,), (0,), 16, 4)
    assert any("global_dim[2]" in sentence for sentence in images.warnings)
