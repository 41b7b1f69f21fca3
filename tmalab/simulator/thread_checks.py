"""Accesses of threads against each other and against the shadow memory, many at a time.

`Batch` is exact: it sorts accesses by unit, so that each one's neighbours in time are its neighbours in the array, and
compares clocks. `plainly_ordered` is quick, for the common case: between two syncthreads, no unit is written by one
thread and touched by another. Where that does not settle it, the batch does.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack

import numpy as np

from tmalab.simulator.arrays import ATOMIC, KIND_BITS, READ, SAME, WRITE
from tmalab.simulator.reasons import ON_BARRIER, SAME_WRITTEN, TOO_NARROW, UNINITIALISED, UNORDERED
from tmalab.simulator.records import ATOMIC_ACCESS, BARRIER, GENERIC, NOTHING, SAME_VALUE, by_thread, plain, put
from tmalab.simulator.shadow import Shadow

HOW = np.zeros(4, np.int32)  # kind of a logged access: how it was made
HOW[[READ, WRITE, ATOMIC, SAME]] = GENERIC, GENERIC, ATOMIC_ACCESS, SAME_VALUE


class Batch:
    """Logged accesses to one space, in the order of the run.

    entries    as tmalab.simulator.arrays logs them
    segment    for each, the number of its segment: a row of `segments` (RECORDs) and of `clocks`
    places     for each, the number of its source line; or 0 for all
    narrow     clocks as `clocks`, that know what too narrow a scope orders as well; None: the same
    """

    def __init__(
        self,
        shadow: Shadow,
        entries: np.ndarray,
        segment: np.ndarray,
        segments: np.ndarray,
        clocks: np.ndarray,
        places: np.ndarray | int = 0,
        narrow: np.ndarray | None = None,
    ):
        self._shadow, self._clocks, self._narrow = shadow, clocks, narrow
        self._units, parent = shadow.units_of_entries(entries)
        if parent is not None:
            entries, segment = entries[parent], segment[parent]
            places = places if isinstance(places, int) else places[parent]
        self._segment, kind = segment, entries & KIND_BITS
        self._made = segments.take(segment)
        self._made["how"], self._made["place"] = HOW[kind], places
        self._writes = kind != READ

    def check(self) -> None:
        """Report every conflict, and let the shadow memory know of the accesses."""
        if self._writes.any():
            self._check_mixed()
        else:
            self._check_writers(self._shadow.writers.take(self._units))
            self._check_reductions()
            self._shadow.remember_reads(self._units, self._made)

    def _check_mixed(self) -> None:
        """Reads and writes together."""
        self._sort()
        shadow, units, made, writes = self._shadow, self._units, self._made, self._writes
        count, index = len(units), np.arange(len(units))
        first = np.empty(count, bool)
        first[0], first[1:] = True, units[1:] != units[:-1]

        start = np.maximum.accumulate(np.where(first, index, 0))
        if (made["how"] == ATOMIC_ACCESS).any():
            self._keep_stores(start, index)
        last_write = np.maximum.accumulate(np.where(writes, index, -1))
        before = np.concatenate(([-1], last_write[:-1]))
        inside = before >= start  # the last writer is part of this batch
        earlier = shadow.writers.take(units)
        put(earlier, inside, made.take(before[inside]))
        made["fresh"] = earlier["how"] == NOTHING
        self._check_writers(earlier)
        self._check_reductions()

        stop = np.concatenate((np.flatnonzero(first)[1:], [count]))[np.cumsum(first) - 1]
        next_write = np.minimum.accumulate(np.where(writes, index, count)[::-1])[::-1]
        after = np.concatenate((next_write[1:], [count]))
        followed = after < stop  # by a write to the same unit
        read = np.flatnonzero(~writes & followed)
        self._check_reads(units[read], made.take(read), after[read])
        self._check_outstanding(np.flatnonzero(writes & ~inside))

        written, lasting = np.flatnonzero(writes & ~followed), np.flatnonzero(~writes & ~followed)
        put(shadow.writers, units[written], made.take(written))
        shadow.remember_reads(units[lasting], made.take(lasting))

    def _keep_stores(self, start: np.ndarray, index: np.ndarray) -> None:
        """A thread's atomic does not hide its store of the same segment: other threads' atomics must know that."""
        made, segment = self._made, self._segment
        stored = np.maximum.accumulate(np.where((made["how"] == GENERIC) & self._writes, index, -1))
        own = np.flatnonzero((made["how"] == ATOMIC_ACCESS) & (stored >= start) & (segment[stored] == segment))
        put(made, own, made.take(stored[own]))

    def _sort(self) -> None:
        """By unit, accesses to one unit in their order; by radix sort where 16 bits suffice."""
        short = len(self._shadow.writers) <= 1 << 16
        order = np.argsort(self._units.astype(np.uint16) if short else self._units, kind="stable")
        self._units, self._segment = self._units[order], self._segment[order]
        self._made, self._writes = self._made.take(order), self._writes[order]

    def _check_writers(self, earlier: np.ndarray) -> None:
        """Each access against the last writer of its unit."""
        shadow, made, writes, how = self._shadow, self._made, self._writes, earlier["how"]
        foreign = shadow.foreign(earlier)
        unknown = foreign | (self._clocks[self._segment, earlier["dimension"]] < earlier["tick"])
        if len(shadow.twins):
            shadow.forget_twins(self._units[writes & ~unknown])
        if unknown.any():
            both_atomic = (how == ATOMIC_ACCESS) & (made["how"] == ATOMIC_ACCESS)
            harmless = both_atomic | (made["how"] == SAME_VALUE) & by_thread(how) | (how == BARRIER)
            unordered = self._by_scope(unknown & ~harmless, self._segment, self._units, earlier, made, writes)
            shadow.tell(UNORDERED, unordered, self._units, earlier, made, writes)
            same = unknown & (made["how"] == SAME_VALUE) & by_thread(how) & ~np.asarray(foreign)
            if same.any():
                shadow.remember_twins(self._units[same], earlier[same])
            if shadow.strict:
                shadow.tell(SAME_WRITTEN, same, self._units, earlier, made, writes)
        shadow.tell(ON_BARRIER, how == BARRIER, self._units, earlier, made, writes)
        if shadow.space == "shared":
            reads = ~writes | (made["how"] == ATOMIC_ACCESS)
            shadow.tell(UNINITIALISED, (how == NOTHING) & reads, self._units, earlier, made, writes)

    def _check_reads(self, units: np.ndarray, reads: np.ndarray, writer: np.ndarray) -> None:
        """Reads against the write that follows them, `writer` by its position in the batch."""
        segment = self._segment[writer]
        facts = units, reads, self._made.take(writer), self._writes[writer], False
        unknown = self._clocks[segment, reads["dimension"]] < reads["tick"]
        self._shadow.tell(UNORDERED, self._by_scope(unknown, segment, *facts), *facts)

    def _check_reductions(self) -> None:
        """Each access against the copy engine's reductions before it."""
        if len(self._shadow.reductions):
            self._shadow.check_reductions(self._units, self._made, self._clocks[self._segment], self._writes)

    def _by_scope(self, unknown, segment, units, earlier, later, writes, earlier_wrote=True) -> np.ndarray:
        """Of what accesses are not ordered after, that which nothing orders: the rest is told as too narrow a scope."""
        if self._narrow is None or not unknown.any():
            return unknown
        narrowly = unknown & self._shadow.knows_narrowly(self._narrow[segment, earlier["dimension"]], earlier)
        self._shadow.tell(TOO_NARROW, narrowly, units, earlier, later, writes, earlier_wrote)
        return unknown & ~narrowly

    def _check_outstanding(self, opening: np.ndarray) -> None:
        """Reads of earlier batches against the first write to their unit (`opening`, by position): then done with."""
        shadow, units = self._shadow, self._units[opening]
        reads, positions = shadow.take_reads(units, opening)
        if len(reads):
            self._check_reads(reads["unit"], plain(reads), positions)
        shadow.check_foreign_reads(units, self._made.take(opening))


