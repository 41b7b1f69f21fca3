"""A second opinion on garbage: was it read before a wait, although the load never came to be?

A reader that does not wait can run so far ahead that everybody is stuck before the load is issued. Then this order of
threads shows a read of what nobody wrote, and a deadlock; the mistake is the missing wait. So the kernel is run in two
orders, all threads backwards and all forwards, and where one of them shows the same line reading before a wait,
that is what is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tmalab.simulator.hazards import Hazard
from tmalab.simulator.policy import Policy

CONSEQUENCES = {"uninitialised-read", "wrong-parity"}  # of a missing wait, where readers ran ahead into a deadlock
ORDERS = (Policy(0, backwards=True), Policy(0))  # a run of seed 0 was the second one itself


def second_opinion(hazards: list[Hazard], hazards_under: Callable[[Policy], list[Hazard]]) -> list[Hazard]:
    """The hazards of a deadlocked run, its garbage explained by those of other orders where they know better."""
    garbage = _lines_read(hazard for hazard in hazards if hazard.name == "uninitialised-read")
    for policy in ORDERS if garbage else ():
        early = [hazard for hazard in hazards_under(policy) if hazard.name == "read-before-wait"]
        explained = [hazard for hazard in early if _lines_read([hazard]) & garbage]
        if explained:
            return [*explained, *(hazard for hazard in hazards if hazard.name not in CONSEQUENCES)]
    return hazards


def _lines_read(hazards: Iterable[Hazard]) -> set[tuple[str | None, int | None]]:
    accesses = (access for hazard in hazards for access in hazard.accesses)
    return {(access.file, access.line) for access in accesses if access.kind == "read" and access.space == "shared"}
