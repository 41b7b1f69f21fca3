"""What the CTAs of a cluster do to one another: whether a peer may be touched, and what is on its way when it exits.

A CTA's shared memory is there from its start to its exit. A peer may touch it only once it knows that the CTA has
started, and the CTA may exit only once it knows that the peers are done: both is shown by the cluster barrier, or by
mbarriers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tmalab.faults import TmaFault
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


class Signal(NamedTuple):
    """The last operation of a thread on a barrier of another CTA, and by which ticks it is known that it was done."""

    thread: SimThread
    barrier: Barrier
    phase: int
    place: int  # the number of the source line
    known_by: tuple[tuple[int, int], ...]  # (dimension, tick): either will do


def cta_of_rank(thread: SimThread, rank: int) -> Cta:
    """The CTA of a rank. TmaFault where the cluster has none (measured, H200)."""
    ctas = thread.cta.cluster.ctas
    if not 0 <= rank < len(ctas):
        thread.tell("out-of-bounds", rank=rank)
        kind = "launch_failed" if rank > 0 else "illegal_instruction"
        raise TmaFault(kind, text("simulator.no-such-rank", rank=rank, last=len(ctas) - 1))
    return ctas[rank]


class Peers:
    """One CTA as its peers reach it."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._signals: dict[tuple[int, int | None], Signal] = {}  # by the thread's row, and the barrier where it counts

    def reached_by(self, thread: SimThread) -> None:
        """A thread touches this CTA: told where it does so before its start is known, or after its exit."""
        cta = self._cta
        if thread.cta is cta:
            return
        if not cta.clocks.knows_start(thread.row, cta.rows):
            thread.tell("peer-not-started", peer=cta)
        if not cta.alive:
            thread.tell("exit-in-flight", peer=cta)

    def knows_start(self, thread: SimThread) -> bool:
        """Whether a thread knows that this CTA has started."""
        return thread.cta is self._cta or self._cta.clocks.knows_start(thread.row, self._cta.rows)

    def arrived(self, thread: SimThread, barrier: Barrier) -> None:
        """A thread of another CTA is about to arrive: whoever is executed after it knows."""
        tick = self._cta.clocks.segment(thread.row)
        self._note(thread, barrier, None, ((thread.row, tick),))

    def counted_bytes(self, thread: SimThread, barrier: Barrier) -> None:
        """A thread of another CTA has promised or credited bytes: the end of the phase shows it as well."""
        tick = self._cta.clocks.segment(thread.row)
        ends = barrier.dimension, barrier.machine.phase + 1
        self._note(thread, barrier, barrier.address, (ends, (thread.row, tick)))

    def exited(self) -> None:
        """The CTA is gone: whatever its peers do to it must have been done before."""
        cta = self._cta
        for signal in self._signals.values():
            if not any(cta.clocks.executed_by_any(cta.rows, *known) for known in signal.known_by):
                signal.thread.tell("exit-in-flight", signal=signal)

    def _note(
        self, thread: SimThread, barrier: Barrier, key: int | None, known_by: tuple[tuple[int, int], ...]
    ) -> None:
        place = thread.run.place_number()
        self._signals[thread.row, key] = Signal(thread, barrier, barrier.machine.phase, place, known_by)
