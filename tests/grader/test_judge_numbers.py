"""Answers that are whole numbers: which hint they lead to, and how long questions are referred to."""

from __future__ import annotations

from grader.judges.numbers import by_question, judge_numbers

EXPECTED = {"rows": 8, "bytes": 1024, "steps": 16}
MISTAKES = {"units": [8, 512, 16], "one-less": [7, 1023, 15]}
CAUSES = {"steps": "count-them"}


def cause_of(answer: list) -> str:
    return judge_numbers(answer, EXPECTED, "numbers", 3, MISTAKES, CAUSES).cause


def test_a_mistake_that_explains_all_wrong_numbers_is_the_cause():
    assert cause_of([7, 1023, 15]) == "one-less"
    assert cause_of([8, 512, 16]) == "units"


def test_where_several_mistakes_were_made_the_first_wrong_number_decides():
    assert cause_of([8, 512, 15]) == "units"
    assert cause_of([7, 512, 16]) == "one-less"


def test_a_number_that_no_known_mistake_leads_to_has_the_cause_of_its_question():
    assert cause_of([8, 1024, 99]) == "count-them"
    assert cause_of([8, 99, 15]) == "some"


def test_what_is_no_number_is_no_mistake_about_the_subject():
    assert cause_of([8, "1024", 16]) == "form"
    assert cause_of([8, None, 16]) == "some"


def test_questions_that_are_sentences_are_named_by_the_number_beside_which_they_are_printed():
    found = judge_numbers([1, 3], by_question([1, 2]), "numbers", 2)
    assert found.message == "1 of 2 right; question 1: not 3"
