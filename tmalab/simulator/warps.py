"""Operations of a whole warp: syncwarp, which orders memory among its lanes, and elect.sync, which only picks one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.threads import WARP
from tmalab.simulator.waits import WarpWait

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

FULL_MASK = 0xFFFFFFFF


class Warps:
    """The rendezvous of the warps of one CTA. Lanes that have exited are not waited for."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._here: dict[tuple[int, str, int], list[SimThread]] = {}  # (warp, operation, mask): who waits in it
        self._leaders: dict[int, SimThread] = {}  # warp: whom the last elect.sync elected

    def sync(self, thread: SimThread, mask: int = FULL_MASK) -> None:
        """bar.warp.sync: the lanes of the mask meet, and know what each of them knew."""
        self._meet(thread, "syncwarp", mask)

    def elect(self, thread: SimThread) -> bool:
        """elect.sync: the lanes meet, and one of them is told True."""
        self.meet(thread, "elect_sync")
        return self._leaders[thread.warp] is thread

    def meet(self, thread: SimThread, operation: str) -> None:
        """The lanes meet in an operation of the whole warp that orders no memory."""
        self._meet(thread, operation, FULL_MASK)

    def exited(self, thread: SimThread) -> None:
        """A lane is gone: its warp may be complete without it."""
        for key in [key for key in self._here if key[0] == thread.warp] if self._here else ():
            if self._complete(key):
                self._finish(key)

    def _meet(self, thread: SimThread, operation: str, mask: int) -> None:
        key = thread.warp, operation, mask
        self._cta.run.log.pause(thread)
        self._here.setdefault(key, []).append(thread)
        if self._complete(key):
            self._finish(key)
            self._cta.run.scheduler.stand_back(thread)  # those who came before go first
        else:
            thread.wait(WarpWait(operation, mask))

    def _complete(self, key: tuple[int, str, int]) -> bool:
        warp, _, mask = key
        here = self._here[key]
        return len(here) == sum(mask >> lane.lane & 1 and not lane.exited for lane in self._lanes(warp))

    def _finish(self, key: tuple[int, str, int]) -> None:
        warp, operation, _ = key
        lanes = self._here.pop(key)
        if not lanes:
            return
        self._cta.run.log.settle()
        clocks, rows = self._cta.clocks, [lane.row for lane in lanes]
        if operation == "syncwarp":
            clocks.meet(rows)
            for lane in lanes:
                lane.release()
        else:
            self._look_for_exited(warp, lanes[0])
            clocks.meet_in_execution(rows)
            by_lane = sorted(lanes, key=lambda lane: lane.lane)
            self._leaders[warp] = by_lane[self._cta.run.policy.leader_of(tuple(lane.lane for lane in by_lane))]
        self._cta.run.scheduler.wake(lanes)

    def _look_for_exited(self, warp: int, lane: SimThread) -> None:
        """elect.sync waits for every lane that its mask names, which is all that there are."""
        exited = sum(other.exited for other in self._lanes(warp))
        if exited:
            lane.tell("partial-warp", operation="elect_sync", place=lane.place(), exited=exited)

    def _lanes(self, warp: int) -> list[SimThread]:
        return self._cta.threads[warp * WARP : (warp + 1) * WARP]
