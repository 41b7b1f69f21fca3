"""Answers to lesson 1 that are not the notebook's own: wrong ones, each to be refused for a named reason, and right ones.

Not for students: neither the release nor the package holds this file. `tests/grader` tries them all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import cuda

from tmalab import DataType, Swizzle, TensorMap, device, kernel, ptx

ROWS, COLS = 8, 64
TILE_BYTES = ROWS * COLS * 2
BOX_ROWS, BOX_COLS = ROWS + 2, COLS + 16


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: the part of the check that must refuse it, and a word of the reason that must be printed."""

    answer: object
    part: str
    reason: str


# ---- the questions with numbers

PLACES = ((1, 3), (3, 1), (3, 6), (3, 7), (7, 3), (7, 7))  # copy-2d.predict, class seed 0
FIELDS = {"data_type": 6, "global_dim": (128, 16), "global_strides": (256,), "box_dim": (64, 8), "swizzle": 3}


# ---- physical_sector


def sector_unchanged(row, sector, span):
    return sector


def sector_added(row, sector, span):
    return (sector + row) % (span // 16)


def sector_row_unbounded(row, sector, span):
    return sector ^ row


def sector_every_row(row, sector, span):
    return sector ^ row % (span // 16)


def sector_in_bytes(row, sector, span):
    address = row * span + sector * 16
    return (address ^ (address >> 3 & span - 16)) % span


def sector_endless(row, sector, span):
    while row >= 0:
        row += 1
    return sector


def sector_raises(row, sector, span):
    return [0, 1, 2, 3, 4, 5, 6, 7][sector ^ row]


def sector_float(row, sector, span):
    return float(sector ^ (row * span // 128) % (span // 16))


def sector_in_halves(row, sector, span):
    return sector_float(row, sector, span) / 2


def sector_by_lines(row, sector, span):
    return sector ^ (row * span // 128) % (span // 16)


def sector_by_table(row, sector, span):
    rows_in_line = 128 // span
    line = row // rows_in_line
    pattern = [[place ^ step for place in range(span // 16)] for step in range(span // 16)]
    return np.array(pattern)[line % len(pattern), sector]


# ---- copy_tile, wrong


@kernel
def tile_without_wait(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_one_waits(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_waits_once(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_try_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_wrong_parity(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 1)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_promises_elements(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], ROWS * COLS)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_promises_twice(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 2 * TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_without_syncthreads(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_expects_without_arriving(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_asked_for_by_all(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
    ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_row_first(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, y, x, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_of_the_example(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 64, 8, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_not_aligned(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_of_a_list(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
        ptx.mbarrier_wait_parity(full[0], 0)
        out[:] = np.array([row.tolist() for row in tile])


@kernel
def tile_endless(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    i = 0
    while i < ROWS * COLS:
        out[0, 0] = tile[0, 0]


@kernel
def tile_past_the_end(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i % COLS, i // COLS] = tile[i // COLS, i % COLS]


# ---- copy_tile, right


@kernel
def tile_with_helper(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    copy_out(tile, out, thread)


@device
def copy_out(tile, out, thread):
    for row in range(ROWS):
        for col in range(thread, COLS, cuda.blockDim.x):
            out[row, col] = tile[row, col]


@kernel
def tile_all_arrive(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], cuda.blockDim.x)
    cuda.syncthreads()
    if thread == 0:
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])  # before the promise: its own arrival is missing
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
    else:
        ptx.mbarrier_arrive(full[0])
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_one_waits_for_all(tensor_map, x, y, out):
    tile = cuda.shared.array((ROWS, COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, full[0])
        state = ptx.mbarrier_arrive(full[0])
        while not ptx.mbarrier_try_wait(full[0], state):
            pass
    cuda.syncthreads()  # carries what thread 0 has waited for to all others
    for i in range(thread, ROWS * COLS, cuda.blockDim.x):
        out[i // COLS, i % COLS] = tile[i // COLS, i % COLS]


@kernel
def tile_other_issuer(tensor_map, x, y, out):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    bars = ptx.mbarrier_array(2)
    thread = cuda.threadIdx.x
    if thread == 5:
        ptx.mbarrier_init(bars[1], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 77:
        ptx.mbarrier_arrive_expect_tx(bars[1], 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, x, y, bars[1])
    while not ptx.mbarrier_test_wait_parity(bars[1], 0):
        pass
    row = thread // 16
    for col in range(thread % 16 * 4, thread % 16 * 4 + 4):
        out[row, col] = np.float32(tile[row, col])


# ---- copy_rim, wrong


@kernel
def rim_at_the_corner(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], BOX_ROWS * BOX_COLS * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, tile_col * COLS, tile_row * ROWS, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]


@kernel
def rim_clamped(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], BOX_ROWS * BOX_COLS * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, max(tile_col * COLS - 8, 0), max(tile_row * ROWS - 1, 0), full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]


@kernel
def rim_one_column(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], BOX_ROWS * BOX_COLS * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, tile_col * COLS - 1, tile_row * ROWS - 1, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]


@kernel
def rim_promises_the_tile(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if thread == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], TILE_BYTES)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, tile_col * COLS - 8, tile_row * ROWS - 1, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]


@kernel
def rim_promises_what_lies_inside(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    x = tile_col * COLS - 8
    y = tile_row * ROWS - 1
    if thread == 0:
        rows = BOX_ROWS if y >= 0 else BOX_ROWS - 1
        cols = BOX_COLS if x >= 0 else BOX_COLS - 8
        ptx.mbarrier_arrive_expect_tx(full[0], rows * cols * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, x, y, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]


@kernel
def rim_without_wait(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], BOX_ROWS * BOX_COLS * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, tile_col * COLS - 8, tile_row * ROWS - 1, full[0])
    cuda.syncthreads()
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        out[i // BOX_COLS, i % BOX_COLS] = box[i // BOX_COLS, i % BOX_COLS]


# ---- copy_rim, right


@kernel
def rim_row_by_row(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((10, 80), np.float16, alignment=128)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.mbarrier_arrive_expect_tx(full[0], 1600)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, 64 * tile_col - 8, 8 * tile_row - 1, full[0])
    cuda.syncthreads()
    ptx.mbarrier_wait_parity(full[0], 0)
    if thread < 80:
        for row in range(10):
            out[row, thread] = box[row, thread]


@kernel
def rim_asked_for_by_a_warp(tensor_map, tile_row, tile_col, out):
    box = cuda.shared.array((BOX_ROWS, BOX_COLS), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    thread = cuda.threadIdx.x
    if thread < 32 and ptx.elect_sync():
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_expect_tx(full[0], BOX_ROWS * BOX_COLS * 2)
        ptx.cp_async_bulk_tensor_2d(box, tensor_map, (tile_col * 8 - 1) * 8, tile_row * ROWS - 1, full[0])
        ptx.mbarrier_arrive(full[0])
    cuda.syncthreads()
    while not ptx.mbarrier_try_wait_parity(full[0], 0):
        pass
    for i in range(thread, BOX_ROWS * BOX_COLS, cuda.blockDim.x):
        row = i // BOX_COLS
        col = i - row * BOX_COLS
        out[row, col] = box[row, col]


WRONG = {
    "copy-2d.count": [
        Wrong([4096, 512, 1], "counts", "cp.async: not 512"),
        Wrong([4096, 1024, 64], "counts", "TMA: not 64"),
        Wrong([32, 8, 1], "counts", "element by element: not 32"),
        Wrong({"element by element": 8192, "cp.async": 1024, "TMA": 1}, "counts", "element by element: not 8192"),
        Wrong("one", "counts", "type str"),
    ],
    "copy-2d.map": [
        Wrong(FIELDS | {"swizzle": 128}, "fields", "swizzle: 128 is none of Swizzle"),
        Wrong(FIELDS | {"global_dim": (16, 128)}, "fields", "wrong order"),
        Wrong(FIELDS | {"box_dim": (8, 64)}, "fields", "box_dim: (8, 64) holds the right numbers in the wrong order"),
        Wrong(FIELDS | {"global_strides": (128,)}, "fields", "distance between neighbouring rows, in bytes"),
        Wrong(FIELDS | {"global_strides": (2, 256)}, "fields", "a stride for each but the innermost"),
        Wrong(FIELDS | {"data_type": 9}, "fields", "DataType.BFLOAT16"),
        Wrong(FIELDS | {"swizzle": 2}, "bytes", "refuse this map"),
        Wrong(FIELDS | {"box_dim": (128, 8)}, "bytes", "more than 128"),
        Wrong((128, 16), "fields", "type tuple"),
    ],
    "copy-2d.predict": [
        Wrong([sector for row, sector in PLACES], "sectors", "0 of 6 right"),
        Wrong([(sector + row) % 8 for row, sector in PLACES], "sectors", "0 of 6 right"),
        Wrong([row for row, sector in PLACES], "sectors", "row 1, sector 3: not 1"),
        Wrong([sector ^ row for row, sector in PLACES][:5], "sectors", "5 numbers"),
        Wrong([f"{sector ^ row}" for row, sector in PLACES], "sectors", "no whole number"),
    ],
    "copy-2d.swizzle": [
        Wrong(sector_unchanged, "span 128", "(1, 0, 128) should give 1, gave 0"),
        Wrong(sector_added, "span 128", "right for"),
        Wrong(sector_row_unbounded, "span 128", "(8, 0, 128) should give 0, gave 8"),
        Wrong(sector_every_row, "span 64", "(1, 0, 64) should give 0, gave 1"),
        Wrong(sector_in_bytes, "span 128", "(0, 1, 128) should give 1, gave 16"),
        Wrong(sector_endless, "span 128", "still running"),
        Wrong(sector_raises, "span 128", "IndexError"),
        Wrong(sector_in_halves, "span 128", "gave 0.5"),
        Wrong(7, "span 128", "type int"),
    ],
    "copy-2d.kernel": [
        Wrong(tile_without_wait, "order", "read-before-wait"),
        Wrong(tile_one_waits, "order", "read-before-wait"),
        Wrong(tile_waits_once, "order", "wait-ignored"),
        Wrong(tile_wrong_parity, "order", "wrong-parity"),
        Wrong(tile_promises_elements, "order", "too-few-bytes"),
        Wrong(tile_promises_twice, "order", "too-many-bytes"),
        Wrong(tile_without_syncthreads, "order", "barrier-not-initialised"),
        Wrong(tile_expects_without_arriving, "order", "missing-arrival"),
        Wrong(tile_asked_for_by_all, "order", "over-arrival"),
        Wrong(tile_row_first, "bytes", "out[0, 0] should be"),
        Wrong(tile_of_the_example, "bytes", "bytes right for x = "),
        Wrong(tile_not_aligned, "order", "misaligned"),
        Wrong(tile_of_a_list, "compiles", "no lists, dicts or sets"),
        Wrong(tile_endless, "order", "endless_loop"),
        Wrong(tile_past_the_end, "order", "out-of-bounds"),
        Wrong("copy_tile", "compiles", "type str"),
    ],
    "copy-2d.rim": [
        Wrong(rim_at_the_corner, "bytes", "out[0, 1] should be 0, is 1"),
        Wrong(rim_clamped, "bytes", "out[0, 1] should be 0, is 1"),
        Wrong(rim_one_column, "order", "illegal_instruction"),
        Wrong(rim_promises_the_tile, "order", "too-few-bytes"),
        Wrong(rim_promises_what_lies_inside, "order", "too-few-bytes"),
        Wrong(rim_without_wait, "order", "read-before-wait"),
    ],
}

RIGHT = {
    "copy-2d.count": [[4096, 1024, 1], {"TMA": np.int64(1), "cp.async": 4096 * 4 // 16, "element by element": 4096}],
    "copy-2d.map": [
        FIELDS,
        TensorMap.from_array(np.zeros((16, 128), np.float16), (8, 64), swizzle=Swizzle.B128),
        {name: list(value) if isinstance(value, tuple) else np.int64(value) for name, value in FIELDS.items()},
        FIELDS | {"data_type": DataType.FLOAT16, "swizzle": Swizzle.B128},
    ],
    "copy-2d.predict": [
        np.array([sector ^ row for row, sector in PLACES]),
        tuple(sector ^ row for row, sector in PLACES),
        {f"row {row}, sector {sector}": sector ^ row for row, sector in PLACES},
    ],
    "copy-2d.swizzle": [sector_by_lines, sector_by_table, sector_float],
    "copy-2d.kernel": [tile_with_helper, tile_all_arrive, tile_one_waits_for_all, tile_other_issuer],
    "copy-2d.rim": [rim_row_by_row, rim_asked_for_by_a_warp],
}
