"""The log of a run's accesses: appended to one by one, checked in bulk.

A thread's life is cut into segments, within which its clock stands still. The log is one list a space for all threads,
in the order of the run; a segment is a stretch of it, with a copy of the thread's clock. Checking 10,000 accesses at
once costs little more than checking ten, so a batch is checked when it is full, or when a copy must see what was.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tmalab.simulator.arrays import ADDRESS_SHIFT, KIND_BITS, SAME, SIZE_SHIFT, WRITE
from tmalab.simulator.context import now
from tmalab.simulator.records import RECORD
from tmalab.simulator.thread_checks import Batch, Packed, parents, plainly_ordered

if TYPE_CHECKING:
    from tmalab.simulator.clocks import Clocks
    from tmalab.simulator.memory import Memory
    from tmalab.simulator.shadow import Shadow
    from tmalab.simulator.source import Source
    from tmalab.simulator.threads import SimThread

BATCH = 1 << 15  # accesses
LONG = 1 << 20  # accesses of one segment after which its thread is suspected to watch memory in a loop
SMALL = 1 << 11  # accesses that wait for more before they are checked
SEGMENTS = 256  # rows at hand at first
KEPT = 2  # batches of a space that the next one is compared with


class Track:
    """The accesses to one space since the last check: entries, where segments end, and the lines where noted."""

    def __init__(self):
        self.entries: list[int] = []
        self.places: list[int] = []
        self.stops: list[int] = []
        self.shadow: Shadow | None = None
        self.note: Callable[[int], None] = self.entries.append
        self.noting_lines = False
        self._met_before: deque[Packed] = deque(maxlen=KEPT)

    def packed(self) -> Packed:
        """The entries as an array: that of the last time, where they are the same. To find that takes a third of the
        time that it takes to pack them."""
        for packed in self._met_before:
            if packed.entries == self.entries:
                return packed
        self._met_before.append(Packed(self.entries.copy()))
        return self._met_before[-1]

    def with_lines(self, source: Source) -> None:
        """Note the learner's line with each access."""
        entries, places, number = self.entries, self.places, source.number

        def note(entry: int) -> None:
            places.append(number(sys._getframe(1)))  # first: the watchdog may stop the thread between the two
            entries.append(entry)

        self.note, self.noting_lines = note, True

    def note_for(self, memory: Memory) -> Callable[[int], None]:
        """How arrays of a memory log: as it is, or with an eye on stores of the value that was there."""
        if not self.noting_lines:
            return self.note
        note, values = self.note, memory.bytes.copy()
        memory.values_seen = values

        def noting(entry: int) -> None:
            if entry & KIND_BITS == WRITE:
                start = (entry >> ADDRESS_SHIFT) % len(values)
                part = slice(start, start + (1 << (entry >> SIZE_SHIFT & 7)))
                if np.array_equal(values[part], memory.bytes[part]):
                    entry += SAME - WRITE
                values[part] = memory.bytes[part]
            note(entry)

        return noting


