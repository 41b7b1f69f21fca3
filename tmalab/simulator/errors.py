"""What ends a simulated kernel from inside: a sentence for the learner, or an order of the simulator."""

from __future__ import annotations

from tmalab.plain_traceback import PlainTraceback


class KernelError(PlainTraceback, Exception):
    """The kernel does something that the kernel language does not have. The message is the sentence a learner reads."""


class KernelStopped(BaseException):
    """Thrown into a thread that must end, because the run has: no error of the kernel."""


class EndlessLoop(BaseException):
    """Thrown by the watchdog into a thread that lets nobody else run. No Exception, so that no kernel catches it."""


class TooLong(EndlessLoop):
    """Thrown by the watchdog into a run that goes on and on."""


class NeverChanges(EndlessLoop):
    """Thrown into a thread that waits, by atomics, for what no thread changes any more."""
