"""Whether what two agents would do next commutes; and how it would go after something else."""

from __future__ import annotations

import pytest

from tmalab.simulator.operations import Operation, Role, after, commute


def counts(arrivals=0, bytes=0, phase=0, pending=0, owed=0, completes=False, place="bar", seen=None):
    return Operation("counts", place, phase, Role.COUNTS, arrivals, bytes, pending, owed, completes, seen=seen)


def looks(phase=0, role=Role.LOOKS, place="bar"):
    return Operation("looks", place, phase, role)


def update(version, group=None):
    return Operation("update", "element", version, Role.UPDATES, group=group)


@pytest.mark.parametrize(
    ("first", "second", "free"),
    [
        (counts(1, pending=2), counts(1, pending=2), True),
        (counts(1, completes=True), counts(1, completes=True), False),
        (counts(1, pending=1), counts(1, completes=True), False),
        (counts(1, 1024, owed=1024), counts(1, 512, owed=512), False),  # together too many
        (counts(0, -512, owed=512), counts(0, -256, owed=768), True),
        (looks(), looks(), True),
        (looks(), counts(1, completes=True), False),
        (looks(), counts(1, pending=1), True),
        (looks(place="other"), counts(1, completes=True), True),
        (update(0, "sum"), update(0, "sum"), True),
        (update(0, "sum"), update(0, "min"), False),
        (update(3), update(3), False),
        (counts(1, pending=1, seen=2), counts(1, pending=1, seen=2), False),
        (Operation("init", "bar", -1, Role.ALONE), looks(phase=-1), False),
    ],
)
def test_what_two_would_do_next_commutes_or_not(first, second, free):
    assert commute([first], [second]) is commute([second], [first]) is free


def test_an_arrival_goes_on_from_where_another_has_left_the_phase():
    (later,) = after([counts(1, pending=1)], [counts(1, pending=1)])
    assert (later.pending, later.completes) == (0, True)
    (owing,) = after([counts(1, pending=1)], [counts(1, 1024, pending=1, owed=1024)])
    assert (owing.pending, owing.owed, owing.completes) == (0, 1024, False)
    (credit,) = after([counts(0, -1024, pending=1, owed=-1024)], [counts(1, 1024, owed=1024)])
    assert (credit.pending, credit.owed, credit.completes) == (0, 0, True)


def test_nothing_changes_for_what_is_done_elsewhere():
    asleep = [counts(1, pending=1), looks()]
    assert after(asleep, [counts(1, pending=1, place="other")]) is asleep
    assert after(asleep, [looks()]) is asleep
