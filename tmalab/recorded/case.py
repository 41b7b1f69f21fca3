"""A case: one tensor copy, described so that hardware, simulator and reference can each be asked what it does.

>>> from tmalab import DataType, TensorMap
>>> tm = TensorMap(DataType.UINT8, 0x10000000, (32, 4), (32,), (16, 2))
>>> case = Case("a load", "load", tm, (16, 3), shared_address=128, pattern="counting", seed=0)
>>> case.memory().nbytes, case.image_bytes
(128, 416)
>>> from tmalab.recorded.plain import from_plain, to_plain
>>> from_plain(to_plain(case)) == case
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tmalab.im2col_map import Im2colMap
from tmalab.recorded.extent import tensor_bytes
from tmalab.recorded.inputs import memory
from tmalab.tensor_map import TensorMap

POISON = 0xA5  # what shared memory holds before a load
MARGIN = 256  # bytes after the tile that are looked at as well
BUFFER_BYTES = 12_288  # of shared memory that the kernels have


@dataclass(frozen=True)
class Case:
    """One load, store or reduction. Coordinates in elements, innermost first; addresses and sizes in bytes.

    For a load, memory holds `pattern` and shared memory POISON. For a store or reduction, memory holds `pattern` and
    shared memory the same pattern of the next seed. `shared_address` counts from the start of a buffer that is
    1024-byte aligned and BUFFER_BYTES long.

    operation     "load", "store" or a reduction's name
    form          what goes with it and changes nothing: "cache hint", or for a load "prefetch", "prefetch of the map"
    offsets       of an im2col load, in pixels
    cta_mask      of a multicast, else 0: the load of CTA `issuer` of a cluster of `ctas`
    """

    name: str
    operation: str
    tensor_map: TensorMap
    coordinates: tuple[int, ...]
    shared_address: int
    pattern: str
    seed: int
    form: str = ""
    offsets: tuple[int, ...] = ()
    ctas: int = 1
    issuer: int = 0
    cta_mask: int = 0

    @property
    def box(self) -> tuple[int, bool]:
        """Rank and whether it is an im2col copy: what the instruction's name says."""
        return self.tensor_map.rank, isinstance(self.tensor_map, Im2colMap)

    @property
    def mode(self) -> str:
        """What the docs count it as: "tiled load", "im2col store", "interleaved add" and so on."""
        if self.cta_mask:
            return "multicast load"
        kind = "im2col" if self.box[1] else "interleaved" if self.tensor_map.interleave else "tiled"
        return f"{kind} {self.operation if self.operation in ('load', 'store') else 'reduction'}"

    def memory(self) -> np.ndarray:
        """The bytes of global memory before the copy: uint8, from the map's address to the end of its tensor."""
        return memory(self.pattern, self.seed, tensor_bytes(self.tensor_map))

    def shared(self) -> np.ndarray:
        """The bytes of shared memory before the copy: uint8, from the start of the buffer."""
        if self.operation == "load":
            return np.full(self.image_bytes, POISON, np.uint8)
        return memory(self.pattern, self.seed + 1, self.image_bytes)

    def before(self) -> np.ndarray:
        """What the result would be if the copy did nothing: uint8."""
        return np.tile(self.shared(), self.ctas) if self.operation == "load" else self.memory()

    @property
    def image_bytes(self) -> int:
        """How much of shared memory the case looks at, a multiple of 8."""
        stop = self.shared_address + self.tensor_map.shared_bytes + MARGIN
        return min(stop + -stop % 8, BUFFER_BYTES)

    def same_copy(self, operation: str, tm: TensorMap, coordinates: tuple[int, ...]) -> bool:
        """Whether this case is such a copy; where the tensor lies makes no difference."""
        here = tm.with_address(self.tensor_map.global_address)
        plain = (self.operation, self.coordinates, self.tensor_map, self.offsets, self.cta_mask)
        return plain == (operation, tuple(coordinates), here, (), 0)
