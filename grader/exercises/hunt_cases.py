"""What the fifteen kernels of lesson 10 are launched with, and what they must leave, worked out with NumPy alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from grader.exercises.copy_2d_cases import UNWRITTEN, window
from grader.judges.kernels import Case, KernelTask
from tmalab import Swizzle, TensorMap

ROWS, COLS = 8, 32  # a tile of fp32: rows of 128 bytes
SMALL = 3, 8  # rows and columns of the tiles of one ring
PUBLIC, PUBLIC_STEPS = (32, 8), 3
KEPT = 7  # what a tensor holds before something is stored or added

Cases = Callable[[int], Sequence[Case]]


def numbers(seed: int, rows: int, columns: int) -> np.ndarray:
    """Whole numbers that do not repeat where a mistake would look."""
    return np.random.default_rng([seed, rows]).permutation(rows * columns).reshape(rows, columns).astype(np.float32)


def counting(rows: int, columns: int) -> np.ndarray:
    """The notebook's tensor: each element is its number."""
    return np.arange(rows * columns).reshape(rows, columns).astype(np.float32)


def tiles(swizzle: Swizzle = Swizzle.NONE, ctas: int = 0) -> Cases:
    """Kernels that copy one tile to `out`, or to the part of `out` of each CTA."""

    def cases(seed: int) -> Sequence[Case]:
        draw = np.random.default_rng([seed, 101])
        inside = 4 * int(draw.integers(1, 20)), int(draw.integers(1, 40))
        return [tile(counting(64, 128), *PUBLIC), tile(numbers(seed, 60, 112), *inside)]

    def tile(array: np.ndarray, x: int, y: int) -> Case:
        expected = np.ascontiguousarray(window(array, x, y, ROWS, COLS))
        if ctas:
            expected = np.stack([expected] * ctas)
        tensor_map = TensorMap.from_array(array, (ROWS, COLS), swizzle=swizzle)
        arguments = tensor_map, x, y, np.full_like(expected, UNWRITTEN)
        return Case(arguments, expected, (x, y), f"x = {x}, y = {y}", {})

    return cases


def columns(rows: int = ROWS, cols: int = COLS) -> Cases:
    """Kernels that copy a column of tiles."""

    def cases(seed: int) -> Sequence[Case]:
        steps = int(np.random.default_rng([seed, 102]).integers(5, 8))
        return [column(counting(64, cols), PUBLIC_STEPS + 2), column(numbers(seed, 62, cols), steps)]

    def column(array: np.ndarray, steps: int) -> Case:
        expected = array[: steps * rows].copy()
        arguments = TensorMap.from_array(array, (rows, cols)), steps, np.full_like(expected, UNWRITTEN)
        return Case(arguments, expected, (0, 0), f"steps = {steps}", {})

    return cases


def stores(adds: bool = False) -> Cases:
    """Kernels that store the source, doubled, or that add it to what the tensor holds."""

    def cases(seed: int) -> Sequence[Case]:
        count = int(np.random.default_rng([seed, 103]).integers(4, 6))
        return [stored(counting(64, COLS), PUBLIC_STEPS), stored(numbers(seed, 64, COLS), count)]

    def stored(source: np.ndarray, count: int) -> Case:
        tensor = np.full((ROWS * (count + 1), COLS), KEPT, np.float32)
        expected, part = tensor.copy(), source[: ROWS * count]
        expected[: ROWS * count] = KEPT + part if adds else 2 * part
        arguments = source, count, TensorMap.from_array(tensor, (ROWS, COLS))
        return Case(arguments, expected, (0, 0), f"tiles = {count}", {})

    return cases


def _task(parameters: str, cases: Cases, ctas: int = 1) -> KernelTask:
    return KernelTask(tuple(parameters.split()), 64, cases, {"kernels": 2}, grid=ctas, cluster=ctas)


TILE, COLUMN, STORE = "tensor_map x y out", "tensor_map steps out", "source tiles tensor_map"
TASKS = {
    "loads": {
        **{f"loads_{number}": _task(TILE, tiles()) for number in (1, 2, 3, 4, 5)},
        "loads_2": _task(TILE, tiles(Swizzle.B128)),
    },
    "rings": {
        **{f"rings_{number}": _task(COLUMN, columns()) for number in (1, 2, 3, 4, 5)},
        "rings_5": _task(COLUMN, columns(*SMALL)),
    },
    "stores": {
        **{f"stores_{number}": _task(STORE, stores()) for number in (1, 2, 3)},
        "stores_4": _task(STORE, stores(adds=True)),
        "stores_5": _task(TILE, tiles(ctas=2), ctas=2),
    },
}
