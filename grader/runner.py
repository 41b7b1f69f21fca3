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
    accesses_alone,
    compile_alone,
    inputs_alone,
    loads_alone,
    orders_alone,
    run_alone,
)
from grader.recorded import hopper_here
from grader.source import KernelSource, take_source


class Runner(Protocol):
    """What judges need.

    `patience` stretches their limits of time by the clock: a notebook answers soon, a grade must be the same on a busy
    computer. `inputs` and `orders` take seconds of a notebook, and stretch them themselves.
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
        block: int,
        seed: int = 0,
        on: str = "simulator",
        grid: int = 1,
        cluster: int = 1,
    ) -> Outcome:
        """Run once, `grid` CTAs of `block` threads, `cluster` CTAs to a cluster."""

    def inputs(
        self,
        source: KernelSource,
        inputs: Sequence[Sequence[Argument]],
        block: int,
        seconds: float,
        grid: int = 1,
        cluster: int = 1,
    ) -> list[Outcome]:
        """Run several inputs, up to the first that does not come to its end; begin no other after `seconds`."""

    def orders(
        self,
        source: KernelSource,
        arguments: Sequence[Argument],
        block: int,
        seeds: Sequence[int],
        seconds: float,
        grid: int = 1,
        cluster: int = 1,
    ) -> list[Outcome]:
        """Run one input in several orders, up to the first that is not ok; begin no other after `seconds`."""

    def accesses(self, source: KernelSource, arguments: Sequence[Argument], block: int) -> list[tuple]:
        """What a run's lines ask of memory: for each the fields of grader.judges.banks.Line."""

    def loads(
        self, source: KernelSource, arguments: Sequence[Argument], block: int, grid: int = 1, cluster: int = 1
    ) -> list[tuple[int, int]]:
        """The loads of a run: bytes, and CTAs that they reach."""


class Here:
    """Everything in this process."""

    patience, discreet = 1.0, False

    @property
    def live(self) -> bool:
        return hopper_here()

    def source(self, answer: object) -> KernelSource:
        return take_source(answer)

    def compile(self, source: KernelSource, arguments: Sequence[Argument]) -> Compilation:
        return compile_alone(source, arguments)

    def run(
        self,
        source: KernelSource,
        arguments: Sequence[Argument],
        block: int,
        seed: int = 0,
        on: str = "simulator",
        grid: int = 1,
        cluster: int = 1,
    ) -> Outcome:
        return run_alone(source, arguments, block, seed, on, grid=grid, cluster=cluster)

    def inputs(
        self,
        source: KernelSource,
        inputs: Sequence[Sequence[Argument]],
        block: int,
        seconds: float,
        grid: int = 1,
        cluster: int = 1,
    ) -> list[Outcome]:
        return inputs_alone(source, inputs, block, seconds, grid=grid, cluster=cluster)

    def orders(
        self,
        source: KernelSource,
        arguments: Sequence[Argument],
        block: int,
        seeds: Sequence[int],
        seconds: float,
        grid: int = 1,
        cluster: int = 1,
    ) -> list[Outcome]:
        return orders_alone(source, arguments, block, seeds, seconds, grid=grid, cluster=cluster)

    def accesses(self, source: KernelSource, arguments: Sequence[Argument], block: int) -> list[tuple]:
        return accesses_alone(source, arguments, block)

    def loads(
        self, source: KernelSource, arguments: Sequence[Argument], block: int, grid: int = 1, cluster: int = 1
    ) -> list[tuple[int, int]]:
        return loads_alone(source, arguments, block, grid=grid, cluster=cluster)


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
