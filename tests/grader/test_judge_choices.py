"""Answers by letter, and numbers with a reason: what counts, what is said, what is never given away."""

from __future__ import annotations

import pytest

from grader.exercise import is_untouched
from grader.judges.choices import Predicted, judge_choices, judge_predictions

EXPECTED = {"first": "a", "second": "c"}
ASKED = {"two and two": Predicted(4, "a"), "two and three": Predicted(5, "b"), "two and four": Predicted(6, "b")}
POINTS = {"sums": 3, "reasons": 3}


def test_each_right_letter_earns_its_share_in_either_form_and_case():
    assert judge_choices(["A", " c "], EXPECTED, "abc", "causes", 2).points == 2
    assert judge_choices({"second": "c", "first": "b"}, EXPECTED, "abc", "causes", 2).points == 1


def test_what_is_wrong_is_named_and_what_is_right_is_not_given_away():
    found = judge_choices(["b", None], EXPECTED, "abc", "causes", 2)
    assert found.message == "0 of 2 right; first: not b; second: nothing yet"
    assert judge_choices(["z", 3], EXPECTED, "abc", "causes", 2).message == (
        "0 of 2 right; first: 'z' is none of a, b, c; second: 3 is none of a, b, c"
    )


def test_a_name_that_is_none_of_many_is_told_without_repeating_them_all():
    names = [f"name-{number}" for number in range(30)]
    found = judge_choices(["nome-1"], {"first": "name-1"}, names, "causes", 2)
    assert found.message == "0 of 1 right; first: 'nome-1' is none of the 30 names that the exercise lists"


def test_the_cause_is_the_first_wrong_choice_or_its_question():
    causes = {("first", "b"): "mixed-up", ("first", ""): "first-one"}
    assert judge_choices(["b", "c"], EXPECTED, "abc", "causes", 2, causes).cause == "mixed-up"
    assert judge_choices(["c", "c"], EXPECTED, "abc", "causes", 2, causes).cause == "first-one"
    assert judge_choices(["a", "a"], EXPECTED, "abc", "causes", 2, causes).cause == "choice"


def test_a_reason_counts_only_beside_a_right_number():
    numbers, reasons = judge_predictions([(4, "a"), (7, "b"), (6, "a")], ASKED, "ab", POINTS)
    assert (numbers.points, reasons.points) == (2, 1)
    assert "two and three: the number comes first" in reasons.message
    assert "two and four: not a" in reasons.message


def test_known_mistakes_of_the_numbers_and_of_the_reasons_give_the_hints():
    causes = {("two and four", ""): "wrong-for-four"}
    numbers, reasons = judge_predictions([(4, "a"), (5, "b"), (6, "a")], ASKED, "ab", POINTS, causes=causes)
    assert (numbers.cause, reasons.cause) == ("", "wrong-for-four")
    numbers, reasons = judge_predictions([(4, "a"), (6, "b"), (8, "b")], ASKED, "ab", POINTS, {"products": [4, 6, 8]})
    assert (numbers.cause, reasons.cause) == ("products", "number-first")


@pytest.mark.parametrize("answer", [[4, 5, 6], [(4,), (5,), (6,)], ["4a", "5b", "6b"], [(4, "a", 1)] * 3])
def test_what_is_no_pair_is_told_and_nothing_is_earned(answer):
    numbers, reasons = judge_predictions(answer, ASKED, "ab", POINTS)
    assert (numbers.points, reasons.points) == (0, 0)
    assert "is no pair; write (number, letter)" in numbers.message


class Sly(str):
    def __eq__(self, other):
        return True

    __hash__ = str.__hash__


def test_a_letter_that_equals_everything_is_no_letter():
    assert judge_choices([Sly("a"), Sly("x")], EXPECTED, "abc", "causes", 2).points == 0


def test_pairs_of_none_are_a_stub_still():
    assert is_untouched([(None, None)] * 3)
    assert not is_untouched([(None, None), (4, None)])
    deep: list = []
    deep.append(deep)
    assert not is_untouched(deep)
