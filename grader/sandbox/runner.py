"""The runner for grades: every line of a learner's runs in a sandbox, and what comes back is checked for its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np

from grader.alone import PATIENCE, Argument, Compilation, Outcome, Shape, arrays_in
from grader.limits import Failed
from grader.sandbox.exported import Remote, printable, printable_lines
from grader.sandbox.host import Sandbox
from grader.sandbox.limits import Limits
from grader.source import KernelSource, NoSource
from grader.texts import text

STRETCH = 3.0  # runs in a grade may take so many times as long as in a notebook, of the processor
PATIENCE_OF_JUDGES = 100.0  # so many times as long by the clock: a busy computer costs nobody a point
ON_GPU = Limits(cpu=60, address_space=1 << 46, files=1024)  # CUDA reserves a GPU's whole memory, and compiles first
LONGEST = 4000  # characters of a message


class InSandbox:
    """Compiles and runs kernels in fresh processes of a sandbox; on a GPU, where `live`, in one that sees the GPU.

    CUDA needs devices and address space that other sandboxes have not. What runs in that one is the kernel language
    alone, which numba compiles: no Python of a learner's.
    """

    def __init__(self, sandbox: Sandbox, discreet: bool, live: bool = False):
        self.patience, self.discreet, self.live = PATIENCE_OF_JUDGES, discreet, live
        self._sandbox = sandbox
        self._limits = tuple(STRETCH * seconds for seconds in PATIENCE)

    def source(self, answer: object) -> KernelSource:
        if not isinstance(answer, Remote):
            raise NoSource(text("source.not-a-kernel", type=type(answer).__name__))
        if isinstance(answer.kernel, str):
            raise NoSource(answer.kernel)
        return answer.kernel

    def compile(self, source: KernelSource, arguments: Sequence[Argument]) -> Compilation:
        try:
            record = self._sandbox.ask("compile", source=asdict(source), arguments=list(arguments))
        except Failed as failed:
            return Compilation(True, error=str(failed))
        checked, error, counts = (_of(record, name, kind) for name, kind in COMPILATION.items())
        if not all(type(name) is str and type(count) is int for name, count in counts.items()):
            raise _malformed()
        return Compilation(checked, printable_lines(error, LONGEST), counts)

    def run(
        self,
        source: KernelSource,
        arguments: Sequence[Argument],
        shape: Shape,
        seed: int = 0,
        on: str = "simulator",
    ) -> Outcome:
        request: dict[str, Any] = {"arguments": list(arguments), "seed": seed, "on": on}
        try:
            record = self._ask("run", source, shape, _with_gpu() if on == "gpu" else None, **request)
        except Failed as failed:
            return _none(arguments, failed)
        return _outcome(record, arguments)

    def several(
        self,
        source: KernelSource,
        runs: Sequence[tuple[Sequence[Argument], int]],
        shape: Shape,
        seconds: float,
        until_wrong: bool = False,
    ) -> list[Outcome]:
        request: dict[str, Any] = {
            "runs": [(list(arguments), seed) for arguments, seed in runs],
            "until_wrong": until_wrong,
        }
        try:
            records = self._ask("several", source, shape, **request, seconds=STRETCH * seconds)
        except Failed:
            return self._one_by_one(source, runs, shape, until_wrong)
        if type(records) is not list or not 0 < len(records) <= len(runs):
            raise _malformed()
        return [_outcome(record, arguments) for record, (arguments, _) in zip(records, runs, strict=False)]

    def _one_by_one(
        self, source: KernelSource, runs: Sequence[tuple[Sequence[Argument], int]], shape: Shape, until_wrong: bool
    ) -> list[Outcome]:
        """Each run in a process of its own, to see which one its process does not survive."""
        outcomes: list[Outcome] = []
        for arguments, seed in runs:
            outcomes.append(self.run(source, arguments, shape, seed))
            if outcomes[-1].is_last(until_wrong):
                break
        return outcomes

    def accesses(self, source: KernelSource, arguments: Sequence[Argument], shape: Shape) -> list[tuple]:
        record = self._ask("accesses", source, shape, arguments=list(arguments))
        if type(record) is not list or not all(type(line) is tuple for line in record):
            raise _malformed()
        return record

    def loads(self, source: KernelSource, arguments: Sequence[Argument], shape: Shape) -> list[tuple[int, int]]:
        record = self._ask("loads", source, shape, arguments=list(arguments))
        if type(record) is not list or not all(map(_is_load, record)):
            raise _malformed()
        return record

    def _ask(
        self, task: str, source: KernelSource, shape: Shape, sandbox: Sandbox | None = None, **request: Any
    ) -> Any:
        """The record of a task that runs a kernel. Raises Failed."""
        sandbox = sandbox or self._sandbox
        with sandbox.within(self._sandbox.allowance):
            return sandbox.ask(task, source=asdict(source), shape=asdict(shape), patience=self._limits, **request)


@lru_cache(maxsize=1)
def _with_gpu() -> Sandbox:
    """Found once, since it takes two starts of a process; nothing stays running. Raises NoSandbox, and looks again."""
    return Sandbox(limits=ON_GPU, gpu=True)


COMPILATION = {"checked": bool, "error": str, "counts": dict}
OUTCOME = {"arrays": list, "ok": bool, "hazards": list, "copied": bool, "ahead": int, "followed": int}


def _outcome(record: Any, arguments: Sequence[Argument]) -> Outcome:
    """A run as a record tells it: arrays of the shapes that went in, words."""
    before = arrays_in(arguments)
    arrays, ok, hazards, copied, *counted = (_of(record, name, kind) for name, kind in OUTCOME.items())
    same = len(arrays) == len(before) and all(
        type(array) is np.ndarray and array.dtype == old.dtype and array.shape == old.shape
        for array, old in zip(arrays, before, strict=True)
    )
    stopped = record.get("stopped")
    if not same or not all(map(_is_pair, [*hazards, *([stopped] if stopped is not None else [])])):
        raise _malformed()
    told = [(printable(name, LONGEST), printable_lines(message, LONGEST)) for name, message in hazards]
    why = (printable(stopped[0], LONGEST), printable_lines(stopped[1], LONGEST)) if stopped else None
    return Outcome(arrays, ok, told, why, copied, *counted)


def _none(arguments: Sequence[Argument], failed: Failed) -> Outcome:
    """A run of which nothing came back."""
    return Outcome(arrays_in(arguments), False, [], (failed.reason, str(failed)), False)


def _of(record: Any, name: str, kind: type) -> Any:
    """A record's entry, which must be of exactly this type."""
    if type(record) is not dict or type(record.get(name)) is not kind:
        raise _malformed()
    return record[name]


def _is_pair(value: object) -> bool:
    return type(value) is tuple and len(value) == 2 and all(type(each) is str for each in value)


def _is_load(value: object) -> bool:
    return type(value) is tuple and len(value) == 2 and all(type(each) is int for each in value)


def _malformed() -> Failed:
    return Failed("malformed", text("sandbox.malformed"))
