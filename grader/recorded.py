"""What an H200 left in shared memory for an exercise's copy: the evidence where no Hopper GPU is at hand.

Recordings hold other numbers in the tensor than a notebook does, so an answer is tried on the recording's own tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.texts import text
from tmalab import TensorMap, recorded


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


def recorded_load(tensor_map: TensorMap, coordinates: Sequence[int]) -> RecordedLoad:
    """The recorded load of this box at these coordinates; KeyError where nobody has recorded it."""
    for name in recorded.names():
        recording = recorded.read(name)
        index = recording.find("load", tensor_map, tuple(coordinates))
        if index is not None:
            case, result = recording.cases[index], recording.results[index]
            assert isinstance(result, np.ndarray)
            image = result[case.shared_address : case.shared_address + tensor_map.shared_bytes]
            return RecordedLoad(case.memory(), image, recording.provenance["gpu"], recording.provenance["date"])
    raise KeyError(f"no recording holds the load of {tensor_map} at {tuple(coordinates)}")


def hopper_here() -> bool:
    """Whether kernels can be launched on a Hopper GPU of this computer."""
    from tmalab.gpu.device import why_no_gpu

    return why_no_gpu() is None
