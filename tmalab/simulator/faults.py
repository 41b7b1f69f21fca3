"""What ended a thread, as the Run tells it: one sentence with the learner's line.

What would fault on the hardware is a TmaFault as it is; everything else is a KernelFault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.faults import TmaFault
from tmalab.mbarrier import MBarrierError
from tmalab.run import KernelFault
from tmalab.simulator.errors import EndlessLoop, KernelError, NeverChanges, TooLong
from tmalab.simulator.watchdog import limits
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.source import Place, Source
    from tmalab.simulator.threads import SimThread


def fault_of(thread: SimThread | None, error: BaseException, source: Source) -> TmaFault:
    """The fault that an exception in a thread is."""
    place = source.place_of_error(error.__traceback__)
    where = text("simulator.fault-place", place=place, thread=thread) if place and thread else ""
    if isinstance(error, TmaFault):
        fault = type(error)(error.kind, f"{where}{error}")
        fault.file, fault.line = place or (None, None)
        fault.thread = str(thread or "")
        return fault
    if isinstance(error, NeverChanges):
        return _kernel_fault("endless_loop", where + text("simulator.never-changes"), place, thread)
    if isinstance(error, EndlessLoop):
        key = "simulator.too-long" if isinstance(error, TooLong) else "simulator.endless-loop"
        sentence = text(key, seconds=limits()[isinstance(error, TooLong)])
        return _kernel_fault("endless_loop", where + sentence, place, thread)
    return _kernel_fault("python_error", where + _sentence(error), place, thread)


def _kernel_fault(kind: str, message: str, place: Place | None, thread: SimThread | None) -> KernelFault:
    return KernelFault(kind, message, place and place.file, place and place.line, str(thread or ""))


def _sentence(error: BaseException) -> str:
    """The message of an exception; with its type where it was not written for a learner."""
    from tmalab.ptx.operands import OperandError

    if isinstance(error, (KernelError, MBarrierError, OperandError)):
        return str(error)
    if isinstance(error, RecursionError):
        return text("simulator.recursion")
    return text("simulator.exception", type=type(error).__name__, message=error)
