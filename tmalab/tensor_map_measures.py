"""What the rules of a tensor map look at, and how a message shows it.

>>> from tmalab.tensor_map_fields import Fields
>>> fields = Fields(6, 0, (100, 64), (208,), (80, 8), (1, 2), 0, 3, 0, 0)
>>> BOX_ROW.values(fields), BOX_ROW.show(fields, 0, 160)
((160,), '80 elements of 2 bytes = 160 bytes')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from tmalab.data_types import DataType, Interleave, OobFill
from tmalab.swizzle import PATTERNS, SECTOR
from tmalab.tensor_map_fields import AnyFields, Fields, counted_bytes
from tmalab.tensor_map_limits import shown
from tmalab.texts import text

MAX_SIDE = 256  # elements of a box along a dimension

Labels = Callable[[str, "int | None"], str]  # how messages name a value: (field, index in it or None)


def argument(field: str, index: int | None) -> str:
    """The constructor's name of a value.

    >>> argument("box_dim", 0), argument("swizzle", None)
    ('box_dim[0]', 'swizzle')
    """
    return field if index is None else f"{field}[{index}]"


class Measure(NamedTuple):
    """What is measured of `field`, in the unit of the rule's limit, and how a message shows it.

    `values`: one for each entry of the field, in order, where it `counts` them; or else one for the whole field.
    `unit`: by how much the measure grows where the entry grows by 1; None where it is not the entry that is measured.
    """

    field: str
    counts: bool
    values: Callable[[Any], Sequence[int]]  # of the kind of fields that has the field
    show: Callable[[Any, Any, int], str]  # (fields, index, value)
    show_nearest: Callable[[Any, Any, int, Labels], str]
    unit: Callable[[Any], int] | None = None


def plain(fields: AnyFields, index: int | None, value: int, labels: Labels = argument) -> str:
    """The number itself."""
    return shown(value)


def in_bytes(fields: AnyFields, index: int | None, value: int) -> str:
    """The number of bytes."""
    return text("map.bytes", value=shown(value))


def _address(fields: AnyFields, index: int | None, value: int, labels: Labels = argument) -> str:
    return hex(value) if 0 <= value < 2**64 else shown(value)


def _one(fields: AnyFields) -> int:
    return 1


def the(field: str) -> Measure:
    """The one value of a field."""
    get = attrgetter(field)
    return Measure(field, False, lambda fields: (get(fields),), plain, plain, _one)


def each(field: str) -> Measure:
    """Every value of a field that holds one for each dimension."""
    return Measure(field, True, attrgetter(field), plain, plain, _one)


def length(field: str) -> Measure:
    """How many values a field holds."""
    get = attrgetter(field)
    return Measure(field, False, lambda fields: (len(get(fields)),), plain, plain)


def _rank_shown(fields: AnyFields, index: int | None, value: int) -> str:
    return text("map.dimensions", value=value)


def swizzled(fields: AnyFields) -> bool:
    """Whether the swizzle's span limits a row."""
    return fields.interleave == Interleave.NONE and fields.swizzle in (1, 2, 3)


def longest_row(fields: AnyFields) -> int:
    """Elements of the longest legal row of a box."""
    return min(MAX_SIDE, PATTERNS[fields.swizzle].span // fields.element_size) if swizzled(fields) else MAX_SIDE


def _box_row(fields: Fields) -> Sequence[int]:
    return (fields.box_dim[0] * fields.element_size,) if fields.box_dim and fields.element_size else ()


def row_shown(fields: AnyFields, index: int | None, value: int) -> str:
    """A row's bytes, and the elements that they are."""
    size = fields.element_size
    return text("map.row", count=shown(value // size), size=size, value=shown(value))


def row_elements(fields: AnyFields, index: int | None, value: int, labels: Labels) -> str:
    """The elements that fill so many bytes."""
    return shown(value // fields.element_size)


def _box(fields: Fields) -> Sequence[int]:
    return (counted_bytes(fields),) if min(fields.element_strides, default=1) > 0 else ()


def _smaller_box(fields: Fields, index: int | None, high: int, labels: Labels) -> str:
    """The sides to change, cut from the outermost dimension inwards until the driver counts at most `high` bytes."""
    given = fields.box_dim
    row, *outer = (min(max(side, 1), MAX_SIDE) for side in given)
    row = min(row + -row % (SECTOR // fields.element_size), longest_row(fields))
    fields = fields._replace(box_dim=(row, *outer))
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


def _fill_shown(fields: AnyFields, index: int | None, value: int) -> str:
    """The fill, and the type of the elements that it is for."""
    return text("map.fill", value=value, fill=OobFill(value).name, data_type=DataType(fields.data_type).name)


ADDRESS = the("global_address")._replace(show=_address, show_nearest=_address)
STRIDES = each("global_strides")._replace(show=in_bytes)  # bytes
FILL = the("oob_fill")._replace(show=_fill_shown)
RANK = length("global_dim")._replace(show=_rank_shown)
BOX_ROW = Measure("box_dim", True, _box_row, row_shown, row_elements, attrgetter("element_size"))  # bytes of a row
BOX = Measure("box_dim", False, _box, in_bytes, _smaller_box)  # bytes of a whole box, as the driver counts them
