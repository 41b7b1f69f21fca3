"""Canonical layouts: what the copy engine lays down in shared memory is what a descriptor of the same layout reads.

The copy is `reference.load`, which agrees with recordings of the hardware; matrices hold a different number everywhere.
"""

from __future__ import annotations

import numpy as np
import pytest

from tmalab import Swizzle, TensorMap, reference
from tmalab.wgmma_descriptor import WgmmaDescriptor
from tmalab.wgmma_layout import operand

SPANS = {Swizzle.B128: 128, Swizzle.B64: 64, Swizzle.B32: 32}
BASE = 4096


def numbered(rows: int, columns: int) -> np.ndarray:
    return np.arange(rows * columns, dtype=np.uint16).reshape(rows, columns)


def loaded(matrix: np.ndarray, box: tuple[int, int], swizzle: Swizzle) -> np.ndarray:
    """Shared memory after the matrix was loaded by boxes, row by row of boxes, one behind the other from BASE on."""
    memory = np.full(1 << 16, 0xFA, np.uint8)
    tm, place = TensorMap.from_array(matrix, box, swizzle), BASE
    for y in range(0, matrix.shape[0], box[0]):
        for x in range(0, matrix.shape[1], box[1]):
            bytes = matrix.reshape(-1).view(np.uint8)
            image = reference.load(tm.with_address(0), (x, y), bytes, place)
            memory[place : place + len(image.data)][image.written] = image.data[image.written]
            place += tm.shared_bytes
    return memory


@pytest.mark.parametrize("length", [8, 64, 128, 256])
@pytest.mark.parametrize("swizzle", SPANS)
def test_rows_along_k_with_a_swizzle(swizzle, length):
    span = SPANS[swizzle]
    matrix = numbered(length, span // 2)
    memory = loaded(matrix, (length, span // 2), swizzle)
    for column in range(0, span // 2, 16):
        descriptor = WgmmaDescriptor(BASE + 2 * column, swizzle, stride_bytes=8 * span)
        assert np.array_equal(operand(memory, descriptor, length), matrix[:, column : column + 16])


def test_rows_along_k_without_a_swizzle_lie_in_boxes_of_16_bytes():
    matrix = numbered(64, 64)
    memory = np.zeros(1 << 16, np.uint8)
    for number in range(8):
        column = loaded(np.ascontiguousarray(matrix[:, 8 * number : 8 * number + 8]), (64, 8), Swizzle.NONE)
        place = BASE + 1024 * number
        memory[place : place + 1024] = column[BASE : BASE + 1024]
    for step in range(4):
        descriptor = WgmmaDescriptor(BASE + 2048 * step, Swizzle.NONE, stride_bytes=128, leading_bytes=1024)
        assert np.array_equal(operand(memory, descriptor, 64), matrix[:, 16 * step : 16 * step + 16])


@pytest.mark.parametrize("swizzle", SPANS)
def test_rows_along_m_or_n_with_a_swizzle(swizzle):
    span, length = SPANS[swizzle], 128
    stored = numbered(64, length)  # 64 rows of K, along which M or N runs
    memory = np.zeros(1 << 16, np.uint8)
    width, block = span // 2, 64 * span
    for number in range(length // width):
        part = np.ascontiguousarray(stored[:, number * width : (number + 1) * width])
        place = BASE + number * block
        memory[place : place + block] = loaded(part, (64, width), swizzle)[BASE : BASE + block]
    for step in range(4):
        place = BASE + 16 * span * step
        descriptor = WgmmaDescriptor(place, swizzle, stride_bytes=8 * span, leading_bytes=block)
        assert np.array_equal(operand(memory, descriptor, length, k_major=False), stored[16 * step : 16 * step + 16].T)


def test_rows_along_m_or_n_without_a_swizzle_count_the_two_strides_the_other_way_round():
    stored, memory = numbered(16, 64), np.zeros(1 << 16, np.uint8)
    for k in range(16):
        for chunk in range(8):
            place = BASE + k // 8 * 1024 + chunk * 128 + k % 8 * 16
            memory[place : place + 16] = stored[k, 8 * chunk : 8 * chunk + 8].view(np.uint8)
    descriptor = WgmmaDescriptor(BASE, Swizzle.NONE, stride_bytes=128, leading_bytes=1024)
    assert np.array_equal(operand(memory, descriptor, 64, k_major=False), stored.T)


def test_another_swizzle_reads_other_chunks():
    matrix = numbered(64, 64)
    memory = loaded(matrix, (64, 64), Swizzle.B128)
    unlike = operand(memory, WgmmaDescriptor(BASE, Swizzle.NONE, stride_bytes=1024, leading_bytes=16), 64)
    assert not np.array_equal(unlike, matrix[:, :16])
