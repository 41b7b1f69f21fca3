"""A tensor map's arguments as plain integers, not yet judged.

>>> given = (6, 0, [64], [0], [64], None, 0, 3, 0, 0)
>>> fields = fields_of(Fields, dict(zip(Fields._fields, given)))
>>> fields.global_strides, fields.element_strides
((), (1,))
>>> delivered_dim(Fields(6, 0, (100, 64), (208,), (80, 8), (1, 2), 0, 3, 0, 0))     # every second row of eight
(80, 4)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from tmalab.data_types import ELEMENT_TYPES, DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.texts import text

MAX_RANK = 5
ADDRESS_STOP = 2**57  # bytes of global memory (measured, H200)
LONGEST = 64  # entries of a sequence that are still counted; beyond that it is no list of dimensions
SIZES = {number: element.size for number, element in ELEMENT_TYPES.items()}  # bytes


class Fields(NamedTuple):
    """The arguments of cuTensorMapEncodeTiled, innermost dimension first."""

    data_type: int
    global_address: int  # bytes
    global_dim: tuple[int, ...]  # elements
    global_strides: tuple[int, ...]  # bytes, one fewer than dimensions
    box_dim: tuple[int, ...]  # elements
    element_strides: tuple[int, ...]  # elements
    interleave: int
    swizzle: int
    l2_promotion: int
    oob_fill: int

    @property
    def element_size(self) -> int:
        """Bytes of one element; 0 where the data type is none, so that nothing is judged that follows from it."""
        return SIZES.get(self.data_type, 0)


class Im2colFields(NamedTuple):
    """The arguments of cuTensorMapEncodeIm2col, innermost dimension first: channels, spatial dimensions, batch."""

    data_type: int
    global_address: int  # bytes
    global_dim: tuple[int, ...]  # elements
    global_strides: tuple[int, ...]  # bytes, one fewer than dimensions
    pixel_box_lower_corner: tuple[int, ...]  # elements, one for each spatial dimension
    pixel_box_upper_corner: tuple[int, ...]  # elements
    channels_per_pixel: int  # elements
    pixels_per_column: int
    element_strides: tuple[int, ...]  # elements
    interleave: int
    swizzle: int
    l2_promotion: int
    oob_fill: int

    @property
    def element_size(self) -> int:
        """Bytes of one element; 0 where the data type is none."""
        return SIZES.get(self.data_type, 0)


AnyFields = Fields | Im2colFields
Kind = TypeVar("Kind", Fields, Im2colFields)


def delivered_dim(fields: Fields) -> tuple[int, ...]:
    """Elements that one copy delivers along each dimension.

    ceil(box / element stride); the innermost stride counts as 1 without interleave. With one, a single element is
    delivered along the second outermost dimension, whatever the box (measured, H200).
    """
    strides = fields.element_strides if fields.interleave else (1, *fields.element_strides[1:])
    delivered = tuple(-(-box // stride) for box, stride in zip(fields.box_dim, strides, strict=False))
    return (*delivered[:-2], 1, delivered[-1]) if fields.interleave else delivered


def counted_bytes(fields: Any) -> int:
    """The bytes of a box as the driver counts them, in the descriptor and against its limit (measured, H200).

    Tiled: element size * product of floor(box / element stride); every stride counts, the innermost too, and a ragged
    rest does not, whatever a copy delivers. im2col: element size * channels * pixels, whatever the strides.
    """
    if not hasattr(fields, "box_dim"):
        return fields.element_size * fields.channels_per_pixel * fields.pixels_per_column
    total = fields.element_size
    for box, stride in zip(fields.box_dim, fields.element_strides):
        total *= box // stride
    return total


# From any Python value to integers, or a TypeError that names the field.


ENUMERATIONS: dict[str, type[IntEnum]] = {
    "data_type": DataType,
    "interleave": Interleave,
    "swizzle": Swizzle,
    "l2_promotion": L2Promotion,
    "oob_fill": OobFill,
}
MEMBERS = {name: {int(member): member for member in kind} for name, kind in ENUMERATIONS.items()}
SEQUENCES = frozenset(
    ("global_dim", "global_strides", "box_dim", "pixel_box_lower_corner", "pixel_box_upper_corner", "element_strides")
)


def fields_of(kind: type[Kind], arguments: Mapping[str, Any]) -> Kind:
    """The constructor's arguments, by name, as Fields, or a TypeError that names the one which holds no integers.

    Most values are plain already, and a map is to be made fast.
    """
    values: dict[str, Any] = {}
    for name, exact, plain in CONVERSIONS[kind]:
        value = arguments[name]
        values[name] = value if type(value) is plain else exact(name, value)
    rank = len(values["global_dim"])
    if values["element_strides"] is None:
        values["element_strides"] = (1,) * rank
    if rank == 1 and len(values["global_strides"]) == 1:
        values["global_strides"] = ()  # the dummy that the driver's bindings ask for
    return kind(**values)


def integer(field: str, value: Any) -> int:
    """`value` as an exact int."""
    if type(value) is int:
        return value
    try:
        return operator.index(value)
    except Exception:
        raise TypeError(text("map.not-an-integer", field=field, type=type(value).__name__)) from None


def integers(field: str, values: Any) -> tuple[int, ...]:
    """`values` as a tuple of exact ints. Sets and mappings have no order, strings no numbers."""
    if type(values) in PLAIN and INT.issuperset(map(type, values)) and len(values) <= LONGEST:
        return tuple(values)
    try:
        if isinstance(values, (str, bytes, bytearray, Mapping)) or len(values) > LONGEST:
            raise TypeError
        items = [values[i] for i in range(len(values))]
    except Exception:
        raise TypeError(text("map.not-a-sequence", field=field, type=type(values).__name__)) from None
    try:
        return tuple(map(operator.index, items))
    except Exception:
        return tuple([integer(f"{field}[{i}]", item) for i, item in enumerate(items)])  # names the one that is none


def member(field: str, value: Any) -> int:
    """`value` as an int that may be a number of the field's enumeration."""
    if type(value) is int:
        return value
    try:
        return operator.index(value)
    except Exception:
        names = {"field": field, "enumeration": ENUMERATIONS[field].__name__, "type": type(value).__name__}
        raise TypeError(text("map.not-a-member", **names)) from None


def _steps(field: str, values: object) -> tuple[int, ...] | None:
    return None if values is None else integers(field, values)


def _conversion(name: str) -> tuple[str, Callable[[str, object], int | tuple[int, ...] | None], type | None]:
    """A field's name, what makes exact integers of its value, and the type of values that are so already."""
    if name in SEQUENCES:
        return name, _steps if name == "element_strides" else integers, None
    return name, member if name in ENUMERATIONS else integer, int


INT, PLAIN = {int}, {tuple, list}
CONVERSIONS = {kind: [_conversion(name) for name in kind._fields] for kind in (Fields, Im2colFields)}
