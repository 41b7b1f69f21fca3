"""Bank conflicts: public cases, each also counted by a second, plain way."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmalab import DataType, Swizzle, TensorMap, reference
from tmalab.banks import bank_of, conflicts, tile_addresses


@pytest.mark.parametrize(("pitch", "ways"), [(16, 16), (32, 32), (33, 1), (64, 32)])
def test_32_lanes_down_a_float32_column_conflict_by_the_rows_pitch(pitch, ways):
    """Case D1."""
    found = conflicts([4 * pitch * lane for lane in range(32)])
    assert (found.ways, found.wavefronts, len(found.phases)) == (ways, ways, 1)


def tile(columns: int, rows: int, swizzle: Swizzle) -> TensorMap:
    return TensorMap(DataType.FLOAT16, 0x1000, (columns, rows), (2 * columns,), (columns, rows), swizzle=swizzle)


@pytest.mark.parametrize("column", range(8))
def test_eight_rows_of_a_128_byte_group_have_no_conflict_and_eight_256_byte_rows_two_ways(column):
    """Case D2. No map has the 256-byte row: its span is too long for any swizzle."""
    group = tile(64, 8, Swizzle.B128)
    assert conflicts(tile_addresses(group, range(8), 8 * column), 16).ways == 1
    plain = [256 * row + 16 * column for row in range(8)]
    swizzled = [address ^ (address >> 3 & 0b111_0000) for address in plain]
    assert conflicts(swizzled, 16).ways == 2
    assert conflicts(plain, 16).ways == 8


def test_lanes_that_ask_for_one_word_share_it():
    assert conflicts([64] * 32).ways == 1
    assert conflicts([lane // 2 * 2 for lane in range(32)], size=2).ways == 1  # two halves of each word


@pytest.mark.parametrize(("size", "phases"), [(1, 1), (2, 1), (4, 1), (8, 2), (16, 4)])
def test_a_phase_carries_128_bytes(size, phases):
    found = conflicts([size * lane for lane in range(32)], size)
    assert (found.ways, len(found.phases), found.wavefronts) == (1, phases, phases)
    assert sum((phase.lanes for phase in found.phases), ()) == tuple(range(32))


def test_lanes_of_different_phases_are_not_in_each_others_way():
    addresses = [128 * (lane // 8) + 16 * (lane % 8) for lane in range(32)]  # every quarter fills a line
    assert conflicts(addresses, 16).ways == 1
    assert conflicts(addresses[::8] * 8, 16).ways == 4  # the four lines' first sectors within each quarter


def test_a_conflict_says_which_words_meet_in_which_bank():
    found = conflicts([0, 128, 4, 260], 4)
    assert found.phases[0].words == {0: (0, 128), 1: (4, 260)}
    assert found.by_bank == (2, 2, *[0] * 30)
    assert str(found) == "4 lanes of 4 bytes: 2-way conflict (turns: 2)"
    assert str(conflicts([16 * lane for lane in range(32)], 16)).endswith("no conflict (turns: 4, in 4 parts)")


@given(st.data())
def test_the_turns_are_those_of_a_plain_count(data):
    size = data.draw(st.sampled_from([1, 2, 4, 8, 16]))
    cells = st.integers(0, 2047 // size)
    addresses = [size * n for n in data.draw(st.lists(cells, min_size=1, max_size=32))]
    together, expected = min(32, 128 // size), []
    for first in range(0, len(addresses), together):
        touched = {byte // 4 for a in addresses[first : first + together] for byte in range(a, a + size)}
        expected.append(max(Counter(word % 32 for word in touched).values()))
    found = conflicts(addresses, size)
    assert [phase.ways for phase in found.phases] == expected
    assert (found.ways, found.wavefronts) == (max(expected), sum(expected))


@pytest.mark.parametrize("swizzle", list(Swizzle))
def test_a_tiles_element_lies_where_a_load_puts_it(swizzle):
    tm = TensorMap(DataType.FLOAT16, 0x1000, (16, 8, 4), (32, 256), (16, 4, 2), swizzle=swizzle)
    order = reference.load_footprint(tm, (0, 0, 0), 1024).shared  # of sectors, in delivery order
    for z, y, x in [(0, 0, 0), (0, 3, 7), (1, 2, 9), (1, 3, 15)]:
        sector, within = divmod(2 * (z * 64 + y * 16 + x), 16)
        assert tile_addresses(tm, z, y, x, shared_address=1024) == [order[sector] + within]


def test_a_bank_is_4_bytes_and_there_are_32():
    assert [bank_of(address) for address in (0, 3, 4, 124, 128, 1024 + 36)] == [0, 0, 1, 31, 0, 9]


@pytest.mark.parametrize(
    ("addresses", "size", "words"),
    [
        ([0], 12, "size is 12 bytes: a lane takes one of 1, 2, 4, 8, 16"),
        ([], 4, "0 addresses: one access of a warp has 1 to 32"),
        (range(33), 1, "33 addresses"),
        ([0, 24], 16, "lane 1 is 0x18, no multiple of 16.* nearest below is 0x10"),
        ([-4], 4, "lane 0 is -0x4.* nearest below is 0x0"),
    ],
)
def test_what_no_warp_can_do_is_one_sentence(addresses, size, words):
    with pytest.raises(ValueError, match=words):
        conflicts(addresses, size)


def test_a_place_outside_the_tile_is_one_sentence():
    tm = tile(64, 8, Swizzle.B128)
    with pytest.raises(IndexError, match=r"8 is outside dimension 0 of the tile, whose shape is \(8, 64\): 0 to 7"):
        tile_addresses(tm, range(9), 0)
    with pytest.raises(ValueError, match="1 numbers for a tile of rank 2"):
        tile_addresses(tm, 3)
