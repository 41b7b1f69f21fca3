"""The reference swizzle against its description bit by bit, and against CuTe's definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import Swizzle, TensorMap
from tmalab.swizzle import PATTERNS, chunk_order, shared_layout, swizzle_address, swizzle_sector

BITS = {Swizzle.NONE: [], Swizzle.B32: [(4, 7)], Swizzle.B64: [(4, 7), (5, 8)], Swizzle.B128: [(4, 7), (5, 8), (6, 9)]}
modes = st.sampled_from(list(Swizzle))
addresses = st.integers(0, 232_447)


def cute(address: int, bits: int, base: int, shift: int) -> int:
    """CuTe's Swizzle<bits, base, shift>: the `bits` bits from base + shift on are XORed into those from base on."""
    return address ^ ((address >> base + shift) % 2**bits << base)


@given(addresses, modes)
def test_each_low_bit_is_xored_with_the_bit_three_above(address, mode):
    expected = address
    for low, high in BITS[mode]:
        expected ^= (address >> high & 1) << low
    assert swizzle_address(address, mode) == expected


@given(addresses, modes)
def test_swizzles_are_cutes(address, mode):
    assert swizzle_address(address, mode) == cute(address, int(mode), 4, 3)


@given(addresses, modes)
def test_swizzling_twice_gives_the_address_back(address, mode):
    assert swizzle_address(swizzle_address(address, mode), mode) == address


@given(addresses, modes)
def test_a_pattern_repeats_after_its_period_and_not_before(address, mode):
    period = PATTERNS[mode].period
    assert swizzle_address(address + period, mode) == swizzle_address(address, mode) + period
    if mode:
        shifted = [swizzle_address(a + period // 2, mode) - period // 2 for a in range(0, period, 16)]
        assert shifted != [swizzle_address(a, mode) for a in range(0, period, 16)]


@given(addresses, modes)
def test_a_chunk_stays_within_its_span(address, mode):
    span = PATTERNS[mode].span or 16
    assert swizzle_address(address, mode) // span == address // span


def test_arrays_are_swizzled_like_ints():
    many = np.arange(0, 4096, 16)
    assert swizzle_address(many, Swizzle.B64).tolist() == [swizzle_address(int(a), Swizzle.B64) for a in many]


def test_a_128b_sector_is_column_xor_row():
    assert all(swizzle_sector(r, s, Swizzle.B128) == s ^ (r % 8) for r in range(16) for s in range(8))


@pytest.mark.parametrize(
    ("mode", "moved"),
    [(Swizzle.NONE, [0] * 8), (Swizzle.B32, [0, 0, 0, 0, 1, 1, 1, 1]), (Swizzle.B64, [0, 0, 1, 1, 2, 2, 3, 3])],
)
def test_narrower_swizzles_step_every_fourth_or_second_row(mode, moved):
    assert [swizzle_sector(row, 0, mode) for row in range(8)] == moved


def test_a_four_row_box_has_rows_xor_0_1_2_3():
    """cases.md C7."""
    tm = TensorMap(6, 0, (64, 4), (128,), (64, 4), swizzle=Swizzle.B128)
    columns = shared_layout(tm) % 128 // 16
    assert columns.tolist() == [[c ^ row for c in range(8)] for row in range(4)]


def test_the_layout_of_a_narrow_box_keeps_the_pitch():
    tm = TensorMap(6, 0, (64, 4), (128,), (16, 4), swizzle=Swizzle.B128)
    assert shared_layout(tm, 1024).tolist() == [[1024, 1040], [1168, 1152], [1312, 1328], [1456, 1440]]


def test_the_layout_of_a_base_off_the_pattern_is_shifted_by_whole_rows():
    tm = TensorMap(6, 0, (64, 4), (128,), (64, 4), swizzle=Swizzle.B128)
    assert (shared_layout(tm, 128) % 128 // 16)[0].tolist() == [1, 0, 3, 2, 5, 4, 7, 6]


def test_an_unswizzled_layout_is_dense():
    tm = TensorMap(6, 0, (64, 4, 2), (128, 512), (24, 2, 2))
    assert shared_layout(tm).reshape(-1).tolist() == list(range(0, 4 * 48, 16))


def test_the_rows_of_an_interleaved_tile_follow_each_other_whatever_the_swizzle():
    tm = TensorMap(6, 0, (8, 4, 2, 2), (128, 512, 1024), (8, 4, 1, 1), interleave=1, swizzle=Swizzle.B64)
    assert (tm.pitch, tm.shared_bytes) == (128, 512)
    narrow = TensorMap(6, 0, (8, 4, 2, 2), (128, 512, 1024), (8, 4, 1, 1), (8, 1, 1, 1), interleave=1, swizzle=3)
    assert shared_layout(narrow, 128).reshape(-1).tolist() == [144, 128, 176, 160]  # 16 bytes each, in the second line


def test_a_tile_of_slices_takes_whole_spans_in_which_its_last_chunk_may_lie_anywhere():
    tm = TensorMap(6, 0, (8, 4, 2), (128, 512), (8, 1, 1), (8, 1, 1), interleave=1, swizzle=Swizzle.B128)
    assert (tm.transaction_bytes, tm.shared_bytes) == (16, 128)
    assert shared_layout(tm, 7 * 128).tolist() == [[7 * 128 + 7 * 16]]


def test_a_cached_order_of_chunks_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        chunk_order(8, 3, 128)[0] = 5
