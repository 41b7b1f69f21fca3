"""Conflicts of two accesses, put into words: which hazard it is, who did what, what is missing, what to write.

A table says which name a pair of accesses has. The roles are a thread, a load, a store and a cp.async; a load writes
shared memory and reads global memory, a store the reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.copies import CpAsync, Load, Store
from tmalab.simulator.hazards import Access
from tmalab.simulator.memory import WINDOW, Memory
from tmalab.simulator.naming import element_name, element_of, part_name
from tmalab.simulator.records import ATOMIC_ACCESS
from tmalab.simulator.shadow import ON_BARRIER, UNFENCED, UNINITIALISED
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier, Waited
    from tmalab.simulator.simulation import Simulation

THREAD, LOAD, STORE, CP_ASYNC = "thread", "load", "store", "cpasync"
READS, WRITES = "reads", "writes"

# Nothing orders the two: (space, earlier role and access, later role and access): the hazard.
UNORDERED_NAMES = {
    ("shared", LOAD, WRITES, THREAD, READS): "read-before-wait",
    ("shared", LOAD, WRITES, STORE, READS): "read-before-wait",
    ("shared", CP_ASYNC, WRITES, THREAD, READS): "read-before-wait",
    ("shared", CP_ASYNC, WRITES, STORE, READS): "read-before-wait",
    ("shared", LOAD, WRITES, THREAD, WRITES): "overwrite-in-use",
    ("shared", LOAD, WRITES, LOAD, WRITES): "overwrite-in-use",
    ("shared", LOAD, WRITES, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", CP_ASYNC, WRITES, THREAD, WRITES): "overwrite-in-use",
    ("shared", CP_ASYNC, WRITES, LOAD, WRITES): "overwrite-in-use",
    ("shared", CP_ASYNC, WRITES, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", THREAD, READS, LOAD, WRITES): "overwrite-in-use",
    ("shared", THREAD, WRITES, LOAD, WRITES): "overwrite-in-use",
    ("shared", THREAD, READS, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", THREAD, WRITES, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", STORE, READS, LOAD, WRITES): "overwrite-in-use",
    ("shared", STORE, READS, CP_ASYNC, WRITES): "overwrite-in-use",
    ("shared", STORE, READS, THREAD, WRITES): "store-source-reuse",
    ("global", STORE, WRITES, THREAD, READS): "store-not-waited",
    ("global", STORE, WRITES, THREAD, WRITES): "store-not-waited",
    ("global", STORE, WRITES, LOAD, READS): "store-not-waited",
    ("global", STORE, WRITES, CP_ASYNC, READS): "store-not-waited",
    ("global", STORE, WRITES, STORE, WRITES): "store-not-waited",
    ("global", LOAD, READS, THREAD, WRITES): "overwrite-in-use",
    ("global", LOAD, READS, STORE, WRITES): "overwrite-in-use",
    ("global", CP_ASYNC, READS, THREAD, WRITES): "overwrite-in-use",
    ("global", CP_ASYNC, READS, STORE, WRITES): "overwrite-in-use",
}  # all others are data races
# Some pairs have another name where what was read, or overwritten, was garbage: the order in which they happen is luck.
BEFORE_THE_LOAD = {("shared", THREAD, READS, LOAD, WRITES), ("shared", STORE, READS, LOAD, WRITES)}
WRITTEN_LATE = ("shared", STORE, READS, THREAD, WRITES)
WRITTEN_EARLY = ("shared", THREAD, WRITES, STORE, READS)
OTHER_SPACE = {"shared": "global", "global": "shared::cta"}  # where a fence of the wrong space has gone

Explained = tuple[str, str, list[Access], dict[str, Any]]  # name, variant, accesses, words


@dataclass(frozen=True)
class Conflict:
    """Two accesses to one address, as records."""

    run: Simulation
    space: str
    why: str
    address: int
    earlier: np.ndarray
    later: np.ndarray
    later_writes: bool
    earlier_wrote: bool
    was_garbage: bool  # the earlier access read what nobody had written

    @property
    def memory(self) -> Memory:
        if self.space == "global":
            return self.run.memory
        return self.run.cluster.ctas[self.address // WINDOW].memory

    @property
    def array(self) -> str:
        """The array that is in question."""
        return element_of(self.memory, self.place_in_memory)[0] or hex(self.place_in_memory)

    @property
    def place_in_memory(self) -> int:
        """The address as the memory counts."""
        return self.address + self.run.memory.base if self.space == "global" else self.address % WINDOW


def explained(conflict: Conflict) -> Iterator[Explained]:
    """The hazards that a conflict is: one, and where a wait had the wrong parity that as well."""
    earlier, later = _role(conflict, conflict.earlier), _role(conflict, conflict.later)
    accesses = [_access(conflict, conflict.later, conflict.later_writes, True)]
    words = _words(conflict)
    if conflict.why == UNINITIALISED:
        yield "uninitialised-read", later, accesses, words
        return
    accesses.append(_access(conflict, conflict.earlier, conflict.earlier_wrote, False))
    if conflict.why == ON_BARRIER:
        yield "barrier-as-memory", "", accesses, words
        return
    if conflict.why == UNFENCED:
        yield _unfenced_name(conflict), WRITES if conflict.later_writes else READS, accesses, words
        return
    name = _unordered_name(conflict, earlier, later)
    if name == "read-before-wait" and later == LOAD:  # the read came first, by luck: told the other way round
        accesses = [_access(conflict, conflict.earlier, False, True), _access(conflict, conflict.later, True, False)]
        words = _words(conflict, swapped=True)
        yield name, later, accesses, words
        yield from _wrong_parity(conflict, conflict.earlier, conflict.later, accesses, words)
        return
    yield name, _variant(name, earlier), accesses, words
    if name == "read-before-wait":
        yield from _wrong_parity(conflict, conflict.later, conflict.earlier, accesses, words)


def _unordered_name(conflict: Conflict, earlier: str, later: str) -> str:
    key = (
        conflict.space,
        earlier,
        WRITES if conflict.earlier_wrote else READS,
        later,
        WRITES if conflict.later_writes else READS,
    )
    name = UNORDERED_NAMES.get(key, "data-race")
    if name == "store-not-waited":
        return _of_store(conflict, later)
    if key in BEFORE_THE_LOAD and (conflict.was_garbage or _last_wait(conflict, conflict.earlier, conflict.later)):
        return "read-before-wait"
    if key == WRITTEN_LATE and conflict.was_garbage:
        return "data-race"
    if key == WRITTEN_EARLY and not conflict.earlier["fresh"]:
        return "store-source-reuse"
    return name


def _of_store(conflict: Conflict, later: str) -> str:
    """A store whose write is not known: never committed, not waited for, or waited for by one that nothing orders."""
    copy = conflict.run.copies[int(conflict.earlier["copy"])]
    if conflict.earlier["cluster"] != conflict.run.cluster.number:
        return "data-race"
    groups = copy.cta.bulk_groups
    if later != STORE and groups.is_open(copy):
        return "store-not-committed"
    return "data-race" if groups.is_known(copy) else "store-not-waited"


def _unfenced_name(conflict: Conflict) -> str:
    """Whether a fence was there, but for another space."""
    cta = conflict.run.copies[int(conflict.later["copy"])].cta
    row = int(conflict.run.copies[int(conflict.later["copy"])].thread.row)
    carried = cta.clocks.carried(row, OTHER_SPACE[conflict.space])
    elsewhere = carried[conflict.earlier["dimension"]] >= conflict.earlier["tick"]
    return "proxy-fence-space" if elsewhere else "missing-proxy-fence"


def _variant(name: str, earlier: str) -> str:
    return earlier if name in ("read-before-wait", "overwrite-in-use") else ""


def _last_wait(conflict: Conflict, reader: np.ndarray, load: np.ndarray) -> tuple[Barrier, Waited] | None:
    """The reader's last wait on the load's barrier, if it was for a phase that was over before."""
    barrier = getattr(conflict.run.copies[int(load["copy"])], "barrier", None)
    waited = barrier and conflict.run.thread(int(reader["thread"])).waits.get(barrier.address)
    return (barrier, waited) if waited and not waited.news and waited.parity is not None else None


def _wrong_parity(
    conflict: Conflict, reader: np.ndarray, load: np.ndarray, accesses: list[Access], words: dict[str, Any]
) -> Iterator[Explained]:
    """The reader did wait on the load's barrier, but for a phase that was over before."""
    found = _last_wait(conflict, reader, load) if not reader["copy"] else None
    if found is None:
        return
    barrier, waited = found
    place = conflict.run.source.places[waited.place]
    does = text("hazards.does-waited", barrier=barrier.name, parity=waited.parity)
    wait = Access(
        accesses[0].who, does, "wait", accesses[0].thread, *(place or (None, None)), "shared", array=barrier.name
    )
    yield "wrong-parity", "early", [wait, *accesses], {**words, "parity": waited.parity, "right": 1 - waited.parity}


