"""Reductions element by element: what the H200 did, against exact arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_numbers import BITS, FORMATS, REDUCIBLE
from slow_numbers import combine as slowly

from tmalab.data_types import DataType
from tmalab.reductions import MAP_ARITHMETIC, MAP_OPERATIONS, OPERATIONS, combine

PAIRS = [(op, data_type) for op, types in REDUCIBLE.items() for data_type in types]


def combined(op: str, data_type: int, before: list[int], coming: list[int]) -> list[int]:
    dtype = f"uint{BITS[data_type]}"
    found, data = (np.array(values, dtype).view(np.uint8) for values in (before, coming))
    return combine(op, MAP_ARITHMETIC[DataType(data_type)], found, data).view(dtype).tolist()


def specials(data_type: int) -> list[int]:
    """Bit patterns at which something changes."""
    bits = BITS[data_type]
    if data_type not in FORMATS:
        return [0, 1, 2, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1, 1 << bits // 2]
    exponent, fraction = FORMATS[data_type]
    one, infinity, half = ((1 << exponent - 1) - 1) << fraction, (1 << exponent) - 1 << fraction, 1 << fraction - 1
    positive = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, half, one, one + 1, one - 1]
    positive += [infinity - 1, infinity, infinity + 1, infinity + half, infinity + 2 * half - 1, one + (1 << fraction)]
    positive += [one - (fraction + 1 << fraction), one - (fraction << fraction) + 1]
    return [pattern | sign << bits - 1 for pattern in positive for sign in (0, 1)]


@pytest.mark.parametrize(("op", "data_type"), PAIRS)
def test_every_pair_of_special_values_combines_as_in_exact_arithmetic(op, data_type):
    values = specials(data_type)
    before, coming = zip(*[(a, b) for a in values for b in values], strict=True)
    expected = [slowly(op, data_type, a, b) for a, b in zip(before, coming, strict=True)]
    assert combined(op, data_type, list(before), list(coming)) == expected


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(PAIRS), st.randoms(use_true_random=False))
def test_random_values_combine_as_in_exact_arithmetic(pair, source):
    op, data_type = pair
    bits = BITS[data_type]
    before = [source.getrandbits(bits) for _ in range(50)]
    near = [a ^ source.getrandbits(bits // 4) ^ (source.getrandbits(1) << bits - 1) for a in before]
    coming = [source.choice((b, source.getrandbits(bits))) for b in near]
    expected = [slowly(op, data_type, a, b) for a, b in zip(before, coming, strict=True)]
    assert combined(op, data_type, before, coming) == expected


def test_the_hardware_has_these_operations_of_these_types():
    """Every operation was tried with every type on an H200; the others are illegal instructions."""
    assert list(REDUCIBLE) == list(OPERATIONS)
    for op, types in REDUCIBLE.items():
        assert {data_type for data_type, operations in MAP_OPERATIONS.items() if op in operations} == set(types)


@pytest.mark.parametrize(
    ("op", "data_type", "before", "coming", "result"),
    [
        # what the H200 wrote
        ("add", 8, 0x0, 0x7FF0000000000001, 0x7FF0000000000001),  # a signalling NaN stays one
        ("add", 8, 0x7FF0C7319859579C, 0x7FC01B30C0AEA7D5, 0x7FF0C7319859579C),
        ("add", 8, 0xFFFFFFFFFFFFFFFF, 0x7FF8000000000000, 0x7FF8000000000000),  # of two, the one that comes
        ("add", 8, 0x7FF0000000000000, 0xFFF0000000000000, 0xFFF8000000000000),
        ("add", 10, 0x0041CBEAD & 0xFFFFFFFF, 0x8021B2B8, 0x041CBEAD),  # the subnormal counts as nothing
        ("add", 10, 0x00631EEF, 0x0003A199, 0x00000000),
        ("add", 12, 0x81170EA2, 0x00B520C1, 0x80000000),  # and so does a subnormal sum, but for its sign
        ("add", 7, 0x00631EEF, 0x0003A199, 0x0066C088),  # without flushing
        ("add", 11, 0x3F801000, 0x00000000, 0x3F801000),  # TFLOAT32 is not rounded to TF32
    ],
)
def test_floating_sums_are_as_the_h200_wrote_them(op, data_type, before, coming, result):
    assert combined(op, data_type, [before], [coming]) == [result]
    assert slowly(op, data_type, before, coming) == result


def test_counting_wraps_at_the_value_that_comes():
    assert combined("inc", 2, [0, 4, 5, 6, 0xFFFFFFFF], [5] * 5) == [1, 5, 0, 0, 0]
    assert combined("dec", 2, [0, 1, 5, 6, 0xFFFFFFFF], [5] * 5) == [5, 0, 4, 5, 5]


def test_shapes_are_kept():
    assert combine("add", "u32", np.ones((3, 16), np.uint8), np.ones((3, 16), np.uint8)).shape == (3, 16)
