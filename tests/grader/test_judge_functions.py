"""Answers that are functions: a mistake that explains all parts comes before one that explains only a part."""

from __future__ import annotations

import numpy as np

from grader.judges.functions import Table, judge_function

MISTAKES = {"without-its-own": lambda a, b: -(-a // b), "rounded-down": lambda a, b: 1 + a // b}
TABLES = [
    Table("any", 2, {pair: 1 + -(-pair[0] // pair[1]) for pair in ((600, 250), (7, 2), (1, 5))}, MISTAKES),
    Table("exactly", 1, {pair: 1 + pair[0] // pair[1] for pair in ((4, 2), (9, 3))}, MISTAKES),
]


def causes_of(function) -> list[str]:
    return [finding.cause for finding in judge_function(function, TABLES)]


def test_a_part_in_which_two_mistakes_give_the_same_is_told_apart_by_the_other_part():
    assert causes_of(lambda a, b: 1 + a // b) == ["rounded-down", ""]
    assert causes_of(lambda a, b: -(-a // b)) == ["without-its-own", "without-its-own"]


def test_different_mistakes_in_different_parts_keep_their_causes():
    assert causes_of(lambda a, b: -(-a // b) if a % b else 77) == ["without-its-own", "values"]


def test_a_number_that_came_out_of_a_division_is_the_whole_number_that_it_is():
    halves = Table("halves", 2, {(4,): 2, (10,): 5})
    for half in (lambda n: n / 2, lambda n: np.float64(n) / 2, lambda n: np.ceil(n / 2)):
        assert judge_function(half, [halves])[0].points == 2
    assert judge_function(lambda n: n / 2 + 0.5, [halves])[0].cause == "type"
