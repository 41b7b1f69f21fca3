"""A tensor map's arguments as plain integers, and the measures that rules take of them.

>>> fields = Fields(6, 0, (100, 64), (208,), (80, 8), (1, 2), 0, 3, 0, 0)
>>> list(BOX_ROW.values(fields)), BOX_ROW.show(fields, 160)
([(0, 160)], '80 elements of 2 bytes = 160 bytes')
>>> delivered_dim(fields)                   # every second row of eight
(80, 4)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from math import prod
from typing import NamedTuple

from tmalab.data_types import ELEMENT_TYPES, DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.tensor_map_limits import shown
from tmalab.texts import text

MAX_RANK = 5
ADDRESS_STOP = 2**57  # bytes of global memory (measured, H200)
MAX_SIDE = 256  # elements of a box along a dimension
LONGEST = 64  # entries of a sequence that are still counted; beyond that it is no list of dimensions
SIZES = {number: element.size for number, element in ELEMENT_TYPES.items()}  # bytes


class Fields(NamedTuple):
    """The arguments of cuTensorMapEncodeTiled, innermost dimension first, not yet judged."""

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


def delivered_dim(fields: Fields) -> tuple[int, ...]:
    """Elements that one copy delivers along each dimension.

    ceil(box / element stride); the innermost stride counts as 1 without interleave (measured, H200).
    """
    strides = fields.element_strides if fields.interleave else (1, *fields.element_strides[1:])
    return tuple(-(-box // stride) for box, stride in zip(fields.box_dim, strides, strict=False))


# From any Python value to integers, or a TypeError that names the field.


def integer(field: str, value: object) -> int:
    """`value` as an exact int."""
    try:
        return operator.index(value)
    except Exception:
        raise TypeError(text("map.not-an-integer", field=field, type=type(value).__name__)) from None


def integers(field: str, values: object) -> tuple[int, ...]:
    """`values` as a tuple of exact ints. Sets and mappings have no order, strings no numbers."""
    try:
        if isinstance(values, (str, bytes, bytearray, Mapping)) or len(values) > LONGEST:
            raise TypeError
        items = [values[i] for i in range(len(values))]
    except Exception:
        raise TypeError(text("map.not-a-sequence", field=field, type=type(values).__name__)) from None
    return tuple(integer(f"{field}[{i}]", item) for i, item in enumerate(items))


def member(field: str, value: object, enumeration: type[IntEnum]) -> int:
    """`value` as an int that may be a number of the enumeration."""
    try:
        return operator.index(value)
    except Exception:
        names = {"field": field, "enumeration": enumeration.__name__, "type": type(value).__name__}
        raise TypeError(text("map.not-a-member", **names)) from None


ENUMERATIONS = {
    "data_type": DataType,
    "interleave": Interleave,
    "swizzle": Swizzle,
    "l2_promotion": L2Promotion,
    "oob_fill": OobFill,
}
SEQUENCES = ("global_dim", "global_strides", "box_dim", "element_strides")


def fields_of(**arguments: object) -> Fields:
    """The constructor's arguments as Fields, or a TypeError that names the one which holds no integers."""
    values = dict(arguments)
    for name in SEQUENCES:
        if name != "element_strides" or values[name] is not None:
            values[name] = integers(name, values[name])
    for name, enumeration in ENUMERATIONS.items():
        values[name] = member(name, values[name], enumeration)
    values["global_address"] = integer("global_address", values["global_address"])
    rank = len(values["global_dim"])
    if values["element_strides"] is None:
        values["element_strides"] = (1,) * rank
    if rank == 1 and len(values["global_strides"]) == 1:
        values["global_strides"] = ()  # the dummy that the driver's bindings ask for
    return Fields(**values)


# What a rule looks at, and how a message shows it.


Labels = Callable[[str, "int | None"], str]  # how messages name a value: (field, index in it or None)


