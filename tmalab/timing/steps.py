"""What each kind of step takes: the rules of the time model, one function for each.

A function is given the engine, the warp, the step and when it can begin, and returns when the warp can take the next
one (ns). It raises Blocked where the warp has to wait, and is called again when what it waits for is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tmalab.banks import conflicts
from tmalab.timing.awaited import Blocked, phase_of
from tmalab.timing.residence import LINE, SECTOR

if TYPE_CHECKING:
    from tmalab.timing.engine import Engine, Warp
    from tmalab.timing.warps import Step

Rule = Callable[["Engine", "Warp", "Step", float], float]


def plain(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """An instruction that waits for nobody. A syncwarp of lanes that are together is none."""
    if step.name == "syncwarp":
        return at
    return engine.issue(warp, at, "fence" if step.name.startswith("fence_") else "instruction")


def clock(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """A look at the clock costs nothing, so that what it measures is what the model says."""
    engine.clocks.setdefault((warp.cta, warp.number), []).append(at)
    return at


# Accesses of threads.


def shared(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Shared memory hands out a wavefront after the other; what is read comes a latency later."""
    at = engine.access(warp, step, at)
    turns = wavefronts(tuple(access.address for access in step.data), step.data[0].size)
    done = warp.sm.shared.serve(at, engine.machine.cycles("shared_wavefront", turns))
    if step.data[0].reads:
        warp.reads.setdefault(step.pc, []).append(done + engine.machine.cycles("shared_latency"))
        return at
    return at


