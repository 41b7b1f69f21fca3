"""setmaxnreg: the registers of a CTA, which its warpgroups may hand to each other.

A CTA is launched with the same number of registers for each thread, as many as 64 K registers allow. Those that a
warpgroup gives up go into the CTA's pool; one that asks for more waits until the pool has them. So they that give must
do so, or they that take wait for ever.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tmalab.simulator.context import current_thread
from tmalab.simulator.threads import WARP
from tmalab.simulator.together import Lanes
from tmalab.simulator.waits import Wait
from tmalab.simulator.warpgroup import WARPS

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.source import Place
    from tmalab.simulator.threads import SimThread

REGISTERS = 64 * 1024  # of an SM
MOST, STEP = 255, 8  # of a thread at launch; counts go by 8


def at_launch(threads: int) -> int:
    """Registers of each thread in a CTA of so many threads, when the assembler knows that it uses setmaxnreg.

    As ptxas 13.0 gives them out, by whole warpgroups.

    >>> at_launch(384), at_launch(256), at_launch(128), at_launch(288)
    (168, 255, 255, 168)
    """
    whole = -(-threads // (WARPS * WARP)) * WARPS * WARP
    count = REGISTERS // whole
    return MOST if count >= MOST else count - count % STEP


@dataclass
class RegisterWait(Wait):
    """A warp waits for registers: `wanted` of each thread."""

    pool: RegisterPool
    warp: int
    wanted: int


class RegisterPool:
    """The registers of one CTA. The methods are the instructions, for the thread that is running.

    launched   registers of each thread at the launch; `free`: in the pool
    """

    def __init__(self, cta: Cta):
        self._cta = cta
        self.launched = at_launch(len(cta.threads))
        self.free = 0
        self._held: dict[int, int] = {}  # by warp: registers of each of its threads, once it has changed them
        self._changes: dict[int, list[int]] = {}  # by warp
        self._places: dict[int, Place | None] = {}  # by warpgroup: where it last changed them
        self._waiting: list[RegisterWait] = []

    def increase(self, count: int) -> None:
        """setmaxnreg.inc"""
        thread = current_thread()
        self._cta.together.meet(thread, "setmaxnreg_inc", lambda lanes: self._increase(lanes, count))

    def decrease(self, count: int) -> None:
        """setmaxnreg.dec"""
        thread = current_thread()
        self._cta.together.meet(thread, "setmaxnreg_dec", lambda lanes: self._decrease(lanes, count))

    def held(self, warp: int) -> int:
        """Registers of each thread of a warp."""
        return self._held.get(warp, self.launched)

    def exited(self, thread: SimThread) -> None:
        """A thread is gone: the warps of a warpgroup should have changed their registers alike. Its own are lost."""
        if not self._changes:
            return
        group = thread.warp // WARPS
        warps = range(group * WARPS, (group + 1) * WARPS)
        members = [lane for warp in warps for lane in self._cta.together.lanes(warp)]
        if any(not lane.exited for lane in members):
            return
        changes = {tuple(self._changes.get(warp, ())) for warp in warps}
        if len(changes) > 1:
            thread.tell("register-pool", part=True, group=group, place=self._places[group])

    def _increase(self, lanes: Lanes, count: int) -> RegisterWait | None:
        warp = self._noted(lanes, count)
        if count < self.held(warp):
            self._tell(lanes, "more", count, self.held(warp))
            return None
        if self._take(warp, count):
            return None
        wait = RegisterWait(self, warp, count)
        self._waiting.append(wait)
        return wait

    def _decrease(self, lanes: Lanes, count: int) -> None:
        warp = self._noted(lanes, count)
        if count > self.held(warp):
            self._tell(lanes, "fewer", count, self.held(warp))
            return
        self.free += (self.held(warp) - count) * WARP
        self._held[warp] = count
        for wait in list(self._waiting):
            if self._take(wait.warp, wait.wanted):
                self._waiting.remove(wait)
                self._cta.run.scheduler.wake(self._cta.together.lanes(wait.warp))

    def _take(self, warp: int, count: int) -> bool:
        """Take registers out of the pool, if it has them."""
        wanted = (count - self.held(warp)) * WARP
        if wanted > self.free:
            return False
        self.free -= wanted
        self._held[warp] = count
        return True

    def _noted(self, lanes: Lanes, count: int) -> int:
        thread = next(iter(lanes))
        warp = thread.warp
        self._changes.setdefault(warp, []).append(count)
        self._places[warp // WARPS] = thread.place()
        return warp

    def _tell(self, lanes: Lanes, way: str, count: int, held: int) -> None:
        thread = next(iter(lanes))
        thread.tell("register-pool", way=way, count=count, held=held, place=thread.place())
