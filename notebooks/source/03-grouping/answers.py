"""Answers to lesson 3 that are not the notebook's own: wrong ones, each to be refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from tmalab import DataType, Swizzle, TensorMap, device, kernel, ptx

ROWS, COLS, GROUP = 16, 128, 64
SLICE = ROWS * COLS
SLICE_BYTES = SLICE * 2


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- the view and its coordinates, class seed 0

FIELDS = {
    "data_type": 6,
    "global_dim": (64, 32, 8),
    "global_strides": (1024, 128),
    "box_dim": (64, 16, 2),
    "swizzle": 3,
}
SLICES = ((14, 256), (24, 64))  # grouping.coordinates
COORDINATES = [number for row, column in SLICES for number in (0, row, column // 64)]
LAYOUTS = ((512, 128), (256, 0), (256, 128), (128, 128), (32, 32))  # grouping.places
WAYS = [4, 8, 2, 1, 1]
REASONS = ["b", "c", "b", "a", "a"]
CULPRITS = {"bug_a": "e", "bug_b": "b", "bug_c": "d", "bug_d": "c"}


def view_of(array):
    return array.reshape(32, 8, 64).transpose(1, 0, 2)


# ---- address_of


def address_without_swizzle(row, column, rows):
    return (column // 64 * rows + row) * 128 + column % 64 * 2


def address_in_long_rows(row, column, rows):
    address = row * 256 + column * 2
    return address ^ (address >> 3 & 112)


def address_by_row(row, column, rows):
    group, inside = divmod(column, 64)
    return (group * rows + row) * 128 + (inside // 8 ^ row % 8) * 16 + inside % 8 * 2


def address_for_sixteen(row, column, rows):
    group, inside = divmod(column, 64)
    return (group * 16 + row) * 128 + (inside // 8 ^ row % 8) * 16 + inside % 8 * 2


def address_in_elements(row, column, rows):
    return address_by_line(row, column, rows) // 2


def address_with_groups_inside(row, column, rows):
    line, inside = 2 * row + column // 64, column % 64
    return line * 128 + (inside // 8 ^ line % 8) * 16 + inside % 8 * 2


def address_by_line(row, column, rows):
    group, inside = divmod(column, 64)
    line = group * rows + row
    return line * 128 + (inside // 8 ^ line % 8) * 16 + inside % 8 * 2


def address_by_atoms(row, column, rows):
    line = row if column < 64 else row + rows
    atom, step = line // 8, line % 8
    sector, rest = column % 64 // 8, column % 8
    return np.int64(1024 * atom + 128 * step + 16 * (sector ^ step) + 2 * rest)


# ---- kernels: the part before the reading is the same for most


@device
def load_slice(tile, full, tensor_map, x, y, z, size):
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], size)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, x, y, z, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)


@kernel
def rows_as_they_lie(tensor_map, row, column, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        out[k // COLS, k % COLS] = tile[k // COLS, k % COLS]


@kernel
def rows_without_swizzle(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // GROUP, i, j % GROUP]


@kernel
def rows_of_256_bytes(tensor_map, row, column, out):
    tile = cuda.shared.array(SLICE, np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        out[k // COLS, k % COLS] = tile[k ^ (k >> 3 & 56)]


@kernel
def rows_at_the_column(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, column, row, 0, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def rows_of_the_first_group(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, 0, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def rows_of_the_example(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, 16, 2, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def rows_of_one_group_promised(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, ROWS * GROUP * 2)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def rows_by_rank_two(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], SLICE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, column, row, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def rows_by_address(tensor_map, row, column, out):
    tile = cuda.shared.array(SLICE, np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        element = (j // GROUP * ROWS + i) * GROUP + j % GROUP
        out[i, j] = tile[element ^ (element >> 3 & 56)]


@kernel
def rows_group_by_group(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, 8, 8), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column >> 6, SLICE_BYTES)
    thread = cuda.threadIdx.x
    i = thread // 8
    physical = thread % 8
    for group in range(2):
        for element in range(8):
            out[i, 64 * group + 8 * (physical ^ i % 8) + element] = tile[group, i, physical, element]


# ---- read_columns


@kernel
def columns_not_turned(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        value = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]
        out[k // ROWS, k % ROWS] = value


@kernel
def columns_without_swizzle(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k % ROWS, k // ROWS
        out[j, i] = tile[j // GROUP, i, j % GROUP]


@kernel
def columns_of_sixteen_rows(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k % ROWS, k // ROWS
        out[j, i] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def columns_along_rows(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[j, i] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def columns_without_wait(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, GROUP), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], SLICE_BYTES)
        ptx.cp_async_bulk_tensor_3d(tile, tensor_map, 0, row, column // GROUP, full[0])
    cuda.syncthreads()
    for k in range(thread, SLICE, cuda.blockDim.x):
        i, j = k % ROWS, k // ROWS
        out[j, i] = tile[j // GROUP, i, (j % GROUP // 8 ^ i % 8) * 8 + j % 8]


@kernel
def columns_a_sector_for_each_warp(tensor_map, row, column, out):
    tile = cuda.shared.array((2, ROWS, 8, 8), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    lane = cuda.threadIdx.x % 32
    for sector in range(cuda.threadIdx.x // 32, 16, cuda.blockDim.x // 32):
        for atom in range(2):
            for half in range(2):
                i = 8 * atom + lane % 8
                element = 4 * half + lane // 8
                out[8 * sector + element, i] = tile[sector // 8, i, sector % 8 ^ lane % 8, element]


@kernel
def columns_by_address(tensor_map, row, column, out):
    tile = cuda.shared.array(SLICE, np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    load_slice(tile, full, tensor_map, 0, row, column // GROUP, SLICE_BYTES)
    for k in range(cuda.threadIdx.x, SLICE, cuda.blockDim.x):
        i = k // 1024 * 8 + k % 8
        j = k // 8 % COLS
        element = (j // GROUP * ROWS + i) * GROUP + j % GROUP
        out[j, i] = tile[element ^ (element >> 3 & 56)]


PAIRS = list(zip(WAYS, REASONS, strict=True))

WRONG = {
    "grouping.view": [
        Wrong(
            FIELDS | {"global_dim": (512, 32), "global_strides": (1024,), "box_dim": (128, 16)},
            "fields",
            "3 dimensions",
        ),
        Wrong(FIELDS | {"global_dim": (8, 32, 64)}, "fields", "wrong order"),
        Wrong(FIELDS | {"global_strides": (128, 1024)}, "fields", "right numbers in the wrong order"),
        Wrong(FIELDS | {"global_strides": (512, 64)}, "fields", "distance between neighbouring rows, in bytes"),
        Wrong(FIELDS | {"box_dim": (128, 16, 1)}, "bytes", "refuse this map"),
        Wrong(FIELDS | {"global_dim": (512, 32, 8)}, "fields", "global_dim: (512, 32, 8) is not what was asked for"),
        Wrong(FIELDS | {"swizzle": 0}, "bytes", "bytes to the right place"),
    ],
    "grouping.coordinates": [
        Wrong([256, 14, 0, 64, 24, 0], "numbers", "2 of 6 right"),
        Wrong([256, 14, 4, 64, 24, 1], "numbers", "4 of 6 right"),
        Wrong([0, 14, 256, 0, 24, 64], "numbers", "row 14, column 256: z: not 256"),
        Wrong([4, 14, 0, 1, 24, 0], "numbers", "row 24, column 64: x: not 1"),
        Wrong([0, 14, 2, 0, 24, 0], "numbers", "row 14, column 256: z: not 2"),
        Wrong([(0, 14, 4), (0, 24, 1)], "numbers", "holds 2 numbers"),
    ],
    "grouping.address": [
        Wrong(address_without_swizzle, "16 rows", "(1, 0, 16) should give 144, gave 128"),
        Wrong(address_in_long_rows, "16 rows", "right for"),
        Wrong(address_by_row, "4 rows", "right for"),
        Wrong(address_for_sixteen, "heights", "right for"),
        Wrong(address_in_elements, "16 rows", "(0, 4, 16) should give 8, gave 4"),
        Wrong(address_with_groups_inside, "16 rows", "right for"),
    ],
    "grouping.places": [
        Wrong([(8 // way, reason) for way, reason in PAIRS], "ways", "rows of 512 bytes, 128B: not 2"),
        Wrong([(way, "a") for way in WAYS], "reasons", "rows of 256 bytes, 128B: not a"),
        Wrong([(8, "c")] * 5, "ways", "rows of 128 bytes, 128B: not 8"),
        Wrong([(way, "d" if reason == "b" else reason) for way, reason in PAIRS], "reasons", "256 bytes, 128B: not d"),
        Wrong(WAYS, "ways", "4 is no pair"),
    ],
    "grouping.rows": [
        Wrong(rows_as_they_lie, "bytes", "bytes right for row 16, column 128"),
        Wrong(rows_without_swizzle, "bytes", "bytes right for row 16, column 128"),
        Wrong(rows_of_256_bytes, "bytes", "bytes right for row 16, column 128"),
        Wrong(rows_at_the_column, "bytes", "is 0"),
        Wrong(rows_of_the_first_group, "bytes", "bytes right for row 16, column 128"),
        Wrong(rows_of_the_example, "bytes", "bytes right for row"),
        Wrong(rows_of_one_group_promised, "order", "too-few-bytes"),
        Wrong(rows_by_rank_two, "order", "names 2 coordinates, the map has 3 dimensions"),
    ],
    "grouping.columns": [
        Wrong(columns_not_turned, "bytes", "bytes right for row 16, column 128"),
        Wrong(columns_without_swizzle, "bytes", "bytes right for row 16, column 128"),
        Wrong(columns_of_sixteen_rows, "banks", "reads in up to 2 turns where one would do"),
        Wrong(columns_along_rows, "banks", "to 32 sectors of global memory at a time, where 4 would do"),
        Wrong(columns_without_wait, "order", "read-before-wait"),
    ],
    "grouping.hunt": [
        Wrong(CULPRITS | {"bug_a": "f"}, "culprits", "3 of 4 right; bug_a: not f"),
        Wrong(CULPRITS | {"bug_b": "a"}, "culprits", "bug_b: not a"),
        Wrong(CULPRITS | {"bug_c": "c"}, "culprits", "bug_c: not c"),
        Wrong(CULPRITS | {"bug_d": "e"}, "culprits", "bug_d: not e"),
        Wrong("ebdc", "culprits", "type str"),
    ],
}

RIGHT = {
    "grouping.view": [
        FIELDS,
        TensorMap.from_array(view_of(np.zeros((32, 512), np.float16)), (2, 16, 64), swizzle=Swizzle.B128),
        {name: list(value) if isinstance(value, tuple) else np.int64(value) for name, value in FIELDS.items()},
        FIELDS | {"data_type": DataType.FLOAT16, "swizzle": Swizzle.B128},
    ],
    "grouping.coordinates": [np.array(COORDINATES), tuple(COORDINATES)],
    "grouping.address": [address_by_line, address_by_atoms],
    "grouping.places": [
        PAIRS,
        {
            f"rows of {pitch} bytes, {f'{span}B' if span else 'NONE'}": pair
            for (pitch, span), pair in zip(LAYOUTS, PAIRS, strict=True)
        },
    ],
    "grouping.rows": [rows_by_address, rows_group_by_group],
    "grouping.columns": [columns_a_sector_for_each_warp, columns_by_address],
    "grouping.hunt": [["e", "b", "d", "c"], {bug: letter.upper() for bug, letter in CULPRITS.items()}],
}
