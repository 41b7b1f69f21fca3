"""copy_3d_grouped: a tile wider than the swizzle's span, by one copy.

Shows      a third dimension that is no dimension of the tensor: columns in groups of 64, so that the innermost row of
           the box is the 128 bytes that the swizzle can permute, and the groups are fetched one after the other.
Differs    from copy_2d: the map describes the same bytes as (group, row, column in the group); one instruction brings
           two tiles, which lie one behind the other as the tensor core wants them.
Run        python -m tmalab.kernels.copy_3d_grouped            (simulator)
           python -m tmalab.kernels.copy_3d_grouped --on gpu   (Hopper)
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.kernels.command import Shown, main

GROUPS, ROWS, COLS = 2, 8, 64  # of a tile of fp16: 8 rows of 128 columns, as two groups
TILE_BYTES = GROUPS * ROWS * COLS * 2


def grouped_map(matrix: np.ndarray) -> TensorMap:
    """The map of a 2-D fp16 matrix whose columns are a multiple of 64: (columns / 64, rows, 64), no byte moved."""
    rows, columns = matrix.shape
    groups = matrix.reshape(rows, columns // COLS, COLS).transpose(1, 0, 2)
    return TensorMap.from_array(groups, (GROUPS, ROWS, COLS), swizzle=Swizzle.B128)


@kernel
def copy_3d_grouped(tensor_map, out, group, row):
    """Load the tile that begins in `group` at `row`, and copy it to `out` (2, 8, 64) as it lies in shared memory."""
    tile = cuda.shared.array((GROUPS, ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, group, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(tid, GROUPS * ROWS * COLS, cuda.blockDim.x):
        out[i // (ROWS * COLS), i // COLS % ROWS, i % COLS] = tile[i // (ROWS * COLS), i // COLS % ROWS, i % COLS]


def demonstrate(on: str) -> list[Shown]:
    """A tile inside a matrix, and one that hangs over its lower right corner: zeros come for what is not there."""
    matrix = np.arange(20 * 256, dtype=np.uint16).view(np.float16).reshape(20, 256)
    padded = np.zeros((28, 384), np.float16)
    padded[:20, :256] = matrix
    shown = []
    for group, row in ((1, 8), (3, 16)):
        out = np.zeros((GROUPS, ROWS, COLS), np.float16)
        run = copy_3d_grouped.run(args=(grouped_map(matrix), out, group, row), on=on)
        tile = padded[row : row + ROWS, group * COLS : (group + GROUPS) * COLS].reshape(ROWS, GROUPS, 8, 8)
        expected = np.stack([tile[r][:, [c ^ r for c in range(8)]] for r in range(ROWS)], 1).reshape(out.shape)
        shown.append((f"copy_3d_grouped, group {group}, row {row}", run, out, expected))
    return shown


if __name__ == "__main__":
    main(demonstrate)
