"""Measure what the time model is made of, and what it is judged by: `tmalab record timing`, on a Hopper GPU; and the
trials alone that are held out, with what looks at the clock cost: `tmalab record held-out`.

The micro-benchmarks run one after the other in this process. The trials run in processes of their own, which compile
side by side and use the GPU in turn. Each kernel runs once with bounded waits before it is timed without, so that one
that hangs costs a second and not the recording. What was measured goes to `timing-measured.json`, the constants that
the micro-benchmarks give to `timing.json`; `tmalab bench timing --record` refines them, without a GPU.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from tmalab.gpu.device import call, hopper
from tmalab.gpu.recorder import RecordingError, describe
from tmalab.gpu.stopwatch import nanoseconds_each
from tmalab.gpu.trace_cost import TRACES, measure_traces, write_traces
from tmalab.texts import text
from tmalab.timing.constants import TABLE
from tmalab.timing.fit import fit
from tmalab.timing.measured import HELD_OUT, MEASURED, Measured
from tmalab.timing.micro import BENCHMARKS, Benchmark
from tmalab.timing.micro.benchmark import CLOCK, WAVES
from tmalab.timing.trials import TRIALS

REPEATS = 9
WARM = 2  # launches before those that count
FLUSH_TURNS = 130  # of the ring of loads on all SMs: 270 MB, several times the L2 cache
PROCESSES = min(16, os.cpu_count() or 1)
SOME_MEMORY = 1 << 24  # bytes of a benchmark's data: enough to see whether it ends
SECONDS = 200  # for all trials: a process that takes longer is given up

_turn: Any = None  # in a trial's process: the lock that says whose turn on the GPU it is


class Words:
    """A few int64 in the GPU's memory, as any library's array is."""

    def __init__(self, count: int):
        self._count, self._address = count, int(call("cuMemAlloc", 8 * count))
        shape = {"shape": (count,), "typestr": "<i8", "data": (self._address, False), "strides": None}
        self.__cuda_array_interface__ = {**shape, "version": 3, "stream": None}

    def read(self) -> np.ndarray:
        """The words, as they are now."""
        words = np.zeros(self._count, np.int64)
        call("cuMemcpyDtoH", words.ctypes.data, self._address, words.nbytes)
        return words


def record_timing(folder: Path, command: str = "tmalab record timing") -> dict[str, Any]:
    """Measure everything, fit the constants, and write both into a folder; how much there was of each.

    `failed` has the reasons of what could not be measured: without a micro-benchmark there is no fit, without a trial
    there is one fewer. Raises GpuUnavailable without a Hopper GPU.
    """
    provenance = describe(command)
    hopper().use()
    sms, l2_size = (_attribute(name) for name in ("MULTIPROCESSOR_COUNT", "L2_CACHE_SIZE"))
    samples, failed = _apart({name: _tried(measure, benchmark, sms) for name, benchmark in BENCHMARKS.items()})
    trials, failed_trials = _apart(measure_trials([name for name, trial in TRIALS.items() if not trial.fresh]))
    measured = Measured(provenance, sms, l2_size, samples, trials)
    folder.mkdir(parents=True, exist_ok=True)
    measured.write(folder / MEASURED)
    counts = {"benchmarks": len(samples), "trials": len(trials), "constants": 0, "failed": failed | failed_trials}
    if not failed:
        constants = fit(measured.middles(), sms, l2_size, command, provenance)
        constants.write(folder / TABLE.name)
        counts["constants"] = len(constants)
    return counts


def record_held_out(folder: Path, command: str = "tmalab record held-out") -> dict[str, Any]:
    """Measure the trials that were chosen when the model stood, and what looks at the clock cost some of them.

    Writes both into a folder, and returns how much there was of each, and what `failed`. Raises GpuUnavailable without
    a Hopper GPU.
    """
    provenance = describe(command)
    hopper().use()
    sms, l2_size = (_attribute(name) for name in ("MULTIPROCESSOR_COUNT", "L2_CACHE_SIZE"))
    names = [name for name, trial in TRIALS.items() if trial.fresh]
    trials, failed = _apart(measure_trials(names + list(TRACES)))
    traces = {name: trials.pop(name) for name in TRACES if name in trials}
    folder.mkdir(parents=True, exist_ok=True)
    Measured(provenance, sms, l2_size, {}, trials).write(folder / HELD_OUT)
    write_traces(folder, provenance, traces)
    return {"trials": len(trials), "traces": len(traces), "failed": failed}


def _tried(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or the sentence of what went wrong: the rest is measured all the same."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever it is, minutes of measuring must not be lost to it
        return f"{type(error).__name__}: {error}"


def _apart(found: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Results, and the sentences of those that there are not."""
    failed = {name: value for name, value in found.items() if isinstance(value, str)}
    return {name: value for name, value in found.items() if name not in failed}, failed


