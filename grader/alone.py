"""A kernel built from its source and run alone: with the modules and numbers that it names, without the notebook.

What comes back is plain data, so that these two functions can do their work in another process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np

from grader.memory import copied
from grader.overlap import ENDS, copies_under_way, products_followed
from grader.source import MODULES, KernelSource, stripped
from tmalab import TensorMap, device, kernel

PATIENCE = 1.0, 2.0  # seconds: a loop that lets nothing else go on, and a whole run; a tile takes a twentieth
Argument = TensorMap | np.ndarray | int
Clock = Callable[[], float]  # seconds; a process of its own is given the processor's, which a busy computer delays


@dataclass(frozen=True)
class Shape:
    """How a kernel is launched: `grid` CTAs of `block` threads, `cluster` CTAs to a cluster."""

    block: int
    grid: int = 1
    cluster: int = 1


@dataclass
class Compilation:
    """Whether a kernel compiles for sm_90a. `error` is the compiler's sentence; `checked` False: no compiler here."""

    checked: bool
    error: str = ""
    counts: dict[str, int] = field(default_factory=dict)


@dataclass
class Outcome:
    """What one run of a kernel did."""

    arrays: list[np.ndarray]  # those of `arrays_in` the arguments, as the run left them
    ok: bool
    hazards: list[tuple[str, str]]  # name, message
    stopped: tuple[str, str] | None  # why it did not come to its end: a cause, a message
    copied: bool  # whether the copy engine did any copy, as far as the trace reaches
    ahead: int = 0  # the most copies that were under way at once, as far as the trace reaches; counted with seed 0
    followed: int = 0  # products that were issued while the one before was not done; counted likewise

    def is_last(self, until_wrong: bool) -> bool:
        """Whether no further run comes after this one: it did not end; or, `until_wrong`, it is not ok."""
        return bool(self.stopped) or (until_wrong and not self.ok)


def arrays_in(arguments: Sequence[Argument]) -> list[np.ndarray]:
    """The array arguments, and the memory behind the last one where that is a map: what a kernel stores goes there."""
    behind = [argument.array for argument in arguments[-1:] if isinstance(argument, TensorMap)]
    return [argument for argument in [*arguments, *behind] if isinstance(argument, np.ndarray)]


def compile_alone(source: KernelSource, arguments: Sequence[Argument]) -> Compilation:
    """Compile a kernel for the H100 and H200; needs numba-cuda and the CUDA toolkit, no GPU."""
    from tmalab.gpu.toolkit import why_no_compiler

    if why_no_compiler():
        return Compilation(checked=False)
    from tmalab.gpu.compile import compile_kernel
    from tmalab.gpu.errors import CompileError

    try:
        compiled = compile_kernel(build(source), arguments)
    except (CompileError, TypeError) as error:
        return Compilation(True, error=str(error))
    return Compilation(True, counts=dict(compiled.counts))


def run_alone(
    source: KernelSource,
    arguments: Sequence[Argument],
    shape: Shape,
    seed: int = 0,
    on: str = "simulator",
    limits: tuple[float, float] = PATIENCE,
) -> Outcome:
    """Run a kernel once, on copies of the arguments. `limits` as PATIENCE (seconds)."""
    from tmalab.simulator.trace import LENGTH
    from tmalab.simulator.watchdog import patience

    own = _own(arguments)
    with patience(*limits):
        run = kernel(build(source)).run(shape.grid, shape.block, tuple(own), shape.cluster, on, seed)
    hazards = [(hazard.name, str(hazard.message)) for hazard in run.hazards]
    copied = len(run.trace) == LENGTH or any(event.what in ENDS for event in run.trace)
    clean = not (run.hazards or run.deadlock or run.fault)  # whether it compiles is a question of its own
    counted = (0, 0) if seed else (copies_under_way(run.trace), products_followed(run.trace, shape.block))
    return Outcome(arrays_in(own), clean, hazards, _why_stopped(run), copied, *counted)


def several_alone(
    source: KernelSource,
    runs: Sequence[tuple[Sequence[Argument], int]],
    shape: Shape,
    seconds: float,
    until_wrong: bool = False,
    limits: tuple[float, float] = PATIENCE,
    clock: Clock = time.monotonic,
) -> list[Outcome]:
    """Runs of arguments with seeds, up to the first that does not come to its end; after `seconds` no other is begun.

    until_wrong  up to the first that is not ok
    """
    deadline = clock() + seconds
    outcomes: list[Outcome] = []
    for arguments, seed in runs:
        outcomes.append(run_alone(source, arguments, shape, seed, limits=limits))
        if outcomes[-1].is_last(until_wrong) or clock() > deadline:
            break
    return outcomes


def accesses_alone(
    source: KernelSource, arguments: Sequence[Argument], shape: Shape, limits: tuple[float, float] = PATIENCE
) -> list[tuple]:
    """How a kernel's lines use memory, in a run like that of `run_alone`: for each "shared" and the fields of LineUse,
    or "global" and those of LineTraffic."""
    from tmalab.simulator.watchdog import patience

    own = _own(arguments)
    with patience(*limits):
        run = kernel(build(source)).run(shape.grid, shape.block, tuple(own), shape.cluster)
        used = (("shared", run.bank_conflicts.lines()), ("global", run.global_sectors.lines()))
        return [(space, *line) for space, lines in used for line in lines]


def loads_alone(
    source: KernelSource, arguments: Sequence[Argument], shape: Shape, limits: tuple[float, float] = PATIENCE
) -> list[tuple[int, int]]:
    """The loads of a run like that of `run_alone`, in the order of their issue: bytes, and CTAs that they reach."""
    from tmalab.simulator.story import Story
    from tmalab.simulator.watchdog import patience

    with patience(*limits):
        run = kernel(build(source)).run(shape.grid, shape.block, tuple(_own(arguments)), shape.cluster)
        story = Story.of(run, to_the_end=True)
    loads, numbers = [], iter(sorted(story.copies))
    for number in numbers:
        copy = story.copies[number]
        reached = 1 if copy.mask is None else sum(copy.mask >> rank & 1 for rank in range(len(copy.cluster)))
        if copy.role == "load":
            loads.append((copy.bytes, reached))
            for _ in range(reached - 1):  # a multicast is a copy of its own in each CTA that it reaches
                next(numbers)
    return loads


def _own(arguments: Sequence[Argument]) -> list[Argument]:
    """The arguments with copies of all arrays that `arrays_in` gives."""
    own = [copied(argument) if isinstance(argument, np.ndarray) else argument for argument in arguments]
    if own and isinstance(own[-1], TensorMap) and isinstance(own[-1].array, np.ndarray):
        own[-1] = own[-1].bind(copied(own[-1].array))
    return own


def build(source: KernelSource) -> FunctionType:
    """The kernel's function in a namespace of its own."""
    modules = {short: long for long, short in MODULES.items()}
    scope: dict[str, Any] = dict(source.constants)
    for name, known in source.modules.items():
        module, _, part = known.partition(".")
        scope[name] = getattr(import_module(modules[module]), part) if part else import_module(modules[module])
    for own_name, written in reversed(source.functions.items()):  # the kernel was taken first, its helpers after it
        exec(compile(stripped(written), source.files[own_name], "exec"), scope)
        scope |= {name: device(scope[own_name]) for name, helper in source.helpers.items() if helper == own_name}
    return scope[source.name]


def _why_stopped(run: Any) -> tuple[str, str] | None:
    if run.fault:
        return getattr(run.fault, "kind", "fault"), str(run.fault)
    if run.deadlock:
        return "deadlock", str(run.deadlock.message)
    return None
