"""From a NumPy array to the fields of its tensor map, and from a bad array to the property that is in the way.

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

import numpy as np

from tmalab.buffers import root_of
from tmalab.data_types import NOMINAL_ADDRESS, DataType
from tmalab.tensor_map_fields import SIZES, Fields, Labels, fields_of, integers, member
from tmalab.tensor_map_rules import TensorMapError, judge
from tmalab.texts import text

SAME_SIZE = {1: DataType.UINT8, 2: DataType.UINT16, 4: DataType.UINT32, 8: DataType.UINT64}  # bytes: bits as they are
FOLLOWING = {"stride-multiple", "stride-range", "address-multiple"}  # rules that judge the axes in a wrong layout
IN_NUMPY = {"global_dim": "array.shape", "global_strides": "array.strides", "box_dim": "box_shape"}


def offset_of(array: np.ndarray) -> int:
    """Bytes from the first element of the buffer that `array` views to its own.

    >>> offset_of(np.zeros((4, 8), np.float32)[1:, 2:])
    40
    """
    return array.__array_interface__["data"][0] - root_of(array).__array_interface__["data"][0]


def array_fields(
    array: np.ndarray,
    box_shape: Sequence[int],
    swizzle: int,
    data_type: int | None,
    element_strides: Sequence[int] | None,
    interleave: int,
    l2_promotion: int,
    oob_fill: int,
) -> Fields:
    """The fields of `array`'s map, all arguments in NumPy's order; see TensorMap.from_array."""
    if not isinstance(array, np.ndarray):
        raise TypeError(text("map.array-not-an-array", type=type(array).__name__))
    if array.dtype.hasobject:
        raise TypeError(text("map.array-objects", dtype=array.dtype))
    type_problems, element_type = _element_type(array, data_type)
    if element_type is None:
        raise TensorMapError(type_problems, _about(array))
    steps = None if element_strides is None else integers("element_strides", element_strides)[::-1]
    fields = fields_of(
        data_type=element_type,
        global_address=NOMINAL_ADDRESS + offset_of(array),
        global_dim=array.shape[::-1],
        global_strides=_strides(array),
        box_dim=integers("box_shape", box_shape)[::-1],
        element_strides=steps,
        interleave=interleave,
        swizzle=swizzle,
        l2_promotion=l2_promotion,
        oob_fill=oob_fill,
    )
    layout_problems = _layout_problems(array)
    broken = [found for found in judge(fields, _labels(array)) if not (layout_problems and found[0] in FOLLOWING)]
    violations = [*type_problems, *layout_problems, *broken]
    if violations:
        raise TensorMapError(violations, _about(array))
    return fields


def _element_type(array: np.ndarray, data_type: int | None) -> tuple[list[tuple[str, str]], int | None]:
    """What is wrong with the element type, and the type to judge the rest by (None: nothing can be said)."""
    dtype, same_size = array.dtype, SAME_SIZE.get(array.itemsize)
    if same_size is None:
        return [("data-type", text("map.array-no-size", dtype=dtype, size=array.itemsize))], None
    if data_type is None:
        found = DataType.of(dtype)
        if found is not None:
            return [], found
        return [("data-type", text("map.array-no-type", dtype=dtype, name=same_size.name))], same_size
    number = member("data_type", data_type, DataType)
    if SIZES.get(number, array.itemsize) != array.itemsize:
        names = {"name": DataType(number).name, "size": SIZES[number]}
        message = text("map.array-other-size", dtype=dtype, itemsize=array.itemsize, **names)
        return [("data-type", message)], same_size
    return [], number


def _strides(array: np.ndarray) -> tuple[int, ...]:
    """The strides of all axes but the last, innermost first. Where an axis has one element none is used: made legal."""
    outer = zip(array.shape[:-1], array.strides[:-1], strict=True)
    return tuple(stride if size > 1 else -(-abs(stride) // 32) * 32 for size, stride in outer)[::-1]


def _layout_problems(array: np.ndarray) -> list[tuple[str, str]]:
    """What no field of a map can say: innermost elements that are no neighbours, axes that run backwards."""
    if array.size == 0:
        return []  # NumPy's strides of an empty array mean nothing
    problems = []
    for axis, (size, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        if size > 1 and stride < 0:
            problems.append(("backwards", text("map.array-reversed", axis=axis, stride=stride)))
    if array.ndim and array.shape[-1] > 1 and array.strides[-1] >= 0 and array.strides[-1] != array.itemsize:
        problems.append(("inner-stride", _inner_problem(array)))
    return problems


def _inner_problem(array: np.ndarray) -> str:
    stride, itemsize = array.strides[-1], array.itemsize
    if stride == 0:
        return text("map.array-expanded")
    neighbours = [axis for axis, step in enumerate(array.strides) if step == itemsize and array.shape[axis] > 1]
    if neighbours:
        return text("map.array-transposed", stride=stride, itemsize=itemsize, axis=neighbours[0])
    return text("map.array-stepped", stride=stride, itemsize=itemsize)


def _labels(array: np.ndarray) -> Labels:
    """How messages name a value: by the array's own attributes, axes counted from the outermost."""

    def label(field: str, index: int | None) -> str:
        if field == "global_address":
            return text("map.array-address", offset=offset_of(array))
        name = IN_NUMPY.get(field, field)
        if index is None:
            return name
        last = array.ndim - (2 if field == "global_strides" else 1)
        return f"{name}[{last - index}]"

    return label


def _about(array: np.ndarray) -> str:
    layout = text("map.array-contiguous" if array.flags.c_contiguous else "map.array-not-contiguous")
    return text(
        "map.array",
        dtype=array.dtype,
        shape=array.shape,
        strides=array.strides,
        layout=layout,
        offset=offset_of(array),
    )
