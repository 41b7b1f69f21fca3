"""Fragments: the formulas of PTX ISA for each thread and register, written out."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.wgmma_fragments import a_of, matrix_of, place_of, registers_of


@pytest.mark.parametrize("n", [8, 24, 256])
def test_each_register_of_the_accumulator_is_where_ptx_isa_has_it(n):
    matrix = np.arange(64 * n).reshape(64, n)
    registers = registers_of(matrix)
    assert registers.shape == (128, n // 2)
    for thread in range(128):
        warp, lane = thread // 32, thread % 32
        for i in range(n // 2):
            row = 16 * warp + (lane >> 2) + (8 if i & 2 else 0)
            column = 8 * (i // 4) + 2 * (lane & 3) + (i & 1)
            assert registers[thread, i] == matrix[row, column]
            assert place_of(thread, i) == (row, column)


def test_matrix_and_registers_are_inverse():
    matrix = np.random.default_rng(1).random((64, 40))
    assert np.array_equal(matrix_of(registers_of(matrix)), matrix)


def test_each_word_of_a_holds_the_two_elements_that_ptx_isa_has_there():
    a = np.arange(64 * 16, dtype=np.uint16).reshape(64, 16)
    words = np.zeros((128, 4), np.uint32)
    for thread in range(128):
        warp, lane = thread // 32, thread % 32
        for i in range(8):
            row = 16 * warp + lane // 4 + (8 if i in (2, 3, 6, 7) else 0)
            column = 2 * (lane % 4) + (i & 1) + (8 if i >= 4 else 0)
            words[thread, i // 2] |= np.uint32(a[row, column]) << np.uint32(16 * (i & 1))
    assert np.array_equal(a_of(words), a)
