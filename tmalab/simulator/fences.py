"""Fences, and the give and take of a thread's clock that they strengthen.

`fence.proxy.async` carries what a thread is ordered after to the asynchronous proxy. An arrive with release gives the
thread's clock, a wait with acquire takes; a relaxed one does so only together with a fence.acq_rel beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.clocks import SPACES
from tmalab.simulator.context import current_thread
from tmalab.simulator.errors import KernelError
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

COVERED = {  # a fence's suffix: the spaces that it carries; shared::cluster holds the CTA's own window too
    None: SPACES,
    "shared::cta": ("shared::cta",),
    "shared::cluster": ("shared::cta", "shared::cluster"),
    "global": ("global",),
}


class Fences:
    """The fences of one CTA's threads."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._released: dict[int, int] = {}  # a thread's row: a row with what it knew at its last release fence
        self._seen: dict[int, int] = {}  # a thread's row: a row with what its relaxed waits have seen

    def proxy_async(self, space: str | None = None) -> None:
        """fence.proxy.async: what was before it is carried; what the thread does next is not, so a segment begins."""
        thread = current_thread()
        thread.cut()
        self._cta.clocks.fence(thread.row, COVERED[space])
        thread.release()
        thread.run.note(thread, "fence_proxy_async", None, space)

    def acq_rel_cluster(self) -> None:
        """fence.acq_rel: relaxed waits before it acquire, relaxed arrives after it release."""
        thread, clocks = current_thread(), self._cta.clocks
        thread.cut()
        if thread.row in self._seen:
            clocks.join(thread.row, self._seen[thread.row])
        clocks.join(self._row(self._released, thread), thread.row)
        thread.release()

    def mbarrier_init(self) -> None:
        """fence.mbarrier_init: for other CTAs, by the next cluster barrier; in the CTA it changes nothing."""

    def proxy_tensormap_acquire(self, place: int, scope: str) -> None:
        """fence.proxy.tensormap::generic.acquire on the 128 bytes at a global address."""
        if place % 128:
            raise KernelError(text("simulator.map-alignment", address=hex(place)))

    def proxy_tensormap_release(self, scope: str) -> None:
        """fence.proxy.tensormap::generic.release"""

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

    def _row(self, rows: dict[int, int], thread: SimThread) -> int:
        if thread.row not in rows:
            rows[thread.row] = self._cta.clocks.new_row()
        return rows[thread.row]
