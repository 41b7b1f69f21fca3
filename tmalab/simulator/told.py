"""What the words of a report on misuse are made of: who does what where, and the state of a barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tmalab.simulator.hazards import Access

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread

Told = tuple[list[Access], dict[str, Any]]  # the accesses to show, and the words of the sentences


def access_by(thread: SimThread, kind: str, does: str, place: Place | None = None, **more: Any) -> Access:
    """What a thread does now, or did at a place."""
    file, line = place or thread.place() or (None, None)
    return Access(str(thread), does, kind, thread.number, file, line, **more)


def access_at(run: Simulation, number: int) -> tuple[str | None, int | None]:
    """File and line of a numbered place."""
    return run.source.places[number] or (None, None)


def barrier_words(barrier: Barrier) -> dict[str, Any]:
    """A barrier in words: `barrier` with its CTA, `code` as the source has it."""
    machine = barrier.machine
    return {
        "barrier": barrier.title,
        "code": barrier.name,
        "phase": machine.phase,
        "parity": machine.phase & 1,
        "count": machine.expected_count,
        "pending": machine.pending_count,
        "promised": f"{barrier.promised:,}",
        "delivered": f"{barrier.delivered:,}",
        "key": (barrier.cta.rank, barrier.address),
    }
