"""ldmatrix and stmatrix without the waits and fences of ordinary accesses, which they are; im2col in a ring."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

LOADED, EPILOGUE, TURNED, TAPS = (
    *("loaded_by_matrices", "epilogue_by_matrices, 3 tiles"),
    *("loaded_turned_stored, 5 tiles", "convolution, 3 rows"),
)

MUTANTS: dict[str, Mutant] = {
    "ldmatrix before the wait": swap(
        LOADED, "ptx.mbarrier_wait_parity(bar, 0)", "pairs = ptx.ldmatrix_x4_trans(", "read-before-wait"
    ),
    "ldmatrix by lanes that took the wait for theirs": hand(
        LOADED,
        "    ptx.mbarrier_wait_parity(bar, 0)\n",
        "    if lane == 0:\n        ptx.mbarrier_wait_parity(bar, 0)\n",
        "read-before-wait",
    ),
    "ldmatrix by half a warp": hand(
        LOADED,
        "    pairs = ptx.ldmatrix_x4_trans(",
        "    if lane >= 16:\n        return\n    pairs = ptx.ldmatrix_x4_trans(",
        "partial-warp",
    ),
    "ldmatrix of rows between multiples of 16 bytes": hand(
        LOADED, "(warp * 4 + lane // 8) * 8 :]", "(warp * 4 + lane // 8) * 8 + 4 :]", "misaligned"
    ),
    "stmatrix, no proxy fence": drop(EPILOGUE, "ptx.fence_proxy_async()", "missing-proxy-fence"),
    "stmatrix, fence for global memory": turn(
        "instead", EPILOGUE, "ptx.fence_proxy_async()", "ptx.fence_proxy_async_global()", "proxy-fence-space"
    ),
    "stmatrix, no syncwarp before the store": drop(EPILOGUE, "cuda.syncwarp()", "data-race", "missing-proxy-fence"),
    "stmatrix over what is being stored": drop(EPILOGUE, "ptx.cp_async_bulk_wait_group_read(0)", "store-source-reuse"),
    "stmatrix over what is being stored, no syncwarp": drop(EPILOGUE, "cuda.syncwarp()", "store-source-reuse", nth=1),
    "stmatrix into the other warp's tile": hand(EPILOGUE, "(tile[warp, lane", "(tile[1 - warp, lane", "data-race"),
    "stmatrix that leaves half the tile as it was": hand(
        EPILOGUE, "lane // 8 * 8 :]", "lane // 16 * 8 :]", "uninitialised-read"
    ),
    "stage given back before ldmatrix": hand(
        TURNED,
        "            pair = ptx.ldmatrix_x1(stages[s, lane % 8, 0:])\n            cuda.syncwarp()\n",
        "            cuda.syncwarp()\n            pair = ptx.ldmatrix_x1(stages[s, lane % 8, 0:])\n",
        "overwrite-in-use",
    ),
    "stage given back before all lanes have it": drop(TURNED, "cuda.syncwarp()", "overwrite-in-use", nth=0),
    "turned buffer one group too early": turn(
        *("more", TURNED, "ptx.cp_async_bulk_wait_group_read(1)", "ptx.cp_async_bulk_wait_group_read(2)"),
        "store-source-reuse",
    ),
    "turned: ldmatrix of the next stage": hand(
        TURNED, "stages[s, lane % 8", "stages[(s + 1) % STAGES, lane % 8", "read-before-wait", "uninitialised-read"
    ),
    "taps: bytes of the whole filter expected": hand(
        TAPS, "(full[s], COLUMN)", "(full[s], TAPS * COLUMN)", "deadlock", "too-many-bytes"
    ),
    "taps: a column over one that is read": drop(
        TAPS, "ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)", "overwrite-in-use"
    ),
    "taps: phase begins anew with each row": hand(
        TAPS,
        "                k = n * TAPS + t\n",
        "                k = t\n",
        *("wrong-parity", "phase-alias", "deadlock", "read-before-wait", "over-arrival"),
    ),
    "taps: given back before it is read by all": drop(TAPS, "cuda.syncwarp()", "overwrite-in-use"),
    "taps: columns not waited for": drop(
        TAPS, "ptx.mbarrier_wait_parity(full[k % STAGES], (k // STAGES) % 2)", "read-before-wait"
    ),
}
