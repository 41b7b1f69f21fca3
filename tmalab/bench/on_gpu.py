"""Timing on the GPU: a CUDA graph of many launches, replayed, between two events.

A single launch costs the CPU microseconds that a small kernel does not take; a graph's launches follow each other as
fast as the GPU can start them. Buffers that the L2 cache would hold from one launch to the next are several, and take
turns. PyTorch captures the graphs, and brings cuBLAS.
"""

from __future__ import annotations

import importlib.metadata
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tmalab.gpu.device import hopper
from tmalab.gpu.errors import GpuUnavailable
from tmalab.gpu.ptxas import tool
from tmalab.gpu.recorder import describe
from tmalab.texts import text

L2_BYTES = 60 << 20  # of an H200, and 10 MiB more than an H100's
SECONDS = 4e-3  # that a replay lasts at least: events tick in half microseconds
FEWEST, MOST = 10, 1000  # launches of a graph
MOST_BUFFERS = 32
PACKAGES = ("torch", "triton", "nvidia-cublas", "nvidia-cuda-nvcc")

Launch = Callable[[Any], object]  # with the stream to launch on


class BenchError(RuntimeError):
    """A contender that gave a wrong result, hung or faulted."""


def torch() -> ModuleType:
    """PyTorch on a Hopper GPU; GpuUnavailable, in one sentence, where either is missing."""
    hopper().use()
    try:
        import torch as found
    except ImportError:
        raise GpuUnavailable(text("bench.no-torch")) from None
    if not found.cuda.is_available():
        raise GpuUnavailable(text("bench.no-torch"))
    return found


def provenance(bench: str) -> dict[str, Any]:
    """Where a bench was run, and with what."""
    found = describe(f"tmalab bench {bench}")
    packages = {name: _version(name) for name in PACKAGES}
    return found | {"packages": found["packages"] | packages, "assembler": "ptxas" if tool("ptxas") else "nvJitLink"}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def buffers(bytes_of_one: int) -> int:
    """How many sets of buffers take turns, so that each has left the L2 cache when its turn comes again.

    >>> buffers(6 << 20), buffers(400 << 20)
    (20, 1)
    """
    return min(MOST_BUFFERS, math.ceil(2 * L2_BYTES / bytes_of_one)) if bytes_of_one < 2 * L2_BYTES else 1


def launches(seconds: float, sets: int) -> int:
    """How many launches a graph holds, each set of buffers as often as another.

    >>> launches(2e-6, 20), launches(2e-3, 1)
    (1000, 10)
    """
    wanted = min(MOST, max(FEWEST, math.ceil(SECONDS / seconds)))
    return wanted + -wanted % sets


class Timer:
    """Launches on several sets of buffers as one CUDA graph. A call replays it: seconds of one launch."""

    def __init__(self, on_sets: list[Launch], count: int | None = None):
        self._torch, self._on_sets = torch(), on_sets
        self._replay(self._captured(len(on_sets)))  # what is done only once is done
        if count is None:
            seconds = self._replay(self._captured(len(on_sets))) / len(on_sets)
            count = launches(seconds, len(on_sets))
        self.launches = count
        self._graph = self._captured(count)

    def __call__(self) -> float:
        return self._replay(self._graph) / self.launches

    def _captured(self, count: int) -> Any:
        graph = self._torch.cuda.CUDAGraph()
        with self._torch.cuda.graph(graph):
            stream = self._torch.cuda.current_stream()
            for number in range(count):
                self._on_sets[number % len(self._on_sets)](stream)
        return graph

    def _replay(self, graph: Any) -> float:
        begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3


def clock() -> int | None:
    """The clock of the SMs in MHz, by NVML; None where NVML's package is not installed."""
    try:
        import pynvml
    except ImportError:
        return None
    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    return int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM))
