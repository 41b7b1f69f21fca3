"""The log of a run's accesses: appended to one by one, checked in bulk.

A thread's life is cut into segments, within which its clock stands still. The log is one list a space for all threads,
in the order of the run; a segment is a stretch of it, with a copy of the thread's clock. Checking 10,000 accesses at
once costs little more than checking ten, so a batch is checked when it is full, or when a copy must see what was.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tmalab.simulator.arrays import ADDRESS_SHIFT, KIND_BITS, SAME, SIZE_SHIFT, WRITE
from tmalab.simulator.records import RECORD
from tmalab.simulator.thread_checks import Batch, plainly_ordered

if TYPE_CHECKING:
    from tmalab.simulator.clocks import Clocks
    from tmalab.simulator.memory import Memory
    from tmalab.simulator.shadow import Shadow
    from tmalab.simulator.source import Source
    from tmalab.simulator.threads import SimThread

BATCH = 1 << 15  # accesses
SMALL = 1 << 11  # accesses that wait for more before they are checked
SEGMENTS = 256  # rows at hand at first


class Track:
    """The accesses to one space since the last check: entries, where segments end, and the lines where noted."""

    def __init__(self):
        self.entries: list[int] = []
        self.places: list[int] = []
        self.stops: list[int] = []
        self.seen = 0  # entries that belong to a closed segment
        self.shadow: Shadow | None = None
        self.note: Callable[[int], None] = self.entries.append
        self.noting_lines = False

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
        self._segments: list[tuple[int, ...]] = []

    def begin(self, clocks: Clocks, cluster: int, live_rows: Callable[[], list[int]]) -> None:
        """Log for a cluster from now on."""
        self._clocks, self._cluster, self._live_rows = clocks, cluster, live_rows
        self._met = True  # whether all threads have met since the last check, and nothing was logged before they did
        self._rows = np.empty((SEGMENTS, clocks.order.shape[1]), np.int32)
        self._narrow_rows: list[np.ndarray] | None = None  # the same of the narrow clocks, once they differ

    def cut(self, thread: SimThread) -> None:
        """End the running thread's segment: its clock is about to change, or another thread to run."""
        shared, world = self.shared, self.world
        in_shared, in_world = len(shared.entries), len(world.entries)
        if in_shared == shared.seen and in_world == world.seen:
            return
        order, row, count = self._clocks.order, thread.row, len(self._segments)
        if count == len(self._rows) or order.shape[1] != self._rows.shape[1]:
            self._make_room()
        self._rows[count] = order[row]
        if self._narrow_rows is not None:
            self._narrow_rows.append(self._clocks.narrow(row).copy())
        self._segments.append((row, order[row, row], self._cluster, 0, 0, thread.number, 0, 0))
        shared.stops.append(in_shared)
        world.stops.append(in_world)
        shared.seen, world.seen = in_shared, in_world
        thread.segments += 1
        if in_shared + in_world > BATCH:
            self.check()

    def begin_narrow(self) -> None:
        """From now on a scope that is too narrow orders things: what was logged before knows of none."""
        self.check()
        self._narrow_rows = []

    def shorten(self) -> None:
        """Keep the beginning of the running thread's segment: of an endless loop there may be millions of accesses."""
        for track in (self.shared, self.world):
            end = min(track.seen + BATCH, len(track.entries))
            del track.entries[end:], track.places[end:]

    @property
    def size(self) -> int:
        """Accesses that have not been checked yet."""
        return len(self.shared.entries) + len(self.world.entries)

    def all_met(self, copies: bool) -> None:
        """All threads of the cluster have met: what was before is behind them. `copies`: some are not known to all."""
        alone = len({row for row, *_ in self._segments}) == len(self._segments)  # one segment for each thread
        if self._met and alone and not copies and not self.shared.noting_lines:
            self.check(plainly=True)
        elif self.size > SMALL:
            self.check()
        self._met = not self._segments and not copies

    def check(self, plainly: bool = False) -> None:
        """Check what has been logged, in the order of the run. `plainly`: between two meetings of all threads."""
        self._met = False
        if not self._segments:
            return
        segments, narrow = np.array(self._segments, RECORD), self._narrow_clocks()
        for track in (self.shared, self.world):
            if track.entries:
                counts = np.diff(track.stops, prepend=0)
                entries = np.array(track.entries, np.int64)
                places = np.array(track.places, np.int32) if track.places else 0
                segment = np.repeat(np.arange(len(counts)), counts)
                if not (plainly and plainly_ordered(track.shadow, entries, segment, segments)):
                    Batch(track.shadow, entries, segment, segments, self._rows, places, narrow).check()
            for part in (track.entries, track.places, track.stops):
                part.clear()
            track.seen = 0
        self._segments.clear()
        if plainly:
            return
        rows = self._live_rows()
        if rows:
            known = self._clocks.known_to_all(rows)
            self.shared.shadow.prune(known)
            self.world.shadow.prune(known)

    def _narrow_clocks(self) -> np.ndarray | None:
        if not self._narrow_rows:
            return None
        rows = np.zeros((len(self._narrow_rows), self._rows.shape[1]), np.int32)
        for row, clock in zip(rows, self._narrow_rows):
            row[: len(clock)] = clock
        self._narrow_rows = []
        return rows

    def _make_room(self) -> None:
        count, width = len(self._segments), self._clocks.order.shape[1]
        rows = np.zeros((max(SEGMENTS, 2 * count), width), np.int32)
        rows[:count, : self._rows.shape[1]] = self._rows[:count]
        self._rows = rows
