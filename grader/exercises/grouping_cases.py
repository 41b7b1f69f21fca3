"""The inputs of lesson 3's kernels, and what must come out, worked out with NumPy alone.

Slices are drawn among those that `tmalab.recorded.lesson_cases` asks to be recorded.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from grader.exercises.copy_2d_cases import UNWRITTEN, drawn, swizzled, window
from grader.exercises.drawn import shape
from grader.exercises.swizzle_cases import misplaced
from grader.judges.kernels import Case
from tmalab import DataType, Swizzle, TensorMap
from tmalab.data_types import NOMINAL_ADDRESS
from tmalab.recorded.lesson_cases import GROUPED_AT, GROUPED_ROWS, GROUPED_SHAPE

ROWS, COLS, GROUP = GROUPED_ROWS, 128, 64  # of a slice; columns of a group
LINE = 128  # bytes
EXAMPLE = GROUPED_AT[0][0], GROUPED_AT[0][1] * GROUP  # row and column that the notebook uses

Turn = Callable[[np.ndarray], np.ndarray]


def lesson_matrix() -> np.ndarray:
    """The notebook's matrix of fp16, which holds whole numbers up to 2,048: they repeat, but not in the same column."""
    rows, cols = GROUPED_SHAPE
    return (np.arange(rows * cols).reshape(rows, cols) % 2039).astype(np.float16)


def grouped_map(array: np.ndarray, data_type: DataType) -> TensorMap:
    """The map of a slice of two groups, over the array as it lies."""
    rows, cols = array.shape
    dims, strides, box = (GROUP, rows, cols // GROUP), (2 * cols, LINE), (GROUP, ROWS, 2)
    return TensorMap(data_type, NOMINAL_ADDRESS, dims, strides, box, swizzle=Swizzle.B128).bind(array)


def grouped(tile: np.ndarray) -> np.ndarray:
    """A slice (rows, 128) as the copy lays it out: one group after the other, each swizzled."""
    groups = tile.reshape(len(tile), 2, GROUP).transpose(1, 0, 2)
    return swizzled(np.ascontiguousarray(groups).reshape(2 * len(tile), GROUP))


def ungrouped(image: np.ndarray) -> np.ndarray:
    """The slice out of its image: what `grouped` did, undone."""
    groups = swizzled(image.reshape(-1, GROUP)).reshape(2, -1, GROUP)
    return np.ascontiguousarray(groups.transpose(1, 0, 2)).reshape(-1, COLS)


def row_cases(seed: int) -> Sequence[Case]:
    """read_rows."""
    return slice_cases(seed, lambda tile: tile)


def column_cases(seed: int) -> Sequence[Case]:
    """read_columns: the slice turned over."""
    return slice_cases(seed, lambda tile: np.ascontiguousarray(tile.T))


def slice_cases(seed: int, turned: Turn) -> Sequence[Case]:
    """The notebook's slice; two others of such a matrix, drawn, one of bf16; one of a matrix of another shape."""
    rng = np.random.default_rng([seed, 6])
    (row, group), *others = GROUPED_AT
    cases = [slice_case(lesson_matrix(), row, group, DataType.FLOAT16, turned)]
    types = DataType.FLOAT16, DataType.BFLOAT16
    for (row, group), data_type in zip(random.Random(f"{seed} slices").sample(others, 2), types, strict=True):
        cases.append(slice_case(drawn(rng, *GROUPED_SHAPE), row, group, data_type, turned))
    other = drawn(rng, *shape(seed, "slices", (48, 320), GROUP))
    row, group = int(rng.integers(1, 32)), int(rng.integers(1, 4))
    return [*cases, slice_case(other, row, group, types[0], turned)]


def slice_case(array: np.ndarray, row: int, group: int, data_type: DataType, turned: Turn) -> Case:
    """One input: (map, row, column, out)."""
    column = group * GROUP
    tile = np.ascontiguousarray(window(array, column, row, ROWS, COLS))
    expected = turned(tile)
    image = grouped(tile)
    out = np.full(expected.shape, UNWRITTEN, np.float16)
    mistakes = {
        "not-written": out,
        "as-it-lies": turned(image.reshape(ROWS, COLS)),
        "no-swizzle": turned(
            np.ascontiguousarray(image.reshape(2, ROWS, GROUP).transpose(1, 0, 2)).reshape(ROWS, COLS)
        ),
        "no-groups": turned(swizzled(image).reshape(ROWS, COLS)),
        "column-for-group": turned(np.zeros_like(tile) if column else tile),
        "first-slice": turned(np.ascontiguousarray(window(array, 0, 0, ROWS, COLS))),
        "first-group": turned(np.ascontiguousarray(window(array, 0, row, ROWS, COLS))),
        "at-the-example": turned(np.ascontiguousarray(window(array, EXAMPLE[1], EXAMPLE[0], ROWS, COLS))),
        "not-turned": tile,
        **{cause: turned(ungrouped(swizzled(seen))) for cause, seen in misplaced(swizzled(image)).items()},
    }
    if expected.shape == tile.shape:
        del mistakes["not-turned"]
    name = f"row {row}, column {column}, {data_type.name}, matrix {array.shape[0]} x {array.shape[1]}"

    def out_of(seen: np.ndarray) -> np.ndarray:
        return turned(ungrouped(seen.view(np.float16)))

    tensor_map = grouped_map(array, data_type)
    return Case((tensor_map, row, column, out), expected, (0, row, group), name, mistakes, out_of=out_of)
