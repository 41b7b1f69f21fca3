"""Perform a case on a backend: the recorder does so on the GPU, the tests in the simulator."""

from __future__ import annotations

import numpy as np

from tmalab.recorded.case import Case
from tmalab.recorded.kernels import LOADS, STORES
from tmalab.run import Run

THREADS = 32


def perform(case: Case, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    """Run a case: the Run, and its result (uint8), shared memory after a load or global memory after a store."""
    memory, shared = case.memory(), case.shared().view(np.int64)
    tm = case.tensor_map.bind(memory)
    coordinates = np.array(case.coordinates, np.int64)
    if case.operation == "load":
        after = np.zeros_like(shared)
        args = (tm, shared, after, case.shared_address, tm.transaction_bytes, coordinates)
        return LOADS[tm.rank].run(block=THREADS, args=args, on=on, seed=seed), after.view(np.uint8)
    args = (tm, shared, case.shared_address, coordinates)
    return STORES[tm.rank].run(block=THREADS, args=args, on=on, seed=seed), memory
