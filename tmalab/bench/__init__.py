"""Benches: how fast the library is, measured on the spot. `tmalab bench NAME`.

A bench is a module of this package with a function `measure`, which returns its figures by name; adding one is adding
a row below and the sentence `bench.NAME`, which says the figures. Those that run on a Hopper GPU return the plain data
that `results` describes.

>>> sorted(BENCHES)[:1]
['reference']
"""

from __future__ import annotations

from importlib import import_module
from time import perf_counter_ns
from typing import TYPE_CHECKING

from tmalab.progress_bar import watched

if TYPE_CHECKING:
    from collections.abc import Callable

BENCHES = {
    "reference": "tmalab.bench.reference",
    "simulator": "tmalab.bench.simulator",
    "timing": "tmalab.bench.timing",
}
ON_GPU = {  # name: module, its function, and that of `shapes` which reads its cases
    "copy": ("tmalab.bench.device_copy", "measure_copy", "copies"),
    "gemm": ("tmalab.bench.products", "measure_gemm", "products"),
    "ladder": ("tmalab.bench.products", "measure_ladder", "products"),
    "tiles": ("tmalab.bench.products", "measure_tiles", "products"),
}


def measure(name: str) -> dict[str, float]:
    """The figures of a bench."""
    return import_module(BENCHES[name]).measure()


def fastest(functions: list[Callable[[], object]], rounds: int) -> list[float]:
    """Seconds that each function takes at best. They take turns, so that a busy machine slows all of them alike."""
    best = [float("inf")] * len(functions)
    for _ in watched(range(rounds)):
        for i, function in enumerate(functions):
            start = perf_counter_ns()
            function()
            best[i] = min(best[i], perf_counter_ns() - start)
    return [nanoseconds / 1e9 for nanoseconds in best]
