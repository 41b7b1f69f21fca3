"""Operations on the mbarriers of other CTAs of the cluster: arrive, promise, credit. Only the owner waits.

A barrier is named by the place that it has in the own CTA and by the rank of the CTA that is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.context import current_thread
from tmalab.simulator.mbarriers import Mbarriers
from tmalab.simulator.peers import cta_of_rank

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


class ClusterMbarriers(Mbarriers):
    """The barriers of one CTA, for its threads and for those of its peers. The methods are the instructions."""

    def arrive_remote(self, bar: int, cta_rank: int, count: int = 1, release: bool = True, scope: str = "cta") -> None:
        """mbarrier.arrive.shared::cluster"""
        self._arrive_remote(bar, cta_rank, "arrive", count, release, scope)

    def arrive_drop_remote(
        self, bar: int, cta_rank: int, count: int = 1, release: bool = True, scope: str = "cta"
    ) -> None:
        """mbarrier.arrive_drop.shared::cluster"""
        self._arrive_remote(bar, cta_rank, "arrive_drop", count, release, scope)

    def arrive_expect_tx_remote(
        self, bar: int, cta_rank: int, bytes: int, release: bool = True, scope: str = "cta"
    ) -> None:
        """mbarrier.arrive.expect_tx.shared::cluster"""
        self._arrive_remote(bar, cta_rank, "arrive_expect_tx", bytes, release, scope)

    def expect_tx_remote(self, bar: int, cta_rank: int, bytes: int) -> None:
        """mbarrier.expect_tx.shared::cluster: a promise, no arrival."""
        self._count_remote(bar, cta_rank, "expect", bytes)

    def complete_tx_remote(self, bar: int, cta_rank: int, bytes: int) -> None:
        """mbarrier.complete_tx.shared::cluster: a credit by hand."""
        self._count_remote(bar, cta_rank, "complete", bytes)

    def for_thread(self, thread: SimThread, bar: int) -> Barrier | None:
        """The barrier at an address of this CTA, for a thread of this or another CTA; what it may not use is told."""
        if thread.cta is self._cta:
            return self._live(thread, bar)
        barrier = self._found(thread, bar)
        if barrier is None:
            if self._is_place(thread, bar):
                thread.tell("barrier-not-initialised", address=bar, barrier=None, cta=self._cta)
        elif self._cta.peers.knows_start(thread) and not self._cta.clocks.knows_init(
            thread.row, barrier.made_by, barrier.made_in
        ):
            thread.tell("init-not-visible", barrier=barrier)
        return barrier

    def _arrive_remote(self, bar: int, cta_rank: int, form: str, amount: int, release: bool, scope: str) -> None:
        thread, owner, barrier = self._remote(bar, cta_rank)
        if barrier is None:
            return
        if owner is not self:
            owner._cta.peers.arrived(thread, barrier)
        owner.arrived(barrier, thread, form, amount, release, scope)

    def _count_remote(self, bar: int, cta_rank: int, change: str, bytes: int) -> None:
        thread, owner, barrier = self._remote(bar, cta_rank)
        if barrier is None:
            return
        if owner is not self:
            owner._cta.peers.counted_bytes(thread, barrier)
        getattr(owner, change)(barrier, thread, bytes)

    def _remote(self, bar: int, cta_rank: int) -> tuple[SimThread, ClusterMbarriers, Barrier | None]:
        thread = current_thread()
        owner = cta_of_rank(thread, cta_rank)
        thread.cut()
        owner.peers.reached_by(thread)
        return thread, owner.mbarriers, owner.mbarriers.for_thread(thread, bar)
