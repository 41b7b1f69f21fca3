"""copy_multicast: one tile for every CTA of a cluster, read once.

Shows      multicast: each CTA loads its share of the tile into the shared memory of all, at the same place, and every
           CTA's own barrier counts what all of them send.
Differs    from copy_2d: a cluster barrier before, so that no copy meets a peer without a barrier, and one after, so
           that nobody leaves while others still write to it.
Run        python -m tmalab.kernels.copy_multicast            (simulator)
           python -m tmalab.kernels.copy_multicast --on gpu   (Hopper)
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.kernels.command import Shown, main

CTAS = 4
ALL = (1 << CTAS) - 1  # a bit for each rank
ROWS, COLS = 16, 64  # of a tile of fp16
SHARE = ROWS // CTAS  # rows that each CTA loads
TILE_BYTES = ROWS * COLS * 2


@kernel
def copy_multicast(tensor_map, out, x, y):
    """Load the tile at (x, y), in elements, into every CTA of a cluster; each copies it to `out` (CTAs, 16, 64)."""
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    tid = cuda.threadIdx.x
    rank = ptx.cluster_ctarank()
    if tid == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive_relaxed()
    ptx.barrier_cluster_wait()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)  # all of it: the peers' shares are credited here too
        share = tile[rank * SHARE :]
        ptx.cp_async_bulk_tensor_2d_multicast(share, tensor_map, x, y + rank * SHARE, full[0], ALL)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(tid, ROWS * COLS, cuda.blockDim.x):
        out[cuda.blockIdx.x, i // COLS, i % COLS] = tile[i // COLS, i % COLS]
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


def demonstrate(on: str) -> list[Shown]:
    """Two clusters, so eight CTAs: a tile inside a tensor, and one that hangs over its lower edge."""
    tensor = np.arange(32 * 128, dtype=np.uint16).view(np.float16).reshape(32, 128)
    padded = np.concatenate([tensor, np.zeros_like(tensor)])
    shown = []
    for x, y in ((64, 8), (32, 24)):
        out = np.zeros((2 * CTAS, ROWS, COLS), np.float16)
        args = (TensorMap.from_array(tensor, (SHARE, COLS)), out, x, y)
        run = copy_multicast.run(2 * CTAS, 64, args, cluster=CTAS, on=on)
        expected = np.repeat(padded[None, y : y + ROWS, x : x + COLS], 2 * CTAS, 0)
        shown.append((f"copy_multicast at ({x}, {y})", run, out, expected))
    return shown


if __name__ == "__main__":
    main(demonstrate)
