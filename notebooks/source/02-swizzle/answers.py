"""Answers to lesson 2 that are not the notebook's own: wrong ones, each to be refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np
from numba import cuda

from tmalab import device, kernel, ptx

ROWS, COLS = 8, 64
TILE_BYTES = ROWS * COLS * 2
TILE = ROWS * COLS
LINE, LINES = 128, 16
BUFFER = LINE * LINES
SIDE = 32
SQUARE = SIDE * SIDE


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- ways

PITCHES = (0, 16, 24, 37, 32)  # swizzle.ways, class seed 0
WAYS = [1, 16, 8, 1, 32]
REASONS = ["d", "c", "c", "a", "b"]


# ---- place


def place_unchanged(base, row, sector, span):
    return base + row * span + sector * 16


def place_relative(base, row, sector, span):
    offset = row * span + sector * 16
    return base + (offset ^ (offset >> 3 & span - 16))


def place_without_base(base, row, sector, span):
    offset = row * span + sector * 16
    return offset ^ (offset >> 3 & span - 16)


def place_by_row(base, row, sector, span):
    return base + row * span + (sector ^ row % (span // 16)) * 16


def place_with_one_mask(base, row, sector, span):
    address = base + row * span + sector * 16
    return address ^ (address >> 3 & 112)


def place_in_sectors(base, row, sector, span):
    address = base + row * span + sector * 16
    return (address ^ (address >> 3 & span - 16)) // 16


def place_by_lines(base, row, sector, span):
    line, rest = divmod(base + row * span, 128)
    return 128 * line + rest + 16 * (sector ^ line % (span // 16))


def place_bit_by_bit(base, row, sector, span):
    address = base + row * span + sector * 16
    for bit in range({32: 1, 64: 2, 128: 3}[span]):
        if address & 1 << 7 + bit:
            address ^= 1 << 4 + bit
    return np.int64(address)


# ---- widest


def widest_that_takes_it(row_bytes):
    return 128 if row_bytes <= 128 else 0


def narrowest_that_takes_it(row_bytes):
    return next((span for span in (32, 64, 128) if row_bytes <= span), 0)


def widest_of_one_box(row_bytes):
    return row_bytes if row_bytes in (32, 64, 128) else 0


def narrowest_that_fills_it(row_bytes):
    return next((span for span in (32, 64, 128) if row_bytes % span == 0), 0)


def widest_by_its_name(row_bytes):
    return next((f"B{span}" for span in (128, 64, 32) if row_bytes % span == 0), None)


def widest_by_division(row_bytes):
    return max((span for span in (32, 64, 128) if row_bytes % span == 0), default=0)


def widest_by_its_lowest_bit(row_bytes):
    lowest = row_bytes & -row_bytes
    return min(lowest, 128) if lowest >= 32 else 0


# ---- read_tile: the part before the reading is the same for all


@device
def arrive_of(tile, full, tensor_map, x, y, size):
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], size)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)


@kernel
def read_as_it_lies(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        out[k // COLS, k % COLS] = tile[k // COLS, k % COLS]


@kernel
def read_elements_exchanged(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, j ^ i]


@kernel
def read_with_sectors_of_32_bytes(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 16 ^ i) * 16 % COLS + j % 16]


@kernel
def read_row_first(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, y, x, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 8 ^ i) * 8 + j % 8]


@kernel
def read_of_the_example(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, 64, 8, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 8 ^ i) * 8 + j % 8]


@kernel
def read_without_wait(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    cuda.syncthreads()
    for k in range(thread, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 8 ^ i) * 8 + j % 8]


@kernel
def read_at_128(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        i, j = k // COLS, k % COLS
        out[i, j] = tile[i, (j // 8 ^ i) * 8 + j % 8]


@kernel
def read_by_address(tensor_map, x, y, out):
    tile = cuda.shared.array(TILE, np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, TILE_BYTES)
    for k in range(cuda.threadIdx.x, ROWS * COLS, cuda.blockDim.x):
        out[k // COLS, k % COLS] = tile[k ^ (k >> 3 & 56)]


@kernel
def read_from_the_other_side(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, 8, 8), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, TILE_BYTES)
    thread = cuda.threadIdx.x
    if thread < 64:
        row = thread // 8
        physical = thread % 8
        for element in range(8):
            out[row, (physical ^ row) * 8 + element] = tile[row, physical, element]


# ---- read_shifted


@kernel
def shifted_as_it_lies(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, LINE), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer[first], full, tensor_map, x, y, ROWS * LINE)
    for k in range(cuda.threadIdx.x, ROWS * LINE, cuda.blockDim.x):
        out[k // LINE, k % LINE] = buffer[first + k // LINE, k % LINE]


@kernel
def shifted_by_row(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, LINE), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer[first], full, tensor_map, x, y, ROWS * LINE)
    for k in range(cuda.threadIdx.x, ROWS * LINE, cuda.blockDim.x):
        i, j = k // LINE, k % LINE
        out[i, j] = buffer[first + i, (j // 16 ^ i % 8) * 16 + j % 16]


@kernel
def shifted_by_three(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, LINE), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer[first], full, tensor_map, x, y, ROWS * LINE)
    for k in range(cuda.threadIdx.x, ROWS * LINE, cuda.blockDim.x):
        i, j = k // LINE, k % LINE
        out[i, j] = buffer[first + i, (j // 16 ^ (i + 3) % 8) * 16 + j % 16]


@kernel
def shifted_to_the_start(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, LINE), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer, full, tensor_map, x, y, ROWS * LINE)
    for k in range(cuda.threadIdx.x, ROWS * LINE, cuda.blockDim.x):
        i, j = k // LINE, k % LINE
        out[i, j] = buffer[first + i, (j // 16 ^ (first + i) % 8) * 16 + j % 16]


@kernel
def shifted_promises_the_buffer(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, LINE), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer[first], full, tensor_map, x, y, LINES * LINE)
    for k in range(cuda.threadIdx.x, ROWS * LINE, cuda.blockDim.x):
        i, j = k // LINE, k % LINE
        out[i, j] = buffer[first + i, (j // 16 ^ (first + i) % 8) * 16 + j % 16]


@kernel
def shifted_by_address(tensor_map, x, y, first, out):
    buffer = cuda.shared.array(BUFFER, np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer[first * LINE :], full, tensor_map, x, y, ROWS * LINE)
    for k in range(cuda.threadIdx.x, ROWS * LINE, cuda.blockDim.x):
        address = first * LINE + k
        out[k // LINE, k % LINE] = buffer[address ^ (address >> 3 & 112)]


@kernel
def shifted_a_row_for_each_warp(tensor_map, x, y, first, out):
    buffer = cuda.shared.array((LINES, 8, 16), np.uint8, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(buffer[first], full, tensor_map, x, y, ROWS * LINE)
    lane = cuda.threadIdx.x % 32
    for i in range(cuda.threadIdx.x // 32, ROWS, cuda.blockDim.x // 32):
        for quarter in range(4):
            j = 32 * quarter + lane
            out[i, j] = buffer[first + i, j // 16 ^ (first + i) & 7, j % 16]


# ---- transpose_tile


@kernel
def transpose_as_it_lies(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k % SIDE, k // SIDE
        out[j, i] = tile[i, j]


@kernel
def transpose_not_at_all(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k // SIDE, k % SIDE
        out[i, j] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]


@kernel
def transpose_down_a_column(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k % SIDE, k // SIDE
        out[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]


@kernel
def transpose_through_a_second_tile(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    turned = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k // SIDE, k % SIDE
        turned[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        out[k // SIDE, k % SIDE] = turned[k // SIDE, k % SIDE]


@kernel
def transpose_of_eight_rows(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k % SIDE, k // SIDE
        out[j, i] = tile[i, ((j // 4 ^ i) * 4 + j % 4) % SIDE] if i < 8 else tile[i, j]


@kernel
def transpose_without_wait(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], SIDE * SIDE * 4)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
    for k in range(thread, SIDE * SIDE, cuda.blockDim.x):
        i, j = k % SIDE, k // SIDE
        out[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]


@kernel
def transpose_in_blocks(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, 8, 4), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    lane = cuda.threadIdx.x % 32
    warp = cuda.threadIdx.x // 32
    row = 8 * warp + lane // 4
    for sector in range(8):
        out[4 * sector + lane % 4, row] = tile[row, sector ^ lane // 4, lane % 4]


@kernel
def transpose_eight_rows_at_a_time(tensor_map, x, y, out):
    tile = cuda.shared.array(SQUARE, np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i = k // 256 * 8 + k % 8
        j = k // 8 % SIDE
        out[j, i] = tile[SIDE * i + (j ^ 4 * (i & 7))]


@kernel
def transpose_by_each_warp(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    lane = cuda.threadIdx.x % 32
    for block in range(32):
        i = block % 4 * 8 + lane % 8
        j = block // 4 * 4 + lane // 8
        out[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]


@kernel
def transpose_by_one_thread(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    if cuda.threadIdx.x == 0:
        for i in range(SIDE):
            for j in range(SIDE):
                out[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]


@kernel
def transpose_through_a_padded_tile(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    turned = cuda.shared.array((SIDE, 33), np.float32)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k // SIDE, k % SIDE
        turned[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        out[k // SIDE, k % SIDE] = turned[k // SIDE, k % SIDE]


@kernel
def transpose_along_rows(tensor_map, x, y, out):
    tile = cuda.shared.array((SIDE, SIDE), np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    for k in range(cuda.threadIdx.x, SIDE * SIDE, cuda.blockDim.x):
        i, j = k // SIDE, k % SIDE
        out[j, i] = tile[i, (j // 4 ^ i % 8) * 4 + j % 4]


@kernel
def transpose_along_diagonals(tensor_map, x, y, out):
    tile = cuda.shared.array(SQUARE, np.float32, alignment=1024)
    full = ptx.mbarrier_array(1)
    arrive_of(tile, full, tensor_map, x, y, SIDE * SIDE * 4)
    lane = cuda.threadIdx.x % 32
    for k in range(cuda.threadIdx.x // 32, SIDE, cuda.blockDim.x // 32):
        place = lane * SIDE + (lane ^ k)  # where lane i finds its element: another bank for each lane
        logical = place ^ (place >> 3 & 28)
        out[logical % SIDE, lane] = tile[place]


CULPRITS = {"bug_a": "c", "bug_b": "a", "bug_c": "d", "bug_d": "b"}
PAIRS = list(zip(WAYS, REASONS, strict=True))

WRONG = {
    "swizzle.ways": [
        Wrong([(32, "b"), *PAIRS[1:]], "ways", "pitch 0: not 32"),
        Wrong([(32 // way, reason) for way, reason in PAIRS], "ways", "pitch 16: not 2"),
        Wrong([(way, "a" if way == 1 else "b") for way in WAYS], "reasons", "pitch 16: not b"),
        Wrong([(way, "d") for way in WAYS], "reasons", "pitch 32: not d"),
        Wrong([(2 * way, reason) for way, reason in PAIRS], "reasons", "the number comes first"),
        Wrong(WAYS, "ways", "1 is no pair"),
        Wrong([(way, "because") for way in WAYS], "reasons", "'because' is none of a, b, c, d"),
    ],
    "swizzle.place": [
        Wrong(place_unchanged, "aligned", "(0, 1, 0, 128) should give 144, gave 128"),
        Wrong(place_relative, "shifted", "right for"),
        Wrong(place_without_base, "aligned", "(1024, 0, 0, 128) should give 1024, gave 0"),
        Wrong(place_by_row, "narrow", "(0, 1, 0, 64) should give 64, gave 80"),
        Wrong(place_with_one_mask, "narrow", "right for"),
        Wrong(place_in_sectors, "aligned", "(0, 0, 1, 128) should give 16, gave 1"),
        Wrong(128, "aligned", "type int"),
    ],
    "swizzle.widest": [
        Wrong(widest_that_takes_it, "one box", "(16) should give 0, gave 128"),
        Wrong(narrowest_that_takes_it, "one box", "(16) should give 0, gave 32"),
        Wrong(widest_of_one_box, "more boxes", "(160) should give 32, gave 0"),
        Wrong(narrowest_that_fills_it, "one box", "(64) should give 64, gave 32"),
        Wrong(widest_by_its_name, "one box", "returns nothing"),
    ],
    "swizzle.read": [
        Wrong(read_as_it_lies, "bytes", "out[1, 0] should be 1216, is 1224"),
        Wrong(read_elements_exchanged, "bytes", "out[1, 0] should be 1216, is 1225"),
        Wrong(read_with_sectors_of_32_bytes, "bytes", "bytes right for x = 64, y = 8"),
        Wrong(read_row_first, "bytes", "bytes right for x = 64, y = 8"),
        Wrong(read_of_the_example, "bytes", "bytes right for"),
        Wrong(read_without_wait, "order", "read-before-wait"),
        Wrong(read_at_128, "bytes", "0 of 1,024 bytes right"),
    ],
    "swizzle.shifted": [
        Wrong(shifted_as_it_lies, "bytes", "first line 3"),
        Wrong(shifted_by_row, "bytes", "first line 3"),
        Wrong(shifted_by_three, "bytes", "bytes right for x = 128, y = 4, first line"),
        Wrong(shifted_to_the_start, "bytes", "first line 3"),
        Wrong(shifted_promises_the_buffer, "order", "too-many-bytes"),
    ],
    "swizzle.transpose": [
        Wrong(transpose_as_it_lies, "bytes", "bytes right for x = 64, y = 16"),
        Wrong(transpose_not_at_all, "bytes", "out[0, 1] should be"),
        Wrong(transpose_down_a_column, "banks", "reads in up to 4 turns where one would do"),
        Wrong(transpose_through_a_second_tile, "banks", "writes in up to 32 turns where one would do"),
        Wrong(transpose_along_rows, "banks", "to 32 sectors of global memory at a time, where 4 would do"),
        Wrong(transpose_by_each_warp, "banks", "128 turns for all that the threads ask; 96 are plenty"),
        Wrong(transpose_by_one_thread, "banks", "1024 turns for all that the threads ask; 96 are plenty"),
        Wrong(transpose_along_diagonals, "banks", "to 32 sectors of global memory at a time, where 4 would do"),
        Wrong(transpose_of_eight_rows, "bytes", "bytes right for x = 64, y = 16"),
        Wrong(transpose_without_wait, "order", "read-before-wait"),
    ],
    "swizzle.hunt": [
        Wrong(CULPRITS | {"bug_a": "b"}, "culprits", "3 of 4 right; bug_a: not b"),
        Wrong(CULPRITS | {"bug_b": "f"}, "culprits", "bug_b: not f"),
        Wrong(CULPRITS | {"bug_c": "e"}, "culprits", "bug_c: not e"),
        Wrong(CULPRITS | {"bug_d": "c"}, "culprits", "bug_d: not c"),
        Wrong(["c", "a", "d"], "culprits", "3 numbers"),
        Wrong({"bug_a": "c"}, "culprits", "no entry for bug_b"),
        Wrong(CULPRITS | {"bug_d": "swizzle"}, "culprits", "'swizzle' is none of a, b, c, d, e, f"),
    ],
}

RIGHT = {
    "swizzle.ways": [
        PAIRS,
        {f"pitch {pitch}": [way, reason.upper()] for pitch, (way, reason) in zip(PITCHES, PAIRS, strict=True)},
        [(np.int64(gcd(pitch, 32) if pitch else 1), reason) for pitch, reason in zip(PITCHES, REASONS, strict=True)],
    ],
    "swizzle.place": [place_by_lines, place_bit_by_bit],
    "swizzle.widest": [widest_by_division, widest_by_its_lowest_bit],
    "swizzle.read": [read_by_address, read_from_the_other_side],
    "swizzle.shifted": [shifted_by_address, shifted_a_row_for_each_warp],
    "swizzle.transpose": [transpose_in_blocks, transpose_eight_rows_at_a_time, transpose_through_a_padded_tile],
    "swizzle.hunt": [["c", "a", "d", "b"], {bug: letter.upper() for bug, letter in CULPRITS.items()}],
}
