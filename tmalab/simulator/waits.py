"""What a simulated thread can wait for: enough to decide whether it may go on, and to say so in a deadlock report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tmalab.simulator.source import picture, same_picture

if TYPE_CHECKING:
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread

FALSE_ANSWERS = 1000  # that a bounded loop gets before its thread counts as waiting for ever


@dataclass
class Wait:
    """A thread's wait. `may_refuse`: the instruction may also come back with False."""

    may_refuse: bool = field(default=False, kw_only=True)

    def gave_up(self, thread: SimThread, progress: int) -> bool:
        """Whether one more False would be answered like the last one: by the same question, for ever."""
        count, then, before = thread.idle
        after = (thread.segments, picture(thread.run.source.stack(thread.greenlet.gr_frame)))
        if then != progress:
            count, before = 0, None
        stuck = before is not None and before[0] == after[0] and same_picture(before[1], after[1])
        if stuck or count >= FALSE_ANSWERS:
            return True
        more = min(max(count, 1), FALSE_ANSWERS - count)  # ever more at a time: it only costs a look at the frames
        thread.idle, thread.refusals = (count + more, progress, after), more - 1
        return False


@dataclass
class MbarrierWait(Wait):
    """For the completion of a phase."""

    barrier: Barrier
    phase: int
    parity: int | None  # None: waited for by state

    @property
    def has_been_missed(self) -> bool:
        """Whether the phase is over, and another one since, so that by its parity it is not."""
        machine = self.barrier.machine
        return self.parity is not None and machine.phase > self.phase and not machine.test_wait_parity(self.parity)


@dataclass
class CtaBarrierWait(Wait):
    """In syncthreads, or in a named barrier for `threads` threads (None: all that live)."""

    id: int
    threads: int | None


@dataclass
class ClusterBarrierWait(Wait):
    """In the cluster barrier."""


@dataclass
class WarpWait(Wait):
    """In an operation of the whole warp, or of the lanes of a mask: "syncwarp" or "elect_sync"."""

    operation: str
    mask: int


@dataclass
class GroupWait(Wait):
    """For bulk stores, their sources ("read") or their writes ("write"), or for cp.async ("cp.async")."""

    what: str
    groups: Any
    until: int  # the number of the last copy that must be done
