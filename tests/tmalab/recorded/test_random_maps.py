"""Random maps: the same for one seed, a good part of them legal, and enough at and beyond every limit."""

from collections import Counter

import pytest

from tmalab.gpu.verdicts import verdict
from tmalab.recorded.map_boundaries import every_place, places
from tmalab.recorded.random_maps import random_maps
from tmalab.tensor_map_fields import Fields, Im2colFields

COUNT = 20_000
C_RANGES = {"global_address": 2**64, "global_dim": 2**64, "global_strides": 2**64, "box_dim": 2**32,
            "element_strides": 2**32, "channels_per_pixel": 2**32, "pixels_per_column": 2**32}  # fmt: skip


@pytest.fixture(scope="module")
def drawn() -> list:
    return list(random_maps(seed=20_000, count=COUNT))


def test_one_seed_gives_the_same_maps_and_another_others(drawn):
    assert list(random_maps(20_000, 50)) == drawn[:50]
    assert list(random_maps(20_001, 50)) != drawn[:50]


def test_more_than_40_percent_are_legal_and_most_others_break_one_rule(drawn):
    broken = Counter(min(2, len(set(verdict(fields)))) for fields in drawn)
    assert broken[0] > 0.42 * COUNT
    assert broken[1] > 0.40 * COUNT
    assert broken[2] < 0.10 * COUNT


def test_at_least_1_percent_lie_at_each_limit_and_1_percent_just_beyond_it(drawn):
    counts = Counter(place for fields in drawn for place in places(fields))
    assert {place: counts[place] for place in every_place() if counts[place] < 0.01 * COUNT} == {}
    assert set(counts) <= every_place()


def test_every_kind_of_map_is_drawn(drawn):
    kinds = Counter((type(fields), bool(fields.interleave)) for fields in drawn)
    assert (
        min(kinds[kind, interleaved] for kind in (Fields, Im2colFields) for interleaved in (False, True)) > 0.1 * COUNT
    )


def test_every_value_fits_the_drivers_argument(drawn):
    for fields in drawn[:2000]:
        for name, value in fields._asdict().items():
            stop = C_RANGES.get(name)
            for number in value if isinstance(value, tuple) else (value,):
                assert 0 <= number < stop if stop else -(2**31) <= number < 2**31, name
