"""Perform a case on a backend: the recorder does so on the GPU, the tests in the simulator.

>>> from tmalab import DataType, TensorMap
>>> from tmalab.recorded.case import Case
>>> tm = TensorMap(DataType.UINT8, 0x10000000, (32, 4), (32,), (16, 2))
>>> run, image = perform(Case("a load", "load", tm, (16, 3), 128, "counting", 0), on="simulator")
>>> run.fault is None, image[128:132].tolist()
(True, [56, 0, 57, 0])
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from tmalab.recorded import bulk_kernels, map_kernels
from tmalab.recorded.barrier_case import COLUMNS, BarrierCase, defined
from tmalab.recorded.barrier_case import THREADS as TAKING_TURNS
from tmalab.recorded.bulk_case import BulkCase
from tmalab.recorded.case import Case
from tmalab.recorded.issued_case import CTA_THREADS, IssuedCase
from tmalab.recorded.issued_kernels import load_by_several, store_by_several
from tmalab.recorded.kernels import LOAD_FORMS, LOADS, MULTICASTS, STORE_FORMS, STORES
from tmalab.recorded.map_case import EditCase
from tmalab.recorded.mbarrier_kernel import mbarrier_sequence
from tmalab.run import Run

THREADS = 32


@singledispatch
def perform(case: Any, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    """Run a case: the Run, and its result (uint8).

    The result is shared memory after a load (of all CTAs, in their order), global memory after a store or reduction,
    what was noted of an mbarrier, the 128 bytes of a map.
    """
    raise TypeError(f"{type(case).__name__} is no case that a kernel performs")


@perform.register
def _(case: Case, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    memory, shared = case.memory(), case.shared().view(np.int64)
    tm = case.tensor_map.bind(memory)
    coordinates = np.array(case.coordinates, np.int64)
    how = " ".join(filter(None, (case.operation, case.form)))
    args: tuple[Any, ...]
    if case.operation != "load":
        args = (tm, shared, case.shared_address, coordinates, STORE_FORMS.index(how))
        return STORES[case.box].run(block=THREADS, args=args, on=on, seed=seed), memory
    offsets = np.array(case.offsets or (0,), np.int64)
    where = (case.shared_address, tm.transaction_bytes, coordinates, offsets)
    if case.cta_mask:
        after = np.zeros((case.ctas, shared.size), np.int64)
        args = (tm, shared, after, *where, case.cta_mask, case.issuer)
        run = MULTICASTS[case.box].run(grid=case.ctas, cluster=case.ctas, block=THREADS, args=args, on=on, seed=seed)
    else:
        after = np.zeros_like(shared)
        args = (tm, shared, after, *where, LOAD_FORMS.index(case.form))
        run = LOADS[case.box].run(block=THREADS, args=args, on=on, seed=seed)
    return run, after.view(np.uint8).reshape(-1)


@perform.register
def _(case: IssuedCase, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    memory, shared = case.memory(), case.shared().view(np.int64)
    tm, after = case.tensor_map.bind(memory), np.zeros_like(shared)
    who, where, size = (
        np.array(case.threads, np.int64),
        np.array(case.coordinates, np.int64),
        case.tensor_map.shared_bytes,
    )
    how: dict[str, Any] = {"block": CTA_THREADS, "on": on, "seed": seed}
    if case.operation == "store":
        return store_by_several.run(args=(tm, shared, who, where, size), **how), memory
    run = load_by_several.run(args=(tm, shared, after, who, where, size, case.each), **how)
    return run, after.view(np.uint8).reshape(-1)


@perform.register
def _(case: BulkCase, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    memory, before = case.memory(), case.shared().view(np.int64)
    after = np.zeros_like(before)
    how = " ".join(filter(None, (case.operation, case.form)))
    launch: dict[str, Any] = {"grid": case.ctas, "cluster": case.ctas, "block": THREADS, "on": on, "seed": seed}
    copy = (case.global_offset, case.shared_address, case.bytes)
    args: tuple[Any, ...]
    if case.peer >= 0:
        args = (before, after, *copy, case.issuer, case.peer, list(bulk_kernels.TO_PEERS).index(how))
        return bulk_kernels.bulk_send.run(args=args, **launch), after.view(np.uint8).reshape(-1)
    if case.operation == "load":
        number = list(bulk_kernels.LOADS).index("load multicast" if case.cta_mask else how)
        args = (memory, before, after, *copy, case.cta_mask or 1 << case.issuer, case.issuer, number)
        return bulk_kernels.bulk_load.run(args=args, **launch), after.view(np.uint8).reshape(-1)
    args = (memory, before, *copy, list(bulk_kernels.TO_MEMORY).index(how))
    return bulk_kernels.bulk_store.run(args=args, **launch), memory


@perform.register
def _(case: BarrierCase, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    seen = np.zeros((len(case.steps), len(COLUMNS)), np.int64)
    args = (np.array(case.steps, np.int64), seen, int(on == "gpu"))
    run = mbarrier_sequence.run(block=TAKING_TURNS, args=args, on=on, seed=seed)
    return run, defined(seen).reshape(-1).view(np.uint8)


@perform.register
def _(case: EditCase, on: str, seed: int = 0) -> tuple[Run, np.ndarray]:
    row = case.before().reshape(1, -1).copy()
    edits = np.array([(map_kernels.choice(*edit), edit[2]) for edit in case.edits], np.int64)
    kernel = map_kernels.edit_shared if case.space == "shared" else map_kernels.edit
    return kernel.run(block=THREADS, args=(row, edits), on=on, seed=seed), row.reshape(-1)
