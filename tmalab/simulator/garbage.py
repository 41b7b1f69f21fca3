"""Does it matter what was read from shared memory that nobody had written?

The run is made again, in the same order, with other garbage. Where global memory and all that was done come out the
same each time, the value reached neither a result nor a decision: legal but doubtful. Otherwise it is a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tmalab.simulator.hazards import Hazard
from tmalab.simulator.source import Place
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.simulation import Simulation

NAME = "uninitialised-read"
OTHER_GARBAGE = (0x00, 0x41, 0x7F)  # bytes: numbers of all types that are zero, small and positive, large or NaN


def matters(told: Simulation, again: Callable[[], Simulation]) -> bool:
    """Whether other garbage makes another run of it."""
    return any(_differs(told, again(), byte) for byte in OTHER_GARBAGE)


def without_unused(hazards: list[Hazard]) -> tuple[list[Hazard], list[str]]:
    """The hazards that are left where the garbage does not matter, and what to say of it."""
    unused = [hazard for hazard in hazards if hazard.name == NAME]
    return [hazard for hazard in hazards if hazard.name != NAME], [_sentence(hazard) for hazard in unused]


def _differs(told: Simulation, other: Simulation, byte: int) -> bool:
    other.poison = byte
    other.run()
    same = _course(told) == _course(other) and told.trace[:] == other.trace[:]
    return not same or not np.array_equal(told.memory.bytes, other.memory.bytes)


def _course(run: Simulation) -> tuple:
    return run.deadlock is None, run.fault and run.fault.kind, run.scheduler.steps, run.scheduler.progress


def _sentence(hazard: Hazard) -> str:
    read = hazard.accesses[0]
    return text("hazards.unused-garbage", read=f"{read.who} {read.does}", place=Place(read.file or "", read.line or 0))
