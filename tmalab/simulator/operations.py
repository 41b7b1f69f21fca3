"""Synchronizing operations, the steps of an execution, and which of them commute.

A step is what one agent (a thread, or a copy that lands) does up to and including one synchronizing operation. Two
neighbouring steps *commute* where their exchange changes nothing that either of them meets. Executions that differ by
such exchanges are one order (a Mazurkiewicz trace). Steps of one agent never commute. Otherwise two steps commute
unless they operate on the same object and

    mbarriers, meetings   fall in different phases of it; or they fall in one phase, and the later one could have
                          completed that phase without the earlier one; or together they bring too many arrivals or
                          bytes for it
    atomics               change the element, but for integer sums, minima and the like whose result nobody uses
    init, inval           always

So the four arrivals of one phase are one order and not 24: each of them finds the phase that it is meant for, and the
phase is complete after all of them whoever comes last. A look (a wait that succeeds, a try_wait that says False, the
issue of a copy) counts for nothing, so a phase is complete without it: it does not commute with the operation that
completes the phase. Nor does a copy's credit where the promise is too small: then others complete the phase without it.

A wait that blocks commutes with everything until it has succeeded: to ask early and wait, or to ask late, is one order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from enum import Enum

Agent = Hashable  # a thread's number; of a copy, its issuer's number and how many it had issued before


class Role(Enum):
    """What an operation is to the phase of its object."""

    COUNTS = "counts"  # it counts towards the phase's completion
    LOOKS = "looks"  # it depends on the phase, and changes nothing
    WAITS = "waits"  # a look that blocks until the phase before is complete
    WAITS_BY_PARITY = "waits by parity"  # the same, and two phases earlier it would have succeeded as well
    UPDATES = "updates"  # an atomic: it commutes with those of its group only
    ALONE = "alone"  # it commutes with nothing


WAITING = (Role.WAITS, Role.WAITS_BY_PARITY)
CHANGING = (Role.COUNTS, Role.UPDATES)


@dataclass(frozen=True, slots=True)
class Operation:
    """A synchronizing operation, as it went.

    what       the instruction
    place      the object
    phase      of the object, in which the operation fell; of an atomic, how many changes of group came before
    arrivals, bytes    what it counts for: arrivals made, bytes promised less bytes credited
    pending, owed      arrivals and bytes that the phase lacked afterwards; pending -1: it was an arrival too many
    completes  whether it completed the phase
    group      of an atomic: it commutes with those of its group; None: with none
    seen       the arrivals pending before, if the kernel looks at that: then it commutes with no other arrival
    tells      whether its phase says anything about the order: that in which all threads meet does not
    """

    what: str
    place: Hashable
    phase: int
    role: Role
    arrivals: int = 0
    bytes: int = 0
    pending: int = 1
    owed: int = 0
    completes: bool = False
    group: Hashable = None
    seen: int | None = None
    tells: bool = True

    @property
    def label(self) -> tuple:
        """What stays the same in every execution of one order, and differs between orders."""
        return self.what, self.place, self.phase, self.arrivals, self.bytes, self.group, self.seen


Blocked = tuple[Hashable, bool]  # the mbarrier that an agent waits on, and whether by parity


@dataclass(slots=True)
class Step:
    """One step of an execution.

    choice, options   which of how many things happened that the hardware leaves open (the leader of elect.sync, ...)
    issues     the copies that are in flight from here on
    wakes      threads that may go on because of this step, having waited for others to come
    blocked    what the agent waits on since, if an mbarrier
    exits      whether the thread came to its end
    cluster    number of the cluster
    """

    agent: Agent
    choice: int = 0
    options: int = 1
    operations: list[Operation] = field(default_factory=list)
    issues: list[Agent] = field(default_factory=list)
    wakes: list[Agent] = field(default_factory=list)
    blocked: Blocked | None = None
    exits: bool = False
    cluster: int = 0


def commute(first: Iterable[Operation], second: Iterable[Operation]) -> bool:
    """Whether what two agents would do next, each seen from the same state, could be exchanged."""
    return not any(a.place == b.place and _clash(a, b) for a in first for b in second)


def after(operations: list[Operation], others: list[Operation]) -> list[Operation]:
    """Operations as they would go now that others, with which they commute, have been done."""
    if not any(a.place == b.place and a.role is b.role is Role.COUNTS for a in operations for b in others):
        return operations
    return [_after(operation, others) for operation in operations]


def _after(operation: Operation, others: list[Operation]) -> Operation:
    counted = [other for other in others if other.place == operation.place and other.role is Role.COUNTS]
    pending = operation.pending - sum(other.arrivals for other in counted)
    owed = operation.owed + sum(other.bytes for other in counted)
    return replace(operation, pending=pending, owed=owed, completes=pending == owed == 0)


def _clash(a: Operation, b: Operation) -> bool:
    if Role.ALONE in (a.role, b.role):
        return True
    if a.role is b.role is Role.UPDATES and (a.group is None or a.group != b.group):
        return True
    if a.role is b.role is Role.COUNTS and None not in (a.seen, b.seen):
        return True
    if a.phase != b.phase or a.completes or b.completes:
        return True
    return a.role is b.role is Role.COUNTS and _too_many(a, b)


def _too_many(a: Operation, b: Operation) -> bool:
    """Whether two operations, each of which alone would not complete the phase, together bring too many arrivals, or
    all that are pending and more bytes than are owed: then part of a copy's bytes could complete it."""
    if a.arrivals > 0 and b.arrivals > 0 and a.pending < b.arrivals:
        return True
    all_arrived, owed = a.pending == b.arrivals, a.owed + b.bytes
    return all_arrived and owed < 0 and bool(a.bytes or b.bytes)
