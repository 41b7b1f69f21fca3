"""The kinds of limit by themselves."""

from tmalab import OobFill
from tmalab.tensor_map_limits import AtMost, Entries, MultipleOf, OneOf, Within, shown


def test_a_range_holds_both_its_ends():
    assert [Within(1, 8).allows(v) for v in (0, 1, 8, 9)] == [False, True, True, False]
    assert [Within(1, 8).nearest(v) for v in (-5, 9)] == [1, 8]


def test_the_nearest_multiple_is_the_one_above_and_never_nothing():
    assert [MultipleOf(16).nearest(v) for v in (1, 17, -3)] == [16, 32, 16]
    assert [MultipleOf(16).allows(v) for v in (0, 16, 24)] == [True, True, False]


def test_a_bound_is_itself_the_nearest():
    assert (AtMost(128).allows(128), AtMost(128).allows(129), AtMost(128).nearest(160)) == (True, False, 128)


def test_members_and_lengths_have_no_nearest():
    assert OneOf((OobFill.NONE,)).nearest(1) is None
    assert Entries(2, 2).nearest(3) is None


def test_a_list_of_members_says_names_and_numbers():
    assert OneOf(tuple(OobFill)).problem("oob_fill", "7") == "oob_fill = 7 is none of NONE=0, NAN=1"


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
