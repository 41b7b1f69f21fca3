"""Bulk groups: how the thread that issued stores learns that they are done. Groups belong to their thread.

Stores are counted by thread; a wait that returns makes a number of them known: their sources as read, or also their
writes. In the clocks these are two dimensions of the thread, made when it issues its first store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tmalab.simulator.context import current_thread
from tmalab.simulator.waits import GroupWait

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.stores import Store
    from tmalab.simulator.threads import SimThread


class LastWait(NamedTuple):
    """A thread's last wait: for all but `n` groups, in which line; `ends` as they were."""

    n: int
    place: int
    ends: tuple[int, ...]


class FullWait(NamedTuple):
    """A thread has waited for the writes of its stores up to a number: in which of its segments, in which line."""

    until: int
    segment: int
    place: int


class Groups:
    """The stores of one thread: how many it issued, which are not committed or not done, where each group ends."""

    def __init__(self, read: int, written: int):
        self.read, self.written = read, written  # dimensions
        self.issued = 0
        self.last: Store | None = None
        self.open: list[Store] = []
        self.ends: list[int] = []  # for each committed group that may be pending: the number of its last store
        self.unread: list[Store] = []
        self.unwritten: list[Store] = []
        self.last_wait: LastWait | None = None
        self.full_waits: list[FullWait] = []  # where lines are noted

    def pending_until(self, n: int) -> int:
        """What a wait for all but the n newest groups must see done: stores up to this number."""
        return self.ends[len(self.ends) - n - 1] if len(self.ends) > n else 0

    def done_until(self, number: int, read_only: bool) -> bool:
        """Whether the stores up to a number are read, or written."""
        waiting = self.unread if read_only else self.unwritten
        return all(store.order > number for store in waiting)


class BulkGroups:
    """The bulk groups of one CTA's threads. The methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._groups: dict[SimThread, Groups] = {}

    def issue(self, store: Store) -> Groups:
        """A store that no group holds yet."""
        groups = self._of(store.thread)
        groups.issued += 1
        store.order, store.dimension, groups.last = groups.issued, groups.written, store
        for stores in (groups.open, groups.unread, groups.unwritten):
            stores.append(store)
        return groups

    def commit(self) -> None:
        """cp.async.bulk.commit_group: possibly an empty group, which counts."""
        thread = current_thread()
        groups = self._of(thread)
        groups.open.clear()
        groups.ends.append(groups.issued)
        thread.run.note(thread, "commit_group", None, len(groups.ends))

    def wait(self, n: int) -> None:
        """cp.async.bulk.wait_group: sources read and results written."""
        self._wait(n, read_only=False)

    def wait_read(self, n: int) -> None:
        """cp.async.bulk.wait_group.read: sources read."""
        self._wait(n, read_only=True)

    def moved(self, store: Store, written: bool) -> None:
        """A store has read its source, or written."""
        groups = self._groups[store.thread]
        (groups.unwritten if written else groups.unread).remove(store)
        scheduler, wait = self._cta.run.scheduler, store.thread.waiting
        if isinstance(wait, GroupWait) and wait.groups is groups and groups.done_until(wait.until, wait.what == "read"):
            scheduler.wake([store.thread])
        scheduler.progress += 1

    def awaits(self, store: Store) -> bool:
        """Whether its thread waits for this store."""
        wait, groups = store.thread.waiting, self._groups[store.thread]
        return isinstance(wait, GroupWait) and wait.groups is groups and store.order <= wait.until

    def is_open(self, store: Store) -> bool:
        """Whether no group holds it yet."""
        return store in self._groups[store.thread].open

    def is_known(self, store: Store) -> bool:
        """Whether its thread has waited for its writes."""
        return self._cta.clocks.knows(store.thread.row, self._groups[store.thread].written, store.order)

    def too_weak_for(self, store: Store) -> tuple[int, int, int] | None:
        """The last wait of a store's thread, if it came after the store and left it pending: for all but how many
        groups, how many it may leave, and the number of its line."""
        last = self._groups[store.thread].last_wait
        if last is None:
            return None
        newer = [end for end in last.ends if end >= store.order]
        return (last.n, len(newer) - 1, last.place) if newer and last.n >= len(newer) else None

    def late_wait_for(self, store: Store, reader: SimThread) -> int | None:
        """The number of the line where a store's thread waited for its writes, if that was after it had met others, of
        whom the reader knows of the store: what they were told was not that it is done."""
        row, waits = store.thread.row, self._groups[store.thread].full_waits
        wait = next((wait for wait in waits if wait.until >= store.order), None)
        if wait is None or store.knew is None:
            return None
        issued = int(store.knew[row])
        return wait.place if wait.segment > issued and self._cta.clocks.knows(reader.row, row, issued) else None

    def exited(self, thread: SimThread) -> None:
        """A thread is gone: nobody can wait for its stores any more."""
        groups = self._groups.get(thread)
        if groups is None:
            return
        for store in groups.open:
            thread.tell("store-not-committed", copy=store)
        known = self._cta.clocks.order[thread.row, groups.read]
        if groups.last is not None and groups.last.order > known and not groups.open:
            thread.tell("exit-in-flight", copy=groups.last)

    def _wait(self, n: int, read_only: bool) -> None:
        thread = current_thread()
        groups = self._of(thread)
        until = groups.pending_until(n)
        groups.last_wait = LastWait(n, thread.run.place_number(), tuple(groups.ends))
        if not groups.done_until(until, read_only):
            thread.cut()
            thread.wait(GroupWait("read" if read_only else "write", groups, until))
        thread.cut()
        if thread.run.noting and not read_only:
            groups.full_waits.append(FullWait(until, self._cta.clocks.segment(thread.row), thread.run.place_number()))
        for dimension in (groups.read,) if read_only else (groups.read, groups.written):
            self._cta.clocks.learn(thread.row, dimension, until)
        if not read_only:  # older groups are done with
            del groups.ends[: max(0, len(groups.ends) - n)]
        thread.run.note(thread, "wait_group_read" if read_only else "wait_group", None, n)

    def _of(self, thread: SimThread) -> Groups:
        if thread not in self._groups:
            clocks = self._cta.clocks
            self._groups[thread] = Groups(clocks.new_dimension(), clocks.new_dimension())
        return self._groups[thread]
