"""A kernel that is run once before any of a learner's.

The warm process compiles and runs it, so that tasks find all that kernels need loaded already. On a GPU it shows that
kernels can run there from inside of these walls.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from grader.alone import Argument, Shape, compile_alone, run_alone
from grader.source import KernelSource, take_source
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
    source, arguments = _launch()
    compile_alone(source, arguments)
    run_alone(source, arguments, Shape(32))


def why_not_on_gpu() -> str:
    """Why it can't run on this computer's GPU, in a sentence; empty where it can."""
    from tmalab.gpu.device import why_no_gpu

    missing = why_no_gpu()
    if missing:
        return missing
    source, arguments = _launch()
    try:
        outcome = run_alone(source, arguments, Shape(32), on="gpu")
    except Exception as error:  # whatever the driver or the compiler says: it is told, and the next level is tried
        return f"{type(error).__name__}: {error}"[:300]
    return outcome.stopped[1] if outcome.stopped else ""


def _launch() -> tuple[KernelSource, list[Argument]]:
    tensor_map = TensorMap.from_array(np.zeros((8, 128), np.float16), (ROWS, COLS), swizzle=Swizzle.B128)
    return take_source(rehearsal), [tensor_map, 0, 0, np.zeros((ROWS, COLS), np.float16)]
