"""Which simulated thread is running now: an instruction called from Python acts for it.

>>> current_thread()
Traceback (most recent call last):
RuntimeError: instructions act for a simulated thread, and none is running: call them inside a kernel, and start it \
with kernel.run(...)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread


class Now:
    """The one place that knows the running thread; the scheduler sets it at every switch."""

    __slots__ = ("thread",)

    def __init__(self):
        self.thread: SimThread | None = None


now = Now()


def running() -> SimThread | None:
    """The simulated thread that is running, or None."""
    return now.thread


def current_thread() -> SimThread:
    """The simulated thread that is running. Raises RuntimeError where no simulation runs."""
    if now.thread is None:
        raise RuntimeError(text("simulator.no-thread"))
    return now.thread
