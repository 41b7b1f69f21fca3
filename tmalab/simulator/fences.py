"""Fences, and the give and take of a thread's clock that they strengthen.

`fence.proxy.async` carries what a thread is ordered after to the asynchronous proxy. An arrive with release gives the
thread's clock, a wait with acquire takes; a relaxed one does so only together with a fence.acq_rel beside it. Between
CTAs both must say `.cluster`: a narrower scope gives what it gives narrowly (see cluster_clocks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.context import current_thread

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


class Fences:
    """The fences of one CTA's threads."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._released: dict[int, int] = {}  # a thread's row: a row with what it knew at its last release fence
        self._seen: dict[int, int] = {}  # a thread's row: a row with what its relaxed waits have seen
        self._inits: dict[int, int] = {}  # a thread's row: its segment at its last fence.mbarrier_init

    def proxy_async(self, space: str | None = None) -> None:
        """fence.proxy.async: what was before it is carried; what the thread does next is not, so a segment begins."""
        thread = current_thread()
        thread.cut()
        self._cta.clocks.fence(thread.row, self._covered(space))
        thread.release()
        thread.run.note(thread, "fence_proxy_async", None, space)

    def acq_rel_cluster(self) -> None:
        """fence.acq_rel: relaxed waits before it acquire, relaxed arrives after it release."""
        thread, clocks = current_thread(), self._cta.clocks
        thread.cut()
        if thread.row in self._seen:
            clocks.join(thread.row, self._seen[thread.row])
        self._release_inits(thread)
        clocks.join(self._row(self._released, thread), thread.row)
        thread.release()

    def mbarrier_init(self) -> None:
        """fence.mbarrier_init: for other CTAs, by the next cluster barrier; in the CTA it changes nothing."""
        thread = current_thread()
        thread.cut()
        self._release_inits(thread)
        thread.release()

    def proxy_tensormap_acquire(self, place: int, scope: str) -> None:
        """fence.proxy.tensormap::generic.acquire on the 128 bytes at a global address."""
        self._cta.maps.acquire(place, scope)

    def proxy_tensormap_release(self, scope: str) -> None:
        """fence.proxy.tensormap::generic.release"""
        self._cta.maps.release(scope)

    # Giving and taking.

    def give(self, thread: SimThread, row: int, release: bool) -> None:
        """A collecting row is given a thread's clock."""
        clocks = self._cta.clocks
        if release:
            clocks.join(row, thread.row)
            return
        clocks.learn_in_execution(row, thread.row)
        if thread.row in self._released:
            clocks.join(row, self._released[thread.row])

    def take(self, thread: SimThread, row: int, acquire: bool) -> None:
        """A thread takes what a published row holds."""
        clocks = self._cta.clocks
        if acquire:
            clocks.join(thread.row, row)
            return
        clocks.learn_in_execution(thread.row, row)
        clocks.join(self._row(self._seen, thread), row)

    def give_to_peer(self, thread: SimThread, barrier: Barrier, release: bool, scope: str) -> None:
        """The barrier of another CTA is given a thread's clock."""
        clocks, from_peers = self._cta.clocks, barrier.rows_for_peers()
        if not release or scope == "cluster":
            self.give(thread, from_peers.collecting, release)
        else:
            self._begin_narrow()
            clocks.learn_narrowly(barrier.collecting, thread.row)

    def take_from_peers(self, thread: SimThread, barrier: Barrier, acquire: bool, scope: str) -> None:
        """A thread takes what other CTAs have given to a barrier of its own."""
        if barrier.from_peers is None:
            return
        if not acquire or scope == "cluster":
            self.take(thread, barrier.from_peers.published, acquire)
        else:
            self._begin_narrow()
            self._cta.clocks.learn_narrowly(thread.row, barrier.from_peers.published)

    def give_to_cluster(self, thread: SimThread, row: int, release: bool) -> None:
        """The cluster barrier is given a thread's clock; at least the inits that it has fenced."""
        self.give(thread, row, release)
        if release or thread.row not in self._inits:
            return
        if self._cta.cluster.has_peers:
            self._cta.clocks.give_inits(row, thread.row)
        else:  # one CTA has no clock for inits alone
            self._cta.clocks.learn(row, thread.row, self._inits[thread.row])

    def _begin_narrow(self) -> None:
        if not self._cta.clocks.has_narrow:
            self._cta.run.log.begin_narrow()

    def _release_inits(self, thread: SimThread) -> None:
        self._inits[thread.row] = self._cta.clocks.segment(thread.row)
        if self._cta.cluster.has_peers:
            self._cta.clocks.fence_inits(thread.row)

    def _covered(self, space: str | None) -> tuple[str, ...]:
        """The spaces that a fence with this suffix carries; shared::cluster holds the CTA's own window too."""
        windows = tuple(cta.space for cta in self._cta.cluster.ctas)
        return {
            None: (*windows, "global"),
            "shared::cta": (self._cta.space,),
            "shared::cluster": windows,
            "global": ("global",),
        }[space]

    def _row(self, rows: dict[int, int], thread: SimThread) -> int:
        if thread.row not in rows:
            rows[thread.row] = self._cta.clocks.new_row()
        return rows[thread.row]
