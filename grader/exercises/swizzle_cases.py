"""The inputs of lesson 2's kernels, and what must come out, worked out with NumPy alone.

Places are drawn among those that were recorded on an H200, or that `tmalab.recorded.lesson_cases` asks to be recorded.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from grader.exercises.copy_2d_cases import UNWRITTEN, drawn, lesson_tensor, swizzled, window
from grader.exercises.drawn import shape
from grader.judges.kernels import Case
from grader.texts import text
from tmalab import DataType, Swizzle, TensorMap
from tmalab.recorded.lesson_cases import SHIFTED_AT, TRANSPOSED_AT, TRANSPOSED_SHAPE

ROWS, COLS = 8, 64  # the tile of fp16: rows of 128 bytes
PUBLIC = (64, 8)  # the coordinates that the notebook uses
CORNERS = ((0, 0), (64, 0), (0, 8), (96, 12), (-8, -4), (120, 15))  # recorded too: inside, over each edge
SIDE = 32  # of the tile of fp32
LINE = 128  # bytes
PUBLIC_LINE = 3


MISPLACED = [f"line-{first}" for first in range(1, 8)]


def misplaced(tile: np.ndarray) -> dict[str, np.ndarray]:
    """What a reader that goes by rows finds in a tile that begins elsewhere in the pattern, by that line."""
    return {name: swizzled(swizzled(tile, first)) for first, name in enumerate(MISPLACED, 1)}


# ---- read_tile: fp16, the pattern begins with the tile


def read_cases(seed: int) -> Sequence[Case]:
    """The notebook's tile; two others of a tensor of that shape; one of another shape, in bf16."""
    rng = np.random.default_rng([seed, 3])
    others = random.Random(f"{seed} read").sample(CORNERS, 2)
    cases = [read_case(lesson_tensor(), *PUBLIC), *(read_case(drawn(rng, 16, 128), *corner) for corner in others)]
    x, y = 8 * int(rng.integers(2, 24)), int(rng.integers(1, 32))
    return [*cases, read_case(drawn(rng, *shape(seed, "read", (40, 256))), x, y, DataType.BFLOAT16)]


