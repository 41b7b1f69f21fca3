"""A second opinion on what a deadlocked run shows: the same mistake may say more of itself in another order.

A reader that does not wait can run so far ahead that everybody is stuck before the load is issued. Then this order of
threads shows a read of what nobody wrote, and a deadlock; the mistake is the missing wait. And a stage that is refilled
while it is in use completes its barrier once more: a reader who is slow misses that phase and is stuck before it
reads. So the kernel is run in two orders, all threads backwards and all forwards, and what one of them knows better is
reported first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tmalab.simulator.hazards import Hazard
from tmalab.simulator.policy import Policy

CONSEQUENCES = {"uninitialised-read", "wrong-parity"}  # of a missing wait, where readers ran ahead into a deadlock
MISSED, REFILLED = "phase-alias", "overwrite-in-use"
ORDERS = (Policy(0, backwards=True), Policy(0))  # a run of seed 0 was the second one itself


def second_opinion(hazards: list[Hazard], hazards_under: Callable[[Policy], list[Hazard]]) -> list[Hazard]:
    """The hazards of a deadlocked run, with those of other orders where they explain them."""
    names = {hazard.name for hazard in hazards}
    garbage = _lines_read(hazard for hazard in hazards if hazard.name == "uninitialised-read")
    missed = MISSED in names and REFILLED not in names
    for policy in ORDERS if garbage or missed else ():
        found = hazards_under(policy)
        early = [hazard for hazard in found if hazard.name == "read-before-wait"]
        explained = [hazard for hazard in early if _lines_read([hazard]) & garbage]
        if explained:
            return [*explained, *(hazard for hazard in hazards if hazard.name not in CONSEQUENCES)]
        refilled = [hazard for hazard in found if hazard.name == REFILLED]
        if missed and refilled:
            return [*refilled, *hazards]
    return hazards


def _lines_read(hazards: Iterable[Hazard]) -> set[tuple[str | None, int | None]]:
    accesses = (access for hazard in hazards for access in hazard.accesses)
    return {(access.file, access.line) for access in accesses if access.kind == "read" and access.space == "shared"}
