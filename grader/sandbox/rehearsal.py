"""A kernel that the warm process compiles and runs once, so that tasks find all that kernels need loaded already."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from grader.alone import Shape, compile_alone, run_alone
from grader.source import take_source
from tmalab import Swizzle, TensorMap, kernel, ptx

ROWS, COLS = 4, 64


@kernel
def rehearsal(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], ROWS * COLS * 2)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def rehearse() -> None:
    """Compile and run it."""
    source = take_source(rehearsal)
    tensor_map = TensorMap.from_array(np.zeros((8, 128), np.float16), (ROWS, COLS), swizzle=Swizzle.B128)
    arguments: list[Any] = [tensor_map, 0, 0, np.zeros((ROWS, COLS), np.float16)]
    compile_alone(source, arguments)
    run_alone(source, arguments, Shape(32))