# Micro-benchmarks.


def measure(benchmark: Benchmark, sms: int) -> list[float]:
    """What a turn of a micro-benchmark takes, several times: cycles, or ns where whole launches are timed."""
    if benchmark.name == "clock":
        with Prepared(benchmark, benchmark.turns, sms) as (launch, out):
            return [cycles / time for cycles, time in _looks(launch, out, None)]
    found = [_lengths(benchmark, turns, sms) for turns in ((1, 2) if benchmark.turns else (1,))]
    if len(found) == 1:
        return found[0]
    return [(long - short) / benchmark.turns for short, long in zip(*found, strict=True)]


def _lengths(benchmark: Benchmark, times: int, sms: int) -> list[float]:
    with Prepared(benchmark, benchmark.turns * times, sms) as (launch, out):
        if benchmark.how != CLOCK:
            return nanoseconds_each(launch, REPEATS)
        flush = _flush(sms) if benchmark.cold else None
        try:
            return [float(cycles) for cycles, _ in _looks(launch, out, flush)]
        finally:
            if flush is not None:
                flush.close()


class Prepared:
    """A micro-benchmark on the GPU, with its array of results."""

    def __init__(self, benchmark: Benchmark, turns: int, sms: int):
        grid = benchmark.grid or sms * benchmark.ctas
        if benchmark.how == WAVES:
            grid, turns = sms * turns, 0
        _look_that_it_ends(benchmark, grid, turns)
        self._out = Words(2)
        args = benchmark.arguments(turns, out=self._out)
        self._launch = benchmark.kernel.prepare(grid, benchmark.block, args, benchmark.cluster)

    def __enter__(self) -> tuple[Any, Words]:
        return self._launch, self._out

    def __exit__(self, *exception: Any) -> None:
        self._launch.close()


def _look_that_it_ends(benchmark: Benchmark, grid: int, turns: int) -> None:
    """Run a micro-benchmark once with bounded waits; RecordingError where it does not end well."""
    args = benchmark.arguments(turns, memory=min(benchmark.memory, SOME_MEMORY))
    run = benchmark.kernel.run(grid, benchmark.block, args, benchmark.cluster, on="gpu")
    if not run.ok:
        raise RecordingError(text("gpu.record-failed", case=benchmark.name, run=str(run)))


def _looks(launch: Any, out: Words, flush: Any) -> list[np.ndarray]:
    """What a kernel has left in `out`, launch by launch."""
    found = []
    for _ in range(WARM + REPEATS):
        if flush is not None:
            flush()
        launch()
        launch.wait()
        found.append(out.read())
    return found[WARM:]


def _flush(sms: int) -> Any:
    """A launch that fills the L2 cache with bytes that nobody wants."""
    ring = BENCHMARKS["load_ring_device"]
    args = ring.arguments(FLUSH_TURNS, memory=1 << 28)
    return ring.kernel.prepare(sms, ring.block, args)


# Trials.


def measure_trials(names: list[str]) -> dict[str, Any]:
    """What each trial takes: `ns` of each replay, and the `registers` of a thread; or why that is not known. Of those
    with looks at the clock what `measure_traces` says."""
    context = get_context("spawn")
    deadline = time.monotonic() + SECONDS
    with ProcessPoolExecutor(PROCESSES, context, initializer=_begin, initargs=(context.Lock(),)) as pool:
        futures = {name: pool.submit(_tried, _measure_trial, name) for name in names}
        found = {}
        for name, future in futures.items():
            try:
                found[name] = future.result(max(0.0, deadline - time.monotonic()))
            except (TooLate, BrokenExecutor):
                found[name] = text("timing.too-late", seconds=SECONDS)
                for process in list((pool._processes or {}).values()):
                    process.kill()
    return found


def _begin(turn: Any) -> None:
    global _turn
    _turn = turn


def _measure_trial(name: str) -> dict[str, Any]:
    from tmalab.gpu.compile import compile_kernel

    if name in TRACES:
        return measure_traces(name, _turn)
    found = TRIALS[name].launching()
    compiled = compile_kernel(found.kernel.function, found.args, found.block)
    compiled.bounded_cubin  # noqa: B018  assembled while others use the GPU
    registers = compiled.fast.usage.registers
    with _turn:
        run = found.kernel.run(found.grid, found.block, found.args, found.cluster, on="gpu")
        if not run.ok:
            raise RecordingError(text("gpu.record-failed", case=name, run=str(run)))
        with found.kernel.prepare(found.grid, found.block, found.args, found.cluster) as launch:
            return {"ns": nanoseconds_each(launch), "registers": registers}


def _attribute(name: str) -> int:
    from cuda.bindings import driver

    attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
    return int(call("cuDeviceGetAttribute", attribute, call("cuCtxGetDevice")))
