"""The cluster barrier: where all threads of a cluster that have not exited meet, in two steps.

A thread arrives, may do other work, then waits. The arrive releases at cluster scope and the wait acquires, so that
what was before any thread's arrive is before what follows every wait. A relaxed arrive tells that its thread has come
and which mbarriers it has initialised and fenced, nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.context import current_thread
from tmalab.simulator.memory import WINDOW
from tmalab.simulator.peers import cta_of_rank
from tmalab.simulator.waits import ClusterBarrierWait

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cluster
    from tmalab.simulator.threads import SimThread


class ClusterBarrier:
    """The barrier of one cluster, and what a thread can ask about the cluster. The methods are the instructions."""

    def __init__(self, cluster: Cluster):
        self._cluster = cluster
        self._arrived: set[SimThread] = set()  # in the current phase, and not exited
        self._owed: set[SimThread] = set()  # those who have arrived and not waited since
        self._waiting: list[SimThread] = []
        self._rows: tuple[int, int] | None = None  # of the clocks: what the phase collects, what the last one had

    def ctarank(self) -> int:
        """%cluster_ctarank"""
        return current_thread().cta.rank

    def nctarank(self) -> int:
        """%cluster_nctarank"""
        return len(self._cluster.ctas)

    def mapa(self, place: int, rank: int) -> int:
        """mapa.shared::cluster"""
        cta_of_rank(current_thread(), rank)
        return place + rank * WINDOW

    def barrier_arrive(self, release: bool = True) -> None:
        """barrier.cluster.arrive"""
        thread = current_thread()
        thread.cut()
        if thread in self._owed:
            thread.tell("barrier-mismatch", cluster="arrive")
            return
        collecting, _ = self._both_rows()
        thread.fences.give_to_cluster(thread, collecting, release)
        thread.release()
        self._arrived.add(thread)
        self._owed.add(thread)
        thread.run.note(thread, "cluster_arrive", None, release)
        self._finish_if_complete()
        thread.give_way()

    def barrier_wait(self, acquire: bool = True) -> None:
        """barrier.cluster.wait"""
        thread = current_thread()
        thread.cut()
        if thread not in self._owed:
            thread.tell("barrier-mismatch", cluster="wait")
            return
        if thread in self._arrived:
            self._waiting.append(thread)
            thread.wait(ClusterBarrierWait())
        self._owed.remove(thread)
        thread.fences.take(thread, self._both_rows()[1], acquire)
        thread.run.note(thread, "cluster_wait", None, acquire)

    def exited(self, thread: SimThread) -> None:
        """A thread is gone: nobody waits for it."""
        self._arrived.discard(thread)
        self._finish_if_complete()

    def missing(self) -> list[SimThread]:
        """The threads that the current phase still waits for."""
        return [thread for thread in self._cluster.threads if not thread.exited and thread not in self._arrived]

    def _finish_if_complete(self) -> None:
        if not self._owed or len(self._arrived) < sum(cta.alive for cta in self._cluster.ctas):
            return
        clocks, (collecting, published) = self._cluster.clocks, self._both_rows()
        clocks.join(published, collecting)
        clocks.clear(collecting)
        self._arrived.clear()
        waiting, self._waiting = self._waiting, []
        self._cluster.run.scheduler.wake(waiting)

    def _both_rows(self) -> tuple[int, int]:
        if self._rows is None:
            self._rows = self._cluster.clocks.new_row(), self._cluster.clocks.new_row()
        return self._rows
