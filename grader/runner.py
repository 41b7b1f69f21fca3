"""Where an answer's code runs: in this process, for a learner's own notebook, or in a sandbox, for a grade.

Judges ask `current()` and are the same in both ways. `using(runner)` says that from now on another one is meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from grader.alone import (
    Argument,
    Compilation,
    Outcome,
    Shape,
    accesses_alone,
    compile_alone,
    loads_alone,
    run_alone,
    several_alone,
)
from grader.recorded import hopper_here
from grader.source import KernelSource, take_source
from tmalab.simulator.watchdog import Stopwatch


class Runner(Protocol):
    """What judges need.

    `patience` stretches their limits of time by the clock: a notebook answers soon, a grade must be the same on a busy
    computer. `several` takes seconds of a notebook, and stretches them itself.
    `discreet`: whether inputs that the notebook does not show, or what an answer made of them, stay out of messages.
    `live`: whether kernels may be launched on this computer's GPU.
    """

    patience: float
    discreet: bool

    @property
    def live(self) -> bool: ...

    def source(self, answer: object) -> KernelSource:
        """A kernel's source; NoSource where the answer is no kernel."""

    def compile(self, source: KernelSource, arguments: Sequence[Argument]) -> Compilation:
        """Compile for sm_90a."""

    def run(
        self,
        source: KernelSource,
        arguments: Sequence[Argument],
        shape: Shape,
        seed: int = 0,
        on: str = "simulator",
    ) -> Outcome:
        """Run once."""

    def several(
        self,
        source: KernelSource,
        runs: Sequence[tuple[Sequence[Argument], int]],
        shape: Shape,
        seconds: float,
        until_wrong: bool = False,
    ) -> list[Outcome]:
        """Runs of arguments with seeds, up to the first that does not come to its end, or, `until_wrong`, is not ok.

        No other is begun after `seconds`.
        """

    def accesses(self, source: KernelSource, arguments: Sequence[Argument], shape: Shape) -> list[tuple]:
        """What a run's lines ask of memory: for each the fields of grader.judges.banks.Line."""

    def loads(self, source: KernelSource, arguments: Sequence[Argument], shape: Shape) -> list[tuple[int, int]]:
        """The loads of a run: bytes, and CTAs that they reach."""


class Here:
    """Everything in this process."""

    patience, discreet = 1.0, False

    @property
    def live(self) -> bool:
        return hopper_here()

    def source(self, answer: object) -> KernelSource:
        return take_source(answer)

    def several(
        self,
        source: KernelSource,
        runs: Sequence[tuple[Sequence[Argument], int]],
        shape: Shape,
        seconds: float,
        until_wrong: bool = False,
    ) -> list[Outcome]:
        clock = Stopwatch().seconds  # a busy computer costs no points
        return several_alone(source, runs, shape, seconds, until_wrong, clock=clock)

    compile = staticmethod(compile_alone)
    run = staticmethod(run_alone)
    accesses = staticmethod(accesses_alone)
    loads = staticmethod(loads_alone)


_current: ContextVar[Runner] = ContextVar("runner", default=Here())  # noqa: B039  it holds nothing


def current() -> Runner:
    """The runner that judges use now."""
    return _current.get()


@contextmanager
def using(runner: Runner) -> Iterator[None]:
    """Have judges use this runner inside."""
    token = _current.set(runner)
    try:
        yield
    finally:
        _current.reset(token)