def _role(conflict: Conflict, record: np.ndarray) -> str:
    copy = conflict.run.copies.get(int(record["copy"]))
    return {Load: LOAD, Store: STORE, CpAsync: CP_ASYNC}.get(type(copy), THREAD)


def _access(conflict: Conflict, record: np.ndarray, writes: bool, is_later: bool) -> Access:
    """One of the two accesses in words."""
    run, memory = conflict.run, conflict.memory
    role, copy = _role(conflict, record), run.copies.get(int(record["copy"]))
    where = element_name(memory, conflict.place_in_memory)
    array, index = element_of(memory, conflict.place_in_memory)
    found = memory.allocation(conflict.place_in_memory)
    verb = WRITES if writes else READS
    note = ""
    if role == THREAD:
        who, kind = run.thread_name(int(record["thread"])), verb.removesuffix("s")
        verb = "updates" if record["how"] == ATOMIC_ACCESS else verb
        does = text(f"hazards.does-{verb}", where=where)
        if conflict.why == ON_BARRIER and not is_later:
            kind, does = "init", text("hazards.does-init", barrier=where)
    else:
        kind = role
        who = text(f"hazards.who-{role}", tile=part_name(copy.cta.memory, copy.address))
        time = "later" if is_later else "earlier"
        does = text(f"hazards.does-{time}-{verb}", where=where)
        if isinstance(copy, Load) and 0 < copy.landed < copy.bytes:
            note = text("hazards.landed", landed=f"{copy.landed:,}", bytes=f"{copy.bytes:,}")
    place = run.source.places[int(record["place"])]
    return Access(
        who, does, kind, int(record["thread"]), *(place or (None, None)), conflict.space, array, index,
        conflict.place_in_memory, found.array.itemsize if found else 1, note,
    )  # fmt: skip


def _words(conflict: Conflict, swapped: bool = False) -> dict[str, Any]:
    """What the sentences may mention. `swapped`: the accesses stand in the report in the other order."""
    run = conflict.run
    records = (conflict.later, conflict.earlier) if swapped else (conflict.earlier, conflict.later)
    earlier, later = (run.source.places[int(record["place"])] for record in records)
    words = {
        "line": later.line if later else "?",
        "earlier_line": earlier.line if earlier else "?",
        "array": conflict.array,
        "earlier": run.thread_name(int(conflict.earlier["thread"])),
        "later": run.thread_name(int(conflict.later["thread"])),
    }
    for record in (conflict.later, conflict.earlier):
        copy = run.copies.get(int(record["copy"]))
        barrier = getattr(copy, "barrier", None)
        if barrier is not None:
            phase = copy.tick - 1 if copy.tick is not None else barrier.machine.phase
            words.update(barrier=barrier.name, phase=phase, parity=phase & 1)
    return {"barrier": text("hazards.its-barrier"), "phase": "?", "parity": "?", **words}
