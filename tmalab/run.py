"""Run: what one launch of a kernel came to, in the simulator or on a GPU.

The kernel's results are in the NumPy arguments, which change in place; a Run says whether they can be trusted. What a
kernel does wrong never raises: it is here.

>>> Run(on="simulator", seed=0).ok
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tmalab.faults import TmaFault
from tmalab.texts import text


class KernelFault(TmaFault):
    """A kernel that stopped for a reason of its own, not the hardware's: its Python raised, or it never ends.

    `.kind` is "python_error" or "endless_loop"; `.file`, `.line` and `.thread` say where.
    """

    def __init__(self, kind: str, message: str, file: str | None = None, line: int | None = None, thread: str = ""):
        Exception.__init__(self, message)
        self.kind, self.file, self.line, self.thread = kind, file, line, thread
        self.cuda_error = None

    def __reduce__(self):
        return KernelFault, (self.kind, str(self), self.file, self.line, self.thread)


@dataclass(repr=False)
class Run:
    """The result of a launch.

    on             "simulator" or "gpu"
    seed           the seed of a simulated run: the same seed repeats it exactly
    hazards        what the kernel does wrong, whether or not this run went wrong: .name .message .accesses .fix
    deadlock       None, or the report: .message and who waits on what
    fault          None, or the TmaFault that ended the kernel
    trace          the last events, oldest first
    warnings       sentences about what is legal but doubtful
    """

    on: str
    seed: int | None = None
    hazards: list[Any] = field(default_factory=list)
    deadlock: Any = None
    fault: TmaFault | None = None
    trace: Sequence[Any] = ()
    warnings: list[str] = field(default_factory=list)
    compiling: Callable[[], Exception | None] = field(default=lambda: None, compare=False)
    explaining: Callable[[Any, Any], Any] | None = field(default=None, compare=False)
    replaying: Callable[[type], Any] | None = field(default=None, compare=False)  # tmalab.simulator.again
    measuring: Callable[[], Any] | None = field(default=None, compare=False)  # tmalab.gpu.measured_timeline

    @property
    def ok(self) -> bool:
        """No hazard, no deadlock, no fault, and it compiles for sm_90a where numba-cuda is installed."""
        clean = not self.hazards and self.deadlock is None and self.fault is None
        return clean and self.compile_error is None

    @cached_property
    def compile_error(self) -> Exception | None:
        """Why the GPU's compiler refuses this kernel; None when it compiles, or where no compiler is installed.

        Compiled at the first look (half a second the first time, then kept).
        """
        return self.compiling()

    def explain(self, result: Any, expected: Any) -> Any:
        """Why `result`, one of the launch's arrays, is not as `expected`: an Explanation, or None where it is.

        Says of the first wrong element which element it came from, and whether a swizzle was overlooked. Runs the
        kernel again, on numbers that tell where they lie. ValueError for a run that was not simulated.
        """
        if self.explaining is None:
            raise ValueError(text("kernel.explains-simulated"))
        return self.explaining(result, expected)

    @cached_property
    def warp_accesses(self) -> tuple[Any, ...]:
        """What the warps asked of memory, access by access: see tmalab.simulator.warp_accesses.

        Found when it is first looked at, by running the kernel again. ValueError for a run that was not simulated.
        """
        from tmalab.simulator.warp_accesses import warp_accesses

        return warp_accesses(self)

    @property
    def bank_conflicts(self) -> Any:
        """In how many turns shared memory served the warps, line by line: a BankConflicts; print it."""
        from tmalab.simulator.bank_conflicts import BankConflicts

        return BankConflicts(tuple(access for access in self.warp_accesses if access.space == "shared"))

    @property
    def global_sectors(self) -> Any:
        """How many sectors of global memory the threads touched, line by line: a GlobalSectors; print it."""
        from tmalab.simulator.global_sectors import GlobalSectors

        return GlobalSectors(tuple(access for access in self.warp_accesses if access.space == "global"))

    @cached_property
    def timeline(self) -> Any:
        """When things happened: a tmalab.timing.Timeline; print its summary().

        Of a simulated run by the time model of an H200, made when it is first looked at, by running the kernel again;
        of a run on a GPU with `trace=True` as its threads saw it on the clock. ValueError for a run on a GPU without,
        RuntimeError in one sentence while a constant that the model needs has not been measured.
        """
        if self.measuring is not None:
            return self.measuring()
        from tmalab.timing.model import timeline_of

        return timeline_of(self)

    def beginning(self, most: int) -> Any:
        """The `timeline`; of a run in which threads do more things than so many, and whose timeline nobody has asked
        for, only that of its beginning, as its notes then say."""
        from tmalab.timing.model import beginning_of

        if self.measuring is None and "timeline" not in vars(self):
            found, whole = beginning_of(self, most)
            if not whole:
                return found
            self.timeline = found
        return self.timeline

    def show(self, what: str | None = None) -> Any:
        """The run as a figure to step through; it runs the kernel again.

        what   "hazards", "barriers", "timeline", "stores", "multicast" or "banks" (the access with the worst conflict);
               without it what tells most: a hazard, else who waits in a deadlock, else the timeline, the barriers or
               the stores

        ValueError for what there is not, and for a run that was not simulated.
        """
        from tmalab.figures.of_run import figure_of

        return figure_of(self, what)

    def __repr__(self) -> str:
        return f"<Run on={self.on!r} seed={self.seed}: {self._verdict()}>"

    def __str__(self) -> str:
        """The verdict, then every report in full."""
        reports = [*map(str, self.hazards), *self.warnings]
        if self.fault is not None and not self._fault_is_a_hazard():
            reports.insert(0, str(self.fault))
        if self.compile_error is not None:
            reports.append(str(self.compile_error))
        return "\n".join([self._verdict(), *reports])

    def _fault_is_a_hazard(self) -> bool:
        """Whether a hazard says the same already, with the line and the fix."""
        lines = (line.strip() for hazard in self.hazards for line in hazard.message.splitlines())
        return any(line and str(self.fault).endswith(line) for line in lines)

    def _verdict(self) -> str:
        if self.ok:
            return text("kernel.verdict-ok")
        found = [hazard.name for hazard in self.hazards]
        if self.fault is not None:
            found.append(self.fault.kind)
        if self.compile_error is not None:
            found.append(text("kernel.verdict-compile"))
        return ", ".join(found)
