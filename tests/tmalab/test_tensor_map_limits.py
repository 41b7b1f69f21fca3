"""The kinds of limit by themselves."""

from tmalab import OobFill
from tmalab.tensor_map_limits import AtLeast, AtMost, Entries, MultipleOf, OneOf, Within, shown


def test_a_range_holds_both_its_ends():
    assert [Within(1, 8).allows([v]) for v in (0, 1, 8, 9)] == [False, True, True, False]
    assert [Within(1, 8).nearest(v) for v in (-5, 9)] == [1, 8]


def test_the_nearest_multiple_is_the_one_above_and_never_nothing():
    assert [MultipleOf(16).nearest(v) for v in (1, 17, -3)] == [16, 32, 16]
    assert [MultipleOf(16).allows([v]) for v in (0, 16, 24)] == [True, True, False]


def test_a_bound_is_itself_the_nearest():
    assert (AtMost(128).allows([128]), AtMost(128).allows([129]), AtMost(128).nearest(160)) == (True, False, 128)


def test_a_lower_bound_is_itself_the_nearest():
    assert (AtLeast(1).allows([1, 2]), AtLeast(1).allows([3, 0]), AtLeast(1).nearest(-4)) == (True, False, 1)
    assert AtLeast(1).problem("corner[0]", "-5") == "corner[0] = -5 is less than 1"


def test_a_limit_judges_all_values_of_a_map_and_none_breaks_it():
    for limit in (Within(1, 8), AtMost(8), AtLeast(1), MultipleOf(4), OneOf(tuple(OobFill)), Entries(1, 1)):
        assert limit.allows(())
        assert limit.allows((1,)) or limit == MultipleOf(4)
        assert not limit.allows((1, 9, -3, 1))


def test_of_several_members_and_of_lengths_none_is_nearest():
    assert OneOf(tuple(OobFill)).nearest(2) is None
    assert OneOf((OobFill.NONE,)).nearest(1) == 0
    assert Entries(2, 2).nearest(3) is None


def test_a_list_of_members_says_names_and_numbers():
    assert OneOf(tuple(OobFill)).problem("oob_fill", "7") == "oob_fill = 7 is none of NONE=0, NAN=1"
    assert OneOf((OobFill.NONE,)).problem("oob_fill", "1") == "oob_fill = 1 is not NONE=0"


def test_large_numbers_are_shown_so_that_they_can_be_read():
    values = [233_472, 2**20, 2**32, 2**32 - 1, 2**40 - 16, 2**64 - 1, 2**64, -(2**70), 3 * 2**80]
    assert [shown(v) for v in values] == [
        "233472",
        "1048576",
        "2^32",
        "4294967295",
        "2^40 - 16",
        "2^64 - 1",
        "about 2^64",
        "about -2^70",
        "about 2^81",
    ]
