"""Answers to lesson 9 that are not the notebook's own: wrong ones, each refused for a named reason, and right ones.

The kernels are those of the notebook, edited. Not for students: neither the release nor the package holds this file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.lessons import cells_of, edited


class Wrong(NamedTuple):
    """An answer, the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


KERNELS = cells_of(
    "09-gemm",
    "gemm",
    "setup",
    "first-helper",
    "multiply-answer",
    "one-stage-answer",
    "ahead-answer",
    "roles-answer",
    "persistent-answer",
)
MULTIPLY, ONE_STAGE, AHEAD, ROLES, PERSISTENT = (
    KERNELS[name] for name in ("multiply", "gemm_one_stage", "gemm_ahead", "gemm_roles", "gemm_persistent")
)

# ---- numbers and letters, class seed 0

STEPS = [192, 2048, 512, 4, 2]
MIB = [16384, 3072, 32768, 12288, 8192]
REASONS = ["a", "b", "e", "d", "c"]
CULPRITS = {"bug_a": "a", "bug_b": "e", "bug_c": "c", "bug_d": "d", "bug_e": "f"}


# ---- descriptor


def in_bytes(address, span):
    return address | 8 * span << 32 | {128: 1, 64: 2, 32: 3}[span] << 62


def as_a_map_counts(address, span):
    return address >> 4 | 8 * span >> 4 << 32 | {128: 3, 64: 2, 32: 1}[span] << 62


def from_row_to_row(address, span):
    return address >> 4 | span >> 4 << 32 | {128: 1, 64: 2, 32: 3}[span] << 62


def for_128_alone(address, span):
    return address >> 4 | 64 << 32 | 1 << 62


def with_a_sign(address, span):
    return int(np.uint64(by_fields(address, span)).astype(np.int64))


def as_text(address, span):
    return hex(by_fields(address, span))


