"""What people reported (cases.md, "Barriers, groups, fences"), each as kernels of the set: right ones, or wrong ones
with the names under which every order must report them. The other cases are in test_barrier_use and test_deadlocks."""

from __future__ import annotations

import pytest

from tests.mutants.right import CASES
from tests.mutants.runs import outcome
from tests.mutants.wrong import MUTANTS
from tests.portion import portion

SEEDS = range(3)  # copies land late, at once, at random; tests of the set of kernels take more
RIGHT = {
    "B3": ("loads_before_the_expectation",),
    "B4": ("loads_before_the_expectation", "product"),
    "B16": ("producer_and_consumers, 5 tiles", "every_consumer_arrives, 4 tiles"),
    "B22": ("copy_column, 1 tiles", "producer_and_consumers, 1 tiles", "every_consumer_arrives, 1 tiles"),
}
WRONG = {
    "B1": {
        "half of the bytes expected": "too-few-bytes",
        "one load of two not expected": "too-few-bytes",
    },
    "B14": {
        "wait removed": "read-before-wait",
        "wait after the read": "read-before-wait",
        "wait asked once": "wait-ignored",
        "wait tried three times": "read-before-wait",
    },
    "B15": {
        "no proxy fence": "missing-proxy-fence",
        "proxy fence after the store": "missing-proxy-fence",
        "proxy fence by one writer of many": "missing-proxy-fence",
    },
    "B17": {
        "map not acquired": "map-not-acquired",
        "copied map not acquired": "map-not-acquired",
        "no barrier after the edit": "map-edited",
        "edited before the load is waited for": "map-edited",
    },
    "B18": {
        "elected by part of a warp": "partial-warp",
        "elected by those who are left": "partial-warp",
    },
    "B19": {
        "no tail": "exit-in-flight",
        "leader leaves before its peers arrive": "exit-in-flight",
    },
    "B20": {
        "peer not armed": "too-few-bytes",
        "peer does not even arrive": "too-few-bytes",
    },
    "B21": {
        "consumers do not arrive": "missing-arrival",
        "empty barrier's count too large": "missing-arrival",
    },
    "B23": {
        "stage released before the wait": "overwrite-in-use",
        "stage released with a group pending": "overwrite-in-use",
        "loaded anew one group too early": "overwrite-in-use",
    },
}


@pytest.mark.parametrize(("case", "kernel"), [(case, name) for case, names in RIGHT.items() for name in names])
def test_what_is_right_in_practice_is_not_flagged(case, kernel):
    for seed in SEEDS:
        found = outcome(CASES[kernel](), seed)
        assert found.clean, (case, seed, found)
        assert found.right, (case, seed)


@pytest.mark.parametrize(
    ("case", "mutant", "name"),
    portion(
        [(case, *wrong) for case, names in WRONG.items() for wrong in names.items()], 2, kind=lambda *what: what[0]
    ),
)
def test_what_went_wrong_in_practice_is_named(case, mutant, name):
    for seed in SEEDS:
        assert name in outcome(MUTANTS[mutant].fresh(), seed).names, (case, seed)


def test_a_hang_for_want_of_arrivals_says_how_many_are_missing_and_who_arrived():
    """B21"""
    run = MUTANTS["empty barrier's count too large"].fresh().run()
    assert "1 of 4 arrivals missing; so far from thread 32, thread 64, thread 96" in run.deadlock.message


def test_a_hang_that_follows_from_another_says_who_is_held_up_where():
    run = MUTANTS["consumers do not arrive"].fresh().run()
    first, second = [hazard.message for hazard in run.hazards if hazard.name == "missing-arrival"]
    assert "empty[0], phase 0: 3 of 3 arrivals are never made" in first
    assert "thread 0, which arrived in phase 0, waits itself" in second
