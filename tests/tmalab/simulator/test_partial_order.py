"""Which operations commute: the relation that tells one order from another, case by case."""

from __future__ import annotations

import pytest

from tmalab.simulator.operations import Operation, Role, Step
from tmalab.simulator.partial_order import Order


def counts(arrivals=0, bytes=0, phase=0, pending=0, owed=0, completes=False, place="bar"):
    return Operation("counts", place, phase, Role.COUNTS, arrivals, bytes, pending, owed, completes)


def looks(phase=0, role=Role.LOOKS, place="bar"):
    return Operation("looks", place, phase, role)


def update(version, group=None):
    return Operation("update", "element", version, Role.UPDATES, group=group)


def step(agent, *operations, **more):
    return Step(agent, operations=list(operations), **more)


def races(*steps):
    """For each step with which earlier ones it is in a race, by their numbers."""
    order = Order()
    return [sorted(order.add(made)) for made in steps]


def test_arrivals_of_one_phase_are_in_no_race_whoever_completes_it():
    assert races(step(0, counts(1, pending=2)), step(1, counts(1, pending=1)), step(2, counts(1, completes=True))) == [
        [],
        [],
        [],
    ]


def test_arrivals_of_two_phases_are_in_a_race():
    assert races(step(0, counts(1, completes=True)), step(1, counts(1, phase=1, completes=True))) == [[], [0]]


def test_an_arrival_after_the_wait_is_in_none():
    waits = looks(phase=1, role=Role.WAITS_BY_PARITY)
    assert races(step(0, counts(1, completes=True)), step(1, waits), step(1, counts(1, phase=1, completes=True))) == [
        [],
        [],
        [],
    ]


def test_a_wait_by_parity_could_have_passed_two_phases_earlier():
    first, second = counts(1, completes=True), counts(1, phase=1, completes=True)
    early = looks(phase=2, role=Role.WAITS_BY_PARITY)
    assert races(step(0, first), step(0, second), step(1, early)) == [[], [], [0]]


def test_a_wait_by_state_could_not():
    first, second = counts(1, completes=True), counts(1, phase=1, completes=True)
    assert races(step(0, first), step(0, second), step(1, looks(phase=2, role=Role.WAITS))) == [[], [], []]


def test_a_look_is_in_a_race_with_what_completes_the_phase():
    assert races(step(0, looks()), step(1, counts(1, pending=1)), step(2, counts(1, completes=True))) == [[], [], [0]]


def test_a_look_before_ones_own_arrival_is_in_none():
    assert races(step(0, looks()), step(0, counts(1, pending=1)), step(1, counts(1, completes=True))) == [[], [], []]


def test_credits_of_a_sufficient_promise_are_in_no_race():
    promise = counts(1, 2048, owed=2048)
    first, second = counts(0, -1024, owed=1024), counts(0, -1024, completes=True)
    assert races(step(0, promise, issues=["a", "b"]), step("a", first), step("b", second)) == [[], [], []]


def test_credits_of_a_promise_too_small_are():
    promise = counts(1, 1024, owed=1024)
    first, second = counts(0, -1024, completes=True), counts(0, -1024, phase=1, owed=-1024)
    assert races(step(0, promise, issues=["a", "b"]), step("a", first), step("b", second)) == [[], [], [1]]


def test_a_credit_that_a_phase_is_complete_without_is_in_a_race_with_its_last_arrival():
    unpromised = counts(0, -1024, pending=1, owed=-1024)
    assert races(step("a", unpromised), step(1, counts(1, owed=-1024))) == [[], [0]]


def test_a_promise_that_no_arrival_holds_is_in_a_race_with_the_last_arrival():
    promise = counts(0, 1024, pending=1, owed=1024)
    assert races(step(0, promise), step(1, counts(1, owed=1024))) == [[], [0]]
    own = step(0, counts(1, pending=1, owed=1024))
    held = [step(0, counts(0, 1024, pending=2, owed=1024)), own, step(1, counts(1, owed=1024))]
    assert races(*held) == [[], [], []]


def test_an_arrival_too_many_is_in_a_race_with_those_that_count_and_in_none_with_another():
    last, more = counts(1, 1024, owed=1024), counts(0, pending=-1, owed=1024)
    assert races(step(0, last), step(1, more), step(2, more)) == [[], [0], [0]]


def test_those_who_met_come_after_each_other():
    meets = [step(agent, counts(1, pending=1, place="syncthreads")) for agent in range(2)]
    last = step(2, counts(1, completes=True, place="syncthreads"), wakes=[0, 1, 2])
    after = [step(agent, counts(1, phase=0, completes=agent == 1)) for agent in range(2)]
    before = step(2, counts(0, 64, pending=2, owed=64))
    assert races(before, *meets, last, *after)[-2:] == [[], []]


@pytest.mark.parametrize(
    ("first", "second", "free"),
    [
        (update(0), update(1), False),
        (update(0, "sum"), update(0, "sum"), True),
        (update(0, "sum"), update(1, "min"), False),
        (update(0, "sum"), update(1), False),
    ],
)
def test_atomics_commute_within_their_group(first, second, free):
    assert races(step(0, first), step(1, second)) == [[], [] if free else [0]]


def test_an_init_is_in_a_race_with_every_use():
    init = Operation("init", "bar", -1, Role.ALONE)
    assert races(step(0, init), step(1, counts(1, completes=True))) == [[], [0]]
    assert races(step(1, looks(phase=-1)), step(0, init)) == [[], [0]]
    assert races(step(0, init), step(1, looks(phase=0, role=Role.WAITS_BY_PARITY))) == [[], [0]]


def test_a_later_cluster_comes_after_all_of_an_earlier_one():
    assert races(step(0, update(0)), step(1, update(1), cluster=1)) == [[], []]


def test_a_wait_for_ever_could_have_passed_a_phase_earlier():
    order = Order()
    order.add(step(0, counts(1, completes=True)))
    order.add(step(1, blocked=("bar", True)))
    assert list(order.blocked_races()) == [(0, 1)]
    order.add(step(1, looks(phase=1)))  # it goes on
    assert list(order.blocked_races()) == []