def by_fields(address, span):
    fields = {0: address // 16, 32: span // 2, 62: 4 - (span // 32).bit_length()}
    return sum(value << first for first, value in fields.items())


def with_a_leading_offset_of_1(address, span):
    return by_fields(address, span) + (1 << 16)


def in_numpy(address, span):
    high = np.uint64(8 * span // 16 | {128: 1, 64: 2, 32: 3}[span] << 30)
    return high << np.uint64(32) | np.uint64(address >> 4)


# ---- multiply

LOADED = "    ptx.mbarrier_wait_parity(full[0], 0)\n"
FENCE = "ptx.wgmma_fence()\n"
MOVED = "desc_a + i * NEXT_K, desc_b + i * NEXT_K, 1"
OF_A = "ptx.wgmma_descriptor(a, Swizzle.B128, BYTES_8_ROWS)"
DONE = "    ptx.wgmma_wait_group(0)\n    write_out"

tile_before_it_is_loaded = edited(MULTIPLY, (LOADED, ""), name="tile_before_it_is_loaded")
tile_without_a_fence = edited(MULTIPLY, (f"    {FENCE}", ""), name="tile_without_a_fence")
tile_before_it_is_done = edited(MULTIPLY, (DONE, "    write_out"), name="tile_before_it_is_done")
tile_with_one_group_left = edited(MULTIPLY, ("wait_group(0)", "wait_group(1)"), name="tile_with_one_group_left")
tile_moved_by_bytes = edited(MULTIPLY, ("NEXT_K", "32"), name="tile_moved_by_bytes")
tile_of_64_bytes = edited(MULTIPLY, (OF_A, OF_A.replace("B128", "B64")), name="tile_of_64_bytes")
tile_of_16_columns = edited(MULTIPLY, ("range(BK // 16)", "range(1)"), name="tile_of_16_columns")
tile_that_stands_still = edited(MULTIPLY, ("i * NEXT_K", "i * 0"), name="tile_that_stands_still")
tile_exchanged = edited(MULTIPLY, (MOVED, "desc_b + i * 2, desc_a + i * 2, 1"), name="tile_exchanged")
tile_of_a_twice = edited(MULTIPLY, ("b_map, 0, 0", "a_map, 0, 0"), name="tile_of_a_twice")
tile_that_begins_with_nothing = edited(
    MULTIPLY, ("i * NEXT_K, 1)", "i * NEXT_K, i)"), name="tile_that_begins_with_nothing"
)
tile_of_a_alone = edited(MULTIPLY, ("STAGE_BYTES", "STAGE_BYTES // 2"), name="tile_of_a_alone")
tile_that_replaces = edited(MULTIPLY, ("i * NEXT_K, 1)", "i * NEXT_K, 0)"), name="tile_that_replaces")
tile_with_new_descriptors = edited(
    MULTIPLY,
    (
        MOVED,
        "ptx.wgmma_descriptor(a[0, 16 * i :], Swizzle.B128, 1024), "
        "ptx.wgmma_descriptor(b[0, 16 * i :], Swizzle.B128, 1024), i > 0",
    ),
    name="tile_with_new_descriptors",
)
tile_in_two_groups = edited(
    MULTIPLY,
    (MOVED, f"{MOVED})\n        if i == 1:\n            ptx.wgmma_commit_group("),
    ("    if thread == 0:\n        ptx.mbarrier_arrive", "    if thread == 96:\n        ptx.mbarrier_arrive"),
    name="tile_in_two_groups",
)

# ---- gemm_one_stage

WAITED = "        ptx.mbarrier_wait_parity(full[0], step % 2)\n"
stage_of_parity_0 = edited(ONE_STAGE, ("step % 2", "0"), name="stage_of_parity_0")
stage_loaded_while_it_is_read = edited(
    ONE_STAGE,
    ("        ptx.wgmma_wait_group(0)\n", ""),
    ("    write_out", "    ptx.wgmma_wait_group(0)\n    write_out"),
    name="stage_loaded_while_it_is_read",
)
stage_of_one_column = edited(ONE_STAGE, ("step * BK, column", "step * BK, 0"), name="stage_of_one_column")
stage_of_the_first_step = edited(ONE_STAGE, ("step * BK", "0 * BK"), name="stage_of_the_first_step")
stage_that_forgets = edited(ONE_STAGE, ("i * NEXT_K, 1)", "i * NEXT_K, i > 0)"), name="stage_that_forgets")
stage_of_whole_steps = edited(ONE_STAGE, ("range(steps)", "range(k // BK)"), name="stage_of_whole_steps")
stage_fenced_once = edited(
    ONE_STAGE,
    (f"        {FENCE}", ""),
    ("    acc = ptx.wgmma_zero_64()\n", f"    {FENCE}    acc = ptx.wgmma_zero_64()\n"),
    name="stage_fenced_once",
)
stage_with_a_parity = edited(
    ONE_STAGE,
    ("    for step in", "    parity = 0\n    for step in"),
    ("step % 2)", "parity)\n        parity ^= 1"),
    ("i * NEXT_K, 1)", "i * NEXT_K, step + i)"),
    name="stage_with_a_parity",
)
stage_fenced_before_the_loop = edited(
    ONE_STAGE,
    (f"        {FENCE}", ""),
    ("    acc = ptx.wgmma_zero_64()\n", f"    acc = ptx.wgmma_zero_64()\n    {FENCE}"),
    name="stage_fenced_before_the_loop",
)

# ---- gemm_ahead

NEWEST = "        ptx.wgmma_wait_group(1)\n"
ahead_with_a_gap = edited(AHEAD, (NEWEST, NEWEST.replace("1", "0")), name="ahead_with_a_gap")
ahead_into_the_newest = edited(
    AHEAD,
    ("range(min(STAGES - 1, steps))", "range(min(STAGES, steps))"),
    ("ahead = step + STAGES - 1", "ahead = step + STAGES"),
    name="ahead_into_the_newest",
)
ahead_of_nothing = edited(
    AHEAD,
    ("range(min(STAGES - 1, steps))", "range(1)"),
    ("ahead = step + STAGES - 1", "ahead = step + 1"),
    name="ahead_of_nothing",
)
ahead_of_the_sums = edited(
    AHEAD, ("    ptx.wgmma_wait_group(0)\n    write_out", "    write_out"), name="ahead_of_the_sums"
)
ahead_past_the_end = edited(AHEAD, (" and ahead < steps", ""), name="ahead_past_the_end")
ahead_with_a_parity_for_each_step = edited(
    AHEAD, ("step // STAGES % 2", "step % 2"), name="ahead_with_a_parity_for_each_step"
)
ahead_of_more_than_there_is = edited(
    AHEAD, ("range(min(STAGES - 1, steps))", "range(STAGES - 1)"), name="ahead_of_more_than_there_is"
)
ahead_by_counting = edited(
    AHEAD,
    ("    for step in range(steps):", "    s = 0\n    parity = 0\n    for step in range(steps):"),
    ("        s = step % STAGES\n", ""),
    ("step // STAGES % 2", "parity"),
    (
        "    ptx.wgmma_wait_group(0)\n",
        "        s += 1\n        if s == STAGES:\n            s = 0\n            parity ^= 1\n"
        "    ptx.wgmma_wait_group(0)\n",
    ),
    name="ahead_by_counting",
)
ahead_in_four_groups = edited(
    AHEAD,
    (
        "        ptx.wgmma_commit_group()\n        ptx.wgmma_wait_group(1)",
        "            ptx.wgmma_commit_group()\n        ptx.wgmma_wait_group(4)",
    ),
    name="ahead_in_four_groups",
)
ahead_by_another_warp = edited(
    AHEAD, ("if thread == 0 and ahead", "if thread == 96 and ahead"), name="ahead_by_another_warp"
)

# ---- gemm_roles

HANDED_BACK = (
    "            if thread == 0 and step > 0:\n                ptx.mbarrier_arrive(empty[(step - 1) % STAGES])\n"
)
AT_ONCE = "            if thread == 0:\n                ptx.mbarrier_arrive(empty[s])\n"
roles_with_a_gap = edited(ROLES, ("wait_group(1)", "wait_group(0)"), name="roles_with_a_gap")
roles_handed_back_too_early = edited(ROLES, (HANDED_BACK, AT_ONCE), name="roles_handed_back_too_early")
roles_handed_back_by_all = edited(ROLES, ("if thread == 0 and step", "if step"), name="roles_handed_back_by_all")
roles_that_keep_their_stages = edited(ROLES, (HANDED_BACK, ""), name="roles_that_keep_their_stages")
roles_that_wait_for_nobody = edited(
    ROLES,
    ("            ptx.mbarrier_wait_parity(empty[s], step // STAGES % 2 ^ 1)\n", ""),
    name="roles_that_wait_for_nobody",
)
roles_that_wait_for_the_first_round = edited(ROLES, ("% 2 ^ 1)", "% 2)"), name="roles_that_wait_for_the_first_round")
roles_step_by_step = edited(
    ROLES,
    (
        "            ptx.cp_async_bulk_tensor_2d(b[s], b_map, step * BK, column, full[s])\n",
        "            ptx.cp_async_bulk_tensor_2d(b[s], b_map, step * BK, column, full[s])\n"
        "            ptx.mbarrier_wait_parity(full[s], step // STAGES % 2)\n",
    ),
    name="roles_step_by_step",
)
roles_by_warps = edited(
    ROLES,
    ("empty[s], 1)", "empty[s], 4)"),
    ("if thread == 0 and step", "if thread % 32 == 0 and step"),
    ("thread == 128", "thread == 159"),
    name="roles_by_warps",
)
roles_by_an_elected_lane = edited(
    ROLES,
    ("    if thread == 128:\n", "    if thread >= 128:\n        loads = ptx.elect_sync()\n"),
    (
        "        for step in range(steps):\n            s = step % STAGES\n            ptx.mbarrier_wait_parity(empty",
        "        for step in range(steps if loads else 0):\n            s = step % STAGES\n"
        "            ptx.mbarrier_wait_parity(empty",
    ),
    ("elif thread < 128", "else"),
    name="roles_by_an_elected_lane",
)

# ---- gemm_persistent

SHOWN = "            ptx.fence_proxy_async_shared_cta()\n"
READ = "                ptx.cp_async_bulk_wait_group_read(0)\n"
ENDED = "        if thread == 0:\n            ptx.cp_async_bulk_wait_group_read(0)\n"
NEXT_TILES = "range(cuda.blockIdx.x, tiles, cuda.gridDim.x)"
DRAINED = "wait_group(0)\n            if thread == 0:\n                ptx.mbarrier_arrive(empty[previous])\n"
ZEROED = "            acc = ptx.wgmma_zero_64()\n"
tiles_unshown = edited(PERSISTENT, (SHOWN, ""), name="tiles_unshown")
tiles_written_too_early = edited(PERSISTENT, (READ, ""), name="tiles_written_too_early")
tiles_stored_elsewhere = edited(
    PERSISTENT,
    ("tile % columns * BN, tile // columns * BM, out", "tile // columns * BM, tile % columns * BN, out"),
    name="tiles_stored_elsewhere",
)
tiles_one_for_each = edited(
    PERSISTENT, (NEXT_TILES, "range(cuda.blockIdx.x, cuda.blockIdx.x + 1)"), name="tiles_one_for_each"
)
tiles_summed_up = edited(
    PERSISTENT,
    (ZEROED, ""),
    ("    elif thread < 128:\n", "    elif thread < 128:\n        acc = ptx.wgmma_zero_64()\n"),
    name="tiles_summed_up",
)
tiles_keeping_a_stage = edited(
    PERSISTENT,
    (DRAINED, "wait_group(0)\n            if thread == 0:\n"),
    name="tiles_keeping_a_stage",
)
tiles_that_end_too_early = edited(PERSISTENT, (ENDED, ""), name="tiles_that_end_too_early")
tiles_step_by_step = edited(
    PERSISTENT,
    (
        "b_map, step * BK, column, full[s])\n",
        "b_map, step * BK, column, full[s])\n                ptx.mbarrier_wait_parity(full[s], parity)\n",
    ),
    name="tiles_step_by_step",
)
tiles_that_begin_anew = edited(
    PERSISTENT,
    (
        "            acc = ptx.wgmma_zero_64()\n",
        "            acc = ptx.wgmma_zero_64()\n            s = 0\n            parity = 0\n",
    ),
    name="tiles_that_begin_anew",
)
tiles_met_by_all = edited(
    PERSISTENT,
    (SHOWN + "            ptx.barrier_sync(1, 128)", SHOWN + "            cuda.syncthreads()"),
    name="tiles_met_by_all",
)
tiles_waited_for_in_full = edited(
    PERSISTENT,
    (
        "cp_async_bulk_wait_group_read(0)\n            ptx.barrier",
        "cp_async_bulk_wait_group(0)\n            ptx.barrier",
    ),
    ("i * NEXT_K, 1)", "i * NEXT_K, step + i)"),
    name="tiles_waited_for_in_full",
)
tiles_of_the_last_thread = edited(
    PERSISTENT,
    ("if thread == 128:", "if thread == 159:"),
    ("ptx.barrier_sync(1, 128)", "ptx.barrier_sync(7, 128)"),
    ("fence_proxy_async_shared_cta", "fence_proxy_async"),
    name="tiles_of_the_last_thread",
)


WRONG = {
    "gemm.descriptor": [
        Wrong(in_bytes, "128B", "should give"),
        Wrong(as_a_map_counts, "128B", "should give"),
        Wrong(from_row_to_row, "128B", "should give"),
        Wrong(for_128_alone, "any", "should give"),
        Wrong(with_a_sign, "any", "gave -"),
        Wrong(as_text, "128B", "gave '0x"),
    ],
    "gemm.steps": [
        Wrong([16 * step for step in STEPS], "steps", "0 of 5 right"),  # bytes
        Wrong([8 * step for step in STEPS], "steps", "0 of 5 right"),  # elements
        Wrong([192, 1024, 512, 4, 2], "steps", "4 of 5 right"),  # one stage in place of two
        Wrong([192, 2048, 512, 4, 16], "steps", "4 of 5 right"),  # columns
        Wrong([2] * 5, "steps", "1 of 5 right"),
    ],
    "gemm.multiply": [
        Wrong(tile_before_it_is_loaded, "order", "read-before-wait"),
        Wrong(tile_without_a_fence, "order", "wgmma-fence"),
        Wrong(tile_before_it_is_done, "order", "wgmma-registers"),
        Wrong(tile_of_64_bytes, "order", "layout-mismatch"),
        Wrong(tile_of_16_columns, "bytes", "bytes right"),
        Wrong(tile_moved_by_bytes, "order", "misaligned"),
        Wrong(tile_that_stands_still, "bytes", "bytes right"),
        Wrong(tile_exchanged, "bytes", "bytes right"),
        Wrong(tile_that_replaces, "bytes", "bytes right"),
        Wrong(tile_of_a_alone, "order", "too-few-bytes"),
        Wrong(tile_with_one_group_left, "order", "wgmma-registers"),
        Wrong(tile_of_a_twice, "bytes", "bytes right"),
    ],
    "gemm.one-stage": [
        Wrong(stage_loaded_while_it_is_read, "order", "overwrite-in-use"),
        Wrong(stage_of_one_column, "bytes", "bytes right"),
        Wrong(stage_that_forgets, "bytes", "bytes right"),
        Wrong(stage_of_parity_0, "order", "wrong-parity"),
        Wrong(stage_of_whole_steps, "bytes", "bytes right"),
        Wrong(stage_of_the_first_step, "bytes", "bytes right"),
        Wrong(stage_fenced_once, "order", "wgmma-fence"),
    ],
    "gemm.tiles": [
        Wrong([right // 2 for right in MIB], "MiB", "0 of 5 right"),  # elements
        Wrong([256, 64, 256, 256, 256], "MiB", "0 of 5 right"),  # each matrix once
        Wrong([16384, 3072, 32768, 12288, 12288], "MiB", "4 of 5 right"),  # nothing shared
        Wrong([16384, 3072, 32768, 12288, 6144], "MiB", "4 of 5 right"),  # A shared as well
        Wrong([4, 1.5, 2, 6, 4], "MiB", "is no whole number"),  # of one tile
    ],
    "gemm.ahead": [
        Wrong(ahead_with_a_gap, "overlap", "0 of 3 steps"),
        Wrong(ahead_into_the_newest, "order", "overwrite-in-use"),
        Wrong(ahead_of_nothing, "ahead", "at most 2 of 4"),
        Wrong(ahead_of_the_sums, "order", "wgmma-registers"),
        Wrong(ahead_past_the_end, "order", "exit-in-flight"),
        Wrong(ahead_with_a_parity_for_each_step, "order", "wrong-parity"),
        Wrong(ahead_of_more_than_there_is, "order", "exit-in-flight"),
    ],
    "gemm.roles": [
        Wrong(roles_with_a_gap, "overlap", "0 of 3 steps"),
        Wrong(roles_handed_back_too_early, "order", "overwrite-in-use"),
        Wrong(roles_handed_back_by_all, "order", "over-arrival"),
        Wrong(roles_step_by_step, "ahead", "at most 2 of 6"),
        Wrong(roles_that_keep_their_stages, "order", "missing-arrival"),
        Wrong(roles_that_wait_for_nobody, "order", "overwrite-in-use"),
        Wrong(roles_that_wait_for_the_first_round, "order", "deadlock"),
    ],
    "gemm.persistent": [
        Wrong(tiles_step_by_step, "ahead", "at most 2 of 4"),
        Wrong(tiles_unshown, "order", "missing-proxy-fence"),
        Wrong(tiles_summed_up, "bytes", "bytes right"),
        Wrong(tiles_written_too_early, "order", "store-source-reuse"),
        Wrong(tiles_one_for_each, "bytes", "bytes right"),
        Wrong(tiles_stored_elsewhere, "bytes", "bytes right"),
        Wrong(tiles_keeping_a_stage, "order", "missing-arrival"),
        Wrong(tiles_that_end_too_early, "order", "exit-in-flight"),
        Wrong(tiles_that_begin_anew, "order", "over-arrival"),
        Wrong(tiles_met_by_all, "bytes", "did not come to its end for m = 64, n = 320"),
    ],
    "gemm.ladder": [
        Wrong([*REASONS[:2], "a", *REASONS[3:]], "reasons", "4 of 5 right"),
        Wrong(["f"] * 5, "reasons", "0 of 5 right"),
        Wrong(["b", "a", "e", "d", "c"], "reasons", "3 of 5 right"),
        Wrong(["a", "b", "e", "c", "d"], "reasons", "3 of 5 right"),
        Wrong("abedc", "reasons", "type str"),
    ],
    "gemm.hunt": [
        Wrong(CULPRITS | {"bug_a": "b"}, "culprits", "4 of 5 right"),
        Wrong(CULPRITS | {"bug_b": "d"}, "culprits", "4 of 5 right"),
        Wrong(CULPRITS | {"bug_d": "e"}, "culprits", "4 of 5 right"),
        Wrong(CULPRITS | {"bug_c": "f", "bug_e": "c"}, "culprits", "3 of 5 right"),
    ],
}

RIGHT = {
    "gemm.descriptor": [by_fields, in_numpy, with_a_leading_offset_of_1],
    "gemm.steps": [np.array(STEPS), tuple(STEPS)],
    "gemm.multiply": [tile_with_new_descriptors, tile_in_two_groups, tile_that_begins_with_nothing],
    "gemm.one-stage": [stage_with_a_parity, stage_fenced_before_the_loop],
    "gemm.tiles": [np.array(MIB), tuple(float(right) for right in MIB)],
    "gemm.ahead": [ahead_by_counting, ahead_by_another_warp, ahead_in_four_groups],
    "gemm.roles": [roles_by_warps, roles_by_an_elected_lane],
    "gemm.persistent": [tiles_waited_for_in_full, tiles_of_the_last_thread],
    "gemm.ladder": [tuple(REASONS), [letter.upper() for letter in REASONS]],
    "gemm.hunt": [list(CULPRITS.values()), {bug: f" {letter} " for bug, letter in CULPRITS.items()}],
}
