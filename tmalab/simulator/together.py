"""Instructions that a whole warp executes together (`.sync.aligned`): the lanes meet in one, each with its operands.

The last lane that comes does what the instruction does, for all of them. Lanes that come to the same instruction at
different places of the program do not meet: to the hardware these are two instructions. A meeting orders no memory.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tmalab.simulator.threads import WARP
from tmalab.simulator.waits import Wait, WarpWait
from tmalab.simulator.warps import FULL_MASK

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.source import Source
    from tmalab.simulator.threads import SimThread

INSTRUCTION = 4  # frames between the place where a meeting begins and the instruction, at least
Lanes = dict["SimThread", Any]  # the lanes of a warp, in their order, and the operands of each


class Together:
    """The meetings of the warps of one CTA."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._here: dict[tuple[int, str, Any], dict[SimThread, Any]] = {}  # by warp, operation and place in the source
        self._does: dict[tuple[int, str, Any], Callable[[Lanes], Any]] = {}
        self._results: dict[int, Any] = {}  # by warp: of its last meeting
        self._exited: Counter[int] = Counter()  # lanes, by warp

    def meet(self, thread: SimThread, operation: str, does: Callable[[Lanes], Any], operands: Any = None) -> Any:
        """The warp of a thread executes an instruction: `does` is called once, with all lanes.

        Returns what it returned, to every lane. If that is a Wait, the lanes go on waiting for it, and get None.
        """
        key = thread.warp, operation, _site(thread.run.source)
        thread.cut()
        self._does[key] = does
        here = self._here.setdefault(key, {})
        here[thread] = operands
        if len(here) < self._alive(thread.warp):
            thread.wait(WarpWait(operation, FULL_MASK))
        elif (wait := self._finish(key)) is not None:
            thread.wait(wait)
        else:
            self._cta.run.scheduler.stand_back(thread)  # those who came before go first
        return self._results[thread.warp]

    def exited(self, thread: SimThread) -> None:
        """A lane is gone: its warp may be complete without it."""
        self._exited[thread.warp] += 1
        for key in [key for key in self._here if key[0] == thread.warp] if self._here else ():
            if len(self._here[key]) == self._alive(thread.warp):
                self._finish(key)

    def _alive(self, warp: int) -> int:
        threads = len(self._cta.threads)
        return min(WARP, threads - warp * WARP) - self._exited[warp]

    def _finish(self, key: tuple[int, str, Any]) -> Wait | None:
        """All have come. Returns what the last one has to wait for, as all others do."""
        warp, operation, _ = key
        here, does = self._here.pop(key), self._does.pop(key)
        lanes = {lane: here[lane] for lane in self.lanes(warp) if lane in here}
        if len(lanes) < WARP:
            first = next(iter(lanes))
            first.tell("partial-warp", operation=operation, place=first.place(), exited=WARP - len(lanes))
        result = does(lanes)
        if not isinstance(result, Wait):
            self._results[warp] = result
            self._cta.run.scheduler.wake(list(lanes))
            return None
        self._results[warp] = None
        for lane in lanes:
            if lane.waiting is not None:
                lane.waiting = result
        return result

    def lanes(self, warp: int) -> list[SimThread]:
        """The threads of a warp."""
        return self._cta.threads[warp * WARP : (warp + 1) * WARP]


def _site(source: Source) -> tuple[int, ...]:
    """The place in the learner's source, through all of its functions, that calls an instruction."""
    frames = source.stack(sys._getframe(INSTRUCTION))
    return tuple(part for frame in frames for part in (id(frame.f_code), frame.f_lasti))
