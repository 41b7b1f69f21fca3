"""Answers to lesson 8 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import cuda

from tests.lessons import edited
from tmalab import kernel, ptx

CTAS, HALF, ROWS, COLS, STAGES = 2, 16, 32, 32, 2
TILE_BYTES = ROWS * COLS * 4


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- numbers and letters, class seed 0

MASKS = [0b11, 0b100000, 0b101, 0b0111, 0b1111]
EXPECT = [(12288, "b"), (1024, "c"), (1024, "a"), (0, "d"), (6144, "b")]
COUNTS = [8, 3, 8, 4, 1]
LEAVE = ["b", "c", "a", "a", "d"]
CULPRITS = {"bug_a": "c", "bug_b": "d", "bug_c": "f", "bug_d": "b", "bug_e": "e"}


# ---- share_tile


@kernel
def share_by_rank(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(1)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, x, y + rank * HALF, full[0], 0b11)
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[rank, i // COLS, i % COLS] = tile[i // COLS, i % COLS]


MULTICAST = "cp_async_bulk_tensor_2d_multicast(tile[rank * HALF], tensor_map, x, y + rank * HALF, full[0], 0b11)"
ALONE = (
    "cp_async_bulk_tensor_2d(tile[0], tensor_map, x, y, full[0])\n"
    "        ptx.cp_async_bulk_tensor_2d(tile[HALF], tensor_map, x, y + HALF, full[0])"
)
MEET = "    ptx.barrier_cluster_arrive()\n    ptx.barrier_cluster_wait()\n"
INIT = "        ptx.mbarrier_init(full[0], 1)\n        ptx.fence_mbarrier_init()\n"

share_without_meeting = edited(share_by_rank, (MEET, "    cuda.syncthreads()\n"), name="share_without_meeting")
share_by_loading_all = edited(share_by_rank, (MULTICAST, ALONE), name="share_by_loading_all")
share_promising_its_half = edited(share_by_rank, ("TILE_BYTES", "TILE_BYTES // 2"), name="share_promising_its_half")
share_for_itself = edited(share_by_rank, ("0b11", "1 << rank"), name="share_for_itself")
share_of_one_half = edited(share_by_rank, ("y + rank * HALF", "y"), name="share_of_one_half")
share_turned = edited(share_by_rank, ("x, y + rank * HALF", "x, y + (1 - rank) * HALF"), name="share_turned")
share_at_the_example = edited(share_by_rank, ("x, y + rank", "64, 16 + rank"), name="share_at_the_example")
share_unfenced = edited(share_by_rank, ("        ptx.fence_mbarrier_init()\n", ""), name="share_unfenced")
share_written_by_one = edited(
    share_by_rank, ("ROWS * COLS, cuda", "(1 - rank) * ROWS * COLS, cuda"), name="share_written_by_one"
)
share_loaded_by_one = edited(
    share_by_rank,
    (
        f"        ptx.{MULTICAST}",
        "        for half in range(2 - 2 * rank):\n            ptx.cp_async_bulk_tensor_2d_multicast("
        "tile[half * HALF], tensor_map, x, y + half * HALF, full[0], 3)",
    ),
    name="share_loaded_by_one",
)
share_relaxed = edited(
    share_by_rank,
    ("cluster_arrive()", "cluster_arrive_relaxed()"),
    ("0b11", "(1 << ptx.cluster_nctarank()) - 1"),
    ("ptx.mbarrier_wait_parity(full[0], 0)", "while not ptx.mbarrier_try_wait_parity(full[0], 0):\n        pass"),
    ("out[rank", "out[cuda.blockIdx.x"),
    name="share_relaxed",
)


# ---- share_row


@kernel
def row_that_meets(tensor_map, y, steps, out):
    ring = cuda.shared.array((STAGES, ROWS, COLS), np.float32, alignment=128)
    full = ptx.mbarrier_array(STAGES)
    empty = ptx.mbarrier_array(STAGES)
    thread, rank = cuda.threadIdx.x, ptx.cluster_ctarank()
    if thread == 0:
        for s in range(STAGES):
            ptx.mbarrier_init(full[s], 1)
            ptx.mbarrier_init(empty[s], CTAS)
        ptx.fence_mbarrier_init()
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()
    if thread == 0:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(empty[s], (k // STAGES) % 2 ^ 1)
            ptx.mbarrier_arrive_expect_tx(full[s], TILE_BYTES)
            at = y + rank * HALF
            ptx.cp_async_bulk_tensor_2d_multicast(ring[s, rank * HALF], tensor_map, k * COLS, at, full[s], 0b11)
    elif thread >= 32:
        for k in range(steps):
            s = k % STAGES
            ptx.mbarrier_wait_parity(full[s], (k // STAGES) % 2)
            for i in range(ROWS):
                out[rank, i, k * COLS + thread - 32] = ring[s, i, thread - 32]
            cuda.syncwarp()
            if thread - 32 < CTAS:
                ptx.mbarrier_arrive_cluster(empty[s], thread - 32)
    ptx.barrier_cluster_arrive()
    ptx.barrier_cluster_wait()


RELEASE = "            if thread - 32 < CTAS:\n                ptx.mbarrier_arrive_cluster(empty[s], thread - 32)\n"
ARRIVE = f"{RELEASE}{MEET}"
OWN = "            if thread == 32:\n                ptx.mbarrier_arrive(empty[s]{})\n"
TAIL = (
    "0b11)\n        for k in range(steps, steps + STAGES):\n"
    "            ptx.mbarrier_wait_parity(empty[k % STAGES], (k // STAGES) % 2 ^ 1)\n"
)
LOADS = "cp_async_bulk_tensor_2d_multicast(ring[s, rank * HALF], tensor_map, k * COLS, at, full[s], 0b11)"
LOADS_ALONE = (
    "cp_async_bulk_tensor_2d(ring[s, 0], tensor_map, k * COLS, y, full[s])\n"
    "            ptx.cp_async_bulk_tensor_2d(ring[s, HALF], tensor_map, k * COLS, y + HALF, full[s])"
)

row_released_at_home = edited(
    row_that_meets, (RELEASE, OWN.format("")), ("empty[s], CTAS", "empty[s], 1"), name="row_released_at_home"
)
row_without_an_end = edited(row_that_meets, (ARRIVE, RELEASE), name="row_without_an_end")
row_by_loading_all = edited(row_that_meets, (LOADS, LOADS_ALONE), name="row_by_loading_all")
row_promising_its_half = edited(row_that_meets, ("TILE_BYTES", "TILE_BYTES // 2"), name="row_promising_its_half")
row_with_one_arrival = edited(row_that_meets, ("empty[s], CTAS", "empty[s], 1"), name="row_with_one_arrival")
row_of_parity_by_tile = edited(
    row_that_meets, ("full[s], (k // STAGES) % 2", "full[s], k % 2"), name="row_of_parity_by_tile"
)
row_of_one_tile = edited(row_that_meets, ("k * COLS, at", "0, at"), name="row_of_one_tile")
row_with_a_tail = edited(row_that_meets, ("0b11)\n", TAIL), (ARRIVE, RELEASE), name="row_with_a_tail")
row_released_twice_at_home = edited(
    row_that_meets,
    (
        RELEASE,
        OWN.format("") + "                ptx.mbarrier_arrive_cluster(empty[s], 1 - rank)\n",
    ),
    name="row_released_twice_at_home",
)


WRONG = {
    "clusters.masks": [
        Wrong([2, 1, 2, 3, 4], "masks", "question 2: not 2"),  # counts
        Wrong([1, 5, 2, 2, 3], "masks", "0 of 5 right"),  # the highest ranks
        Wrong([mask << 1 for mask in MASKS], "masks", "0 of 5 right"),  # counted from 1
        Wrong([0b101, 0b100000, 0b11, 0b0111, 0b1111], "masks", "3 of 5 right"),  # the square turned
        Wrong(MASKS[:4], "masks", "5"),
    ],
    "clusters.expect": [
        Wrong([(4096, "c"), (1024, "c"), (0, "d"), (0, "d"), (5120, "c")], "bytes", "2 of 5 right"),  # its own loads
        Wrong([EXPECT[0], EXPECT[1], (512, "a"), *EXPECT[3:]], "bytes", "4 of 5 right"),  # what is inside
        Wrong([(count, "b") for count, _ in EXPECT], "reasons", "2 of 5 right"),
        Wrong([count for count, _ in EXPECT], "bytes", "pair"),
        Wrong([*EXPECT[:3], (4096, "d"), EXPECT[4]], "reasons", "4 of 5 right"),  # right for no reason
    ],
    "clusters.share": [
        Wrong(share_without_meeting, "order", "peer-not-started"),
        Wrong(share_by_loading_all, "traffic", "4,096 are enough"),
        Wrong(share_promising_its_half, "order", "too-few-bytes"),
        Wrong(share_for_itself, "order", "multicast-mask"),
        Wrong(share_of_one_half, "bytes", "bytes right"),
        Wrong(share_turned, "bytes", "bytes right"),
        Wrong(share_at_the_example, "bytes", "bytes right"),
        Wrong(share_unfenced, "order", "init-not-visible"),
        Wrong(share_written_by_one, "bytes", "bytes right"),
    ],
    "clusters.counts": [
        Wrong([2, 1, 2, 1, 1], "arrivals", "1 of 5 right"),  # of the own CTA alone
        Wrong([8, 4, 8, 4, 1], "arrivals", "4 of 5 right"),  # the whole square
        Wrong([8, 3, 8, 4, 4], "arrivals", "4 of 5 right"),  # loads arrive
        Wrong([8, 3, 8, 8, 1], "arrivals", "4 of 5 right"),  # each warp, though they have met
        Wrong(8, "arrivals", "5"),
    ],
    "clusters.ring": [
        Wrong(row_released_at_home, "order", "overwrite-in-use"),
        Wrong(row_without_an_end, "order", "exit-in-flight"),
        Wrong(row_by_loading_all, "traffic", "are enough"),
        Wrong(row_promising_its_half, "order", "too-few-bytes"),
        Wrong(row_with_one_arrival, "order", "over-arrival"),
        Wrong(row_of_parity_by_tile, "bytes", "bytes right"),
        Wrong(row_of_one_tile, "bytes", "bytes right"),
    ],
    "clusters.leave": [
        Wrong(["a", "a", "a", "a", "a"], "situations", "2 of 5 right"),
        Wrong(["b", "b", "a", "b", "b"], "situations", "2 of 5 right"),
        Wrong(["b", "c", "a", "a", "a"], "situations", "4 of 5 right"),
        Wrong(["b", "c", "a", "b", "d"], "situations", "4 of 5 right"),
        Wrong("abcda", "situations", "5"),
    ],
    "clusters.hunt": [
        Wrong(CULPRITS | {"bug_a": "a"}, "culprits", "4 of 5 right"),
        Wrong(CULPRITS | {"bug_b": "f"}, "culprits", "4 of 5 right"),
        Wrong(CULPRITS | {"bug_c": "a"}, "culprits", "4 of 5 right"),
        Wrong(CULPRITS | {"bug_d": "e", "bug_e": "b"}, "culprits", "3 of 5 right"),
    ],
}

RIGHT = {
    "clusters.masks": [np.array(MASKS), tuple(MASKS)],
    "clusters.expect": [[list(pair) for pair in EXPECT], tuple((count, letter.upper()) for count, letter in EXPECT)],
    "clusters.share": [share_relaxed, share_loaded_by_one],
    "clusters.counts": [np.array(COUNTS), tuple(COUNTS)],
    "clusters.ring": [row_with_a_tail, row_released_twice_at_home],
    "clusters.leave": [tuple(LEAVE), [letter.upper() for letter in LEAVE]],
    "clusters.hunt": [list(CULPRITS.values()), {name: f" {letter} " for name, letter in CULPRITS.items()}],
}
