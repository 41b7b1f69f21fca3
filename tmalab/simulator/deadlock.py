"""Deadlock: who waits on what, and which mistake is behind it where that is known."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tmalab.simulator import missing_arrivals
from tmalab.simulator.deadlock_clusters import (
    arrivals_in_words,
    arrived_from,
    left_out_by,
    loader_is_held_up,
    missing_from,
    promiser_is_held_up,
)
from tmalab.simulator.deadlock_roots import held_up
from tmalab.simulator.deadlock_warpgroups import in_words
from tmalab.simulator.hazards import CONSEQUENCE
from tmalab.simulator.register_pool import RegisterWait
from tmalab.simulator.waits import ClusterBarrierWait, CtaBarrierWait, GroupWait, MbarrierWait, WarpWait
from tmalab.simulator.warpgroup import WgmmaWait
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread


@dataclass(frozen=True)
class Waiter:
    """Threads that wait for the same at the same line.

    what        "mbarrier", "syncthreads", "named-barrier", "cluster-barrier", "syncwarp", "wgmma", "registers", or an
                instruction that a warp executes together
    threads     their numbers in the grid; `cta`: that of their CTA
    barrier     of an mbarrier: its name, phase, parity, arrivals pending and made, bytes promised and delivered
    arrived_from, missing_from    of an mbarrier: arrivals by the number of the CTA, and CTAs that have not arrived
    missing     of other barriers: how many threads have not come; how many warps, or registers
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
    cta: int = 0
    arrived_from: dict[int, int] = field(default_factory=dict)
    missing_from: tuple[int, ...] = ()


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
    waiters: list[Waiter] = []
    lines: list[str] = []
    causes: list[Any] = []
    for ((_, place), group), held in zip(groups.items(), held_up(list(groups.values())), strict=True):
        waiter, sentences, found = _describe(group, place)
        waiters.append(waiter)
        lines += sentences
        if held:
            found = [cause for cause in found if cause[0] != "too-many-bytes"]
        causes += [cause for cause in found if cause[0] not in {name for name, _ in causes} or cause not in causes]
    causes += _nobody_begins(list(groups.values()))
    if any(map(_is_certain, causes)):
        for name, facts in causes:
            if name == "barrier-mismatch":
                facts["rank"] = CONSEQUENCE
    return Deadlock("\n  ".join([text("hazards.deadlock"), *lines]), waiters, causes)


def _is_certain(cause: tuple[str, dict[str, Any]]) -> bool:
    """Whether something is missing by itself, so that those who wait for the stuck threads only wait for that."""
    name, facts = cause
    partly = name == "missing-arrival" and missing_arrivals.explained(facts["barrier"])[0] == missing_arrivals.SOME
    return partly or name == "too-many-bytes"


def _nobody_begins(groups: list[list[SimThread]]) -> list[tuple[str, dict[str, Any]]]:
    """Threads that wait for one another's first arrivals, on barriers on which nothing has happened: the fewest of them
    are likely to be those who should begin, and not wait on a fresh barrier."""
    first = [group for group in groups if all(map(_waits_for_the_first_phase, group))]
    on_barriers = sum(isinstance(group[0].waiting, MbarrierWait) for group in groups)
    if len(first) < 2 or len(first) < on_barriers or len({group[0].waiting.barrier for group in first}) < 2:
        return []
    thread = min(first, key=len)[0]
    return [("wrong-parity", {"thread": thread, "barrier": thread.waiting.barrier, "circle": True})]


def _waits_for_the_first_phase(thread: SimThread) -> bool:
    wait = thread.waiting
    if not isinstance(wait, MbarrierWait) or wait.parity != 0:
        return False
    return wait.barrier.machine.phase == 0 and wait.barrier.at_rest and wait.barrier.address not in thread.waits


def _key(thread: SimThread) -> tuple[Any, Place | None]:
    wait = thread.waiting
    same = (wait.barrier.address, wait.phase) if isinstance(wait, MbarrierWait) else (type(wait), str(wait))
    return (thread.cta.number, same), thread.place()


