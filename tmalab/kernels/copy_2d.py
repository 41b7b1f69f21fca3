"""copy_2d: one tile of a 2-D tensor, global to shared memory by TMA.

Shows      that one thread fetches a whole tile: a map, two coordinates, a barrier that knows how many bytes to expect.
Differs    from a copy by threads: no address is computed, and the waiting threads do nothing else.
Run        python -m tmalab.kernels.copy_2d            (simulator)
           python -m tmalab.kernels.copy_2d --on gpu   (Hopper)
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.kernels.command import Shown, main

ROWS, COLS = 8, 64  # of a tile of fp16: 8 rows of 128 bytes
TILE_BYTES = ROWS * COLS * 2


@kernel
def copy_2d(tensor_map, out, x, y):
    """Load the tile at (x, y), in elements, and copy it to `out` (8, 64) as it lies in shared memory."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)  # the period of the 128B swizzle
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)  # one arrival: thread 0's own, below
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


def demonstrate(on: str) -> list[Shown]:
    """The last tile of a 16x128 tensor, without a swizzle and with 128B: there chunk c of row r lies at c ^ r."""
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)
    rows = tensor[8:, 64:].reshape(ROWS, 8, 8)
    swizzled = np.stack([rows[r, [c ^ r for c in range(8)]] for r in range(ROWS)])
    shown = []
    for swizzle, expected in ((Swizzle.NONE, rows), (Swizzle.B128, swizzled)):
        out = np.zeros((ROWS, COLS), np.float16)
        run = copy_2d.run(args=(TensorMap.from_array(tensor, (ROWS, COLS), swizzle), out, 64, 8), on=on)
        shown.append((f"copy_2d {swizzle.name}", run, out, expected.reshape(ROWS, COLS)))
    return shown


if __name__ == "__main__":
    main(demonstrate)
