"""TF32 rounding: the H200's cases, and an oracle in exact arithmetic."""

import struct

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from slow_copy import tf32

from tmalab.tf32 import round_to_tf32


def rounded(bits: int) -> int:
    return int(round_to_tf32(np.array([bits], np.uint32))[0])


@given(st.integers(0, 2**32 - 1))
def test_rounding_takes_the_nearer_neighbour(bits):
    assert struct.pack("<I", rounded(bits)) == tf32(struct.pack("<I", bits))


def test_ties_go_to_even():
    assert [rounded(b) for b in (0x3F801000, 0x3F803000)] == [0x3F800000, 0x3F804000]


def test_every_nan_becomes_7fffe000():
    assert {rounded(b) for b in (0x7F800001, 0x7FC00000, 0xFF800001, 0xFFFFFFFF)} == {0x7FFFE000}


def test_infinities_stay_and_the_largest_values_reach_them():
    assert [rounded(b) for b in (0x7F800000, 0xFF800000)] == [0x7F800000, 0xFF800000]
    assert [rounded(b) for b in (0x7F7FFFFF, 0xFF7FF000)] == [0x7F800000, 0xFF800000]


def test_subnormals_are_kept_to_the_last_bit_that_tf32_has():
    assert [rounded(b) for b in (0x00002000, 0x80002000, 0x00000FFF)] == [0x00002000, 0x80002000, 0]
