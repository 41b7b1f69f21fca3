"""What an H200 left in shared memory for an exercise's copy: the evidence where no Hopper GPU is at hand.

Recordings hold other numbers in the tensor than a notebook does, so an answer is tried on the recording's own tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from grader.exercise import Finding, evidence
from grader.texts import text
from tmalab import TensorMap, recorded
from tmalab.recorded.case import Case
from tmalab.swizzle import PATTERNS


@dataclass(frozen=True)
class RecordedLoad:
    """One load as the hardware did it."""

    tensor: np.ndarray  # what lay in global memory, uint8, from the map's address on
    image: np.ndarray  # what then lay in shared memory, uint8, from the tile's address on
    gpu: str
    date: str

    def same(self, image: np.ndarray) -> bool:
        """Whether an answer's bytes are the recorded ones."""
        return image.tobytes() == self.image.tobytes()

    def says(self, image: np.ndarray) -> str:
        """The sentence of a check about an answer's bytes for this copy."""
        equal = int(np.count_nonzero(np.frombuffer(image.tobytes(), np.uint8) == self.image))
        return text("recorded.compared", same=equal, count=self.image.nbytes, gpu=self.gpu, date=self.date)


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
                return RecordedLoad(case.memory(), image, recording.provenance["gpu"], recording.provenance["date"])
    raise KeyError(f"no recording holds the load of {tensor_map} at {tuple(coordinates)}")


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
