"""The inputs of lesson 1's kernels, and what must come out, worked out with NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.exercises.drawn import shape
from grader.judges.kernels import Case
from tmalab import Swizzle, TensorMap

ROWS, COLS = 8, 64  # the tile, elements of fp16
RIM_ROWS, RIM_COLS = 1, 8  # the rim on each side
PUBLIC = (64, 8)  # the coordinates that the notebook uses
UNWRITTEN = -1.0  # what the output holds before a run


def lesson_tensor(rows: int = 16, cols: int = 128) -> np.ndarray:
    """The notebook's tensor: element [row, column] is cols * row + column."""
    return np.arange(rows * cols).reshape(rows, cols).astype(np.float16)


def window(array: np.ndarray, x: int, y: int, rows: int, cols: int) -> np.ndarray:
    """The box at column x, row y, zeros where it lies outside."""
    margin = max(rows, cols) + abs(x) + abs(y)
    padded = np.pad(array, margin)
    return padded[margin + y : margin + y + rows, margin + x : margin + x + cols]


def swizzled(tile: np.ndarray, first: int = 0) -> np.ndarray:
    """A tile of 128-byte rows as the 128-byte swizzle lays it out: sector s of row r goes to s XOR r.

    `first` is the line of the pattern in which row 0 lies. Doing it twice gives the tile back.
    """
    sectors = tile.reshape(len(tile), 8, -1)
    image = np.empty_like(sectors)
    for row in range(len(tile)):
        for sector in range(8):
            image[row, sector ^ (first + row) % 8] = sectors[row, sector]
    return image.reshape(tile.shape)


def tile_cases(seed: int) -> Sequence[Case]:
    """copy_tile: the notebook's own input, then other tensors, places and a swizzle, drawn by the class seed."""
    rng = np.random.default_rng([seed, 1])
    cases = [tile_case(lesson_tensor(), *PUBLIC)]
    for public, swizzle in (((24, 192), Swizzle.NONE), ((40, 256), Swizzle.B128)):
        rows, cols = shape(seed, swizzle.name, public)
        x, y = 8 * int(rng.integers(2, (cols - COLS) // 8)), int(rng.integers(1, rows - ROWS))
        cases.append(tile_case(drawn(rng, rows, cols), x, y, swizzle))
    return cases


def tile_case(array: np.ndarray, x: int, y: int, swizzle: Swizzle = Swizzle.NONE) -> Case:
    """One input of copy_tile."""

    def image(at_x: int, at_y: int) -> np.ndarray:
        tile = window(array, at_x, at_y, ROWS, COLS)
        return swizzled(tile) if swizzle else np.ascontiguousarray(tile)

    tensor_map = TensorMap.from_array(array, (ROWS, COLS), swizzle=swizzle)
    out = np.full((ROWS, COLS), UNWRITTEN, np.float16)
    mistakes = {"not-written": out, "swapped": image(y, x), "at-origin": image(0, 0), "at-the-example": image(*PUBLIC)}
    return Case((tensor_map, x, y, out), image(x, y), (x, y), f"x = {x}, y = {y}, swizzle {swizzle.name}", mistakes)


def rim_cases(seed: int) -> Sequence[Case]:
    """copy_rim: the tensor's first corner, its last, a tile beyond an edge that no tile ends at, one in the middle."""
    rng = np.random.default_rng([seed, 2])
    notebook = lesson_tensor()
    uneven, large = (
        drawn(rng, *shape(seed, f"rim of {rows}", (rows, cols), 8)) for rows, cols in ((20, 104), (40, 320))
    )
    middle = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    return [rim_case(notebook, 0, 0), rim_case(notebook, 1, 1), rim_case(uneven, 2, 1), rim_case(large, *middle)]


def rim_case(array: np.ndarray, tile_row: int, tile_col: int) -> Case:
    """One input of copy_rim."""
    size = (ROWS + 2 * RIM_ROWS, COLS + 2 * RIM_COLS)

    def box(x: int, y: int) -> np.ndarray:
        return np.ascontiguousarray(window(array, x, y, *size))

    x, y = tile_col * COLS, tile_row * ROWS
    out = np.full(size, UNWRITTEN, np.float16)
    mistakes = {
        "not-written": out,
        "no-rim": box(x, y),
        "clamped": box(max(x - RIM_COLS, 0), max(y - RIM_ROWS, 0)),
        "swapped": box(y - RIM_ROWS, x - RIM_COLS),
    }
    name = f"tile_row = {tile_row}, tile_col = {tile_col}, tensor {array.shape[0]} x {array.shape[1]}"
    first = x - RIM_COLS, y - RIM_ROWS
    return Case((TensorMap.from_array(array, size), tile_row, tile_col, out), box(*first), first, name, mistakes)


def drawn(rng: np.random.Generator, rows: int, cols: int) -> np.ndarray:
    """A tensor of whole numbers, which fp16 and fp32 hold exactly; none is 0, which is what lies past the edge."""
    return rng.integers(1, 2048, (rows, cols)).astype(np.float16)
