"""From an array to the fields of its tensor map, and from a bad array to the property that is in the way.

TMA finds an element by one address and one stride in bytes for every dimension but the innermost, whose elements must
be neighbours. A view can break each of these; messages are in the array's own terms.

>>> import numpy as np
>>> from tmalab import TensorMap
>>> TensorMap.from_array(np.zeros((64, 65), np.float16), (8, 64))
Traceback (most recent call last):
tmalab.tensor_map_rules.TensorMapError: this array cannot be mapped: float16, shape (64, 65), strides (130, 2) bytes, \
contiguous, 0 bytes into its buffer
  array.strides[0] = 130 bytes is not a multiple of 16: the hardware reaches rows only at multiples of 16 bytes \
(32 with INTERLEAVE_32B); pad the rows in memory. Nearest legal: 144. (CUDA driver API, cuTensorMapEncodeTiled)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tmalab.array_views import ArrayView, view_of
from tmalab.data_types import NOMINAL_ADDRESS, DataType
from tmalab.tensor_map_fields import SIZES, Fields, fields_of, integers, member
from tmalab.tensor_map_measures import Labels
from tmalab.tensor_map_rules import TensorMapError, judge
from tmalab.texts import text

SAME_SIZE = {1: DataType.UINT8, 2: DataType.UINT16, 4: DataType.UINT32, 8: DataType.UINT64}  # bytes: bits as they are
FOLLOWING = {"stride-multiple", "stride-range", "address-multiple"}  # rules that judge the axes in a wrong layout


def array_of(given: object, asked_by: str) -> ArrayView:
    """A view of what was given to a function; TypeError, in one sentence, where it is no array."""
    view = view_of(given)
    if view is None:
        raise TypeError(text("map.array-not-an-array", function=asked_by, type=type(given).__name__))
    return view


def array_fields(
    view: ArrayView,
    box_shape: Sequence[int],
    swizzle: int,
    data_type: int | None,
    element_strides: Sequence[int] | None,
    interleave: int,
    l2_promotion: int,
    oob_fill: int,
) -> Fields:
    """The fields of an array's map, all arguments in NumPy's order; see TensorMap.from_array."""
    type_problems, element_type = _element_type(view, data_type)
    if element_type is None:
        raise TensorMapError(type_problems, _about(view))
    steps = None if element_strides is None else integers("element_strides", element_strides)[::-1]
    arguments = {
        "data_type": element_type,
        "global_address": view.address if view.on_device else NOMINAL_ADDRESS + (view.offset or 0),
        "global_dim": view.shape[::-1],
        "global_strides": _strides(view),
        "box_dim": integers("box_shape", box_shape)[::-1],
        "element_strides": steps,
        "interleave": interleave,
        "swizzle": swizzle,
        "l2_promotion": l2_promotion,
        "oob_fill": oob_fill,
    }
    fields = fields_of(Fields, arguments)
    layout_problems = _layout_problems(view)
    broken = [found for found in judge(fields, _labels(view)) if not (layout_problems and found[0] in FOLLOWING)]
    violations = [*type_problems, *layout_problems, *broken]
    if violations:
        raise TensorMapError(violations, _about(view))
    return fields


def _element_type(view: ArrayView, data_type: int | None) -> tuple[list[tuple[str, str]], int | None]:
    """What is wrong with the element type, and the type to judge the rest by (None: nothing can be said)."""
    same_size = SAME_SIZE.get(view.itemsize)
    if same_size is None:
        return [("data-type", text("map.array-no-size", dtype=view.dtype, size=view.itemsize))], None
    if data_type is None:
        if view.data_type is not None:
            return [], view.data_type
        return [("data-type", text("map.array-no-type", dtype=view.dtype, name=same_size.name))], same_size
    number = member("data_type", data_type)
    if SIZES.get(number, view.itemsize) != view.itemsize:
        names = {"name": DataType(number).name, "size": SIZES[number]}
        message = text("map.array-other-size", dtype=view.dtype, itemsize=view.itemsize, **names)
        return [("data-type", message)], same_size
    return [], number


def _strides(view: ArrayView) -> tuple[int, ...]:
    """The strides of all axes but the last, innermost first. Where an axis has one element none is used: made legal."""
    outer = zip(view.shape[:-1], view.strides[:-1], strict=True)
    return tuple(stride if size > 1 else -(-abs(stride) // 32) * 32 for size, stride in outer)[::-1]


def _layout_problems(view: ArrayView) -> list[tuple[str, str]]:
    """What no field of a map can say: innermost elements that are no neighbours, axes that run backwards."""
    if prod(view.shape) == 0:
        return []  # the strides of an empty array mean nothing
    problems = []
    for axis, (size, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        if size > 1 and stride < 0:
            problems.append(("backwards", text("map.array-reversed", axis=axis, stride=stride)))
    if view.shape and view.shape[-1] > 1 and view.strides[-1] >= 0 and view.strides[-1] != view.itemsize:
        problems.append(("inner-stride", _inner_problem(view)))
    return problems


def _inner_problem(view: ArrayView) -> str:
    stride, words = view.strides[-1], {"itemsize": view.itemsize, "copy": view.words.copy}
    if stride == 0:
        return text("map.array-expanded", **words)
    neighbours = [axis for axis, step in enumerate(view.strides) if step == view.itemsize and view.shape[axis] > 1]
    if neighbours:
        return text("map.array-transposed", stride=stride, axis=neighbours[0], **words)
    return text("map.array-stepped", stride=stride, **words)


def _labels(view: ArrayView) -> Labels:
    """How messages name a value: by the array's own attributes, axes counted from the outermost."""

    def label(field: str, index: int | None) -> str:
        if field == "global_address":
            return text("map.array-address") if view.offset is None else _offset(view)
        name = {"global_dim": view.words.shape, "box_dim": "box_shape"}.get(field, field)
        if index is None:
            return name
        axis = len(view.shape) - (2 if field == "global_strides" else 1) - index
        if field == "global_strides":
            return view.words.stride.format(axis=axis, itemsize=view.itemsize)
        return f"{name}[{axis}]"

    return label


def _offset(view: ArrayView) -> str:
    return text("map.array-address-offset", offset=view.offset, buffer=view.words.buffer)


def _about(view: ArrayView) -> str:
    parts = {"dtype": view.dtype, "shape": view.shape, "strides": view.strides}
    layout = text("map.array-contiguous" if view.contiguous else "map.array-not-contiguous")
    place = text("map.array-at", address=hex(view.address))
    if view.offset is not None:
        place = text("map.array-into", offset=view.offset, buffer=view.words.buffer)
    return text("map.array", **parts, layout=layout, place=place)
