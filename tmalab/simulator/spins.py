"""Atomics in a run by turns: where they act, and threads that read the same by them again and again.

A thread that polls a flag or a lock would have endlessly many orders. Once it has read a value, has changed nothing
since, and reads the same value again, it waits until another thread has changed that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.simulator.indexing import indices_of
from tmalab.simulator.source import same_picture

if TYPE_CHECKING:
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.polls import Look
    from tmalab.simulator.threads import SimThread


class Element(NamedTuple):
    """An element of an array in memory: its name among the objects of an order, and its value."""

    place: Hashable
    value: Any


def element(thread: SimThread, array: Array, index: Any) -> Element | None:
    """The element that an atomic acts on; None for one outside of memory."""
    indices: Any = indices_of(index, array)  # atomics take no slices
    offset = sum(i * stride for i, stride in zip(indices, array.strides))
    start = array.address - array.memory.base + offset
    if not 0 <= start <= array.memory.bytes.size - array.itemsize:
        return None
    words, number = array.memory.words(array.dtype, start)
    where = thread.cta.number if array.space == "shared" else array.space
    return Element(("element", where, start), words[number])


class Spins:
    """Who has read what, and who waits for a change of it."""

    def __init__(self):
        self._changes: Counter[Hashable] = Counter()
        self._read: dict[int, tuple[Hashable, int, Look]] = {}
        self._waiting: dict[Hashable, list[SimThread]] = {}

    def reads(self, thread: SimThread, place: Hashable, look: Look) -> bool:
        """A thread has read an element. Whether it had done that before, at the same point, with nothing changed."""
        before = self._read.get(thread.number)
        self._read[thread.number] = now = (place, self._changes[place], look)
        return before is not None and before[:2] == now[:2] and same_picture(before[2], look)

    def waits(self, thread: SimThread, place: Hashable) -> None:
        """The thread waits for a change."""
        self._waiting.setdefault(place, []).append(thread)

    @property
    def waiting(self) -> list[SimThread]:
        """All who wait."""
        return [thread for threads in self._waiting.values() for thread in threads]

    def changed(self, place: Hashable) -> list[SimThread]:
        """An element has been changed: those who waited for that."""
        self._changes[place] += 1
        return self._waiting.pop(place, [])
