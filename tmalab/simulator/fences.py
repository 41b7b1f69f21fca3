"""Fences, and the give and take of a thread's clock that they strengthen.

`fence.proxy.async` carries what a thread is ordered after to the asynchronous proxy. An arrive with release gives the
thread's clock, a wait with acquire takes; a relaxed one does so only together with a fence.acq_rel beside it. Between
CTAs both must say `.cluster`: a narrower scope gives what it gives narrowly (see cluster_clocks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.context import current_thread
from tmalab.simulator.handovers import SCOPES, reaches

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread


class Fences:
    """The fences of one CTA's threads."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._released: dict[int, dict[str, int]] = {}  # a thread's row: by scope, what it knew at its last fence
        self.fenced: dict[str, int] = {}  # by scope: a row with what threads of the CTA knew at their fences
        self._seen: dict[int, dict[Cta, int]] = {}  # a thread's row: what it saw without acquiring, by the giver's CTA
        self._met: dict[int, dict[Cta, int]] = {}  # of that, what it saw in memory: a barrier will do
        self._inits: dict[int, int] = {}  # a thread's row: its segment at its last fence.mbarrier_init

    def proxy_async(self, space: str | None = None) -> None:
        """fence.proxy.async: what was before it is carried; what the thread does next is not, so a segment begins."""
        thread = current_thread()
        thread.cut()
        self._cta.clocks.fence(thread.row, self._covered(space))
        thread.release()
        thread.run.note(thread, "fence_proxy_async", None, space)

    def acq_rel(self, scope: str) -> None:
        """fence.acq_rel: relaxed waits and atomics before it acquire, relaxed arrives and atomics after it release,
        between threads that its scope ("cta", "cluster", "gpu") holds."""
        thread, clocks = current_thread(), self._cta.clocks
        thread.cut()
        for cta, row in self._seen.get(thread.row, {}).items():
            self._acquire(thread, row, reaches(scope, cta, self._cta))
        if scope != "cta":
            self._release_inits(thread)
        for rows in (self._released.setdefault(thread.row, {}), self.fenced):
            for narrower in SCOPES[: SCOPES.index(scope) + 1]:
                if narrower not in rows:
                    rows[narrower] = clocks.new_row()
                clocks.join(rows[narrower], thread.row)
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

    def give(self, thread: SimThread, row: int, release: bool, scope: str = "cta") -> None:
        """A collecting row is given a thread's clock. `scope`: what a fence before a relaxed arrive must have."""
        clocks = self._cta.clocks
        if release:
            clocks.join(row, thread.row)
            return
        clocks.learn_in_execution(row, thread.row)
        released = self._released.get(thread.row, {})
        if scope in released:
            clocks.join(row, released[scope])

    def take(self, thread: SimThread, row: int, acquire: bool, giver: Cta | None = None) -> None:
        """A thread takes what a published row holds, which threads of `giver` (None: of the same CTA) have given."""
        clocks = self._cta.clocks
        if acquire:
            clocks.join(thread.row, row)
            return
        clocks.learn_in_execution(thread.row, row)
        clocks.join(self._row(self._seen, thread, giver or self._cta), row)

    def saw(self, thread: SimThread, giver: Cta, row: int, is_given: bool) -> None:
        """A thread finds by an atomic what threads of a CTA have given. `is_given`: their scope reaches this one."""
        clocks = self._cta.clocks
        clocks.learn_in_execution(thread.row, row)
        if is_given:
            clocks.join(self._row(self._seen, thread, giver), row)
            clocks.join(self._row(self._met, thread, giver), row)
        else:
            self._begin_narrow()
            clocks.learn_narrowly(thread.row, row)

    @property
    def has_seen(self) -> bool:
        """Whether a thread has found by an atomic what others have given."""
        return bool(self._met)

    def take_at_barrier(self, threads: list[SimThread]) -> None:
        """Threads meet at a barrier of the CTA, which stands in for a fence."""
        for thread in threads:
            for row in self._met.pop(thread.row, {}).values():
                self._cta.clocks.join(thread.row, row)
                if thread.run.launch.strict:
                    thread.run.hazards.doubt("unfenced-atomic", line=thread.place())

    def give_to_peer(self, thread: SimThread, barrier: Barrier, release: bool, scope: str) -> None:
        """The barrier of another CTA is given a thread's clock."""
        clocks, from_peers = self._cta.clocks, barrier.rows_for_peers()
        if not release or scope == "cluster":
            self.give(thread, from_peers.collecting, release, "cluster")
        else:
            self._begin_narrow()
            clocks.learn_narrowly(barrier.collecting, thread.row)

    def take_from_peers(self, thread: SimThread, barrier: Barrier, acquire: bool, scope: str) -> None:
        """A thread takes what other CTAs have given to a barrier of its own."""
        if barrier.from_peers is None:
            return
        if not acquire or scope == "cluster":
            self.take(thread, barrier.from_peers.published, acquire, self._peer)
        else:
            self._begin_narrow()
            self._cta.clocks.learn_narrowly(thread.row, barrier.from_peers.published)

    def give_to_cluster(self, thread: SimThread, row: int, release: bool) -> None:
        """The cluster barrier is given a thread's clock; at least the inits that it has fenced."""
        self.give(thread, row, release, "cluster")
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

    def _acquire(self, thread: SimThread, row: int, reached: bool) -> None:
        """A thread takes what it has seen; narrowly, where the scope of its fence does not reach the giver."""
        if reached:
            self._cta.clocks.join(thread.row, row)
        else:
            self._begin_narrow()
            self._cta.clocks.learn_narrowly(thread.row, row)

    @property
    def _peer(self) -> Cta:
        """Another CTA of the cluster."""
        return next(cta for cta in self._cta.cluster.ctas if cta is not self._cta)

    def _row(self, rows: dict[int, dict[Cta, int]], thread: SimThread, giver: Cta) -> int:
        mine = rows.setdefault(thread.row, {})
        if giver not in mine:
            mine[giver] = self._cta.clocks.new_row()
        return mine[giver]
