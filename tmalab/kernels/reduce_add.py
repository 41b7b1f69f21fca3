"""reduce_add: many CTAs add to one tile in memory, by the copy engine.

Shows      a reduction: the sum is made where the tensor lies, element by element, without a load and without a lock; in
           which order the CTAs come does not matter to integers, and changes the last bits of floats.
Differs    from store_tile: `add` for a store, and a tile that every CTA has a part of.
Run        python -m tmalab.kernels.reduce_add            (simulator)
           python -m tmalab.kernels.reduce_add --on gpu   (Hopper)
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.kernels.command import Shown, main

ROWS, COLS = 8, 32  # of a tile of float32


@kernel
def reduce_add(tensor_map, parts, x, y):
    """Add the tile `parts[CTA]` (8, 32) to the tensor at (x, y), in elements."""
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    tid = cuda.threadIdx.x
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        tile[i // COLS, i % COLS] = parts[cuda.blockIdx.x, i // COLS, i % COLS]
    ptx.fence_proxy_async_shared_cta()
    cuda.syncthreads()
    if tid == 0:
        ptx.cp_reduce_async_bulk_tensor_2d_add(tensor_map, x, y, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


def demonstrate(on: str) -> list[Shown]:
    """The sum of six tiles of integers inside a tensor, and over its corner: what lies outside is left out."""
    parts = np.random.default_rng(0).integers(-99, 100, (6, ROWS, COLS)).astype(np.float32)
    shown = []
    for x, y in ((32, 4), (48, 12)):
        tensor = np.ones((16, 64), np.float32)
        run = reduce_add.run(len(parts), 64, (TensorMap.from_array(tensor, (ROWS, COLS)), parts, x, y), on=on)
        expected = np.ones_like(tensor)
        expected[y : y + ROWS, x : x + COLS] += parts.sum(0)[: 16 - y, : 64 - x]
        shown.append((f"reduce_add at ({x}, {y})", run, tensor, expected))
    return shown


if __name__ == "__main__":
    main(demonstrate)
