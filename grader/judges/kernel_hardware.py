"""What hardware did with a kernel that is clean: on a Hopper GPU here, or as it was recorded. It gives no points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from grader import recorded_variants
from grader.alone import Argument, Outcome
from grader.exercise import Finding, evidence
from grader.recorded import Seen, not_recorded, recorded_load, recorded_stores
from grader.runner import current
from grader.source import KernelSource
from grader.texts import text
from tmalab import TensorMap
from tmalab.maps_in_memory import MapRows, map_rows

if TYPE_CHECKING:
    from grader.judges.kernels import Case, KernelTask


def on_hardware(
    source: KernelSource, cases: Sequence[Case], outcomes: Sequence[Outcome], task: KernelTask, clean: bool
) -> list[Finding]:
    """A clean kernel on a Hopper GPU where there is one; else its bytes against what an H200 left, from recordings."""
    if not clean:
        return []
    if current().live:
        return [_live(source, cases[0], task)]
    return [_against_recording(source, cases[0], task)] if task.recorded else _against_variants(cases, outcomes)


def _against_variants(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> list[Finding]:
    """What the kernel left for each input of the check, and what an H200 did; nothing where that is not recorded."""
    left = [recorded_variants.left(case.arguments) for case in cases]
    if not all(left):
        return []
    results = [recorded_variants.digest([outcome.arrays[-1]]) for outcome in outcomes]
    same = sum(result in known for known, result in zip(left, results, strict=True))
    where = recorded_variants.read()["provenance"]
    message = text("recorded.variants", same=same, count=len(cases), gpu=where["gpu"], date=where["date"])
    return [evidence("hardware", message + "; " + text("recorded.no-gpu"), same == len(cases))]


def _live(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    try:
        outcome = current().run(source, case.arguments, task.shape, on="gpu")
    except RuntimeError as error:  # the GPU is lost or busy: no fault of the kernel
        return evidence("hardware", str(error))
    if outcome.stopped:
        return evidence("hardware", text("kernel.live-stopped", reason=outcome.stopped[1]), False)
    same = outcome.arrays[-1].tobytes() == case.expected.tobytes()
    message = text("kernel.live-same" if same else "kernel.live-different", count=case.expected.nbytes)
    return evidence("hardware", message, same)


def _against_recording(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    compare = _stores_against_recording if case.stores else _loads_against_recording
    try:
        return compare(source, case, task)
    except KeyError:
        return not_recorded()


def _loads_against_recording(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    maps, *others = case.arguments
    tensor_map = maps.maps[case.row] if isinstance(maps, MapRows) else maps
    assert isinstance(tensor_map, TensorMap)
    loads = [recorded_load(tensor_map, at, case.shared_address) for at in (case.coordinates, *case.also)]
    expected = case.out_of(np.concatenate([load.image for load in loads]))
    recorded = replace(loads[0], image=np.frombuffer(expected.tobytes(), np.uint8))
    found = tensor_map.bind(recorded.tensor)
    if isinstance(maps, MapRows):
        rows = map_rows([*maps.maps[: case.row], found, *maps.maps[case.row + 1 :]])
        return _compared(source, [rows, *others], recorded, task)
    return _compared(source, [found, *others], recorded, task)


def _stores_against_recording(source: KernelSource, case: Case, task: KernelTask) -> Finding:
    """The stores of the recording's tiles, by the learner's kernel."""
    tensor_map = case.arguments[-1]
    assert isinstance(tensor_map, TensorMap)
    assert case.source_of is not None
    recorded = recorded_stores(case.stores, tensor_map, (case.coordinates, *case.also))
    tensor = recorded.tensor.view(case.expected.dtype).reshape(case.expected.shape)
    return _compared(source, [*case.source_of(recorded.tiles), tensor_map.bind(tensor)], recorded, task)


def _compared(source: KernelSource, arguments: Sequence[Argument], recorded: Seen, task: KernelTask) -> Finding:
    outcome = current().run(source, arguments, task.shape)
    message = recorded.says(outcome.arrays[-1]) + "; " + text("recorded.no-gpu")
    return evidence("hardware", message, recorded.same(outcome.arrays[-1]))
