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
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from tmalab import descriptor, descriptor_sources
from tmalab.data_types import DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.interleave import SLICES
from tmalab.swizzle import PATTERNS
from tmalab.tensor_map_arrays import array_fields, array_of
from tmalab.tensor_map_doubts import doubts
from tmalab.tensor_map_fields import ENUMERATIONS, MEMBERS, AnyFields, Fields, delivered_dim, fields_of
from tmalab.tensor_map_rules import RULES, Rule, TensorMapError, judge

if TYPE_CHECKING:
    from tmalab.figures import GroupingFigure, TileFigure
    from tmalab.im2col_map import Im2colMap

ALL_ONE: Any = None  # element strides that are not given; a map has them all


@dataclass(frozen=True, repr=False)
class TensorMap:
    """A tiled tensor map. It never changes; `with_address` and `bind` give another.

    Raises TensorMapError for values that the driver refuses, TypeError for what is no integer or sequence of integers.
    """

    _kind: ClassVar[Any] = Fields
    _rules: ClassVar[tuple[Rule, ...]] = RULES
    _name: ClassVar[str] = "TensorMap"  # how it is made

    data_type: DataType
    global_address: int  # bytes
    global_dim: Sequence[int]  # elements
    global_strides: Sequence[int]  # bytes, from dimension 1 on
    box_dim: Sequence[int]  # elements
    element_strides: Sequence[int] = ALL_ONE  # elements
    interleave: Interleave = Interleave.NONE
    swizzle: Swizzle = Swizzle.NONE
    l2_promotion: L2Promotion = L2Promotion.NONE
    oob_fill: OobFill = OobFill.NONE
    array: Any = field(default=None, compare=False, kw_only=True)  # the memory that a launch maps

    def __post_init__(self):
        values = self.__dict__
        fields = fields_of(self._kind, values)
        if violations := judge(fields, rules=self._rules):
            raise TensorMapError(violations)
        values.update(zip(fields._fields, fields))
        for name, members in MEMBERS.items():
            values[name] = members[values[name]]

    @staticmethod
    def im2col(
        data_type: DataType,
        global_address: int,
        global_dim: Sequence[int],
        global_strides: Sequence[int],
        pixel_box_lower_corner: Sequence[int],
        pixel_box_upper_corner: Sequence[int],
        channels_per_pixel: int,
        pixels_per_column: int,
        element_strides: Sequence[int] | None = None,
        interleave: Interleave = Interleave.NONE,
        swizzle: Swizzle = Swizzle.NONE,
        l2_promotion: L2Promotion = L2Promotion.NONE,
        oob_fill: OobFill = OobFill.NONE,
    ) -> Im2colMap:
        """The map of a convolution's input, with the arguments of cuTensorMapEncodeIm2col; see tmalab.im2col_map."""
        arguments = dict(locals())
        from tmalab.im2col_map import Im2colMap

        return Im2colMap(**arguments)

    @classmethod
    def from_array(
        cls,
        array: Any,
        box_shape: Sequence[int],
        swizzle: Swizzle = Swizzle.NONE,
        data_type: DataType | None = None,
        element_strides: Sequence[int] | None = None,
        interleave: Interleave = Interleave.NONE,
        l2_promotion: L2Promotion = L2Promotion.NONE,
        oob_fill: OobFill = OobFill.NONE,
    ) -> TensorMap:
        """The map of an array, everything in NumPy's order (outermost dimension first); binds the array.

        `array` is NumPy's, or another library's: a PyTorch tensor, or what has DLPack or `__cuda_array_interface__`. An
        array in a GPU's memory keeps its address. Any other counts as lying in a buffer at NOMINAL_ADDRESS until a
        launch gives it its place in global memory; what is bound is then the same memory as a NumPy array.

        `data_type` None: that of the array's values. Raises TensorMapError in the array's own terms, TypeError for what
        is no array.
        """
        view = array_of(array, "from_array")
        fields: Any = array_fields(
            view, box_shape, swizzle, data_type, element_strides, interleave, l2_promotion, oob_fill
        )
        return TensorMap(*fields, array=array if view.on_device else view.host)

    def with_address(self, global_address: int) -> TensorMap:
        """The same map of memory elsewhere; the bound array stays."""
        return replace(self, global_address=global_address)

    def bind(self, array: Any) -> TensorMap:
        """The same map with `array` as the memory that a launch maps. An array in a GPU's memory gives its address too.

        TypeError for what is no array.
        """
        view = array_of(array, "bind")
        if view.on_device:
            return replace(self, array=array, global_address=view.address)
        return replace(self, array=view.host)

    @property
    def on_device(self) -> bool:
        """Whether the bound array lies in a GPU's memory: then a launch uses it where it is, and only there."""
        return self.array is not None and not isinstance(self.array, np.ndarray)

    def show(self, coordinates: Sequence[int] | None = None, shared_address: int = 0) -> TileFigure | GroupingFigure:
        """The figure of the tile at `coordinates` (elements; the origin where they are left out).

        See tmalab.figures: TileFigure of ranks 1 and 2, GroupingFigure of rank 3; of ranks 4 and 5 one slice of rank 3,
        which it says. ValueError for interleaved and im2col maps.
        """
        from tmalab.figures import GroupingFigure, TileFigure
        from tmalab.figures.part_of_map import part_of

        drawn, at, note = part_of(self, (0,) * self.rank if coordinates is None else coordinates)
        figure = GroupingFigure if drawn.rank == GroupingFigure.RANK else TileFigure
        return figure(drawn, at, shared_address, note)

    def encode(self) -> bytes:
        """The 128 bytes that the driver writes for this map; see tmalab.descriptor."""
        return descriptor.encode(cast(AnyFields, self))  # which has them all

    @staticmethod
    def decode(data: object) -> TensorMap:
        """The map in 128 bytes, tiled or im2col, that the driver has encoded.

        `data`: bytes, a buffer, an array of any library, a CUtensorMap, or text with hexadecimal digits. ValueError
        where they are no such map, TypeError for what holds no bytes.
        """
        fields = descriptor.decode(descriptor_sources.bytes_of(data))
        arguments: Any = fields  # integers, as is accepted for enumerations
        return TensorMap(*arguments) if isinstance(fields, Fields) else TensorMap.im2col(*arguments)

    @property
    def arguments(self) -> dict[str, Any]:
        """What the map is made of: the constructor's arguments by name, without the array."""
        return {name: self.__dict__[name] for name in self._kind._fields}

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.global_dim)

    @property
    def element_size(self) -> int:
        """Bytes of one element."""
        return self.data_type.size

    @cached_property
    def innermost_bytes(self) -> int:
        """Bytes of what dimension 0 counts: an element, or with an interleave a slice of 16 or 32 bytes."""
        return SLICES.get(self.interleave, self.element_size)

    @cached_property
    def delivered_dim(self) -> tuple[int, ...]:
        """Elements that one copy delivers along each dimension: the box, thinned by the element strides.

        With an interleave slices along dimension 0, and one along the second outermost; see tmalab.interleave.
        """
        return delivered_dim(cast(Fields, self))

    @cached_property
    def row_bytes(self) -> int:
        """Bytes of one delivered innermost row."""
        return self.delivered_dim[0] * self.innermost_bytes

    @cached_property
    def pitch(self) -> int:
        """Bytes from one innermost row to the next in shared memory: the swizzle's span, however narrow the box.

        Rows of slices (with an interleave) follow each other without a gap.
        """
        return self.row_bytes if self.interleave else PATTERNS[self.swizzle].span or self.row_bytes

    @cached_property
    def transaction_bytes(self) -> int:
        """Bytes that a load credits to its barrier: all delivered ones, those out of bounds included."""
        return prod(self.delivered_dim) * self.innermost_bytes

    @cached_property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that a tile takes, the gaps between narrow rows included.

        Whole spans of the swizzle, in which the last rows of slices (with an interleave) may lie anywhere.
        """
        rows, span = prod(self.delivered_dim[1:]) * self.pitch, PATTERNS[self.swizzle].span
        return rows + -rows % span if span else rows

    @cached_property
    def warnings(self) -> list[str]:
        """What is legal but doubtful, a sentence each."""
        return doubts(self)

    def __repr__(self) -> str:
        values = self.arguments
        kind, address = values.pop("data_type"), values.pop("global_address")
        parts = [kind.name, f"global_address={address:#x}"]
        for name, value in values.items():
            if name in ENUMERATIONS:
                parts += [f"{name}={value.name}"] if value else []
            elif name != "element_strides" or set(value) != {1}:
                parts.append(f"{name}={value}")
        return f"{self._name}({', '.join(parts)})"