def world(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Global memory moves sectors of 32 bytes."""
    at = engine.access(warp, step, at)
    sectors = sectors_of(step)
    if step.data[0].reads:
        warp.reads.setdefault(step.pc, []).append(_read(engine, warp, sectors, at))
        return at
    written = sum(access.size for access in step.data)
    lines = len({sector * SECTOR // LINE for sector in sectors})
    to_device = engine.residence.of_written(written) * written
    _, there = engine.machine.put(warp.sm, at, SECTOR * len(sectors), to_device, lines)
    engine.until(there)
    return max(at, there - engine.machine.cycles("global_latency_l2"))  # what is longer under way holds the warp up


def cp_async(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Each thread fetches a few bytes, and goes on."""
    at = engine.access(warp, step, at)
    warp.copies.append(_read(engine, warp, sectors_of(step), at))
    return at


def cp_async_commit(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    warp.copy_groups.append(warp.copies)
    warp.copies = []
    return engine.issue(warp, at, "instruction")


def cp_async_wait(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    over = _all_but(warp.copy_groups, step.data[0].n)
    return engine.issue(warp, max([at, *(time for group in over for time in group)]), "instruction")


def _read(engine: Engine, warp: Warp, sectors: set[int], at: float) -> float:
    share = engine.residence.of_sectors(sectors)
    there = engine.machine.fetch([warp.sm], at, SECTOR * len(sectors), "global_latency", share, 1.0)
    engine.moved.append(there)
    return there


# The copy engine.


def load(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """The issuing thread goes on at once; the bytes come a latency after the pipes have let them through."""
    machine = engine.machine
    for copies in step.data:
        at = engine.issue(warp, at, "load_issue")
        if not copies:
            continue
        share = engine.residence.of_load(copies[0])
        sms = [warp.cluster.sms[copy.cta.number] for copy in copies]
        first = engine.residence.first_to_ask(copies[0])
        done = machine.fetch(sms, at, copies[0].bytes, "load_latency", share, first)
        if len(copies) > 1:
            done += machine.cycles("multicast_latency")
        engine.until(done)
        engine.landed.append(done)
        for copy in copies:
            if (drawing := engine.drawn(warp)) is not None:
                drawing.flight(warp, step, copy, at, done)
            if (key := phase_of(copy)) is not None:
                engine.arrive(warp.cluster.awaited[key], 1, done)
    return at


def store(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """First the source is read, then the bytes arrive."""
    machine = engine.machine
    for copies in step.data:
        at = engine.issue(warp, at, "store_issue")
        for copy in copies:
            gone, there = machine.put(warp.sm, at, copy.bytes, engine.residence.of_written(copy.bytes) * copy.bytes)
            read = gone + machine.cycles("store_read_latency")
            there = max(read, there + machine.cycles("store_latency"))
            warp.open.append((read, there))
            engine.moved.append(there)
            engine.until(there)
            if (drawing := engine.drawn(warp)) is not None:
                drawing.stored(warp, step, copy, at, there)
    return at


def commit(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Of bulk copies: it costs what issuing one does, and so does a wait for a group that is complete."""
    warp.groups.append(warp.open)
    warp.open = []
    return engine.issue(warp, at, "store_issue")


def wait_group(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Until the sources are read, or the bytes have arrived, of all groups but the n newest."""
    n, reads = step.data[0]
    groups = warp.groups[: max(0, len(warp.groups) - n)] if reads else _all_but(warp.groups, n)
    times = [store[0] if reads else store[1] for group in groups for store in group]
    return engine.issue(warp, max([at, *times]), "store_issue")


# mbarriers, and threads that meet.


def arrive(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Others learn of an arrival a little later, those of another CTA later still."""
    at = engine.issue(warp, at, "arrive")
    for arrival in step.data:
        known = at + engine.machine.cycles("peer_arrive" if arrival.remote else "handoff")
        engine.arrive(warp.cluster.awaited[arrival.barrier, arrival.phase], arrival.count, known)
    return at


def late_arrive(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """An arrive when all that the thread has asked for by cp.async is there."""
    at = engine.issue(warp, at, "arrive")
    landed = max([at, *warp.copies, *(time for group in warp.copy_groups for time in group)])
    for arrival in step.data:
        known = landed + engine.machine.cycles("handoff")
        engine.arrive(warp.cluster.awaited[arrival.barrier, arrival.phase], 1, known)
    return at


def wait(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """A wait for what is there costs a look; one for what is late ends when that has come."""
    asked = engine.issue(warp, at, "wait", "wait_slots") if not warp.came else warp.time
    warp.came, warp.time = True, asked
    latest = asked
    for key in {(found.barrier, found.phase) for found in step.data if found.phase >= 0}:
        awaited = warp.cluster.awaited.get(key)
        if awaited is not None:
            if not awaited.is_complete:
                raise Blocked(awaited)
            latest = max(latest, awaited.time)
    warp.came = False
    return latest


def meet(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """All who meet go on when the last one has come."""
    cost = "cluster_sync" if step.data[0].key[0] == "cluster" else "sync"
    if not warp.came:
        at = engine.issue(warp, at, "instruction")
        warp.came, warp.time = True, at
        for meeting in step.data:
            engine.arrive(warp.cluster.awaited[meeting.key], 1, at + engine.machine.cycles(cost))
    if step.data[0].waits:
        met(engine, warp, step, at)
    warp.came = False
    return max(warp.time, *(warp.cluster.awaited[meeting.key].time for meeting in step.data if meeting.waits), at)


def met(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """Those who have arrived before wait for the others."""
    for meeting in step.data:
        awaited = warp.cluster.awaited.get(meeting.key)
        if awaited is not None and not awaited.is_complete:
            raise Blocked(awaited)
        at = max(at, awaited.time if awaited is not None else at)
    return at


# The tensor cores.


def wgmma(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    """It begins when the last of the four warps has issued it, and the tensor cores are done with those before."""
    at = engine.issue(warp, at, "instruction")
    operation = step.data[0]
    awaited = warp.cluster.awaited[operation]
    warp.multiplied.append(awaited)
    if awaited.missing == 1:
        begin, end = engine.machine.multiply(warp.sm, at, operation.operands.n)
        engine.arrive(awaited, 1, end + engine.machine.cycles("wgmma_latency"))
        engine.until(awaited.time)
        if (drawing := engine.drawn(warp)) is not None:
            drawing.multiplied(warp, step, operation, begin, end)
    else:
        awaited.arrive(1, at)
    return at


def wgmma_commit(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    warp.matrix_groups.append(warp.multiplied)
    warp.multiplied = []
    return engine.issue(warp, at, "instruction")


def wgmma_wait(engine: Engine, warp: Warp, step: Step, at: float) -> float:
    n = step.data[0].n
    for awaited in (found for group in warp.matrix_groups[: max(0, len(warp.matrix_groups) - n)] for found in group):
        if not awaited.is_complete:
            raise Blocked(awaited)
        at = max(at, awaited.time)
    _all_but(warp.matrix_groups, n)
    return engine.issue(warp, at, "instruction")


def _all_but(groups: list[Any], n: int) -> list[Any]:
    """Take out all groups but the n newest."""
    over = groups[: max(0, len(groups) - n)]
    del groups[: len(over)]
    return over


@lru_cache(maxsize=1 << 14)
def _turns(offsets: tuple[int, ...], size: int) -> int:
    return conflicts(offsets, size).wavefronts


def wavefronts(addresses: tuple[int, ...], size: int) -> int:
    """Turns of shared memory for one access of a warp; lines of 128 bytes all lie over the banks alike."""
    base = min(addresses) & ~127
    return _turns(tuple(address - base for address in addresses), size)


def sectors_of(step: Step) -> set[int]:
    """The numbers of the sectors of global memory that an access of a warp touches."""
    ends = ((access.address // SECTOR, (access.address + access.size - 1) // SECTOR) for access in step.data)
    return {sector for first, last in ends for sector in range(first, last + 1)}


STEPS: dict[str, Rule] = {
    "plain": plain,
    "clock": clock,
    "shared": shared,
    "global": world,
    "cp.async": cp_async,
    "cp.async commit": cp_async_commit,
    "cp.async wait": cp_async_wait,
    "load": load,
    "store": store,
    "commit": commit,
    "wait group": wait_group,
    "arrive": arrive,
    "late arrive": late_arrive,
    "wait": wait,
    "meet": meet,
    "met": met,
    "wgmma": wgmma,
    "wgmma commit": wgmma_commit,
    "wgmma wait": wgmma_wait,
}
