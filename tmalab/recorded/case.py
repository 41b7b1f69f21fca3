"""A case: one copy, described so that hardware, simulator and reference can each be asked what it does.

>>> from tmalab import DataType, TensorMap
>>> tm = TensorMap(DataType.UINT8, 0x10000000, (32, 4), (32,), (16, 2))
>>> case = Case("a load", "load", tm, (16, 3), shared_address=128, pattern="counting", seed=0)
>>> case.memory().nbytes, case.image_bytes
(128, 416)
>>> Case.from_json(case.to_json()) == case
True
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmalab.recorded.inputs import memory
from tmalab.tensor_map import TensorMap

POISON = 0xA5  # what shared memory holds before a load
MARGIN = 256  # bytes after the tile that are looked at as well
BUFFER_BYTES = 12_288  # of shared memory that the kernels have
_MAP_FIELDS = tuple(field.name for field in dataclasses.fields(TensorMap) if field.name != "array")


@dataclass(frozen=True)
class Case:
    """One load or store, or the encoding of a map alone.

    Coordinates in elements, innermost first; addresses and sizes in bytes.

    For a load, memory holds `pattern` and shared memory POISON. For a store, memory holds `pattern` and shared memory
    the same pattern of the next seed. `shared_address` counts from the start of a buffer that is 1024-byte aligned.
    """

    name: str
    operation: str  # "load", "store" or "encode"
    tensor_map: TensorMap
    coordinates: tuple[int, ...]
    shared_address: int
    pattern: str
    seed: int

    def memory(self) -> np.ndarray:
        """The bytes of global memory before the copy: uint8, from the map's address to the end of its tensor."""
        tm = self.tensor_map
        outer = zip(tm.global_dim[1:], tm.global_strides, strict=True)
        size = tm.global_dim[0] * tm.element_size + sum((dim - 1) * stride for dim, stride in outer)
        return memory(self.pattern, self.seed, size + -size % 16)  # the room into which a store's clip may write

    def shared(self) -> np.ndarray:
        """The bytes of shared memory before the copy: uint8, from the start of the buffer."""
        if self.operation == "load":
            return np.full(self.image_bytes, POISON, np.uint8)
        return memory(self.pattern, self.seed + 1, self.image_bytes)

    @property
    def image_bytes(self) -> int:
        """How much of shared memory the case looks at, a multiple of 8."""
        stop = self.shared_address + self.tensor_map.shared_bytes + MARGIN
        return min(stop + -stop % 8, BUFFER_BYTES)

    def to_json(self) -> dict[str, Any]:
        """The case as plain values."""
        plain = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        tm = {name: getattr(self.tensor_map, name) for name in _MAP_FIELDS}
        return plain | {"tensor_map": {name: _plain(value) for name, value in tm.items()}}

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Case:
        """The inverse."""
        coordinates = tuple(plain["coordinates"])
        return cls(**plain | {"tensor_map": TensorMap(**plain["tensor_map"]), "coordinates": coordinates})

    def same_copy(self, operation: str, tm: TensorMap, coordinates: tuple[int, ...]) -> bool:
        """Whether this case is such a copy; where the tensor lies makes no difference."""
        here = tm.with_address(self.tensor_map.global_address)
        return (self.operation, self.coordinates, self.tensor_map) == (operation, tuple(coordinates), here)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else int(value)
