"""A case: a launch of a right kernel with fresh arguments, and whether its result is right; and what cases share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tmalab import TensorMap
from tmalab.run import Run

ROWS, COLS = 8, 64  # of a tile of fp16
TILE = ROWS * COLS * 2  # bytes


@dataclass
class Case:
    """A launch, and whether its result is right. Kernels are made for a block and a grid of these sizes."""

    kernel: Any
    args: tuple[Any, ...]
    is_right: Callable[[], bool]
    block: Any = 128
    grid: Any = 1
    cluster: Any = 1

    def run(self, seed: int = 0, on: str = "simulator") -> Run:
        """Launch it; the arguments change in place."""
        return self.kernel.run(self.grid, self.block, self.args, self.cluster, on, seed)

    def with_kernel(self, kernel: Any) -> Case:
        """The same launch of another kernel."""
        return replace(self, kernel=kernel)


Cases = dict[str, Callable[[], Case]]  # by name; each call makes fresh arguments


def tensor(rows: int, columns: int) -> np.ndarray:
    """Float16 values that are all exact and differ along each row and column."""
    return (np.arange(rows)[:, None] * 16 + np.arange(columns) % 16 + np.arange(columns)[None] // 16).astype(np.float16)


WIDE = tensor(64, 128)
NARROW = np.ascontiguousarray(WIDE[:, :COLS])
COUNTED = np.arange(ROWS * COLS).reshape(ROWS, COLS)


def tile_map(array: np.ndarray) -> TensorMap:
    """The map of an array in tiles of (ROWS, COLS)."""
    return TensorMap.from_array(array, (ROWS, COLS))


def blank(*shape: int, dtype: Any = np.float16) -> np.ndarray:
    """An array for results."""
    return np.zeros(shape, dtype)


def gives(kernel: Any, out: np.ndarray, expected: np.ndarray, *before: Any, after: tuple = (), **launch: Any) -> Case:
    """A case whose result lies in `out` and must be `expected`; arguments before and after it."""
    return Case(kernel, (*before, out, *after), lambda: np.array_equal(out, expected), **launch)
