"""Copies that the exercises of lessons 2 to 6 make, recorded as groups of their own.

Checks draw their variants among these, so that each can be shown beside what an H200 did.

>>> [len(lesson()) for lesson in (lesson_2, lesson_3, lesson_4, lesson_5, lesson_6)]
[4, 32, 16, 15, 8]
"""

from __future__ import annotations

from itertools import product
from random import Random

from tmalab.data_types import NOMINAL_ADDRESS, DataType, Swizzle
from tmalab.recorded.case import Case
from tmalab.tensor_map import TensorMap

SHIFTED_AT = (128, 4)  # where the tiles of bytes were loaded that group "loads" has at every line of the pattern

TRANSPOSED_SHAPE = 64, 96  # rows and columns of fp32
TRANSPOSED_AT = ((64, 16), (80, 16), (-12, 40), (4, -5))  # inside, over each edge

GROUPED_SHAPE = 32, 512  # rows and columns of 16-bit elements
GROUPED_ROWS, GROUPED_AT = 16, tuple(product((16, 0, 8, 24), (2, 0, 5, 7)))  # rows of a slice; first row, first group

PAIRED_SHAPE = 64, 128  # rows and columns of fp32
PAIR_ROWS, PAIR_COLS = 16, 32  # of a tile; a pair is two of them, side by side
PAIRED_AT = tuple(product((0, 32, 64, 96), (0, 16, 32, 48)))  # column and row: all tiles of the tensor

STORED_ROWS, STORED_COLS = 8, 32  # of a tile of int32
STORED_AT = ((32, 4), (80, 4), (32, 12), (80, 12))  # in 16 rows of 96 columns: inside, over each edge
STORED_TILES, SUMMED, SUMMING_CTAS = 5, 128, 4  # of the ring; numbers of a row of sums, and CTAs that add to it
EVEN = 1  # seed of a "counting" memory whose tiles hold even numbers: the exercises store their source doubled

PHOTOS_SHAPE = 2, 10, 12, 16  # images, rows, columns, channels of fp32
PATCH = 4  # rows and columns of a patch
PATCHED_AT = ((0, 6, 3, 1), (0, -1, -1, 0), (0, 10, 8, 1), (0, 3, -2, 1))  # channel, column, row, image
THINNED_AT = ((0, 3, 1, 1), (0, 0, 0, 0), (0, -1, 5, 1), (0, 8, -2, 0))


def lesson_2() -> list[Case]:
    """32x32 tiles of fp32 with the 128-byte swizzle."""
    rows, cols = TRANSPOSED_SHAPE
    tm = TensorMap(DataType.FLOAT32, NOMINAL_ADDRESS, (cols, rows), (4 * cols,), (32, 32), swizzle=Swizzle.B128)
    return [Case(f"fp32 tile at {corner}", "load", tm, corner, 0, "counting", 0) for corner in TRANSPOSED_AT]


def lesson_3() -> list[Case]:
    """Slices of 16 rows and two groups of 64 columns, seen as (group, row, column)."""
    cases = []
    for data_type, (row, group) in product((DataType.FLOAT16, DataType.BFLOAT16), GROUPED_AT):
        name = f"{data_type.name} slice, row {row}, group {group}"
        cases.append(Case(name, "load", grouped(data_type), (0, row, group), 0, "counting", 0))
    return cases


def lesson_4() -> list[Case]:
    """Tiles of 16x32 fp32 without a swizzle, 2,048 bytes each."""
    rows, cols = PAIRED_SHAPE
    tm = TensorMap(DataType.FLOAT32, NOMINAL_ADDRESS, (cols, rows), (4 * cols,), (PAIR_COLS, PAIR_ROWS))
    return [Case(f"fp32 tile of a pair at {corner}", "load", tm, corner, 0, "counting", 0) for corner in PAIRED_AT]


def lesson_5() -> list[Case]:
    """Tiles of int32 stored inside, over edges, one below the other; sums added to a row; a tail of bytes."""
    return [*_stored_tiles(), *_stored_below_each_other(), *_summed(), *_tails()]


def _stored_tiles() -> list[Case]:
    tm = stored(16, 96)
    return [Case(f"int32 tile stored at {at}", "store", tm, at, 0, "counting", EVEN) for at in STORED_AT]


