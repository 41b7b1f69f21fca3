"""Conflicts of two accesses, put into words: which hazard it is, who did what, what is missing, what to write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.conflict_names import (
    CP_ASYNC,
    LOAD,
    PEER,
    READS,
    THREAD,
    WGMMA,
    WRITES,
    part_of,
    unfenced_name,
    unordered_name,
    variant_of,
)
from tmalab.simulator.hazards import Access
from tmalab.simulator.memory import WINDOW, Memory
from tmalab.simulator.naming import element_name, element_of, part_name
from tmalab.simulator.reasons import ON_BARRIER, TOO_NARROW, UNFENCED, UNINITIALISED
from tmalab.simulator.records import ATOMIC_ACCESS, MAP_USE, REDUCTION
from tmalab.simulator.threads import len_of
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier, Waited
    from tmalab.simulator.simulation import Simulation

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
        return self.run.memory if self.space == "global" else self.cta.memory

    @property
    def cta(self) -> Cta:
        """The CTA whose shared memory it is."""
        return self.run.cluster.ctas[self.address // WINDOW]

    @property
    def fenced_space(self) -> str:
        """The memory, as proxy fences name it."""
        return "global" if self.space == "global" else self.cta.space

    @property
    def between_ctas(self) -> bool:
        """Whether threads of two CTAs made the accesses, or issued them."""
        return self.number_of_cta(self.earlier) != self.number_of_cta(self.later)

    @property
    def between_clusters(self) -> bool:
        """Whether the earlier access was made in another cluster, which nothing in the kernel orders."""
        company = self.run.cluster
        if self.earlier["cluster"] != company.number:
            return True
        one, other = (company.cta(self.number_of_cta(record)) for record in (self.earlier, self.later))
        return one.cluster is not other.cluster

    @property
    def one_copy_by_two(self) -> bool:
        """Whether two threads issued the same copy, at one line of the source."""
        one, other = (self.run.copies.get(int(record["copy"])) for record in (self.earlier, self.later))
        if one is None or other is None or one.thread is other.thread or one.cta is not other.cta:
            return False
        return (one.place, one.what) == (other.place, other.what)

    @property
    def too_weak_a_wait(self) -> tuple[int, int, int] | None:
        """The wait of the storing thread that came after the store and left it pending."""
        store = self.run.copies.get(int(self.earlier["copy"]))
        if store is None or store.lands_in_shared or store.role in (CP_ASYNC, WGMMA) or self.between_clusters:
            return None
        return store.cta.bulk_groups.too_weak_for(store)

    @property
    def store_was_told_of(self) -> bool:
        """Whether the later thread knows that the earlier store was issued: the storing thread told it too soon."""
        store, reader = self.run.copies.get(int(self.earlier["copy"])), self.run.thread(int(self.later["thread"]))
        if not self.run.together or store is None or store.knew is None:
            return False
        row = store.thread.row
        return store.cta.clocks.knows(reader.row, row, int(store.knew[row]))

    @property
    def too_late_a_wait(self) -> int | None:
        """The wait of the storing thread for its writes, if that came after the barrier which the reader relies on."""
        store = self.run.copies.get(int(self.earlier["copy"]))
        if store is None or store.lands_in_shared or store.role in (CP_ASYNC, WGMMA) or self.between_clusters:
            return None
        return store.cta.bulk_groups.late_wait_for(store, self.run.thread(int(self.later["thread"])))

    @property
    def load_ran_ahead(self) -> bool:
        """Whether a load fills a stage again of which its issuer cannot know that the reader has even waited for it."""
        load = self.run.copies.get(int(self.earlier["copy"]))
        barrier = getattr(load, "barrier", None)
        if barrier is None or self.later_writes or self.between_clusters:
            return False
        if self.role(self.later) not in (THREAD, WGMMA):
            return False
        reader = self.run.thread(int(self.later["thread"]))
        waited = reader.waits.get(barrier.address)
        phase = load.tick - 1 if load.tick is not None else barrier.machine.phase
        if waited is None or not waited.news or load.began < phase:  # late in a phase that began early: no refill
            return False
        return waited.phase == phase > 0 and load.knew[reader.row] < waited.segment

    def number_of_cta(self, record: np.ndarray) -> int:
        """The number in the grid of the CTA of an access's thread."""
        return int(record["thread"]) // len_of(self.run.launch.block)

    def role(self, record: np.ndarray) -> str:
        """Who made an access."""
        copy = self.run.copies.get(int(record["copy"]))
        return THREAD if copy is None else copy.role

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
    earlier = part_of(conflict.role(conflict.earlier), conflict.earlier_wrote)
    later = part_of(conflict.role(conflict.later), conflict.later_writes)
    accesses = [_access(conflict, conflict.later, conflict.later_writes, True)]
    words = _words(conflict)
    if conflict.why == UNINITIALISED:
        combines = conflict.later["how"] == REDUCTION and conflict.space == "shared"
        yield "uninitialised-read", "combined" if combines else later, accesses, words
        return
    accesses.append(_access(conflict, conflict.earlier, conflict.earlier_wrote, False))
    if conflict.why == ON_BARRIER:
        yield "barrier-as-memory", "", accesses, words
        return
    if conflict.why == UNFENCED:
        yield unfenced_name(conflict), WRITES if conflict.later_writes else READS, accesses, words
        return
    if conflict.why == TOO_NARROW:
        yield "scope-too-narrow", "", accesses, words
        return
    in_vain = conflict.space == "shared" and later == LOAD and _last_wait(conflict, conflict.earlier, conflict.later)
    name = unordered_name(conflict, earlier, later, bool(in_vain))
    if name == "read-before-wait" and later == LOAD:  # the read came first, by luck: told the other way round
        accesses = [_access(conflict, conflict.earlier, False, True), _access(conflict, conflict.later, True, False)]
        words = _words(conflict, swapped=True)
        yield name, later, accesses, words
        yield from _wrong_parity(conflict, conflict.earlier, conflict.later, accesses, words)
        return
    yield name, variant_of(conflict, name, earlier), accesses, words
    if name == "read-before-wait":
        yield from _wrong_parity(conflict, conflict.later, conflict.earlier, accesses, words)


