"""The runner for grades: every line of a learner's runs in the sandbox, and what comes back is checked for its type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from grader.alone import PATIENCE, Argument, Compilation, Outcome, arrays_in
from grader.limits import Failed
from grader.sandbox.exported import Remote
from grader.sandbox.host import Sandbox
from grader.sandbox.limits import Limits
from grader.source import KernelSource, NoSource
from grader.texts import text

STRETCH = 3.0  # runs in a grade may take so many times as long as in a notebook, of the processor
PATIENCE_OF_JUDGES = 100.0  # so many times as long by the clock: a busy computer costs nobody a point
ON_GPU = Limits(cpu=60, address_space=1 << 46)  # CUDA reserves the whole of a GPU's memory, and compiles first
LONGEST = 4000  # characters of a message


class InSandbox:
    """Compiles and runs kernels in fresh processes of a sandbox; those on a GPU, where `live`, in plain processes.

    CUDA needs devices and address space that a sandbox has not. What runs beside it is the kernel language alone, which
    numba compiles: no Python of a learner's.
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
        return Compilation(checked, error[:LONGEST], counts)

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
        request = {"source": asdict(source), "arguments": list(arguments), "block": block, "seed": seed}
        request |= {"grid": grid, "cluster": cluster}
        try:
            if on == "gpu":
                with Sandbox("process", ON_GPU) as plain:
                    record = plain.ask("run", **request, limits_of_run=self._limits, on=on)
            else:
                record = self._sandbox.ask("run", **request, limits_of_run=self._limits, on=on)
        except Failed as failed:
            return _none(arguments, failed)
        return _outcome(record, arguments)

    def inputs(
        self,
        source: KernelSource,
        inputs: Sequence[Sequence[Argument]],
        block: int,
        seconds: float,
        grid: int = 1,
        cluster: int = 1,
    ) -> list[Outcome]:
        request = {"source": asdict(source), "inputs": [list(arguments) for arguments in inputs], "block": block}
        request |= {"seconds": STRETCH * seconds, "grid": grid, "cluster": cluster}
        try:
            records = self._sandbox.ask("inputs", **request, limits_of_run=self._limits)
        except Failed:
            return self._one_by_one(source, inputs, block, grid, cluster)
        if type(records) is not list or not 0 < len(records) <= len(inputs):
            raise _malformed()
        return [_outcome(record, arguments) for record, arguments in zip(records, inputs, strict=False)]

    def _one_by_one(
        self, source: KernelSource, inputs: Sequence[Sequence[Argument]], block: int, grid: int, cluster: int
    ) -> list[Outcome]:
        """Each input in a process of its own, to see which one its process does not survive."""
        outcomes: list[Outcome] = []
        for arguments in inputs:
            outcomes.append(self.run(source, arguments, block, grid=grid, cluster=cluster))
            if outcomes[-1].stopped:
                break
        return outcomes

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
        request = {"source": asdict(source), "arguments": list(arguments), "block": block, "seeds": list(seeds)}
        request |= {"grid": grid, "cluster": cluster}
        try:
            records = self._sandbox.ask("orders", **request, seconds=STRETCH * seconds, limits_of_run=self._limits)
        except Failed as failed:
            return [_none(arguments, failed)]
        if type(records) is not list or len(records) > len(seeds):
            raise _malformed()
        return [_outcome(record, arguments) for record in records]

    def accesses(self, source: KernelSource, arguments: Sequence[Argument], block: int) -> list[tuple]:
        request = {"source": asdict(source), "arguments": list(arguments), "block": block}
        record = self._sandbox.ask("accesses", **request, limits_of_run=self._limits)
        if type(record) is not list or not all(type(line) is tuple for line in record):
            raise _malformed()
        return record

    def loads(
        self, source: KernelSource, arguments: Sequence[Argument], block: int, grid: int = 1, cluster: int = 1
    ) -> list[tuple[int, int]]:
        request = {"source": asdict(source), "arguments": list(arguments), "block": block}
        request |= {"grid": grid, "cluster": cluster}
        record = self._sandbox.ask("loads", **request, limits_of_run=self._limits)
        if type(record) is not list or not all(map(_is_load, record)):
            raise _malformed()
        return record


COMPILATION = {"checked": bool, "error": str, "counts": dict}
OUTCOME = {"arrays": list, "ok": bool, "hazards": list, "copied": bool, "ahead": int}


def _outcome(record: Any, arguments: Sequence[Argument]) -> Outcome:
    """A run as a record tells it: arrays of the shapes that went in, words."""
    before = arrays_in(arguments)
    arrays, ok, hazards, copied, ahead = (_of(record, name, kind) for name, kind in OUTCOME.items())
    same = len(arrays) == len(before) and all(
        type(array) is np.ndarray and array.dtype == old.dtype and array.shape == old.shape
        for array, old in zip(arrays, before, strict=True)
    )
    stopped = record.get("stopped")
    if not same or not all(map(_is_pair, [*hazards, *([stopped] if stopped is not None else [])])):
        raise _malformed()
    told = [(name, message[:LONGEST]) for name, message in hazards]
    return Outcome(arrays, ok, told, stopped, copied, ahead)


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
