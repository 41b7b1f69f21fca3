"""Copies within the GPU's memory: by TMA, by the A100's per-thread copies, and by PyTorch.

A copy of n bytes reads n and writes n: speeds count both. Every byte is compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmalab.bench import results
from tmalab.bench.contest import Buffers, Contender, hold, ours
from tmalab.bench.on_gpu import BenchError, Launch, buffers, provenance, torch
from tmalab.bench.shapes import COPIES
from tmalab.kernels import copy_cp_async, copy_tensor
from tmalab.kernels.copy_tensor import COLS
from tmalab.texts import text

REFERENCE = "PyTorch's copy_"


def measure_copy(sizes: Sequence[int] = COPIES, rounds: int = 15, settle: float = 0.0) -> dict[str, Any]:
    """Copies of so many bytes. GpuUnavailable without a Hopper GPU or PyTorch; BenchError for a wrong byte."""
    cases, clocks = [], []
    for size in sizes:
        found, seen = compare(size, contenders(), rounds, settle)
        cases.append(found)
        clocks += seen
    return results.result("copy", cases, rounds, provenance("copy"), clocks, settle)


def contenders() -> dict[str, Contender]:
    """Who copies."""
    return {"copy_tensor": ours(copy_tensor.launch_of), "copy_cp_async": ours(_per_thread), REFERENCE: _copy}


def compare(
    size: int, given: dict[str, Contender], rounds: int, settle: float = 0.0
) -> tuple[dict[str, Any], list[int]]:
    """One case of the bench, and the clocks."""
    sets = [_arrays(size) for _ in range(buffers(2 * size))]
    seconds, about, clocks = hold(given, sets, _check, rounds, settle)
    return results.case("copy", size, 2.0 * size, REFERENCE, seconds, about, buffers=len(sets)), clocks


def _per_thread(source: Any, target: Any) -> dict[str, Any]:
    return copy_cp_async.launch_of(source.view(-1, 2), target.view(-1, 2))


def _copy(source: Any, target: Any) -> Launch:
    return lambda _stream: target.copy_(source)


def _arrays(size: int) -> Buffers:
    found = torch()
    source = found.randint(1 << 62, (size // (8 * COLS), COLS), device="cuda", dtype=found.int64)
    return source, found.empty_like(source)


def _check(name: str, found: Buffers) -> dict[str, Any]:
    source, target = found
    if not torch().equal(source, target):
        raise BenchError(text("bench.wrong-copy", contender=name))
    return {"relative_error": 0.0}