def _last_wait(conflict: Conflict, reader: np.ndarray, load: np.ndarray) -> tuple[Barrier, Waited] | None:
    """The reader's last wait on the load's barrier, if it was for a phase that was over before, and not because the
    reader had given up waiting for the next one."""
    barrier = getattr(conflict.run.copies[int(load["copy"])], "barrier", None)
    waited = barrier and conflict.run.thread(int(reader["thread"])).waits.get(barrier.address)
    told = waited and not waited.news and not waited.gave_up and waited.parity is not None
    return (barrier, waited) if told else None


def _wrong_parity(
    conflict: Conflict, reader: np.ndarray, load: np.ndarray, accesses: list[Access], words: dict[str, Any]
) -> Iterator[Explained]:
    """The reader did wait on the load's barrier, but for a phase that was over before."""
    found = _last_wait(conflict, reader, load) if conflict.role(reader) in (THREAD, WGMMA) else None
    if found is None:
        return
    barrier, waited = found
    place = conflict.run.source.places[waited.place]
    does = text("hazards.does-waited", barrier=barrier.name, parity=waited.parity)
    wait = Access(
        str(conflict.run.thread(int(reader["thread"]))),
        does,
        "wait",
        accesses[0].thread,
        *(place or (None, None)),
        "shared",
        array=barrier.name,
    )
    yield "wrong-parity", "early", [wait, *accesses], {**words, "parity": waited.parity, "right": 1 - waited.parity}