def _stored_below_each_other() -> list[Case]:
    tm, step = stored(STORED_ROWS * (STORED_TILES + 1), STORED_COLS), STORED_ROWS * STORED_COLS * 4
    places = [(f"int32 tile {k} of a ring", (0, STORED_ROWS * k), step * k) for k in range(STORED_TILES)]
    return [Case(name, "store", tm, at, address, "counting", EVEN) for name, at, address in places]


def _summed() -> list[Case]:
    tm = TensorMap(DataType.INT32, NOMINAL_ADDRESS, (SUMMED,), (), (SUMMED,))
    ctas = range(SUMMING_CTAS)
    return [Case(f"sums of CTA {cta}", "add", tm, (0,), 4 * SUMMED * cta, "counting", EVEN) for cta in ctas]


def _tails() -> list[Case]:
    """Rows with room after them, the one of int32 to a whole sector, the one of bytes within one."""
    narrow = stored(16, 44)
    of_bytes = TensorMap(DataType.UINT8, NOMINAL_ADDRESS, (466, 32), (512,), (64, 8))
    places = (("int32 tile over column 44", narrow, (32, 12)), ("bytes over byte 466", of_bytes, (448, 8)))
    return [Case(name, "store", tm, at, 0, "counting", EVEN) for name, tm, at in places]


def lesson_6() -> list[Case]:
    """Patches of images, whole and of every second pixel: inside, over edges."""
    places = [(f"patch at {at}", photos(), at) for at in PATCHED_AT]
    places += [(f"every second pixel from {at}", photos(2), at) for at in THINNED_AT]
    return [Case(name, "load", tm, at, 0, "counting", 0) for name, tm, at in places]


def fresh_tile(draw: Random, number: int) -> Case:
    """A tile of lesson 2's tensor, anywhere."""
    corner = 4 * draw.randrange(-9, 26), draw.randrange(-33, 66)
    return Case(f"fp32 tile {number}", "load", lesson_2()[0].tensor_map, corner, 0, "counting", 0)


def fresh_slice(draw: Random, number: int) -> Case:
    """A slice of lesson 3's matrix, anywhere, at a group's beginning or within it."""
    data_type = draw.choice((DataType.FLOAT16, DataType.BFLOAT16))
    corner = 8 * draw.randrange(-8, 9), draw.randrange(-17, 34), draw.randrange(-2, 9)
    return Case(f"slice {number}", "load", grouped(data_type), corner, 0, "counting", 0)


def fresh_pair(draw: Random, number: int) -> Case:
    """A tile of lesson 4's tensor, anywhere."""
    corner = 4 * draw.randrange(-9, 34), draw.randrange(-17, 66)
    return Case(f"fp32 tile of a pair {number}", "load", lesson_4()[0].tensor_map, corner, 0, "counting", 0)


def fresh_store(draw: Random, number: int) -> Case:
    """A tile of lesson 5, stored anywhere in its tensor or past its end."""
    corner = 4 * draw.randrange(26), draw.randrange(18)
    return Case(f"int32 tile stored {number}", "store", stored(16, 96), corner, 0, "counting", EVEN)


def stored(rows: int, cols: int) -> TensorMap:
    """The map of a tensor that lesson 5 stores to."""
    return TensorMap(DataType.INT32, NOMINAL_ADDRESS, (cols, rows), (4 * cols,), (STORED_COLS, STORED_ROWS))


def fresh_patch(draw: Random, number: int) -> Case:
    """A patch of lesson 6's images, anywhere."""
    corner = 4 * draw.randrange(-4, 5), draw.randrange(-5, 14), draw.randrange(-5, 12), draw.randrange(-1, 3)
    return Case(f"patch {number}", "load", photos(draw.choice((1, 2))), corner, 0, "counting", 0)


def photos(step: int = 1) -> TensorMap:
    """The map of lesson 6's images: patches of every `step`-th pixel."""
    images, rows, cols, channels = PHOTOS_SHAPE
    strides = tuple(4 * channels * pixels for pixels in (1, cols, cols * rows))
    box, steps = (channels, step * PATCH, step * PATCH, 1), (1, step, step, 1)
    return TensorMap(DataType.FLOAT32, NOMINAL_ADDRESS, (channels, cols, rows, images), strides, box, steps)


def grouped(data_type: DataType) -> TensorMap:
    """The grouped map of lesson 3's matrix."""
    rows, cols = GROUPED_SHAPE
    dims, strides, box = (64, rows, cols // 64), (2 * cols, 128), (64, GROUPED_ROWS, 2)
    return TensorMap(data_type, NOMINAL_ADDRESS, dims, strides, box, swizzle=Swizzle.B128)