class Packed:
    """Logged accesses to one space as an array, and what a quick check has to know of them: a loop over tiles of shared
    memory makes the same ones again and again.

    entries   as they were logged; `array`: the same
    """

    def __init__(self, entries: list[int]):
        self.entries = entries
        self.array = np.frombuffer(pack(f"{len(entries)}q", *entries), np.int64)  # 12 ns each; np.array takes 30
        self._plain: Plain | None = None

    def plain(self, stops: list[int], shadow: Shadow) -> Plain:
        """The accesses as a quick check sees them."""
        plain = self._plain
        if plain is None or plain.grain != shadow.grain or plain.stops != stops:
            self._plain = plain = Plain(self.array, stops.copy(), shadow)
        return plain


class Plain:
    """Accesses between two meetings of all threads, which have one segment each, that end at `stops`.

    only_reads, others   whether they are nothing but reads; whether some are neither reads nor writes
    read, written        units; `readers` and `writers`: the segments of these
    """

    def __init__(self, entries: np.ndarray, stops: list[int], shadow: Shadow):
        self.stops, self.grain = stops, shadow.grain
        kind = entries.astype(np.uint8) & KIND_BITS
        most = kind.max()
        self.only_reads, self.others = bool(most == READ), bool(most > WRITE)
        self._apart: bool | None = None
        self.units, parent = shadow.units_of_entries(entries)
        self._kind = kind if parent is None else kind[parent]
        if not self.only_reads or shadow.many_clusters:
            self._segment = parents(stops) if parent is None else parents(stops)[parent]
            writes = self._kind != READ
            self.written, self.writers = self.units[writes], self._segment[writes]
            self.read, self.readers = self.units[~writes], self._segment[~writes]

    def apart(self, shadow: Shadow) -> bool:
        """Nobody touches what another thread writes."""
        if self._apart is None:
            scratch = shadow.scratch
            scratch[self.written] = self.writers + 1
            owner = scratch[self.units]
            self._apart = bool(((owner == self._segment + 1) | (owner == 0)).all())
            scratch[self.written] = 0
        return self._apart


