"""Maps of channels in slices: what dimension 0 counts, what a box takes of the others."""

import numpy as np
import pytest

from tmalab import DataType, Interleave, Swizzle, TensorMap, reference

# NC/8HWC8 of 2-byte elements: 2 images, 3 slices of 8 channels, 4 rows, 5 columns; each slice holds its own number
W, H, C8, N = 5, 4, 3, 2
NUMBERS = np.arange(N * C8 * H * W, dtype=np.uint64).repeat(2).view(np.uint8)
STRIDES = (W * 16, H * W * 16, C8 * H * W * 16)


def image_map(box, steps=None, **options) -> TensorMap:
    return TensorMap(DataType.FLOAT16, 0, (W, H, C8, N), STRIDES, box, steps, Interleave.B16, **options)


def slices(image: reference.Image) -> list[int]:
    """The numbers of the slices in shared memory, in order."""
    return image.data.view(np.uint64)[::2].tolist()


def number(w: int, h: int, c8: int, n: int) -> int:
    return ((n * C8 + c8) * H + h) * W + w


def test_dimension_0_counts_slices_and_any_of_them_may_be_the_first():
    image = reference.load(image_map((8, 1, 1, 1)), (1, 2, 1, 1), NUMBERS)
    inside = [number(w, 2, 1, 1) for w in range(1, 5)]
    assert slices(image) == [*inside, 0, 0, 0, 0]
    assert image.transaction_bytes == 8 * 16


def test_one_slice_of_channels_is_delivered_whatever_the_box():
    for channels in (1, 2, 3):
        tm = image_map((8, 2, channels, 2))
        assert tm.delivered_dim == (8, 2, 1, 2)
        assert slices(reference.load(tm, (0, 0, 2, 0), NUMBERS))[::8] == [
            number(0, h, 2, n) for n in (0, 1) for h in (0, 1)
        ]


def test_the_element_stride_of_dimension_0_steps_through_slices():
    tm = image_map((8, 2, 1, 1), (3, 1, 1, 1))
    loaded = slices(reference.load(tm, (0, 1, 0, 0), NUMBERS))
    assert loaded == [number(0, 1, 0, 0), number(3, 1, 0, 0), 0, number(0, 2, 0, 0), number(3, 2, 0, 0), 0]


@pytest.mark.parametrize("swizzle", [Swizzle.B32, Swizzle.B64, Swizzle.B128])
def test_rows_of_slices_have_no_gap_whatever_the_swizzle(swizzle):
    image = reference.load(image_map((8, 2, 1, 1), swizzle=swizzle), (0, 0, 0, 0), NUMBERS)
    assert image.written.all()
    assert image.data.size == 2 * 8 * 16


def test_slices_outside_are_filled_and_not_stored():
    tm = image_map((8, 2, 1, 1))
    assert slices(reference.load(tm, (-6, 0, 0, 0), NUMBERS))[:8] == [0] * 6 + [number(w, 0, 0, 0) for w in (0, 1)]
    memory = np.zeros_like(NUMBERS)
    reference.store(tm, (3, 3, 2, 1), np.full(256, 7, np.uint8), memory)
    assert np.flatnonzero(memory.reshape(-1, 16).any(1)).tolist() == [number(w, 3, 2, 1) for w in (3, 4)]


def test_slices_of_32_bytes_are_twice_as_wide():
    tm = TensorMap(0, 0, (4, 2, 2), (128, 256), (16, 2, 1), interleave=Interleave.B32, swizzle=Swizzle.B32)
    memory = np.arange(512, dtype=np.uint16).astype(np.uint8)
    image = reference.load(tm, (1, 0, 1), memory, shared_address=0)
    assert image.data[:32].tolist() == list(range(32, 64))  # the second slice of image 1, at byte 256 + 32
    assert image.transaction_bytes == 16 * 1 * 32
