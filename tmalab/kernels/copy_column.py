"""copy_column: many tiles, one under the other, through a ring of two stages.

Shows      loads that run ahead of the threads: while one stage is read the next one comes; parity flips with each lap.
Differs    from copy_2d: a barrier is used again, so a wait must say for which phase, and a stage may be refilled only
           after every thread has read it.
Run        python -m tmalab.kernels.copy_column            (simulator)
           python -m tmalab.kernels.copy_column --on gpu   (Hopper)
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import TensorMap, device, kernel, ptx
from tmalab.kernels.command import Shown, main

ROWS, COLS = 8, 64  # of a tile of fp16
TILE_BYTES = ROWS * COLS * 2
STAGES = 2


@device
def load_tile(ring, full, stage, tensor_map, tile):
    """Start the load of a tile into a stage."""
    ptx.mbarrier_arrive_expect_tx(full[stage], TILE_BYTES)
    ptx.cp_async_bulk_tensor_2d(ring[stage], tensor_map, 0, tile * ROWS, full[stage])


@kernel
def copy_column(tensor_map, out, tiles):
    """Copy `tiles` tiles of a tensor that is one tile wide to `out`."""
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(STAGES)
    tid = cuda.threadIdx.x
    if tid == 0:
        for stage in range(STAGES):
            ptx.mbarrier_init(full[stage], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        for stage in range(min(STAGES, tiles)):
            load_tile(ring, full, stage, tensor_map, stage)
    for k in range(tiles):
        stage = k % STAGES
        while not ptx.mbarrier_try_wait_parity(full[stage], k // STAGES % 2):
            pass
        for i in range(tid, ROWS * COLS, cuda.blockDim.x):
            out[k * ROWS + i // COLS, i % COLS] = ring[stage, i // COLS, i % COLS]
        cuda.syncthreads()  # everyone has read the stage
        if tid == 0 and k + STAGES < tiles:
            load_tile(ring, full, stage, tensor_map, k + STAGES)


def demonstrate(on: str) -> list[Shown]:
    """Six tiles, and one alone: fewer than the ring has stages."""
    shown = []
    for tiles in (6, 1):
        tensor = np.arange(tiles * ROWS * COLS, dtype=np.uint16).view(np.float16).reshape(-1, COLS)
        out = np.zeros_like(tensor)
        run = copy_column.run(block=32, args=(TensorMap.from_array(tensor, (ROWS, COLS)), out, tiles), on=on)
        shown.append((f"copy_column, {tiles} tiles", run, out, tensor))
    return shown


if __name__ == "__main__":
    main(demonstrate)
