"""Stages and buffers that are filled again while they are in use, or by two at once."""

from __future__ import annotations

from tests.mutants.mutant import Mutant, drop, hand, swap, turn

RING, ROLES = "copy_column, 5 tiles", "producer_and_consumers, 5 tiles"
EVERY = "every_consumer_arrives, 4 tiles"

MUTANTS: dict[str, Mutant] = {
    "stage refilled while it is read": drop(RING, "cuda.syncthreads()", "overwrite-in-use", nth=1),
    "next load before the last read": swap(
        RING, "cuda.syncthreads()", "if tid == 0 and", "overwrite-in-use", "phase-alias"
    ),
    "stage refilled behind a warp's back": turn(
        "instead", RING, "cuda.syncthreads()", "cuda.syncwarp()", "overwrite-in-use", nth=1
    ),
    "empty barrier not waited for": drop(ROLES, "ptx.mbarrier_wait_parity(empty[s]", "overwrite-in-use"),
    "empty barrier of a product not waited for": drop(
        "product", "ptx.mbarrier_wait_parity(empty[s]", "overwrite-in-use"
    ),
    "empty barrier of the other stage": turn(
        "stage", "persistent", "ptx.mbarrier_wait_parity(empty[stage]", "ptx", "over-arrival", "overwrite-in-use"
    ),
    "elected arrive without syncwarp": drop(ROLES, "cuda.syncwarp()", "overwrite-in-use"),
    "arrive before syncwarp": swap("persistent", "cuda.syncwarp()", "if ptx.elect_sync():", "overwrite-in-use"),
    "arrive before the last read": swap(EVERY, "for i in range", "ptx.mbarrier_arrive(empty[s])", "overwrite-in-use"),
    "relaxed arrive frees the stage": turn(
        "instead", EVERY, "ptx.mbarrier_arrive(empty[s])", "ptx.mbarrier_arrive_relaxed", "overwrite-in-use"
    ),
    "two loads into one stage": hand(
        RING, "ring[s], tensor_map, 0, s * ROWS", "ring[0], tensor_map, 0, s * ROWS", "overwrite-in-use"
    ),
    "load into the next stage": turn(
        "stage",
        "ping_pong, 8 tiles",
        "ptx.cp_async_bulk_tensor_2d(ring[k % 4]",
        "ptx.cp_async_bulk_tensor_2d(ring[(",
        "overwrite-in-use",
        "read-before-wait",
    ),
    "every thread loads": hand(
        "one_waits_for_all",
        "        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)\n        ptx.mbarrier_wait_parity(bar, 0)\n",
        "    cuda.syncthreads()\n    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, bar)\n    if tid == 0:\n"
        "        ptx.mbarrier_wait_parity(bar, 0)\n",
        "multiple-issue",
    ),
    "every thread promises and loads": turn(
        "all", "copy_tile", "if tid == 0:", "if True:", "multiple-issue", "over-arrival", nth=1
    ),
    "every thread stores": turn("all", "store_ring, 5 tiles", "if tid == 0:", "if True:", "multiple-issue", nth=1),
    "a lane of each warp stores": hand(
        "read_back",
        "    if tid == 0:\n        ptx.cp_async_bulk_tensor_2d_store",
        "    if tid % 32 == 0:\n        ptx.cp_async_bulk_tensor_2d_store",
        "multiple-issue",
    ),
    "load over a source that is stored": drop(
        "load_change_store", "ptx.cp_async_bulk_wait_group_read(0)", "overwrite-in-use"
    ),
    "load over what is written": hand(
        "load_compute_store", "elif warp == 3:", "elif warp == 4:", "overwrite-in-use", "deadlock"
    ),
    "cp.async over what is read": drop("cp_async_pipeline, 4 tiles", "cuda.syncthreads()", "overwrite-in-use", nth=1),
    "exit before the load": hand(
        "each_warp_its_own",
        "    cuda.syncwarp()\n    ptx.mbarrier_wait_parity(bars[warp], 0)\n    for i in range(lane, ROWS * COLS, 32):\n"
        "        out[warp * ROWS + i // COLS, i % COLS] = tiles[warp, i // COLS, i % COLS]\n",
        "",
        "exit-in-flight",
    ),
}
