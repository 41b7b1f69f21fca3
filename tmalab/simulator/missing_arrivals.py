"""Arrivals that a phase lacks: who has arrived, and what became of those who did so in the phase before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread

SHOWN = 3  # threads that are named

# What is known of the arrivals that are missing.
NOBODY, PROMISED, SOME, HELD, EXITED = "", "promised", "some", "held", "exited"


def late(barrier: Barrier) -> list[SimThread]:
    """Threads that have arrived less than in the phase before."""
    return [thread for thread, count in barrier.came_by.items() if barrier.arrived_by[thread] < count]


def explained(barrier: Barrier) -> tuple[str, dict[str, Any]]:
    """What is known of the arrivals that the current phase lacks, and the words for it.

    held, exited    one who arrived in the phase before waits for something else now, or has exited
    some            others have arrived
    promised        bytes were promised, which is no arrival
    """
    awaited = late(barrier)
    held = [thread for thread in awaited if _waits_elsewhere(thread, barrier)]
    if held:
        return HELD, {"who": str(held[0]), "place": str(held[0].place() or "")}
    if awaited and all(thread.exited for thread in awaited):
        return EXITED, {"who": _names(awaited)}
    if barrier.arrived_by:
        return SOME, {"who": _names(barrier.arrived_by)}
    return (PROMISED if barrier.promised else NOBODY), {}


def in_words(barrier: Barrier) -> str:
    """The same for the report on a deadlock."""
    variant, words = explained(barrier)
    if variant in (NOBODY, PROMISED):
        return ""
    return text(f"simulator.deadlock-{variant}", before=barrier.machine.phase - 1, **words)


def _waits_elsewhere(thread: SimThread, barrier: Barrier) -> bool:
    return thread.waiting is not None and getattr(thread.waiting, "barrier", None) is not barrier


def _names(threads: Iterable[SimThread]) -> str:
    names = [str(thread) for thread in threads]
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (text("simulator.and-more", count=more) if more > 0 else "")
