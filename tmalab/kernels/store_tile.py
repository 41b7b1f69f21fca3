"""store_tile: shared memory to global memory by TMA.

Shows      the proxy fence, commit, wait_group, and what each of them orders.
Differs    from copy_2d: the barrier is gone; the issuing thread waits for its own group.
Run        python -m tmalab.kernels.store_tile            (simulator)
           python -m tmalab.kernels.store_tile --on gpu   (Hopper)
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.kernels.command import Shown, main

ROWS, COLS = 8, 64  # of a tile of fp16


@kernel
def store_tile(tensor_map, source, x, y):
    """Fill a tile from `source` (8, 64) and store it at (x, y), in elements."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = source[i // COLS, i % COLS]
    ptx.fence_proxy_async_shared_cta()  # by every thread that wrote: carries its writes to the copy engine's sight
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_async_bulk_tensor_2d_store(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)  # the tile must not go away before it is read


def demonstrate(on: str) -> list[Shown]:
    """One tile inside a tensor, and one that hangs over its corner: the part outside is dropped."""
    tile = np.arange(1, ROWS * COLS + 1, dtype=np.uint16).view(np.float16).reshape(ROWS, COLS)
    shown = []
    for x, y in ((32, 4), (96, 12)):
        tensor = np.zeros((16, 128), np.float16)
        run = store_tile.run(args=(TensorMap.from_array(tensor, (ROWS, COLS)), tile, x, y), on=on)
        expected = np.zeros_like(tensor)
        expected[y : y + ROWS, x : x + COLS] = tile[: 16 - y, : 128 - x]
        shown.append((f"store_tile at ({x}, {y})", run, tensor, expected))
    return shown


if __name__ == "__main__":
    main(demonstrate)
