"""matrix_product: the tiled matrix product through shared memory, as numba's documentation has it.

Shows      what the benches compare the two simulators by: 16x16 tiles, two syncthreads for each pair of them.
Differs    from a TMA kernel: threads bring the tiles themselves, so there is nothing to wait for but each other.
Run        NUMBA_ENABLE_CUDASIM=1 python tmalab/bench/matrix_product.py 2    (numba's own simulator: seconds of 2 runs)
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
from numba import cuda, float32

N, TILE = 64, 16
GRID, BLOCK = (N // TILE, N // TILE), (TILE, TILE)


def matrix_product(a, b, c):
    """c = a @ b. Each thread computes one element of c."""
    a_tile = cuda.shared.array((TILE, TILE), float32)
    b_tile = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    total = float32(0.0)
    for i in range(cuda.gridDim.x):
        a_tile[ty, tx] = 0
        b_tile[ty, tx] = 0
        if y < a.shape[0] and (tx + i * TILE) < a.shape[1]:
            a_tile[ty, tx] = a[y, tx + i * TILE]
        if x < b.shape[1] and (ty + i * TILE) < b.shape[0]:
            b_tile[ty, tx] = b[ty + i * TILE, x]
        cuda.syncthreads()
        for j in range(TILE):
            total += a_tile[ty, j] * b_tile[j, tx]
        cuda.syncthreads()
    if y < c.shape[0] and x < c.shape[1]:
        c[y, x] = total


def arguments() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two matrices of small integers, whose product float32 holds exactly, and room for it."""
    random = np.random.default_rng(0)
    a, b = random.integers(-8, 8, (2, N, N)).astype(np.float32)
    return a, b, np.zeros((N, N), np.float32)


def seconds(launch: Callable[[tuple[np.ndarray, ...]], object]) -> float:
    """How long a launch with fresh arguments takes. Raises ValueError where its result is wrong."""
    args = arguments()
    start = perf_counter()
    launch(args)
    took = perf_counter() - start
    if not np.array_equal(args[2], args[0] @ args[1]):
        raise ValueError("the product is wrong")
    return took


if __name__ == "__main__":
    made = cuda.jit(matrix_product)
    print(json.dumps([seconds(lambda args: made[GRID, BLOCK](*args)) for _ in range(int(sys.argv[1]))]))
