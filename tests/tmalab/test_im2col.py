"""The walk of an im2col copy, fact by fact; each was seen on an H200."""

import numpy as np
import pytest

from tmalab import DataType, TensorMap, reference
from tmalab.im2col import corners, walk

# 3 images of 4 rows and 5 columns; each pixel's 16 bytes hold its own number
W, H, N = 5, 4, 3
PIXELS = np.arange(N * H * W, dtype=np.uint8).repeat(16)


def image_map(lower=(0, 0), upper=(0, 0), pixels=6, steps=None, **options) -> TensorMap:
    return TensorMap.im2col(0, 0, (16, W, H, N), (16, W * 16, H * W * 16), lower, upper, 16, pixels, steps, **options)


def pixels_of(tm: TensorMap, place, offsets=(0, 0)) -> list[tuple[int, ...]]:
    return list(zip(*(along.tolist() for along in walk(tm, (0, *place), offsets)), strict=True))


def test_pixels_run_along_the_row_then_the_next_row_then_the_next_image():
    assert pixels_of(image_map(), (3, 2, 1)) == [(3, 2, 1), (4, 2, 1), (0, 3, 1), (1, 3, 1), (2, 3, 1), (3, 3, 1)]
    assert pixels_of(image_map(pixels=3), (4, 3, 1)) == [(4, 3, 1), (0, 0, 2), (1, 0, 2)]


def test_the_walk_turns_at_the_corners_of_the_bounding_box():
    tm = image_map((-1, 1), (-3, -1))
    assert corners(tm) == [(-1, 1), (1, 2)]
    assert pixels_of(tm, (1, 1, 0)) == [(1, 1, 0), (-1, 2, 0), (0, 2, 0), (1, 2, 0), (-1, 1, 1), (0, 1, 1)]


def test_element_strides_step_and_do_not_reduce_the_number_of_pixels():
    tm = image_map(steps=(1, 2, 3, 2), pixels=8)
    assert pixels_of(tm, (1, 0, 0)) == [
        *((1, 0, 0), (3, 0, 0)),  # the first row from where it begins
        *((0, 3, 0), (2, 3, 0), (4, 3, 0)),  # later ones from the lower corner
        *((0, 0, 2), (2, 0, 2), (4, 0, 2)),  # and images by their stride
    ]


def test_offsets_move_what_is_read_and_not_the_walk():
    tm = image_map(upper=(-2, -2))
    plain, moved = pixels_of(tm, (2, 1, 0)), pixels_of(tm, (2, 1, 0), (2, 1))
    assert moved == [(w + 2, h + 1, n) for w, h, n in plain]


def test_a_filter_of_3_x_3_is_nine_loads_of_one_box():
    """Every tap of every output pixel of a convolution without padding, by nine offsets."""
    tm = image_map(upper=(-2, -2), pixels=N * 2 * 3)
    for s in range(3):
        for r in range(3):
            loaded = reference.load(tm, (0, 0, 0, 0), PIXELS, im2col_offsets=(s, r)).data.reshape(-1, 16)[:, 0]
            expected = [(n * H + h + r) * W + w + s for n in range(N) for h in range(2) for w in range(3)]
            assert loaded.tolist() == expected


def test_padding_is_filled_and_credited():
    tm = image_map((-1, -1), (-1, -1), pixels=7)
    image = reference.load(tm, (0, -1, -1, 0), PIXELS + 1)
    assert image.data.reshape(-1, 16)[:, 0].tolist() == [0, 0, 0, 0, 0, 0, 1]  # the row above, then one to the left
    assert image.transaction_bytes == 7 * 16


def test_pixels_of_images_that_are_not_there_are_filled():
    image = reference.load(image_map(), (0, 4, 3, N - 1), PIXELS)
    assert image.data.reshape(-1, 16)[:, 0].tolist() == [N * H * W - 1, 0, 0, 0, 0, 0]
    assert not reference.load(image_map(), (0, 0, 0, -1), PIXELS).data.any()
    assert not reference.load(image_map(), (0, 0, 0, 2**31 - 1), PIXELS).data.any()


def test_channels_outside_are_filled():
    tm = TensorMap.im2col(0, 0, (24, W, N), (32, 160), (0,), (0,), 32, 2)
    image = reference.load(tm, (16, 0, 0), np.full(480, 7, np.uint8))
    assert image.data.reshape(2, 32).tolist() == [[7] * 8 + [0] * 24] * 2


def test_a_row_takes_the_pitch_of_the_swizzle_span():
    tm = image_map(swizzle=3)
    assert (tm.pitch, tm.shared_bytes, tm.transaction_bytes) == (128, 6 * 128, 6 * 16)


def test_with_an_interleave_the_spatial_dimensions_come_first_and_each_pixel_gives_one_slice():
    """Dimensions and coordinates are W, H, slices of channels, N; channels_per_pixel does not count."""
    dims, strides = (W, H, 2, N), (W * 16, H * W * 16, 2 * H * W * 16)
    memory = np.arange(N * 2 * H * W, dtype=np.uint8).repeat(16)
    tm = TensorMap.im2col(
        DataType.FLOAT16, 0, dims, strides, (0, 0), (0, 0), 16, 6, interleave=1, element_strides=(2, 1, 1, 1)
    )
    image = reference.load(tm, (2, 3, 1, 0), memory, im2col_offsets=(1, 0))
    assert tm.transaction_bytes == image.data.size == 6 * 16
    first = [H * W + 3 * W + w + 1 for w in (2,)]  # slice 1 of image 0; w = 4 is outside with the offset
    later = [2 * H * W + H * W + w + 1 for w in (0, 2)]
    assert image.data.reshape(-1, 16)[:, 0].tolist() == [*first, 0, *later, 0, 2 * H * W + H * W + W + 1]


@pytest.mark.parametrize("stride", [2, 5])
def test_a_stride_of_the_box_or_more_takes_one_pixel_a_row(stride):
    tm = image_map(upper=(-3, 0), steps=(1, stride, 1, 1), pixels=3)
    assert pixels_of(tm, (0, 0, 0)) == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]


def test_stores_have_no_offsets_and_drop_images_that_are_not_there():
    tm = image_map(pixels=8)
    memory = np.zeros_like(PIXELS)
    reference.store(tm, (0, 2, 3, N - 1), np.full(8 * 16, 9, np.uint8), memory)
    assert np.flatnonzero(memory.reshape(-1, 16).any(1)).tolist() == [57, 58, 59]
