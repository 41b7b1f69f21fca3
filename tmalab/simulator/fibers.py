"""Fibers: the greenlets that simulated threads run on, kept for the next thread when one has ended.

To make a greenlet and let it end costs 10 us, nearly all of it for the memory of its Python stack, which the system
gives and takes back; to let a waiting one go on costs 0.7 us. Each OS thread has its own, as greenlets want it.
"""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread

KEPT = 512  # idle fibers, of some 20 KB each

_idle = threading.local()


class Fibers:
    """The fibers of one run. `take` and `give_back` are called in its hub, the greenlet that called the simulator."""

    def __init__(self, context: Any):
        self._hub, self._context = getcurrent(), context
        watched = sys.gettrace() is not None or sys.getprofile() is not None  # a greenlet keeps whether it is traced
        self._idle: list[greenlet] = [] if watched else _idle.__dict__.setdefault("fibers", [])
        self._ready: list[greenlet] = []  # those of this run's hub and context

    def take(self) -> greenlet:
        """A fiber; the first thing to send it is the thread that it shall run."""
        if self._ready:
            return self._ready.pop()
        while self._idle:
            fiber = self._idle.pop()
            if not fiber.dead:
                break
        else:
            fiber = greenlet(_serve)
        if fiber.parent is not self._hub:
            fiber.parent = self._hub
        fiber.gr_context = self._context
        return fiber

    def give_back(self, fiber: greenlet) -> None:
        """Its thread has ended."""
        self._ready.append(fiber)

    def close(self) -> None:
        """The run is over."""
        self._idle += self._ready[: max(0, KEPT - len(self._idle))]
        self._ready.clear()


def _serve(thread: SimThread | None) -> None:
    """The life of a fiber: one thread after another."""
    fiber = getcurrent()
    while True:
        thread.live()
        thread = None  # nothing of an old run is kept
        thread = fiber.parent.switch()
