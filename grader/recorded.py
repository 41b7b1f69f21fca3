"""What an H200 left in shared memory for an exercise's copy: the evidence where no Hopper GPU is at hand.

Recordings hold other numbers in the tensor than a notebook does, so an answer is tried on the recording's own tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.exercise import Finding, evidence
from grader.texts import text
from tmalab import TensorMap, recorded
from tmalab.recorded.case import Case
from tmalab.swizzle import PATTERNS


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What the hardware left in memory."""

    image: np.ndarray  # uint8: of a load shared memory from the tile's address on, of stores the map's memory
    gpu: str
    date: str

    def same(self, image: np.ndarray) -> bool:
        """Whether an answer's bytes are the recorded ones."""
        return image.tobytes() == self.image.tobytes()

    def says(self, image: np.ndarray) -> str:
        """The sentence of a check about an answer's bytes for this copy."""
        equal = int(np.count_nonzero(np.frombuffer(image.tobytes(), np.uint8) == self.image))
        return text("recorded.compared", same=equal, count=self.image.nbytes, gpu=self.gpu, date=self.date)


@dataclass(frozen=True, kw_only=True)
class RecordedLoad(Seen):
    """One load as the hardware did it."""

    tensor: np.ndarray  # what lay in global memory, uint8, from the map's address on


@dataclass(frozen=True, kw_only=True)
class RecordedStores(Seen):
    """Some stores or reductions as the hardware did them, one after the other."""

    tensor: np.ndarray  # what lay in global memory before, uint8, from the map's address on
    tiles: list[np.ndarray]  # of each store: what lay in its tile, uint8


def recorded_load(tensor_map: TensorMap, coordinates: tuple[int, ...], shared_address: int = 0) -> RecordedLoad:
    """The recorded load of this box at these coordinates; KeyError where nobody has recorded it.

    A tile may lie elsewhere in shared memory than was recorded, but at the same place of its swizzle's pattern.
    """
    period = PATTERNS[tensor_map.swizzle].period
    for name in recorded.names():
        recording = recorded.read(name)
        for case, result in zip(recording.cases, recording.results, strict=True):
            if not isinstance(case, Case) or not isinstance(result, np.ndarray) or case.coordinates != coordinates:
                continue
            same_phase = (case.shared_address - shared_address) % period == 0
            if same_phase and case.same_copy("load", tensor_map, coordinates):
                image = result[case.shared_address : case.shared_address + tensor_map.shared_bytes]
                return RecordedLoad(tensor=case.memory(), image=image, **_where(recording))
    raise KeyError(f"no recording holds the load of {tensor_map} at {tuple(coordinates)}")


def recorded_stores(operation: str, tensor_map: TensorMap, places: Sequence[tuple[int, ...]]) -> RecordedStores:
    """Stores, or reductions by "add", of integers at these coordinates; KeyError where one of them is not recorded.

    Each was recorded alone, all of one memory. Their results are put together: of stores what each has changed, of
    sums what each has added. Places that occur several times are the recordings in their order.
    """
    left = [recorded_copy for recorded_copy in _lesson_stores() if recorded_copy[0].operation == operation]
    found = []
    for place in places:
        i = next((i for i, (case, *_) in enumerate(left) if case.same_copy(operation, tensor_map, place)), None)
        if i is None:
            raise KeyError(f"no recording holds the {operation} through {tensor_map} at {place}")
        found.append(left.pop(i))
    memory, where = found[-1][0].memory(), found[-1][2]
    tiles = [case.shared()[case.shared_address :][: tensor_map.shared_bytes] for case, *_ in found]
    after = memory.copy()
    for _, result, _ in found:
        if operation == "add":
            integers = f"u{tensor_map.element_size}"
            after.view(integers)[...] += result.view(integers) - memory.view(integers)
        else:
            after = np.where(result != memory, result, after)
    return RecordedStores(image=after, tensor=memory, tiles=tiles, **where)


def _lesson_stores() -> list[tuple[Case, np.ndarray, dict[str, str]]]:
    """The recorded copies of lesson 5, in their order, each with its result and where it was recorded."""
    if "lesson-5" not in recorded.names():
        return []
    recording = recorded.read("lesson-5")
    copies: Any = zip(recording.cases, recording.results, strict=True)
    return [(*copy, _where(recording)) for copy in copies]


def _where(recording: recorded.Recording) -> dict[str, str]:
    return {field: recording.provenance[field] for field in ("gpu", "date")}


def compared(
    tensor_map: TensorMap, coordinates: tuple[int, ...], image_of: Callable[[RecordedLoad], np.ndarray]
) -> Finding:
    """The evidence of an answer beside the recording of this load, or that there is none yet.

    `image_of` gives the bytes that the answer leaves in shared memory, for the recording's own tensor.
    """
    try:
        recorded = recorded_load(tensor_map, coordinates)
    except KeyError:
        return not_recorded()
    image = image_of(recorded)
    return evidence("hardware", recorded.says(image), recorded.same(image))


def not_recorded() -> Finding:
    """The evidence where nobody has recorded a copy: the reference decides, and the check says so."""
    return evidence("hardware", text("recorded.not-yet"))


def hopper_here() -> bool:
    """Whether kernels can be launched on a Hopper GPU of this computer."""
    from tmalab.gpu.device import why_no_gpu

    return why_no_gpu() is None