def argument(field: str, index: int | None) -> str:
    """The constructor's name of a value.

    >>> argument("box_dim", 0), argument("swizzle", None)
    ('box_dim[0]', 'swizzle')
    """
    return field if index is None else f"{field}[{index}]"


class Measure(NamedTuple):
    """What is measured of `field`, in the unit of the rule's limit, and how a message shows it."""

    field: str
    values: Callable[[Fields], Iterable[tuple[int | None, int]]]  # (index in the field or None, value)
    show: Callable[[Fields, int], str]
    show_nearest: Callable[[Fields, int, Labels], str]


def _plain(fields: Fields, value: int, labels: Labels = argument) -> str:
    return shown(value)


def _bytes(fields: Fields, value: int) -> str:
    return text("map.bytes", value=shown(value))


def _address(fields: Fields, value: int, labels: Labels = argument) -> str:
    return hex(value) if 0 <= value < 2**64 else shown(value)


def the(field: str) -> Measure:
    """The one value of a field."""
    position = Fields._fields.index(field)
    return Measure(field, lambda fields: ((None, fields[position]),), _plain, _plain)


def each(field: str) -> Measure:
    """Every value of a field that holds one for each dimension."""
    position = Fields._fields.index(field)
    return Measure(field, lambda fields: enumerate(fields[position][:MAX_RANK]), _plain, _plain)


def length(field: str) -> Measure:
    """How many values a field holds."""
    position = Fields._fields.index(field)
    return Measure(field, lambda fields: ((None, len(fields[position])),), _plain, _plain)


def _rank_shown(fields: Fields, value: int) -> str:
    return text("map.dimensions", value=value)


def _box_row(fields: Fields) -> Iterator[tuple[int | None, int]]:
    if fields.box_dim and fields.element_size:
        yield 0, fields.box_dim[0] * fields.element_size


def _box_row_shown(fields: Fields, value: int) -> str:
    size = fields.element_size
    return text("map.row", count=shown(value // size), size=size, value=shown(value))


def _box_row_elements(fields: Fields, value: int, labels: Labels) -> str:
    return shown(value // fields.element_size)


def counted_bytes(fields: Fields) -> int:
    """The bytes of a box as the driver counts them: element size * product of floor(box / element stride).

    Every stride counts here, the innermost too, and a ragged rest does not, whatever a copy delivers (measured, H200).
    """
    return fields.element_size * prod(b // s for b, s in zip(fields.box_dim, fields.element_strides, strict=False))


def _box(fields: Fields) -> Iterator[tuple[int | None, int]]:
    if min(fields.element_strides, default=1) > 0:
        yield None, counted_bytes(fields)


def _smaller_box(fields: Fields, high: int, labels: Labels) -> str:
    """The sides to change, cut from the outermost dimension inwards until the driver counts at most `high` bytes."""
    given = fields.box_dim
    fields = fields._replace(box_dim=tuple(min(max(side, 1), MAX_SIDE) for side in given))
    for i in reversed(range(len(given))):
        total = counted_bytes(fields)
        if total <= high:
            break
        stride = fields.element_strides[i]
        others = total // (fields.box_dim[i] // stride)
        side = max(1, high // others) * stride
        fields = fields._replace(box_dim=(*fields.box_dim[:i], side, *fields.box_dim[i + 1 :]))
    changed = [(i, side) for i, side in enumerate(fields.box_dim) if side != given[i]]
    return ", ".join(f"{labels('box_dim', i)} = {side}" for i, side in changed)


ADDRESS = the("global_address")._replace(show=_address, show_nearest=_address)
STRIDES = each("global_strides")._replace(show=_bytes)  # bytes
RANK = length("global_dim")._replace(show=_rank_shown)
BOX_ROW = Measure("box_dim", _box_row, _box_row_shown, _box_row_elements)  # bytes of one innermost row
BOX = Measure("box_dim", _box, _bytes, _smaller_box)  # bytes of a whole box, as the driver counts them