def read_case(array: np.ndarray, x: int, y: int, data_type: DataType = DataType.FLOAT16) -> Case:
    """One input of read_tile. Bits are moved, so it makes no difference how many of them are a mantissa."""
    words = array.view(np.uint16) if data_type == DataType.BFLOAT16 else array
    tensor_map = TensorMap.from_array(words, (ROWS, COLS), swizzle=Swizzle.B128, data_type=data_type)
    tile = np.ascontiguousarray(window(array, x, y, ROWS, COLS))
    image, out = swizzled(tile), np.full((ROWS, COLS), UNWRITTEN, np.float16)
    columns = np.arange(COLS)
    mistakes = {
        "not-written": out,
        "as-it-lies": image,
        "elements": np.stack([image[row, columns ^ row] for row in range(ROWS)]),
        "bytes-for-elements": np.stack(
            [image[row, (columns // 16 ^ row) * 16 % COLS + columns % 16] for row in range(ROWS)]
        ),
        "swapped": np.ascontiguousarray(window(array, y, x, ROWS, COLS)),
        "at-the-example": np.ascontiguousarray(window(array, *PUBLIC, ROWS, COLS)),
        **misplaced(tile),
    }
    name = f"x = {x}, y = {y}, {data_type.name}, tensor {array.shape[0]} x {array.shape[1]}"

    def read(seen: np.ndarray) -> np.ndarray:
        return swizzled(seen.reshape(ROWS, LINE))

    return Case((tensor_map, x, y, out), tile, (x, y), name, mistakes, out_of=read)


# ---- read_shifted: bytes, the tile begins at any line of the pattern


def shifted_cases(seed: int) -> Sequence[Case]:
    """The notebook's line, two others of the pattern, and one past it, each with numbers of its own."""
    rng = np.random.default_rng([seed, 4])
    lines = [line for line in range(1, 8) if line != PUBLIC_LINE]
    first, second = random.Random(f"{seed} lines").sample(lines, 2)
    others = [shifted_case(noise(rng), line) for line in (first, second, 8)]
    return [shifted_case(shifted_tensor(), PUBLIC_LINE), *others]


def shifted_tensor() -> np.ndarray:
    """The notebook's tensor of bytes: no two sectors of it are alike."""
    return np.arange(16 * 128, dtype=np.uint16).view(np.uint8).reshape(16, 256)


def noise(rng: np.random.Generator) -> np.ndarray:
    """A tensor of that shape, of bytes of which none is 0."""
    return rng.integers(1, 256, (16, 256)).astype(np.uint8)


def shifted_case(array: np.ndarray, first: int) -> Case:
    """One input of read_shifted."""
    x, y = SHIFTED_AT
    tile, out = np.ascontiguousarray(window(array, x, y, ROWS, LINE)), np.zeros((ROWS, LINE), np.uint8)
    image = swizzled(tile, first)
    mistakes = {
        "not-written": out,
        "as-it-lies": image,
        "by-row": swizzled(image),
        "at-the-example": swizzled(image, PUBLIC_LINE),
    }
    tensor_map = TensorMap.from_array(array, (ROWS, LINE), swizzle=Swizzle.B128)
    name = text("swizzle.input-shifted", x=x, y=y, line=first)

    def read(seen: np.ndarray) -> np.ndarray:
        return swizzled(seen.reshape(ROWS, LINE), first)

    return Case((tensor_map, x, y, first, out), tile, (x, y), name, mistakes, first * LINE, read)


# ---- transpose_tile: fp32


def transpose_cases(seed: int) -> Sequence[Case]:
    """The notebook's tile, one over an edge, and two of another tensor, drawn."""
    rng = np.random.default_rng([seed, 5])
    over = random.Random(f"{seed} transpose").choice(TRANSPOSED_AT[1:])
    cases = [transpose_case(transpose_tensor(), *TRANSPOSED_AT[0])]
    cases.append(transpose_case(numbers(rng, *TRANSPOSED_SHAPE), *over))
    x, y = 4 * int(rng.integers(1, 32)), int(rng.integers(1, 64))
    return [*cases, transpose_case(numbers(rng, *shape(seed, "transpose", (128, 160))), x, y)]


def transpose_tensor() -> np.ndarray:
    """The notebook's tensor of fp32: element [row, column] is its number."""
    rows, cols = TRANSPOSED_SHAPE
    return np.arange(rows * cols).reshape(rows, cols).astype(np.float32)


def numbers(rng: np.random.Generator, rows: int, cols: int) -> np.ndarray:
    """A tensor of fp32 without zeros."""
    return rng.integers(1, 1 << 20, (rows, cols)).astype(np.float32)


def transpose_case(array: np.ndarray, x: int, y: int) -> Case:
    """One input of transpose_tile."""
    tile, out = np.ascontiguousarray(window(array, x, y, SIDE, SIDE)), np.full((SIDE, SIDE), UNWRITTEN, np.float32)
    image = swizzled(tile)
    mistakes = {
        "not-written": out,
        "as-it-lies": np.ascontiguousarray(image.T),
        "not-transposed": tile,
        "swapped": np.ascontiguousarray(window(array, y, x, SIDE, SIDE).T),
        "at-the-example": np.ascontiguousarray(window(array, *TRANSPOSED_AT[0], SIDE, SIDE).T),
        **{name: np.ascontiguousarray(seen.T) for name, seen in misplaced(tile).items()},
    }
    tensor_map = TensorMap.from_array(array, (SIDE, SIDE), swizzle=Swizzle.B128)
    name = f"x = {x}, y = {y}, tensor {array.shape[0]} x {array.shape[1]}"

    def turned(seen: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(swizzled(seen.view(np.float32).reshape(SIDE, SIDE)).T)

    expected = np.ascontiguousarray(tile.T)
    return Case((tensor_map, x, y, out), expected, (x, y), name, mistakes, out_of=turned)
