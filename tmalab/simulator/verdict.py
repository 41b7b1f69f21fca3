"""How a run went: a launch is simulated, and once more with lines where something is wrong.

The first run only finds out whether anything is wrong. If so, the same seed is run again, this time with the learner's
line noted at each access, and the reports come from there; a clean run does not pay for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tmalab.buffers import GlobalLayout
from tmalab.maps_in_memory import placed
from tmalab.run import Run
from tmalab.simulator import garbage
from tmalab.simulator.again import Again
from tmalab.simulator.arguments import arrays_of
from tmalab.simulator.context import running
from tmalab.simulator.errors import KernelError
from tmalab.simulator.hazards import Hazard
from tmalab.simulator.policy import Policy
from tmalab.simulator.second_opinion import second_opinion
from tmalab.simulator.simulation import ONE_AT_A_TIME, REPLAY_SECONDS, Simulation
from tmalab.simulator.threads import len_of
from tmalab.simulator.watchdog import limits, patience
from tmalab.simulator.wrong_values import explain
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch


def simulate(launch: Launch, track: bool = True) -> Run:
    """Run a launch; NumPy arguments change in place. `track=False`: look for no hazards, to measure what that costs."""
    if running() is not None:
        raise KernelError(text("simulator.nested"))
    layout = GlobalLayout(arrays_of(launch))
    with ONE_AT_A_TIME, placed(launch.args, layout):
        first = Simulation(launch, layout, noting=launch.strict, track=track)
        again = Again(launch, layout, first.memory.bytes)
        first.run()
        run = verdict(first, lambda: Simulation(launch, layout, noting=True), launch.seed)
        layout.download(first.memory.bytes)
    return again.offered_by(run, first.scheduler.steps)


def verdict(first: Simulation, again: Callable[[], Simulation], seed: int | None) -> Run:
    """How a run went. Where that takes another run of the same order, with lines, `again` makes it."""
    launch, told = first.launch, first
    if first.hazards.found and first.log.tracking and not first.noting:
        silent, total = limits()
        endless = first.fault is not None and first.fault.kind == "endless_loop"
        with patience(min(silent, REPLAY_SECONDS) if endless else silent, total):
            told = again()
            told.run()
    hazards, warnings = told.hazards.reports(), [*told.hazards.warnings(), *first.doubts.values()]
    if any(hazard.name == garbage.NAME for hazard in hazards) and not garbage.matters(told, again):
        hazards, doubts = garbage.without_unused(hazards)
        warnings = [*warnings, *doubts]
    if told.deadlock is not None:
        hazards = second_opinion(hazards, lambda policy: _hazards_under(policy, launch, first.memory.layout))
    return Run(
        on="simulator",
        seed=seed,
        hazards=hazards,
        deadlock=told.deadlock,
        fault=first.fault or told.fault,
        trace=told.trace,
        warnings=warnings,
        compiling=lambda: _compile_error(launch),
        explaining=lambda result, expected: explain(launch, result, expected),
    )


def _hazards_under(policy: Policy, launch: Launch, layout: GlobalLayout) -> list[Hazard]:
    """The hazards that another order of the threads shows."""
    other = Simulation(launch, layout, noting=True, policy=policy)
    other.run()
    return other.hazards.reports()


def _compile_error(launch: Launch) -> Exception | None:
    """What the GPU's compiler says to the kernel with these arguments; None where there is no compiler."""
    from tmalab.gpu.toolkit import why_no_compiler

    if why_no_compiler():
        return None
    from tmalab.gpu.compile import compile_kernel
    from tmalab.gpu.errors import CompileError, GpuUnavailable

    try:
        compile_kernel(launch.kernel.function, launch.args, len_of(launch.block))
    except (CompileError, TypeError) as error:
        return error
    except GpuUnavailable:
        return None
    return None
