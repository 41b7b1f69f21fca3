"""How fast the simulator runs, all checks on: against numba's own CUDA simulator, and against itself without checks.

Both simulators run one kernel, `matrix_product`, on this machine, one after the other; numba's in a process of its own,
since it has to be switched on before numba is imported. The best run of each counts. Without the checks nothing is
logged or compared; the calls that would log an access stay, some 5 % of that time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tmalab import TensorMap, kernel
from tmalab.bench import fastest, matrix_product
from tmalab.kernels import copy_2d, gemm, gemm_warp_specialized
from tmalab.launch import Launch
from tmalab.simulator import simulate

GEMM_K = 256  # of a tile of 128 x 128: four stages of 64


def measure(rounds: int = 10, numba_runs: int = 2) -> dict[str, float]:
    """The matrix product in both simulators, in seconds, and how they compare; what the tracking of hazards costs, as a
    ratio; the kernel of lesson 1 in milliseconds, and a 128x128x256 tile of a warp-specialized GEMM in seconds. Raises
    ValueError where a result is wrong or a right kernel is flagged."""
    numba = min(_seconds_of_numba(numba_runs))
    tracked, untracked = fastest([_product(track=True), _product(track=False)], rounds)
    lesson, tile = fastest([_copy_2d(), _gemm_tile()], rounds)
    return {
        "matrix_product_s": round(tracked, 4),
        "numba_simulator_s": round(numba, 3),
        "ratio_to_numba_simulator": round(numba / tracked, 1),
        "without_tracking_s": round(untracked, 4),
        "hazard_tracking_cost": round(tracked / untracked, 2),
        "copy_2d_ms": round(lesson * 1e3, 1),
        "gemm_tile_s": round(tile, 3),
    }


def _product(track: bool) -> Callable[[], None]:
    made, args = kernel(matrix_product.matrix_product), matrix_product.arguments()
    expected = args[0] @ args[1]
    return lambda: _run(made, matrix_product.GRID, matrix_product.BLOCK, args, expected, track)


def _copy_2d() -> Callable[[], None]:
    rows, columns = copy_2d.ROWS, copy_2d.COLS
    tensor, out = (
        np.arange(rows * columns).reshape(rows, columns).astype(np.float16),
        np.zeros((rows, columns), np.float16),
    )
    args = TensorMap.from_array(tensor, (rows, columns)), out, 0, 0
    return lambda: _run(copy_2d.copy_2d, 1, 128, args, tensor)


def _gemm_tile() -> Callable[[], None]:
    m, n = gemm_warp_specialized.BM, gemm_warp_specialized.BN
    a, b, c = gemm.small_integers(m, GEMM_K, 1), gemm.small_integers(n, GEMM_K, 2), np.zeros((m, n), np.uint16)
    maps = (gemm.bf16_map(a, m, gemm_warp_specialized.BK), gemm.bf16_map(b, n, gemm_warp_specialized.BK))
    made, block = gemm_warp_specialized.gemm_warp_specialized, gemm_warp_specialized.THREADS
    expected = gemm.bf16(gemm.float32(a) @ gemm.float32(b).T)
    return lambda: _run(made, 1, block, (*maps, c, GEMM_K), expected)


def _run(made: Any, grid: Any, block: Any, args: tuple, expected: np.ndarray, track: bool = True) -> None:
    """Launch a kernel whose result is its one array that it writes: the last one."""
    run = simulate(Launch.of(made, grid, block, args, 1, 0, False), track)
    result = [value for value in args if isinstance(value, np.ndarray)][-1]
    if not run.ok or not np.array_equal(result, expected):
        raise ValueError(str(run))


def _seconds_of_numba(runs: int) -> list[float]:
    """The same kernel in numba's simulator."""
    command = [sys.executable, matrix_product.__file__, str(runs)]
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=True)
    return json.loads(done.stdout)
