"""The trace of a run: its last events, kept in a ring, or all of them; as tuples until somebody looks."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LENGTH = 4096  # events that are kept
TRACES = {"last": LENGTH, "whole": None}  # what a launch can ask for


@dataclass(frozen=True)
class Event:
    """Something that happened.

    step       when: the scheduler's turn
    what       an instruction, or what a copy did: "load_lands", "store_read", "store_written"
    thread     number in the grid of the thread that did it, or that issued the copy
    cta        number of its CTA
    operand    the instruction's number: bytes, arrivals, parity, ...
    copy       number of the copy, or 0
    barrier    the address of the mbarrier, or None; phase, pending, tx: its state afterwards
    """

    step: int
    what: str
    thread: int
    cta: int
    operand: Any
    copy: int
    barrier: int | None
    phase: int = 0
    pending: int = 0
    tx: int = 0


class Trace(Sequence):
    """The last events of a run, oldest first, or all of them: `length`, None for a whole run."""

    def __init__(self, length: int | None = LENGTH):
        self._events: deque[tuple] = deque(maxlen=length)
        self.add = self._events.append  # a tuple of an Event's fields

    def __len__(self) -> int:
        return len(self._events)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [Event(*fields) for fields in list(self._events)[index]]
        return Event(*self._events[index])
