"""Misuse that needs no second access: of barriers, groups, places and waits, put into words.

Each entry of FACTS takes the run and the facts of one report, and gives the accesses to show and the words of its
sentences in `texts/en/hazards.toml`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tmalab.simulator import missing_arrivals, misuse_clusters, misuse_maps, misuse_wgmma
from tmalab.simulator.arrays import READ, WRITE
from tmalab.simulator.conflict_names import WGMMA
from tmalab.simulator.hazards import CONSEQUENCE, STUCK
from tmalab.simulator.misuse_clusters import copy_access
from tmalab.simulator.naming import barrier_name, part_name
from tmalab.simulator.told import Told, access_at, access_by, barrier_words
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.faults import TmaFault
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.loads import Load
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.mbarrier_rules import Use
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread

KINDS = {READ: "read", WRITE: "write"}


def _reinit(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    again = access_by(
        thread, "init", text("hazards.does-init", barrier=barrier.title), space="shared", array=barrier.name
    )
    first = access_by(
        run.thread_in_row(barrier.made_by),
        "init",
        text("hazards.does-init", barrier=barrier.title),
        run.source.places[barrier.made_at],
    )
    return [again, first], barrier_words(barrier)


def _over_arrival(
    run: Simulation,
    thread: SimThread,
    barrier: Barrier,
    place: int | None = None,
    again: bool = False,
    no_complete: bool = False,
) -> Told:
    """One arrival too many; or (`no_complete`) one that may be the last of the phase that is now over."""
    phase = barrier.machine.phase - no_complete
    does = text("hazards.does-arrive", barrier=barrier.title, phase=phase)
    where = None if place is None else run.source.places[place]
    words = {**barrier_words(barrier), "phase": phase, "before": phase - 1}
    words["variant"] = "last" if no_complete else "again" if again else "phase" if phase else "count"
    return [access_by(thread, "arrive", does, where, space="shared", array=barrier.name)], words


def _late_promise(
    run: Simulation, thread: SimThread, barrier: Barrier, place: int = 0, late: bool = False, of_copies: bool = False
) -> Told:
    """A promise after which nobody arrives, or one (`late`) for a phase that the thread need not know has begun."""
    words = {**barrier_words(barrier), "variant": "cpasync" if of_copies else "late" if late else ""}
    phase = words["phase"] = barrier.machine.phase - (not late)
    words["before"] = phase - 1
    does = text("hazards.does-raise" if of_copies else "hazards.does-promise", barrier=barrier.title, phase=phase)
    return [access_by(thread, "arrive", does, run.source.places[place], space="shared", array=barrier.name)], words


def _too_few(run: Simulation, barrier: Barrier, thread: SimThread | None = None, late: Load | None = None) -> Told:
    """Bytes that nobody promised; or (`late`) those of a copy whose phase may be over, and was without it."""
    if late is not None:
        access = copy_access(run, late, text("hazards.does-credits", bytes=f"{late.bytes:,}"))
        more = {"before": barrier.machine.phase - 1, "promised": f"{barrier.was_promised:,}", "variant": "late"}
        return [access], {**barrier_words(barrier), **more, "coming": f"{late.bytes:,}"}
    loads = [*barrier.loads, *(load for load in barrier.credited if load not in barrier.loads)]
    accesses = [copy_access(run, copy, text("hazards.does-credits", bytes=f"{copy.bytes:,}")) for copy in loads[:2]]
    words = barrier_words(barrier)
    words["coming"] = f"{sum(copy.bytes for copy in loads):,}"
    return accesses, words


def _waiting(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    does = text("hazards.does-waits", barrier=barrier.title, phase=barrier.machine.phase)
    return [access_by(thread, "wait", does, space="shared", array=barrier.name)], barrier_words(barrier)


def _missing_arrival(run: Simulation, thread: SimThread, barrier: Barrier) -> Told:
    accesses, words = _waiting(run, thread, barrier)
    variant, more = missing_arrivals.explained(barrier)
    rank = CONSEQUENCE if variant == missing_arrivals.HELD else STUCK
    return accesses, {**words, **more, "before": barrier.machine.phase - 1, "variant": variant, "rank": rank}


def _wrong_phase(
    run: Simulation, thread: SimThread, barrier: Barrier, circle: bool = False, state: int | None = None
) -> Told:
    """A wait for a phase that never ends: the next one, or the first one, which `circle` others wait for in turn. Or
    one by the state of another barrier."""
    accesses, words = _waiting(run, thread, barrier)
    if state is not None:
        return accesses, {**words, "variant": "state", "other": _name_of_state(run, state)}
    if circle:
        return accesses, {**words, "variant": "circle"}
    return accesses, {**words, "variant": "stuck", "before": barrier.machine.phase - 1, "right": 1 - words["parity"]}


def _name_of_state(run: Simulation, state: int) -> str:
    """The barrier on which an arrive has returned a state."""
    live = (barrier for cta in run.cluster.ctas for barrier in cta.mbarriers.objects.values())
    return next((barrier.title for barrier in live if barrier.is_of(state)), text("hazards.an-ended-barrier"))


def _phase_alias(run: Simulation, thread: SimThread, barrier: Barrier, by_state: bool = False, place: int = 0) -> Told:
    words = barrier_words(barrier)
    words["before"] = barrier.machine.phase - 2
    if by_state:
        does = text("hazards.does-waits-by-state", barrier=barrier.title)
        return [access_by(thread, "wait", does, space="shared", array=barrier.name)], {**words, "variant": "state"}
    does = text("hazards.does-waits", barrier=barrier.title, phase=words["before"])
    return [access_by(thread, "wait", does, run.source.places[place], space="shared", array=barrier.name)], words


def _wait_ignored(run: Simulation, thread: SimThread) -> Told:
    return [access_by(thread, "wait", text("hazards.does-asks"))], {}


def _ended_in_use(run: Simulation, thread: SimThread, barrier: Barrier, use: Use) -> Told:
    end = access_by(thread, "init", text("hazards.does-end", barrier=barrier.title), space="shared", array=barrier.name)
    place = run.source.places[use.place]
    before = access_by(use.thread, "arrive", text("hazards.does-use-still", barrier=barrier.title), place)
    lines = {"line": end.line or "?", "earlier_line": before.line or "?"}
    return [end, before], {**barrier_words(barrier), **lines, "variant": "ended"}


def _not_initialised(run: Simulation, thread: SimThread, **facts: Any) -> Told:
    return _ended_in_use(run, thread, **facts) if "use" in facts else _used_too_early(run, thread, **facts)


def _used_too_early(run: Simulation, thread: SimThread, address: int, barrier: Barrier | None, cta: Cta) -> Told:
    name = barrier_name(cta.memory, address)
    title = cta.titled(name)
    does = text("hazards.does-uses", barrier=title)
    use = access_by(thread, "arrive", does, space="shared", array=name, address=address)
    words = {"barrier": title, "code": name, "cta": cta.name, "key": address, "once": True}
    if barrier is None:
        return [use], {**words, "variant": "" if thread.cta is cta else "peer"}
    maker, place = run.thread_in_row(barrier.made_by), run.source.places[barrier.made_at]
    init = access_by(maker, "init", text("hazards.does-init", barrier=title), place)
    return [use, init], {**words, "variant": "unordered"}


def _fault(thread: SimThread, fault: TmaFault, place: Place | None) -> Told:
    return [access_by(thread, "copy", text("hazards.does-faults"), place)], {"fault": str(fault), "variant": "fault"}


def _misaligned(run: Simulation, thread: SimThread, **facts: Any) -> Told:
    if "offset" in facts:
        return misuse_wgmma.offset_misaligned(run, thread, **facts)
    return _fault(thread, **facts) if "fault" in facts else _misaligned_address(thread, **facts)


def _misaligned_address(
    thread: SimThread, address: int, size: int, place: Place | None = None, operand: str = ""
) -> Told:
    """`operand` of a wgmma: it is a descriptor that leads there, not the beginning of an array."""
    name = part_name(thread.cta.memory, address)
    access = access_by(
        thread, "copy", text("hazards.does-address", place=name), place, space="shared", array=name, address=address
    )
    words = {"address": hex(address), "size": size, "multiple": f"{size:,}", "nearest": hex(address - address % size)}
    return [access], words | ({"operand": operand, "variant": "descriptor"} if operand else {})


def _at_exit(run: Simulation, thread: SimThread, **facts: Any) -> Told:
    if "peer" in facts:
        return misuse_clusters.reaches_exited(run, thread, **facts)
    if "signal" in facts:
        return misuse_clusters.signal_at_exit(run, **facts)
    if "source" in facts:
        return misuse_clusters.source_at_exit(run, facts["copy"])
    return _copy_at_exit(run, **facts)


def _copy_at_exit(run: Simulation, copy: Any) -> Told:
    if copy.role == WGMMA:
        return misuse_wgmma.at_exit(run, copy)
    line = access_at(run, copy.place)[1] or "?"
    if not copy.lands_in_shared:
        does = text("hazards.does-stores-at-exit")
        return [copy_access(run, copy, does)], {"line": line, "variant": "store"}
    words = {"line": line, "barrier": text("hazards.its-barrier"), "cta": copy.cta.name, "variant": "load"}
    if copy.barrier is not None:
        words.update(barrier=copy.barrier.title, code=copy.barrier.name)
    does = text("hazards.does-loads-at-exit", cta=copy.cta.name)
    return [copy_access(run, copy, does)], words


def _not_committed(run: Simulation, thread: SimThread, copy: Any) -> Told:
    accesses, words = _copy_at_exit(run, copy)
    return accesses, {"earlier_line": words["line"]}


def _out_of_bounds(run: Simulation, thread: SimThread, **facts: Any) -> Told:
    if "fault" in facts:
        return _fault(thread, **facts)
    if "copy_address" in facts:
        return _copy_out_of_bounds(run, thread, **facts)
    if "operand" in facts:
        return misuse_wgmma.operand_out_of_bounds(run, thread, **facts)
    if "rank" in facts:
        return misuse_clusters.no_such_rank(run, thread, **facts)
    if "global_address" in facts:
        return _bulk_out_of_bounds(run, thread, **facts)
    array, index, axis = facts["array"], facts["index"], facts["axis"]
    shown = f"{array.name or text('hazards.an-array')}[{', '.join(map(str, index))}]"
    kind = KINDS.get(facts["kind"], "write")
    access = access_by(thread, kind, text(f"hazards.does-{kind}s", where=shown), space=array.space, array=array.name)
    given, length = index[axis], array.shape[axis]
    words = {"axis": axis, "given": given, "last": length - 1, "array": array.name, "shape": array.shape}
    if -length <= given < 0:
        return [access], {**words, "variant": "negative", "wrapped": given + length}
    return [access], words


def _copy_out_of_bounds(run: Simulation, thread: SimThread, copy_address: int, copy_stop: int, allocation: Any) -> Told:
    name = part_name(thread.cta.memory, copy_address)
    access = access_by(
        thread, "copy", text("hazards.does-copy", place=name), space="shared", array=name, address=copy_address
    )
    end = allocation.stop if allocation is not None else copy_address
    words = {"place": name, "over": f"{copy_stop - end:,}", "bytes": f"{copy_stop - copy_address:,}", "variant": "copy"}
    return [access], words


def _partial_warp(
    run: Simulation,
    thread: SimThread,
    operation: str,
    place: Place | None = None,
    exited: int = 0,
    apart: bool = False,
    **facts: Any,
) -> Told:
    if facts:
        return misuse_wgmma.part_of_warpgroup(run, thread, operation, place, **facts)
    variant = "apart" if apart else "exited" if exited else ""
    words = {"operation": operation, "exited": exited, "variant": variant}
    return [access_by(thread, "wait", text("hazards.does-warp", operation=operation), place)], words


def _barrier_mismatch(run: Simulation, thread: SimThread, id: int = 0, **facts: Any) -> Told:
    """Threads that never come (`missing`), two counts (`threads`, `given`), or a use before the last one is over."""
    if "cluster" in facts:
        return misuse_clusters.cluster_barrier(run, thread, **facts)
    does = text("hazards.does-barrier" if id else "hazards.does-syncthreads", id=id)
    if "unwaited" in facts:
        place = run.source.places[facts["place"]]
        arrive = access_by(thread, "arrive", text("hazards.does-arrive-named", id=id), place)
        return [arrive], {"id": id, "variant": "unwaited"}
    variant = "" if "missing" in facts else "count" if "given" in facts else "again"
    return [access_by(thread, "wait", does)], {**facts, "id": id, "variant": variant}


def _deadlock(run: Simulation, deadlock: Any) -> Told:
    return [], {"report": deadlock.message.partition("\n")[2].strip()}


def _bulk_out_of_bounds(run: Simulation, thread: SimThread, global_address: int, bytes: int, allocation: Any) -> Told:
    name = part_name(run.memory, global_address)
    does = text("hazards.does-copy-from", place=name)
    access = access_by(thread, "copy", does, space="global", array=name, address=global_address)
    over = global_address - run.memory.base + bytes - allocation.stop
    return [access], {"place": name, "over": f"{over:,}", "bytes": f"{bytes:,}", "variant": "bulk"}


def _multicast_mask(run: Simulation, thread: SimThread | None = None, **facts: Any) -> Told:
    if thread is not None and "mask" in facts:
        return misuse_clusters.mask(run, thread, **facts)
    if "copy" in facts:
        return misuse_clusters.left_out(run, **facts)
    return misuse_clusters.not_armed(run, **facts)


FACTS: dict[str, Callable[..., Told]] = {
    "barrier-reinit": _reinit,
    "over-arrival": _over_arrival,
    "expect-after-completion": _late_promise,
    "too-few-bytes": _too_few,
    "too-many-bytes": _waiting,
    "missing-arrival": _missing_arrival,
    "wrong-parity": _wrong_phase,
    "phase-alias": _phase_alias,
    "wait-ignored": _wait_ignored,
    "barrier-not-initialised": _not_initialised,
    "misaligned": _misaligned,
    "exit-in-flight": _at_exit,
    "store-not-committed": _not_committed,
    "out-of-bounds": _out_of_bounds,
    "partial-warp": _partial_warp,
    "barrier-mismatch": _barrier_mismatch,
    "peer-not-started": misuse_clusters.peer_not_started,
    "init-not-visible": misuse_clusters.init_not_visible,
    "multicast-mask": _multicast_mask,
    "map-edited": misuse_maps.edited,
    "map-not-acquired": misuse_maps.not_acquired,
    "clip-overwrites": misuse_maps.clip,
    "layout-mismatch": misuse_wgmma.layout,
    "wgmma-fence": misuse_wgmma.no_fence,
    "wgmma-registers": misuse_wgmma.registers,
    "register-pool": misuse_wgmma.register_pool,
    "deadlock": _deadlock,
}
