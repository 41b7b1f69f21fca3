"""What a thread did, as data: the words in which a recording is written."""

from __future__ import annotations

from typing import Any, NamedTuple


class Done(NamedTuple):
    """Something that a thread did.

    pc     where: a place in the source of the kernel and of each helper, from the outside in
    kind   what the model makes of it, with its data: see `meanings`
    name   the instruction
    line   the learner's line
    """

    pc: tuple[int, ...]
    kind: str
    name: str
    data: Any
    line: int


class Access(NamedTuple):
    """One access of a thread. Address and size in bytes."""

    address: int
    size: int
    reads: bool


class Arrival(NamedTuple):
    """Arrivals on an mbarrier (CTA, address, life), which count for a phase. `remote`: by another CTA's thread."""

    barrier: tuple[int, int, int]
    phase: int
    count: int  # type: ignore[assignment]
    remote: bool = False


class Wait(NamedTuple):
    """A successful wait, for the end of a phase; -1, of a fresh barrier: nothing to wait for."""

    barrier: tuple[int, int, int]
    phase: int


class Meeting(NamedTuple):
    """Threads that meet. `key` is the same for all that take part; `waits`: for the others."""

    key: tuple
    waits: bool


class GroupWait(NamedTuple):
    """A wait for all but the n newest groups. `reads`: for their sources only."""

    n: int
    reads: bool = False
