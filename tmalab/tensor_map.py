"""TensorMap: the description of a tensor and of the box that one copy moves, from which TMA computes every address.

The host writes the map once; the kernel then names a tile by its coordinates alone. The arguments are the driver's, in
the driver's order, innermost dimension first. A map that cuTensorMapEncodeTiled would refuse raises TensorMapError with
every broken rule.

>>> from tmalab import DataType, Swizzle, TensorMap
>>> tm = TensorMap(DataType.FLOAT16, 0x1000, (128, 16), (256,), (64, 8), swizzle=Swizzle.B128)
>>> tm.rank, tm.row_bytes, tm.pitch, tm.transaction_bytes
(2, 128, 128, 1024)

The same from a NumPy array, in NumPy's order:

>>> import numpy as np
>>> TensorMap.from_array(np.zeros((16, 128), np.float16), (8, 64)).with_address(0x1000)
TensorMap(FLOAT16, global_address=0x1000, global_dim=(128, 16), global_strides=(256,), box_dim=(64, 8))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from tmalab import descriptor
from tmalab.data_types import DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map_arrays import array_fields
from tmalab.tensor_map_doubts import doubts
from tmalab.tensor_map_fields import ENUMERATIONS, Fields, delivered_dim, fields_of
from tmalab.tensor_map_rules import TensorMapError, judge

if TYPE_CHECKING:
    from tmalab.figures import TileFigure


@dataclass(frozen=True, repr=False)
class TensorMap:
    """A tiled tensor map. It never changes; `with_address` and `bind` give another.

    Raises TensorMapError for values that the driver refuses, TypeError for what is no integer or sequence of integers.
    """

    data_type: DataType
    global_address: int  # bytes
    global_dim: Sequence[int]  # elements
    global_strides: Sequence[int]  # bytes, from dimension 1 on
    box_dim: Sequence[int]  # elements
    element_strides: Sequence[int] | None = None  # elements; None: all 1
    interleave: Interleave = Interleave.NONE
    swizzle: Swizzle = Swizzle.NONE
    l2_promotion: L2Promotion = L2Promotion.NONE
    oob_fill: OobFill = OobFill.NONE
    array: np.ndarray | None = field(default=None, compare=False, kw_only=True)  # the memory that a launch maps

    def __post_init__(self):
        fields = fields_of(**{name: self.__dict__[name] for name in Fields._fields})
        if violations := judge(fields):
            raise TensorMapError(violations)
        self.__dict__.update(fields._asdict())
        self.__dict__.update((name, kind(self.__dict__[name])) for name, kind in ENUMERATIONS.items())

    @classmethod
    def from_array(
        cls,
        array: np.ndarray,
        box_shape: Sequence[int],
        swizzle: Swizzle = Swizzle.NONE,
        data_type: DataType | None = None,
        element_strides: Sequence[int] | None = None,
        interleave: Interleave = Interleave.NONE,
        l2_promotion: L2Promotion = L2Promotion.NONE,
        oob_fill: OobFill = OobFill.NONE,
    ) -> TensorMap:
        """The map of a NumPy array, everything in NumPy's order (outermost dimension first); binds the array.

        `data_type` None: that of the array's dtype. Until a launch gives the array its place in global memory it counts
        as lying in a buffer at NOMINAL_ADDRESS. Raises TensorMapError in the array's own terms.
        """
        fields = array_fields(array, box_shape, swizzle, data_type, element_strides, interleave, l2_promotion, oob_fill)
        return cls(*fields, array=array)

    def with_address(self, global_address: int) -> TensorMap:
        """The same map of memory elsewhere, as cuTensorMapReplaceAddress makes it; the bound array stays."""
        return replace(self, global_address=global_address)

    def bind(self, array: np.ndarray) -> TensorMap:
        """The same map with `array` as the memory that a launch maps."""
        return replace(self, array=array)

    def show(self, coordinates: Sequence[int] = (0, 0), shared_address: int = 0) -> TileFigure:
        """The figure of the tile at `coordinates`, for maps of rank 2; see tmalab.figures.TileFigure."""
        from tmalab.figures import TileFigure

        return TileFigure(self, coordinates, shared_address)

    def encode(self) -> bytes:
        """The 128 bytes that the driver writes for this map; see tmalab.descriptor."""
        return descriptor.encode(self)

    @classmethod
    def decode(cls, data: bytes) -> TensorMap:
        """The map in 128 bytes; ValueError where they are none."""
        return cls(*descriptor.decode(data))

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.global_dim)

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self.data_type.size

    @cached_property
    def delivered_dim(self) -> tuple[int, ...]:
        """Elements that one copy delivers along each dimension: the box, thinned by the element strides."""
        return delivered_dim(self)

    @cached_property
    def row_bytes(self) -> int:
        """Bytes of one delivered innermost row."""
        return self.delivered_dim[0] * self.element_size

    @cached_property
    def pitch(self) -> int:
        """Bytes from one innermost row to the next in shared memory: the swizzle's span, however narrow the box."""
        return PATTERNS[self.swizzle].span or self.row_bytes

    @cached_property
    def transaction_bytes(self) -> int:
        """Bytes that a load credits to its barrier: all delivered ones, those out of bounds included."""
        return prod(self.delivered_dim) * self.element_size

    @cached_property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that a tile takes, the gaps between narrow rows included."""
        return prod(self.delivered_dim[1:]) * self.pitch

    @cached_property
    def warnings(self) -> list[str]:
        """What is legal but doubtful, a sentence each."""
        return doubts(self)

    def __repr__(self) -> str:
        parts = [self.data_type.name, f"global_address={self.global_address:#x}"]
        parts += [f"{name}={getattr(self, name)}" for name in ("global_dim", "global_strides", "box_dim")]
        if set(self.element_strides) != {1}:
            parts.append(f"element_strides={self.element_strides}")
        options = {name: getattr(self, name) for name in ("interleave", "swizzle", "l2_promotion", "oob_fill")}
        parts += [f"{name}={value.name}" for name, value in options.items() if value]
        return f"TensorMap({', '.join(parts)})"
