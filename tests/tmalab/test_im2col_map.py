"""Im2colMap as its users see it."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from tmalab import DataType, Im2colMap, Interleave, OobFill, Swizzle, TensorMap, TensorMapError
from tmalab.tensor_map_fields import Im2colFields

LEGAL = {  # 8 images of 5 x 9 pixels with 64 channels, float16; a filter of 3 x 3 without padding
    "data_type": 6,
    "global_address": 0x1000,
    "global_dim": (64, 5, 9, 8),
    "global_strides": (128, 640, 5760),
    "pixel_box_lower_corner": (0, 0),
    "pixel_box_upper_corner": (-2, -2),
    "channels_per_pixel": 64,
    "pixels_per_column": 32,
    "swizzle": 3,
}


def test_an_im2col_map_is_a_tensor_map_with_the_drivers_arguments():
    tm = TensorMap.im2col(**LEGAL, oob_fill=1)
    assert isinstance(tm, TensorMap)
    assert type(tm) is Im2colMap
    assert {name: getattr(tm, name) for name in LEGAL} == LEGAL
    assert (tm.data_type, tm.swizzle, tm.interleave) == (DataType.FLOAT16, Swizzle.B128, Interleave.NONE)
    assert (tm.oob_fill, tm.element_strides, tm.array) == (OobFill.NAN, (1, 1, 1, 1), None)
    assert list(tm.arguments) == list(Im2colFields._fields)


def test_the_arguments_come_in_the_drivers_order():
    values = (6, 0x1000, (64, 5, 8), (128, 640), (0,), (-2,), 32, 16, (1, 2, 1), 0, 2, 1, 1)
    assert tuple(TensorMap.im2col(*values).arguments.values()) == values


def test_it_has_no_box():
    tm = TensorMap.im2col(**LEGAL)
    assert not hasattr(tm, "box_dim")
    assert "box_dim" not in {field.name for field in dataclasses.fields(tm)}


def test_a_copy_delivers_all_channels_of_all_pixels_of_a_column():
    tm = TensorMap.im2col(**LEGAL | {"channels_per_pixel": 32, "element_strides": (1, 2, 2, 1)})
    assert (tm.rank, tm.element_size, tm.delivered_dim) == (4, 2, (32, 32))
    assert (tm.row_bytes, tm.pitch, tm.transaction_bytes, tm.shared_bytes) == (64, 128, 2048, 4096)


def test_m12_the_corners_say_which_positions_a_filter_takes():
    """W = 5, a filter of 3: without an upper corner the box has five positions, with -2 three. Both are legal."""
    row = {**LEGAL, "global_dim": (64, 5, 8), "global_strides": (128, 640), "pixel_box_lower_corner": (0,)}
    assert TensorMap.im2col(**row | {"pixel_box_upper_corner": (0,)}).bounding_box == (5,)
    assert TensorMap.im2col(**row | {"pixel_box_upper_corner": (-2,)}).bounding_box == (3,)
    assert TensorMap.im2col(**row | {"pixel_box_upper_corner": (-2,)}).warnings == []


def test_a_padded_image_begins_before_its_first_pixel():
    padded = LEGAL | {"pixel_box_lower_corner": (-1, -1), "pixel_box_upper_corner": (-1, -1)}
    assert TensorMap.im2col(**padded).bounding_box == (5, 9)


def test_it_does_not_change_and_equal_maps_are_equal():
    tm = TensorMap.im2col(**LEGAL)
    with pytest.raises(dataclasses.FrozenInstanceError):
        tm.pixels_per_column = 1
    again = TensorMap.im2col(**LEGAL | {"global_dim": [64, 5, 9, 8], "element_strides": np.ones(4, int)})
    assert tm == again.bind(np.zeros(4, np.float16))
    assert hash(tm) == hash(again)
    assert tm != TensorMap.im2col(**LEGAL | {"pixels_per_column": 31})
    assert tm != TensorMap(6, 0x1000, (64, 5, 9, 8), (128, 640, 5760), (64, 1, 1, 1), swizzle=3)


def test_it_can_be_copied_pickled_moved_and_bound():
    array = np.zeros((8, 9, 5, 64), np.float16)
    tm = TensorMap.im2col(**LEGAL)
    assert tm.bounding_box == (3, 7)  # a cached value that must not get in the way
    assert pickle.loads(pickle.dumps(tm)) == copy.deepcopy(tm) == dataclasses.replace(tm) == tm
    moved = tm.bind(array).with_address(0x2000)
    assert type(moved) is Im2colMap
    assert (moved.global_address, moved.array is array, moved.with_address(0x1000) == tm) == (0x2000, True, True)


def test_it_shows_how_it_is_made():
    assert repr(TensorMap.im2col(**LEGAL | {"element_strides": (1, 2, 1, 1)})) == (
        "TensorMap.im2col(FLOAT16, global_address=0x1000, global_dim=(64, 5, 9, 8), global_strides=(128, 640, 5760), "
        "pixel_box_lower_corner=(0, 0), pixel_box_upper_corner=(-2, -2), channels_per_pixel=64, pixels_per_column=32, "
        "element_strides=(1, 2, 1, 1), swizzle=B128)"
    )


def test_what_is_doubtful_of_every_map_is_doubtful_here():
    (warning,) = TensorMap.im2col(**LEGAL | {"global_address": 0}).warnings
    assert "null" in warning
    (warning,) = TensorMap.im2col(**LEGAL | {"channels_per_pixel": 32}).warnings
    assert "128 bytes apart" in warning
    (warning,) = TensorMap.im2col(**LEGAL | {"global_strides": (64, 640, 5760)}).warnings
    assert "same bytes" in warning
    whole = {"swizzle": 0, "channels_per_pixel": 256, "pixels_per_column": 456, "global_dim": (256, 5, 9, 8)}
    (warning,) = TensorMap.im2col(**LEGAL | whole | {"global_strides": (512, 2560, 23040)}).warnings
    assert "233472 bytes" in warning


def test_an_argument_that_is_missing_is_named():
    with pytest.raises(TypeError, match="pixels_per_column"):
        TensorMap.im2col(**{name: value for name, value in LEGAL.items() if name != "pixels_per_column"})


def test_the_error_lists_every_broken_rule():
    with pytest.raises(TensorMapError, match="2 rules are broken") as caught:
        TensorMap.im2col(**LEGAL | {"channels_per_pixel": 72, "pixels_per_column": 1025})
    assert [rule for rule, _ in caught.value.violations] == ["swizzle-span", "pixels-range"]
