"""Misuse that needs no second access: of barriers, groups, places and waits, put into words.

Each entry of FACTS takes the run and the facts of one report, and gives the accesses to show and the words of its
sentences in `texts/en/hazards.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tmalab.simulator.arrays import READ, WRITE
from tmalab.simulator.copies import Load
from tmalab.simulator.hazards import Access
from tmalab.simulator.naming import barrier_name, part_name
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.faults import TmaFault
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread

Told = tuple[list[Access], dict[str, Any]]
KINDS = {READ: "read", WRITE: "write"}


def _by(thread: SimThread, kind: str, does: str, place: Place | None = None, **more: Any) -> Access:
    """What a thread does now, or did at a place."""
    file, line = place or thread.place() or (None, None)
    return Access(str(thread), does, kind, thread.number, file, line, **more)


def _at(run: Simulation, number: int) -> Place | None:
    return run.source.places[number]


def _barrier_words(barrier: Barrier) -> dict[str, Any]:
    machine = barrier.machine
    return {
        "barrier": barrier.name,
        "phase": machine.phase,
        "parity": machine.phase & 1,
        "count": machine.expected_count,
        "pending": machine.pending_count,
        "promised": f"{barrier.promised:,}",
        "delivered": f"{barrier.delivered:,}",
        "key": barrier.address,
    }


def _reinit(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    again = _by(thread, "init", text("hazards.does-init", barrier=barrier.name), space="shared", array=barrier.name)
    first = _by(
        run.thread_in_row(barrier.made_by),
        "init",
        text("hazards.does-init", barrier=barrier.name),
        _at(run, barrier.made_at),
    )
    return [again, first], _barrier_words(barrier)


def _over_arrival(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    does = text("hazards.does-arrive", barrier=barrier.name, phase=barrier.machine.phase)
    words = _barrier_words(barrier)
    words["before"] = barrier.machine.phase - 1
    words["variant"] = "phase" if barrier.machine.phase else "count"
    return [_by(thread, "arrive", does, space="shared", array=barrier.name)], words


def _too_few(run: Simulation, barrier: Barrier, thread: SimThread | None = None) -> Told:
    loads = [*barrier.loads, *(load for load in barrier.credited if load not in barrier.loads)]
    accesses = [_copy_access(run, copy, text("hazards.does-credits", bytes=f"{copy.bytes:,}")) for copy in loads[:2]]
    words = _barrier_words(barrier)
    words["coming"] = f"{sum(copy.bytes for copy in loads):,}"
    return accesses, words


def _waiting(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    does = text("hazards.does-waits", barrier=barrier.name, phase=barrier.machine.phase)
    return [_by(thread, "wait", does, space="shared", array=barrier.name)], _barrier_words(barrier)


def _stuck_parity(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    accesses, words = _waiting(run, thread, barrier)
    return accesses, {**words, "variant": "stuck", "before": barrier.machine.phase - 1, "right": 1 - words["parity"]}


def _phase_alias(run: Simulation, thread: SimThread, barrier: Barrier, by_state: bool = False, place: int = 0) -> Told:
    words = _barrier_words(barrier)
    words["before"] = barrier.machine.phase - 2
    if by_state:
        does = text("hazards.does-waits-by-state", barrier=barrier.name)
        return [_by(thread, "wait", does, space="shared", array=barrier.name)], {**words, "variant": "state"}
    does = text("hazards.does-waits", barrier=barrier.name, phase=words["before"])
    return [_by(thread, "wait", does, _at(run, place), space="shared", array=barrier.name)], words


def _wait_ignored(run: Simulation, thread: SimThread) -> Told:
    return [_by(thread, "wait", text("hazards.does-asks"))], {}


def _not_initialised(run: Simulation, thread: SimThread, address: int, barrier: Barrier | None) -> Told:
    name = barrier_name(thread.cta.memory, address)
    use = _by(thread, "arrive", text("hazards.does-uses", barrier=name), space="shared", array=name, address=address)
    words = {"barrier": name, "key": address, "once": True}
    if barrier is None:
        return [use], words
    init = _by(
        run.thread_in_row(barrier.made_by), "init", text("hazards.does-init", barrier=name), _at(run, barrier.made_at)
    )
    return [use, init], {**words, "variant": "unordered"}


def _fault(thread: SimThread, fault: TmaFault, place: Place | None) -> Told:
    return [_by(thread, "copy", text("hazards.does-faults"), place)], {"fault": str(fault), "variant": "fault"}


def _misaligned(run: Simulation, thread: SimThread, **facts: Any) -> Told:
    return _fault(thread, **facts) if "fault" in facts else _misaligned_address(thread, **facts)


def _misaligned_address(thread: SimThread, address: int, size: int, place: Place | None = None) -> Told:
    name = part_name(thread.cta.memory, address)
    access = _by(
        thread, "copy", text("hazards.does-address", place=name), place, space="shared", array=name, address=address
    )
    return [access], {"address": hex(address), "size": size, "nearest": hex(address - address % size)}


def _store_at_exit(run: Simulation, thread: SimThread, copy: Any) -> Told:
    does = text("hazards.does-loads-at-exit" if isinstance(copy, Load) else "hazards.does-stores-at-exit")
    words = {"line": (_at(run, copy.place) or (None, "?"))[1], "variant": "load" if isinstance(copy, Load) else "store"}
    if isinstance(copy, Load):
        words["barrier"] = copy.barrier.name if copy.barrier is not None else text("hazards.its-barrier")
    return [_copy_access(run, copy, does)], words


def _not_committed(run: Simulation, thread: SimThread, copy: Any) -> Told:
    accesses, words = _store_at_exit(run, thread, copy)
    return accesses, {"line": words["line"]}


def _out_of_bounds(run: Simulation, thread: SimThread, **facts: Any) -> Told:
    if "fault" in facts:
        return _fault(thread, **facts)
    if "copy_address" in facts:
        return _copy_out_of_bounds(run, thread, **facts)
    array, index, axis = facts["array"], facts["index"], facts["axis"]
    shown = f"{array.name or text('hazards.an-array')}[{', '.join(map(str, index))}]"
    kind = KINDS.get(facts["kind"], "write")
    access = _by(thread, kind, text(f"hazards.does-{kind}s", where=shown), space=array.space, array=array.name)
    given, length = index[axis], array.shape[axis]
    words = {"axis": axis, "given": given, "last": length - 1, "array": array.name, "shape": array.shape}
    if -length <= given < 0:
        return [access], {**words, "variant": "negative", "wrapped": given + length}
    return [access], words


def _copy_out_of_bounds(run: Simulation, thread: SimThread, copy_address: int, copy_stop: int, allocation: Any) -> Told:
    name = part_name(thread.cta.memory, copy_address)
    access = _by(
        thread, "copy", text("hazards.does-copy", place=name), space="shared", array=name, address=copy_address
    )
    end = allocation.stop if allocation is not None else copy_address
    words = {"place": name, "over": f"{copy_stop - end:,}", "bytes": f"{copy_stop - copy_address:,}", "variant": "copy"}
    return [access], words


def _partial_warp(run: Simulation, thread: SimThread, operation: str, place: Place | None) -> Told:
    return [_by(thread, "wait", text("hazards.does-warp", operation=operation), place)], {"operation": operation}


def _barrier_mismatch(run: Simulation, thread: SimThread, id: int, missing: int, place: Any) -> Told:
    does = text("hazards.does-barrier" if id else "hazards.does-syncthreads", id=id)
    return [_by(thread, "wait", does)], {"missing": missing, "id": id}


def _deadlock(run: Simulation, deadlock: Any) -> Told:
    return [], {"report": deadlock.message.partition("\n")[2].strip()}


def _copy_access(run: Simulation, copy: Any, does: str) -> Access:
    file, line = _at(run, copy.place) or (None, None)
    role = "load" if isinstance(copy, Load) else "store"
    tile = part_name(copy.cta.memory, copy.address)
    who = text(f"hazards.who-{role}", tile=tile)
    return Access(
        who, does, role, copy.thread.number, file, line, "shared", tile, address=copy.address, bytes=copy.bytes
    )


FACTS: dict[str, Callable[..., Told]] = {
    "barrier-reinit": _reinit,
    "over-arrival": _over_arrival,
    "too-few-bytes": _too_few,
    "too-many-bytes": _waiting,
    "missing-arrival": _waiting,
    "wrong-parity": _stuck_parity,
    "phase-alias": _phase_alias,
    "wait-ignored": _wait_ignored,
    "barrier-not-initialised": _not_initialised,
    "misaligned": _misaligned,
    "exit-in-flight": _store_at_exit,
    "store-not-committed": _not_committed,
    "out-of-bounds": _out_of_bounds,
    "partial-warp": _partial_warp,
    "barrier-mismatch": _barrier_mismatch,
    "deadlock": _deadlock,
}