def plainly_ordered(shadow: Shadow, plain: Plain, segments: Callable[[], np.ndarray]) -> bool:
    """Whether accesses between two meetings of all threads are ordered, and the shadow memory knows of them now.

    One segment for each thread, and no copy is about that not all threads know of: whatever was before is known.
    False: look closer.
    """
    if plain.others or len(shadow.reductions):
        return False
    if plain.only_reads and not shadow.many_clusters:  # a check of 8,192 reads takes 0.05 ms this way
        return shadow.space != "shared" or _all_written(shadow.writers["how"][plain.units])
    if not _touchable(shadow, plain) or (len(plain.written) and not plain.apart(shadow)):
        return False
    if len(plain.written):
        made = segments().take(plain.writers)
        made["how"] = GENERIC
        made["fresh"] = shadow.writers["how"][plain.written] == NOTHING
        put(shadow.writers, plain.written, made)
    if shadow.many_clusters and len(plain.read):
        reads = segments().take(plain.readers)
        reads["how"] = GENERIC
        shadow.keep_for_other_clusters(plain.read, reads)
    return True


def parents(stops: list[int]) -> np.ndarray:
    """For each logged access the number of its segment, from where the segments end."""
    counts = np.array(stops)
    counts[1:] -= counts[:-1].copy()
    return np.repeat(np.arange(len(counts)), counts)


def _all_written(how: np.ndarray) -> bool:
    """No garbage, and no barrier."""
    return bool(how.min() > NOTHING and how.max() < BARRIER)


def _touchable(shadow: Shadow, plain: Plain) -> bool:
    """No barrier lies there, no garbage is read, no other cluster was there before."""
    if shadow.space == "shared":
        how = shadow.writers["how"]
        written = not len(plain.written) or how[plain.written].max() < BARRIER
        return bool(written and (not len(plain.read) or _all_written(how[plain.read])))
    return not shadow.many_clusters or not shadow.others_were_at(plain.units, plain.written)
