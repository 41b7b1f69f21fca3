"""Fibers: the greenlets that simulated threads run on, kept for the next thread of the run when one has ended.

To make a greenlet and let it end costs 10 us, nearly all of it for the memory of its Python stack, which the system
gives and takes back; to let a waiting one go on costs 0.7 us.

They do not outlive the run. A greenlet's C stack stays at the addresses at which it was started, and what lies above it
are the frames of the one who started it, as long as that one waits there. NumPy walks up the C stack (it asks who holds
a temporary array of 256 KB or more, before it writes the result into it), so a fiber that went on under another caller,
whose stack ends elsewhere, would send it through frames that are no more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from greenlet import getcurrent, greenlet

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread


class Fibers:
    """The fibers of one run. `take` and `close` are called in its hub, the greenlet that called the simulator.

    context   the context variables that its threads see
    """

    def __init__(self, context: Any):
        self._context = context
        self._idle: list[greenlet] = []

    def take(self) -> greenlet:
        """A fiber; the first thing to send it is the thread that it shall run."""
        if self._idle:
            return self._idle.pop()
        fiber = greenlet(_serve)
        fiber.gr_context = self._context
        return fiber

    def give_back(self, fiber: greenlet) -> None:
        """Its thread has ended. Called in the fiber itself, which goes back to the hub then."""
        self._idle.append(fiber)

    def close(self) -> None:
        """The run is over: they end."""
        while self._idle:
            self._idle.pop().switch(None)


def _serve(thread: SimThread | None) -> None:
    """The life of a fiber: one thread after another."""
    hub = getcurrent().parent
    while thread is not None:
        thread.live()
        thread = None  # nothing of an old run is kept
        thread = hub.switch()
