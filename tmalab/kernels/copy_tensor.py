"""copy_tensor: a whole tensor from one place in memory to another, by one thread of every CTA.

Shows      the copy engine at full speed: loads and stores in flight at the same time through one ring, and a single
           thread that waits, issues and computes no address.
Differs    from copy_column: nobody reads the tiles; a store takes each one on, and a stage is loaded anew when the
           store that reads it is done, some stores later than it was issued.
Run        python -m tmalab.kernels.copy_tensor            (simulator)
           python -m tmalab.kernels.copy_tensor --on gpu   (Hopper)
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.kernels.command import Shown, main
from tmalab.kernels.gemm_tiles import SMS
from tmalab.launch import Kernel

COLS = 256  # of a tile of int64: 2 KiB in a row
THREADS = 32


class Ring(NamedTuple):
    """A ring of `stages` tiles of `rows` rows; `ctas` of an SM have one each.

    late   stores that may still be reading their stages when the next load is issued
    """

    rows: int = 8
    stages: int = 6
    ctas: int = 2
    late: int = 1


@cache
def copy_tensor(ring: Ring) -> Kernel:
    """The kernel for one shape of the ring."""
    ROWS, STAGES, _, LATE = ring
    TILE_BYTES = ROWS * COLS * 8

    @kernel
    def copy_tensor(source, target, tiles):
        """Copy a 2-D int64 tensor of `tiles` tiles, one below the other; grid (any number, columns of tiles)."""
        tile = cuda.shared.array((STAGES, ROWS, COLS), np.int64, alignment=128)
        full = ptx.mbarrier_array(STAGES)
        if cuda.threadIdx.x == 0:
            for stage in range(STAGES):
                ptx.mbarrier_init(full[stage], 1)
            ptx.fence_mbarrier_init()
            x = cuda.blockIdx.y * COLS
            once = ptx.createpolicy_fractional_evict_first()  # nobody comes back for these bytes
            mine = (tiles - cuda.blockIdx.x + cuda.gridDim.x - 1) // cuda.gridDim.x
            for step in range(-(STAGES - LATE), mine):  # loads run ahead of stores
                if step >= 0:
                    stage = step % STAGES
                    y = (cuda.blockIdx.x + step * cuda.gridDim.x) * ROWS
                    ptx.mbarrier_wait_parity(full[stage], step // STAGES % 2)
                    ptx.cp_async_bulk_tensor_2d_store_cache_hint(target, x, y, tile[stage], once)
                    ptx.cp_async_bulk_commit_group()
                ahead = step + STAGES - LATE
                if ahead < mine:
                    stage = ahead % STAGES
                    y = (cuda.blockIdx.x + ahead * cuda.gridDim.x) * ROWS
                    ptx.cp_async_bulk_wait_group_read(LATE)  # the store that had this stage has read it
                    ptx.mbarrier_arrive_expect_tx(full[stage], TILE_BYTES)
                    ptx.cp_async_bulk_tensor_2d_cache_hint(tile[stage], source, x, y, full[stage], once)
            ptx.cp_async_bulk_wait_group(0)

    return copy_tensor


def launch_of(source: Any, target: Any, ring: Ring = Ring(), sms: int = SMS) -> dict[str, Any]:  # noqa: B008  a tuple
    """How to launch it for two int64 matrices: the kernel, and the arguments of `run` or `prepare`."""
    rows, columns = source.shape
    maps = [TensorMap.from_array(array, (ring.rows, COLS)) for array in (source, target)]
    tiles = -(-rows // ring.rows)
    grid = min(tiles, ring.ctas * sms), -(-columns // COLS)
    return {"kernel": copy_tensor(ring), "grid": grid, "block": THREADS, "args": (*maps, tiles)}


def demonstrate(on: str) -> list[Shown]:
    """More tiles than stages for each of two CTAs; sizes that are no multiples of the tile; a single tile."""
    shown = []
    for rows, columns in ((24, 256), (18, 298), (3, 10)):
        source = np.arange(rows * columns).reshape(rows, columns)
        out = np.zeros_like(source)
        how = launch_of(source, out, Ring(2, 4, 1, 2), sms=2)
        shown.append((f"copy_tensor, {rows} x {columns}", how.pop("kernel").run(on=on, **how), out, source))
    return shown


if __name__ == "__main__":
    main(demonstrate)