def _access(conflict: Conflict, record: np.ndarray, writes: bool, is_later: bool) -> Access:
    """One of the two accesses in words."""
    run, memory = conflict.run, conflict.memory
    role, copy = conflict.role(record), run.copies.get(int(record["copy"]))
    where = element_name(memory, conflict.place_in_memory)
    array, index = element_of(memory, conflict.place_in_memory)
    found = memory.allocation(conflict.place_in_memory)
    elsewhere = conflict.space == "shared" and conflict.number_of_cta(record) != conflict.cta.number
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
        who = copy_name(copy)
        verb = "uses" if record["how"] == MAP_USE else "combines" if record["how"] == REDUCTION else verb
        open_ended = not is_later and conflict.why != UNFENCED  # nothing says that it is over
        does = text(f"hazards.does-{'earlier' if open_ended else 'later'}-{verb}", where=where)
        note = _note(copy, elsewhere or conflict.one_copy_by_two)
    place = run.source.places[int(record["place"])]
    return Access(
        who, does, kind, int(record["thread"]), *(place or (None, None)), conflict.space, array, index,
        conflict.place_in_memory, found.array.itemsize if found else 1, note, int(record["copy"]),
        int(record["tick"]) if role == THREAD else 0,
    )  # fmt: skip


def _between(*lines: int) -> str:
    """Two lines in their order, or what different threads do at one."""
    first, *rest = sorted(set(lines)) or ["?"]
    return text("hazards.between-lines", first=first, second=rest[0]) if rest else text("hazards.at-line", line=first)


def copy_name(copy: Any) -> str:
    """`the load of ring[1]`; what it is called by lies in the shared memory of its CTA."""
    if copy.role == WGMMA:
        a, b = (part and part_name(copy.cta.memory, part.address) for part in (copy.a, copy.b))
        return text("hazards.who-wgmma", a=a, b=b) if a else text("hazards.who-wgmma-registers", b=b)
    if copy.role == PEER:
        tile = part_name(copy.thread.cta.memory, copy.source)
        return text("hazards.who-peer", tile=tile, cta=copy.cta.name)
    tile = part_name(copy.cta.memory, copy.address)
    return text(f"hazards.who-{copy.role}", tile=tile if copy.cta is copy.thread.cta else copy.cta.titled(tile))


def _note(copy: Any, elsewhere: bool) -> str:
    if copy.lands_in_shared and 0 < copy.landed < copy.bytes:
        return text("hazards.landed", landed=f"{copy.landed:,}", bytes=f"{copy.bytes:,}")
    return text("hazards.issued-by", thread=copy.thread) if elsewhere else ""


def _words(conflict: Conflict, swapped: bool = False) -> dict[str, Any]:
    """What the sentences may mention. `swapped`: the accesses stand in the report in the other order."""
    run = conflict.run
    records = (conflict.later, conflict.earlier) if swapped else (conflict.earlier, conflict.later)
    earlier, later = (run.source.places[int(record["place"])] for record in records)
    words = {
        "line": later.line if later else "?",
        "earlier_line": earlier.line if earlier else "?",
        "between": _between(*(place.line for place in (earlier, later) if place)),
        "array": conflict.array,
        "earlier": run.thread_name(int(conflict.earlier["thread"])),
        "later": run.thread_name(int(conflict.later["thread"])),
    }
    if conflict.too_weak_a_wait is not None:
        pending, allowed, place = conflict.too_weak_a_wait
        wait = run.source.places[place]
        words.update(pending=pending, allowed=allowed, wait_line=wait.line if wait else "?")
    elif conflict.space == "global" and conflict.too_late_a_wait is not None:
        wait = run.source.places[conflict.too_late_a_wait]
        words.update(wait_line=wait.line if wait else "?")
    for record in (conflict.later, conflict.earlier):
        copy = run.copies.get(int(record["copy"]))
        barrier = getattr(copy, "barrier", None)
        if barrier is not None:
            phase = copy.tick - 1 if copy.tick is not None else barrier.machine.phase
            words.update(barrier=barrier.title, code=barrier.name, phase=phase, parity=phase & 1)
    return {"barrier": text("hazards.its-barrier"), "phase": "?", "parity": "?", **words}
