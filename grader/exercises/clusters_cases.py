"""The inputs of lesson 8's kernels, and what must come out, worked out with NumPy alone; two CTAs in a cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.exercises.copy_2d_cases import UNWRITTEN, window
from grader.exercises.drawn import shape
from grader.exercises.mbarrier_cases import paired
from grader.exercises.swizzle_cases import numbers
from grader.judges.kernels import Case
from tmalab import TensorMap
from tmalab.recorded.lesson_cases import PAIR_COLS as COLS
from tmalab.recorded.lesson_cases import PAIR_ROWS as HALF  # rows that one CTA loads: copies that lesson 4 has recorded
from tmalab.recorded.lesson_cases import PAIRED_SHAPE

CTAS = 2
ROWS = CTAS * HALF
TILE_BYTES = ROWS * COLS * 4
PUBLIC = (64, 16)  # column and row of the notebook's tile
PUBLIC_STEPS = 3


def share_cases(seed: int) -> Sequence[Case]:
    """share_tile: the notebook's tile, another one inside, one that hangs over two edges."""
    rng = np.random.default_rng([seed, 81])
    inside = 4 * int(rng.integers(1, 24)), int(rng.integers(1, 48))
    return [
        share_case(paired(), *PUBLIC),
        share_case(numbers(rng, *shape(seed, "share", (80, 160))), *inside),
        share_case(numbers(rng, *PAIRED_SHAPE), 112, -5),
    ]


def share_case(array: np.ndarray, x: int, y: int) -> Case:
    """One input of share_tile: every CTA writes the whole tile."""
    tile = np.ascontiguousarray(window(array, x, y, ROWS, COLS))
    upper, lower = np.vsplit(tile, 2)
    out = np.full((CTAS, ROWS, COLS), UNWRITTEN, np.float32)
    alone = out.copy()
    alone[0] = tile
    mistakes = {
        "not-written": out,
        "one-writes": alone,
        "one-half": np.stack([np.vstack([upper, upper])] * CTAS),
        "halves-swapped": np.stack([np.vstack([lower, upper])] * CTAS),
        "swapped": np.stack([window(array, y, x, ROWS, COLS)] * CTAS),
        "at-the-example": np.stack([window(array, *PUBLIC, ROWS, COLS)] * CTAS),
    }
    arguments = TensorMap.from_array(array, (HALF, COLS)), x, y, out
    name = f"x = {x}, y = {y}, tensor {array.shape[0]} x {array.shape[1]}"
    return Case(arguments, np.stack([tile] * CTAS), (x, y), name, mistakes, out_of=_rows_of, also=((x, y + HALF),))


def row_cases(seed: int) -> Sequence[Case]:
    """share_row: the notebook's three tiles, one alone, and more than three laps of the ring."""
    rng = np.random.default_rng([seed, 82])
    return [
        row_case(paired(), 0, PUBLIC_STEPS),
        row_case(numbers(rng, *PAIRED_SHAPE), int(rng.integers(1, 40)), 1),
        row_case(numbers(rng, *shape(seed, "row", (80, 256))), int(rng.integers(1, 60)), 7),
    ]


def row_case(array: np.ndarray, y: int, steps: int) -> Case:
    """One input of share_row: `steps` tiles, side by side, which every CTA writes."""
    row = np.ascontiguousarray(window(array, 0, y, ROWS, COLS * steps))
    out = np.full((CTAS, *row.shape), UNWRITTEN, np.float32)
    alone = out.copy()
    alone[0] = row
    upper = row[:HALF]
    mistakes = {
        "not-written": out,
        "one-writes": alone,
        "one-half": np.stack([np.vstack([upper, upper])] * CTAS),
        "first-again": np.stack([np.tile(row[:, :COLS], steps)] * CTAS),
    }
    arguments = TensorMap.from_array(array, (HALF, COLS)), y, steps, out
    places = [(COLS * k, y + half) for k in range(steps) for half in (0, HALF)]
    name = f"y = {y}, steps = {steps}, tensor {array.shape[0]} x {array.shape[1]}"
    expected = np.stack([row] * CTAS)
    return Case(arguments, expected, places[0], name, mistakes, out_of=_rows_of, also=tuple(places[1:]))


def _rows_of(images: np.ndarray) -> np.ndarray:
    """What must be written where loads have left these bytes: upper and lower half of each tile."""
    tiles = images.view(np.float32).reshape(-1, ROWS, COLS)
    return np.stack([np.hstack(list(tiles))] * CTAS)
