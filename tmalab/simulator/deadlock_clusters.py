"""What a deadlock report says of a cluster: which CTAs have arrived, which are missing, whom a multicast left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.loads import Load
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


def arrived_from(barrier: Barrier) -> dict[int, int]:
    """Arrivals of the current phase by the number of the CTA that made them."""
    ctas = barrier.cta.cluster.ctas
    return {ctas[rank].number: count for rank, count in sorted(barrier.arrived_from.items())}


def missing_from(barrier: Barrier) -> tuple[int, ...]:
    """The numbers of the CTAs that have arrived less than in the last phase; in the first one, of those that have not
    arrived although peers arrive on this barrier in one CTA or another."""
    if not barrier.machine.pending_count:
        return ()
    before, now = barrier.came_from, barrier.arrived_from
    ctas = barrier.cta.cluster.ctas
    if before:
        return tuple(cta.number for cta in ctas if now[cta.rank] < before[cta.rank])
    if not any(_has_remote_arrivals(cta.mbarriers.objects.get(barrier.address)) for cta in ctas):
        return ()
    return tuple(cta.number for cta in ctas if not now[cta.rank])


def arrivals_in_words(barrier: Barrier) -> str:
    """`; arrivals from CTA 0 (2); none from CTA 1`, where there are several CTAs."""
    if not barrier.cta.cluster.has_peers:
        return ""
    ctas = {cta.number: cta for cta in barrier.cta.cluster.ctas}
    words = ""
    if came := arrived_from(barrier):
        parts = [
            text("simulator.deadlock-came-of", cta=ctas[number].name, count=count) for number, count in came.items()
        ]
        words += text("simulator.deadlock-came-from", came=", ".join(parts))
    if missing := missing_from(barrier):
        words += text("simulator.deadlock-none-from", missing=", ".join(ctas[number].name for number in missing))
    return words


def left_out_by(barrier: Barrier) -> list[tuple[str, dict[str, Any]]]:
    """Multicasts of peers on the barriers at this place whose masks do not name its CTA, as causes."""
    last, rank = [copies[0] for copies in _multicasts(barrier)], barrier.cta.rank
    return [("multicast-mask", {"barrier": barrier, "copy": copy}) for copy in last if not (copy.mask or 0) >> rank & 1]


def loader_is_held_up(barrier: Barrier) -> bool:
    """Whether a thread that multicasts to this barrier is stuck elsewhere: its bytes may only be late."""
    here = [copy for copies in _multicasts(barrier) for copy in copies if copy.cta is barrier.cta]
    return any(copy not in barrier.credited and _is_held_up(copy.thread, barrier) for copy in here)


def promiser_is_held_up(barrier: Barrier) -> bool:
    """Whether a thread of the barrier's CTA is stuck elsewhere: the promise may only be late."""
    return barrier.cta.cluster.has_peers and any(_is_held_up(thread, barrier) for thread in barrier.cta.live())


def _multicasts(barrier: Barrier) -> Iterable[Sequence[Load]]:
    """The last multicast of each thread on the barriers at this place."""
    return barrier.cta.cluster.multicasts.get(barrier.address, {}).values()


def _is_held_up(thread: SimThread, barrier: Barrier) -> bool:
    return thread.waiting is not None and getattr(thread.waiting, "barrier", None) is not barrier


def _has_remote_arrivals(barrier: Barrier | None) -> bool:
    return barrier is not None and any(rank != barrier.cta.rank for rank in (*barrier.arrived_from, *barrier.came_from))
