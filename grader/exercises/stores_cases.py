"""The inputs of lesson 5's kernels, and what must lie in global memory afterwards, worked out with NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.exercises.drawn import shape
from grader.judges.kernels import Case
from grader.texts import text
from tmalab import TensorMap

ROWS, COLS = 8, 32  # a tile of int32: rows of 128 bytes
CTAS, COLUMNS = 4, 128  # that add to one row of sums
PUBLIC = (32, 4)  # where the notebook stores its tile
UNWRITTEN = -1


def placed(tensor: np.ndarray, tile: np.ndarray, x: int, y: int) -> np.ndarray:
    """The tensor with the tile at column x, row y; what hangs over its last row or column is dropped."""
    result = tensor.copy()
    room = result[y : y + len(tile), x : x + tile.shape[1]]
    room[...] = tile[: room.shape[0], : room.shape[1]]
    return result


def store_cases(seed: int) -> Sequence[Case]:
    """store_double: the notebook's place, two corners over which the tile hangs, a drawn place in the middle."""
    rng = np.random.default_rng([seed, 51])
    inside = 4 * int(rng.integers(1, 8)), int(rng.integers(1, 12))
    over = 4 * int(rng.integers(5, 10)), int(rng.integers(14, 19))
    notebook = np.arange(1, ROWS * COLS + 1, dtype=np.int32).reshape(ROWS, COLS)
    wide, narrow = shape(seed, "inside", (20, 64)), (20, int(rng.choice((36, 44, 52))) if seed else 44)
    places = ((notebook, (16, 96), PUBLIC), (drawn(rng), wide, inside), (drawn(rng), narrow, over))
    return [store_case(source, size, *place) for source, size, place in places]


def store_case(source: np.ndarray, size: tuple[int, int], x: int, y: int) -> Case:
    """One input of store_double."""
    tensor = np.full(size, UNWRITTEN, np.int32)
    mistakes = {
        "nothing-stored": tensor,
        "not-doubled": placed(tensor, source, x, y),
        "swapped": placed(tensor, 2 * source, y, x),
        "at-origin": placed(tensor, 2 * source, 0, 0),
        "at-the-example": placed(tensor, 2 * source, *PUBLIC),
    }
    name = f"x = {x}, y = {y}, tensor {size[0]} x {size[1]}"
    tensor_map = TensorMap.from_array(tensor, (ROWS, COLS))
    expected = placed(tensor, 2 * source, x, y)
    how: dict[str, Any] = {"stores": "store", "source_of": lambda tiles: (*halved(tiles), x, y)}
    return Case((source, x, y, tensor_map), expected, (x, y), name, mistakes, **how)


def halved(tiles: Sequence[np.ndarray]) -> tuple[np.ndarray]:
    """The source that the kernels double: half of recorded tiles of even numbers, one below the other."""
    return (np.concatenate(tiles).view(np.int32).reshape(-1, COLS) // 2,)


def ring_cases(seed: int) -> Sequence[Case]:
    """store_tiles: the notebook's five tiles; one alone, fewer than the buffers; an even number of others."""
    rng = np.random.default_rng([seed, 52])
    return [ring_case(rng, tiles) for tiles in (5, 1, 2 * int(rng.integers(2, 4)))]


def ring_case(rng: np.random.Generator, tiles: int) -> Case:
    """One input of store_tiles."""
    source = drawn(rng, ROWS * tiles)
    tensor = np.full((ROWS * (tiles + 1), COLS), UNWRITTEN, np.int32)
    last = placed(tensor, 2 * source[-ROWS:], 0, 0)
    mistakes = {
        "nothing-stored": tensor,
        "not-doubled": placed(tensor, source, 0, 0),
        "one-place": last,
        "first-only": placed(tensor, 2 * source[:ROWS], 0, 0),
    }
    tensor_map = TensorMap.from_array(tensor, (ROWS, COLS))
    expected = placed(tensor, 2 * source, 0, 0)
    places = [(0, ROWS * k) for k in range(tiles)]
    how: dict[str, Any] = {
        "also": tuple(places[1:]),
        "stores": "store",
        "source_of": lambda seen: (*halved(seen), tiles),
    }
    return Case((source, tiles, tensor_map), expected, places[0], f"{tiles} tiles", mistakes, **how)


def sum_cases(seed: int) -> Sequence[Case]:
    """add_columns: the notebook's numbers, then others, with more rows to a CTA and with one."""
    rng = np.random.default_rng([seed, 53])
    return [sum_case(rng, rows) for rows in (4, int(rng.integers(5, 9)), 1)]


def sum_case(rng: np.random.Generator, rows: int) -> Case:
    """One input of add_columns: `rows` rows of values for each of four CTAs."""
    values = rng.integers(-1000, 1000, (CTAS * rows, COLUMNS)).astype(np.int32)
    totals = rng.integers(1, 1000, COLUMNS).astype(np.int32)
    parts = values.reshape(CTAS, rows, COLUMNS).sum(1, dtype=np.int32)
    expected = totals + parts.sum(0, dtype=np.int32)
    mistakes = {
        "nothing-stored": totals,
        "one-part": totals + CTAS * parts[0],
        "first-only": totals + parts[0],
        "overwritten": parts.sum(0, dtype=np.int32),
    }
    tensor_map = TensorMap.from_array(totals, (COLUMNS,))
    how: dict[str, Any] = {
        "also": ((0,),) * (CTAS - 1),
        "stores": "add",
        "source_of": lambda tiles: (in_rows(tiles, rows), rows),
    }
    return Case((values, rows, tensor_map), expected, (0,), text("stores.input-rows", rows=rows), mistakes, **how)


def in_rows(tiles: Sequence[np.ndarray], rows: int) -> np.ndarray:
    """Values of which each CTA makes its recorded tile: all but 1 of every number in its first row, 1 in its last."""
    values = np.zeros((CTAS, rows, COLUMNS), np.int32)
    values[:, 0] = np.stack(tiles).view(np.int32) - 1
    values[:, -1] += 1
    return values.reshape(CTAS * rows, COLUMNS)


def drawn(rng: np.random.Generator, rows: int = ROWS) -> np.ndarray:
    """A source of whole numbers, none of which is that of memory that nobody has written."""
    return rng.integers(1, 1 << 20, (rows, COLS)).astype(np.int32)