def _describe(
    group: list[SimThread], place: Place | None
) -> tuple[Waiter, list[str], list[tuple[str, dict[str, Any]]]]:
    wait = group[0].waiting
    who = str(group[0]) if len(group) == 1 else text("simulator.deadlock-threads", count=len(group), first=group[0])
    where: dict[str, Any] = {"threads": tuple(t.number for t in group), "cta": group[0].cta.number}
    where |= {"file": place and place.file, "line": place and place.line}
    at = "" if place is None else str(place)
    if isinstance(wait, MbarrierWait):
        return _on_mbarrier(group, wait, who, where, at)
    if isinstance(wait, ClusterBarrierWait):
        return _on_cluster_barrier(group, who, where, at)
    if isinstance(wait, CtaBarrierWait):
        return _on_cta_barrier(group, wait, who, where, at)
    if isinstance(wait, WarpWait):
        sentence = text("simulator.deadlock-warp", who=who, operation=wait.operation, place=at)
        cause = [("partial-warp", {"thread": group[0], "operation": wait.operation, "place": place})]
        return Waiter(what=wait.operation, **where), [sentence], cause
    if isinstance(wait, (WgmmaWait, RegisterWait)):
        what, missing, sentence, causes = in_words(wait, group[0], who, place)
        return Waiter(what=what, missing=missing, **where), [sentence], causes
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
        arrived_from=arrived_from(barrier),
        missing_from=missing_from(barrier),
        **where,
    )
    sentences = [
        text(
            "simulator.deadlock-mbarrier",
            who=who,
            barrier=barrier.title,
            phase=machine.phase,
            parity=machine.phase & 1,
            place=at,
        ),
        "  " + _state(barrier),
    ]
    return (
        waiter,
        sentences,
        _causes(barrier, group[0]),
    )


def _causes(barrier: Barrier, thread: SimThread) -> list[tuple[str, dict[str, Any]]]:
    """The causes of a wait on an mbarrier, with their facts."""
    names = causes_of(barrier, thread)
    causes = [(name, {"thread": thread, "barrier": barrier}) for name in names]
    if "too-many-bytes" in names:
        causes += left_out_by(barrier)
    if "too-few-bytes" in names and barrier.cta.mbarriers.is_unarmed(barrier):
        causes.append(("multicast-mask", {"barrier": barrier}))
    return causes


def _state(barrier: Barrier) -> str:
    machine = barrier.machine
    values = {"pending": machine.pending_count, "expected": machine.expected_count}
    arrivals = text("simulator.deadlock-arrivals" if machine.pending_count else "simulator.deadlock-arrived", **values)
    arrivals += arrivals_in_words(barrier)
    if machine.pending_count:
        arrivals += missing_arrivals.in_words(barrier)
    if not (barrier.promised or barrier.delivered or machine.tx_count):
        return arrivals
    promised, delivered = (f"{value:,}" for value in (barrier.promised, barrier.delivered))
    return arrivals + text("simulator.deadlock-bytes", promised=promised, delivered=delivered)


def causes_of(barrier: Barrier, thread: SimThread) -> list[str]:
    """Why the current phase of a barrier never completes, by hazard names."""
    machine = barrier.machine
    causes = []
    if machine.tx_count > 0 and not loader_is_held_up(barrier):
        causes.append("too-many-bytes")
    if machine.tx_count < 0 and not (machine.pending_count and promiser_is_held_up(barrier)):
        causes.append("too-few-bytes")
    last = thread.waits.get(barrier.address)
    if machine.pending_count and barrier.at_rest and machine.phase and not thread.has_seen(barrier, machine.phase):
        missed = machine.phase > 1 + (0 if last is None else last.phase)
        return causes if barrier.over_arrived else [*causes, "phase-alias" if missed else "wrong-parity"]
    if not machine.pending_count:
        return causes
    missed = barrier.at_rest and last is not None and last.parity is not None and last.skipped
    return [*causes, *(["phase-alias"] if missed else []), "missing-arrival"]


def _on_cta_barrier(group, wait, who, where, at):
    missing = group[0].cta.barriers.missing(wait.id)
    key = "simulator.deadlock-syncthreads" if wait.threads is None else "simulator.deadlock-named"
    sentence = text(key, who=who, id=wait.id, missing=missing, place=at)
    what = "syncthreads" if wait.threads is None else "named-barrier"
    cause = ("barrier-mismatch", {"thread": group[0], "id": wait.id, "missing": missing, "place": where})
    return Waiter(what=what, missing=missing, **where), [sentence], [cause]


def _on_cluster_barrier(group, who, where, at):
    missing = group[0].cluster.missing()
    sentence = text("simulator.deadlock-cluster", who=who, missing=len(missing), first=missing[0], place=at)
    cause = ("barrier-mismatch", {"thread": group[0], "cluster": "missing", "missing": len(missing)})
    return Waiter(what="cluster-barrier", missing=len(missing), **where), [sentence], [cause]
