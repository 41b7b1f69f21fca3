"""Cases of the 128 bytes of a tensor map: as the driver encodes them, and as a kernel edits them.

>>> from tmalab import DataType, TensorMap
>>> tm = TensorMap(DataType.UINT8, 0x1000, (32, 4), (32,), (16, 2))
>>> MapCase("a map", tm).mode, EditCase("one field", tm, (("box_dim", 1, 4),)).mode
('map', 'map edit')
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tmalab.descriptor import SIZE
from tmalab.tensor_map import TensorMap


@dataclass(frozen=True)
class MapCase:
    """A map that the driver encodes; `moved`: cuTensorMapReplaceAddress then gives it this address (bytes)."""

    name: str
    tensor_map: TensorMap
    moved: int | None = None

    mode: ClassVar[str] = "map"
    operation: ClassVar[str] = "encode"

    def before(self) -> np.ndarray:
        """No bytes are there before: zeros."""
        return np.zeros(SIZE, np.uint8)


@dataclass(frozen=True)
class EditCase:
    """A map that a kernel edits by tensormap.replace: (field, dimension or -1, value), one after another."""

    name: str
    tensor_map: TensorMap
    edits: tuple[tuple[str, int, int], ...]
    space: str = "global"  # or "shared": the edits are made there, and the map is then copied to global memory

    mode: ClassVar[str] = "map edit"
    operation: ClassVar[str] = "edit"

    def before(self) -> np.ndarray:
        """The map before the edits: uint8, 128 bytes."""
        return np.frombuffer(self.tensor_map.encode(), np.uint8)
