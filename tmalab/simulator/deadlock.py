"""Deadlock: who waits on what, and which mistake is behind it where that is known."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tmalab.simulator.waits import CtaBarrierWait, GroupWait, MbarrierWait, WarpWait
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread


@dataclass(frozen=True)
class Waiter:
    """Threads that wait for the same at the same line.

    what        "mbarrier", "syncthreads", "named-barrier", "syncwarp", "elect_sync"
    threads     their numbers in the grid
    barrier     of an mbarrier: its name, phase, parity, arrivals pending and made, bytes promised and delivered
    missing     of other barriers: how many threads have not come
    """

    what: str
    threads: tuple[int, ...]
    file: str | None
    line: int | None
    barrier: str | None = None
    phase: int | None = None
    parity: int | None = None
    pending: int = 0
    arrivals: int = 0
    promised: int = 0
    delivered: int = 0
    missing: int = 0


@dataclass
class Deadlock:
    """The report: `.message` in words, `.waiters` as data; `.causes` are (hazard name, facts) behind it."""

    message: str
    waiters: list[Waiter]
    causes: list[tuple[str, dict[str, Any]]] = field(default_factory=list, repr=False)

    def __str__(self) -> str:
        return self.message


def report(threads: list[SimThread]) -> Deadlock:
    """The report on threads of which none can go on."""
    groups: dict[Any, list[SimThread]] = defaultdict(list)
    for thread in threads:
        if thread.waiting is not None:
            groups[_key(thread)].append(thread)
    waiters, lines, causes = [], [], []
    for (_, place), group in groups.items():
        waiter, sentences, found = _describe(group, place)
        waiters.append(waiter)
        lines += sentences
        causes += [cause for cause in found if cause[0] not in {name for name, _ in causes} or cause not in causes]
    return Deadlock("\n  ".join([text("hazards.deadlock"), *lines]), waiters, causes)


def _key(thread: SimThread) -> tuple[Any, Place | None]:
    wait = thread.waiting
    same = (wait.barrier.address, wait.phase) if isinstance(wait, MbarrierWait) else (type(wait), str(wait))
    return (thread.cta.number, same), thread.place()


def _describe(
    group: list[SimThread], place: Place | None
) -> tuple[Waiter, list[str], list[tuple[str, dict[str, Any]]]]:
    wait = group[0].waiting
    who = str(group[0]) if len(group) == 1 else text("simulator.deadlock-threads", count=len(group), first=group[0])
    where = {"threads": tuple(t.number for t in group), "file": place and place.file, "line": place and place.line}
    at = "" if place is None else str(place)
    if isinstance(wait, MbarrierWait):
        return _on_mbarrier(group, wait, who, where, at)
    if isinstance(wait, CtaBarrierWait):
        return _on_cta_barrier(group, wait, who, where, at)
    if isinstance(wait, WarpWait):
        sentence = text("simulator.deadlock-warp", who=who, operation=wait.operation, place=at)
        cause = [("partial-warp", {"thread": group[0], "operation": wait.operation, "place": place})]
        return Waiter(what=wait.operation, **where), [sentence], cause
    assert isinstance(wait, GroupWait)
    return Waiter(what=wait.what, **where), [text("simulator.deadlock-group", who=who, place=at)], []


def _on_mbarrier(group, wait, who, where, at):
    barrier: Barrier = wait.barrier
    machine = barrier.machine
    waiter = Waiter(
        what="mbarrier",
        barrier=barrier.name,
        phase=machine.phase,
        parity=machine.phase & 1,
        pending=machine.pending_count,
        arrivals=barrier.arrivals,
        promised=barrier.promised,
        delivered=barrier.delivered,
        **where,
    )
    sentences = [
        text(
            "simulator.deadlock-mbarrier",
            who=who,
            barrier=barrier.name,
            phase=machine.phase,
            parity=machine.phase & 1,
            place=at,
        ),
        "  " + _state(barrier),
    ]
    return (
        waiter,
        sentences,
        [(name, {"thread": group[0], "barrier": barrier}) for name in causes_of(barrier, group[0])],
    )


def _state(barrier: Barrier) -> str:
    machine = barrier.machine
    values = {"pending": machine.pending_count, "expected": machine.expected_count}
    arrivals = text("simulator.deadlock-arrivals" if machine.pending_count else "simulator.deadlock-arrived", **values)
    if not (barrier.promised or barrier.delivered or machine.tx_count):
        return arrivals
    promised, delivered = (f"{value:,}" for value in (barrier.promised, barrier.delivered))
    return arrivals + text("simulator.deadlock-bytes", promised=promised, delivered=delivered)


def causes_of(barrier: Barrier, thread: SimThread) -> list[str]:
    """Why the current phase of a barrier never completes, by hazard names."""
    machine = barrier.machine
    causes = []
    if machine.tx_count > 0:
        causes.append("too-many-bytes")
    if machine.tx_count < 0:
        causes.append("too-few-bytes")
    if machine.pending_count and barrier.at_rest and machine.phase and not thread.has_seen(barrier, machine.phase):
        missed = machine.phase > 1 and not thread.has_seen(barrier, machine.phase - 1)
        return causes if barrier.over_arrived else [*causes, "phase-alias" if missed else "wrong-parity"]
    return [*causes, "missing-arrival"] if machine.pending_count else causes


def _on_cta_barrier(group, wait, who, where, at):
    missing = group[0].cta.barriers.missing(wait.id)
    key = "simulator.deadlock-syncthreads" if wait.threads is None else "simulator.deadlock-named"
    sentence = text(key, who=who, id=wait.id, missing=missing, place=at)
    what = "syncthreads" if wait.threads is None else "named-barrier"
    cause = ("barrier-mismatch", {"thread": group[0], "id": wait.id, "missing": missing, "place": where})
    return Waiter(what=what, missing=missing, **where), [sentence], [cause]
