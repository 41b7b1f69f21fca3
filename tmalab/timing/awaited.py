"""What warps wait for: the phase of an mbarrier, a meeting of threads, a wgmma of four warps.

How much has to come is known from the recording; a phase is complete when all that counted for it in the run has come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tmalab.timing.warps import Step, WarpProgram


class Awaited:
    """Something that is complete when `missing` more have come; `time`: when the last so far did (ns)."""

    __slots__ = ("missing", "time", "waiting")

    def __init__(self, missing: int):
        self.missing, self.time = missing, 0.0
        self.waiting: list[Any] = []

    @property
    def is_complete(self) -> bool:
        return self.missing <= 0

    def arrive(self, count: int, time: float) -> bool:
        """Some have come, or are known to come at a time. Returns whether that completes it."""
        self.missing -= count
        self.time = max(self.time, time)
        return self.is_complete


class Blocked(Exception):
    """A warp cannot go on: it waits for `by`."""

    def __init__(self, by: Awaited):
        self.by = by


def awaited_by(programs: Iterable[WarpProgram]) -> dict[Any, Awaited]:
    """All that the warps of a cluster wait for."""
    counts: Counter[Any] = Counter()
    for program in programs:
        for step in program.steps:
            for key, count in _given(step):
                counts[key] += count
    return {key: Awaited(count) for key, count in counts.items()}


def phase_of(copy: Any) -> tuple[tuple[int, int, int], int] | None:
    """The barrier, and the phase of it, that the last byte of a load counted for; None where it never came."""
    if copy.barrier is None or copy.tick is None:
        return None
    return barrier_key(copy.barrier), copy.tick - 1


def barrier_key(barrier: Any) -> tuple[int, int, int]:
    """A barrier: its CTA, its address, and its life, since one may end and another begin in the same place."""
    return barrier.cta.number, barrier.address, barrier.dimension


def get_stuck(programs: Sequence[WarpProgram]) -> bool:
    """Whether warps that execute these one step after the other would wait for each other for ever."""
    missing = {key: awaited.missing for key, awaited in awaited_by(programs).items()}
    at = [0] * len(programs)
    moving = True
    while moving:
        moving = False
        for number, program in enumerate(programs):
            while at[number] < len(program.steps):
                step = program.steps[at[number]]
                if step.kind != "meet" and any(missing.get(key, 0) > 0 for key in _wanted(step)):
                    break
                for key, count in _given(step):
                    missing[key] -= count
                at[number] += 1
                moving = True
    return any(place < len(program.steps) for place, program in zip(at, programs))


def _wanted(step: Step) -> Iterator[Any]:
    """What a step waits for. Of meetings those count where all arrive before they wait."""
    if step.kind == "wait":
        yield from ((wait.barrier, wait.phase) for wait in step.data)
    elif step.kind == "met":
        yield from (meeting.key for meeting in step.data)


def _given(step: Step) -> Iterator[tuple[Any, int]]:
    """What a step counts for, and how much."""
    if step.kind in ("arrive", "late arrive"):
        yield from (((arrival.barrier, arrival.phase), arrival.count) for arrival in step.data)
    elif step.kind == "load":
        keys = (phase_of(copy) for copies in step.data for copy in copies)
        yield from ((key, 1) for key in keys if key is not None)
    elif step.kind == "meet":
        yield from ((meeting.key, 1) for meeting in step.data)
    elif step.kind == "wgmma":
        yield step.data[0], 1