class AccessLog:
    """The log of one run: two tracks, and the segments since the last check.

    source   note lines: the learner's code (a replay); None: don't
    track    whether anything is logged at all
    """

    def __init__(self, source: Source | None, track: bool = True):
        self.tracking = track
        self.shared, self.world = Track(), Track()
        for space in (self.shared, self.world):
            if source is not None:
                space.with_lines(source)
            if not track:
                space.note = deque(maxlen=0).append
        self._in_shared, self._in_world = self.shared.entries, self.world.entries  # for pause, which is called often
        self._shared_stops, self._world_stops = self.shared.stops, self.world.stops
        self.was_long = False  # whether a thread has made very many accesses without letting go
        self._seen = 0  # accesses that belong to a closed segment
        self._segments: list[int] = []  # for each, the row of its thread
        self._owed: list[int] = []  # segments whose clocks are not copied yet, since they stand still

    def begin(self, clocks: Clocks, cluster: int, live_rows: Callable[[], list[int]], numbers: np.ndarray) -> None:
        """Log for a cluster from now on. `numbers`: for each row of its threads, the thread's number in the grid."""
        self._clocks, self._cluster, self._live_rows, self._numbers = clocks, cluster, live_rows, numbers
        nothing = np.empty(0, np.int64)
        self._last_records: tuple[list[int], np.ndarray, np.ndarray] = [], nothing, nothing
        self._met = True  # whether all threads have met since the last check, and nothing was logged before they did
        self._left = False  # whether a thread has exited that had accessed anything: it meets nobody
        self._copies = np.empty((SEGMENTS, clocks.order.shape[1]), np.int32)  # of the clock of each segment
        self._narrow_copies: list[np.ndarray] | None = None  # the same of the narrow clocks, once they differ

    def cut(self, thread: SimThread) -> None:
        """End the running thread's segment: its clock is about to change, or another thread to run."""
        size = self._end(thread)
        if size:
            self._make_room()
            self._copies[len(self._segments) - 1] = self._clocks.order[thread.row]
            if self._narrow_copies is not None:
                self._narrow_copies.append(self._clocks.narrow(thread.row).copy())
            if size > BATCH:
                self.check()

    def pause(self, thread: SimThread) -> None:
        """End the running thread's segment where it is about to meet others. Its clock changes only when they have met,
        and is copied then, or never (`settle`, `all_meet`): that saves 1 us a thread and meeting."""
        in_shared, in_world = len(self._in_shared), len(self._in_world)
        size = in_shared + in_world
        if size == self._seen:
            return
        if size > BATCH or self._narrow_copies is not None:
            self.cut(thread)
            return
        segments = self._segments  # as in _end: to call it would take a fifth of the whole
        self._owed.append(len(segments))
        segments.append(thread.row)
        self._shared_stops.append(in_shared)
        self._world_stops.append(in_world)
        self._seen = size
        thread.segments += 1

    def exited(self, thread: SimThread) -> None:
        """End the last segment of a thread, whose clock stands still for ever."""
        self.pause(thread)
        self._left = self._left or thread.segments > 0

    def settle(self) -> None:
        """The clocks of threads that have paused are about to change."""
        if self._owed:
            self._make_room()
            self._copies[self._owed] = self._clocks.order[[self._segments[number] for number in self._owed]]
            self._owed.clear()

    def begin_narrow(self) -> None:
        """From now on a scope that is too narrow orders things: what was logged before knows of none."""
        self.check()
        self._narrow_copies = []

    def shorten(self) -> None:
        """Keep the beginning of the running thread's segment: of an endless loop there may be millions of accesses."""
        self.was_long = self.was_long or self.size > LONG
        for track in (self.shared, self.world):
            end = min((track.stops[-1] if track.stops else 0) + BATCH, len(track.entries))
            del track.entries[end:], track.places[end:]

    @property
    def size(self) -> int:
        """Accesses that have not been checked yet."""
        return len(self.shared.entries) + len(self.world.entries)

    def all_meet(self, copies: bool) -> None:
        """All threads of the cluster are about to know of each other. `copies`: some are not known to all.

        Where nothing but accesses was since the last time, they are checked the quick way, without any clocks."""
        alone = len(set(self._segments)) == len(self._segments)  # one segment for each thread
        if self._met and alone and not copies and not self.shared.noting_lines:
            self.check(plainly=True)
        self.settle()

    def all_met(self, copies: bool) -> None:
        """They have met: what was before is behind them."""
        if self.size > SMALL:
            self.check()
        self._met = not self._segments and not copies and not self._left

    def check(self, plainly: bool = False) -> None:
        """Check what has been logged, in the order of the run. `plainly`: between two meetings of all threads."""
        if self.size > self._seen:  # of the running thread, which goes on
            self.cut(now.thread)
        self._met = False
        if not self._segments:
            return
        segments, narrow = cache(self._records), self._narrow_clocks()
        for track in (self.shared, self.world):
            if track.entries:
                packed, shadow = track.packed(), track.shadow
                if not (plainly and plainly_ordered(shadow, packed.plain(track.stops, shadow), segments)):
                    self._check_closely(track, packed.array, segments(), narrow)
            for part in (track.entries, track.places, track.stops):
                part.clear()
        self._seen = 0
        self._segments.clear()
        self._owed.clear()
        if plainly:
            return
        rows = self._live_rows()
        if rows:
            known = self._clocks.known_to_all(rows)
            self.shared.shadow.prune(known)
            self.world.shadow.prune(known)

    def _check_closely(
        self, track: Track, entries: np.ndarray, segments: np.ndarray, narrow: np.ndarray | None
    ) -> None:
        self.settle()
        places = np.array(track.places, np.int32) if track.places else 0
        Batch(track.shadow, entries, parents(track.stops), segments, self._copies, places, narrow).check()

    def _end(self, thread: SimThread) -> int:
        """End a segment. Returns how many accesses are logged; 0 where the segment has none and is dropped."""
        shared, world = self.shared, self.world
        in_shared, in_world = len(shared.entries), len(world.entries)
        size = in_shared + in_world
        if size == self._seen:
            return 0
        if size > LONG:
            self.was_long = self.was_long or size - self._seen > LONG
        self._segments.append(thread.row)
        shared.stops.append(in_shared)
        world.stops.append(in_world)
        self._seen = size
        thread.segments += 1
        return size

    def _narrow_clocks(self) -> np.ndarray | None:
        if not self._narrow_copies:
            return None
        rows = np.zeros((len(self._narrow_copies), self._clocks.order.shape[1]), np.int32)
        for row, clock in zip(rows, self._narrow_copies):
            row[: len(clock)] = clock
        self._narrow_copies = []
        return rows

    def _make_room(self) -> None:
        """For a copy of each segment's clock."""
        count, width = len(self._segments), self._clocks.order.shape[1]
        rows, before = self._copies.shape
        if count > rows or width != before:
            copies = np.zeros((max(rows, 2 * count), width), np.int32)
            copies[:rows, :before] = self._copies
            self._copies = copies

    def _records(self) -> np.ndarray:
        """The segments, as records of how their accesses are known: good until the next ones."""
        before, rows, records = self._last_records
        if before != self._segments:
            rows = np.array(self._segments)
            records = np.zeros(len(rows), RECORD)
            records["dimension"], records["cluster"], records["thread"] = rows, self._cluster, self._numbers[rows]
            self._last_records = self._segments.copy(), rows, records
        if len(self._owed) == len(rows):
            records["tick"] = self._clocks.order[rows, rows]
        else:
            self.settle()
            records["tick"] = self._copies[np.arange(len(rows)), rows]
        return records
