"""What a kernel's arguments are to the compiler: maps, arrays and plain numbers.

>>> import numpy as np
>>> from tmalab.gpu.signature import type_of
>>> type_of("out", np.zeros((8, 64), np.float16)), type_of("n", 3)
(Array(float16, 2, 'C', False, aligned=True), int64)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba.cuda import types
from numba.cuda.np.numpy_support import from_dtype, map_layout

from tmalab.gpu.device_arrays import DeviceArray
from tmalab.gpu.lowering import TENSOR_MAP
from tmalab.tensor_map import TensorMap
from tmalab.texts import text


def signature_of(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[types.Type, ...]:
    """The numba types of a kernel's arguments; TypeError, in one sentence, where one cannot be passed."""
    names = list(inspect.signature(function).parameters)
    if len(names) != len(arguments):
        given, wanted = len(arguments), ", ".join(names)
        raise TypeError(text("gpu.argument-count", kernel=function.__name__, given=given, wanted=wanted))
    return tuple(type_of(name, argument) for name, argument in zip(names, arguments))


def type_of(name: str, argument: Any) -> types.Type:
    """The numba type of one argument; TypeError where a kernel cannot take it."""
    if isinstance(argument, TensorMap):
        return TENSOR_MAP
    if isinstance(argument, (bool, np.bool_)):
        return types.boolean
    if isinstance(argument, (int, np.integer)):
        return types.int64
    if isinstance(argument, (float, np.floating)):
        return types.float32 if isinstance(argument, (np.float32, np.float16)) else types.float64
    if isinstance(argument, np.ndarray):
        return _array_type(name, argument)
    if isinstance(argument, DeviceArray):
        layout = "C" if argument.contiguous else "A"
        return types.Array(from_dtype(argument.dtype), len(argument.shape), layout, aligned=True)
    raise TypeError(text("gpu.argument-type", argument=name, given=type(argument).__name__))


def _array_type(name: str, array: np.ndarray) -> types.Array:
    """Element type, dimensions and layout. A kernel may write every array that it is given."""
    if array.dtype.kind not in "biuf" or not array.dtype.isnative or array.dtype.itemsize > 8:
        raise TypeError(text("gpu.array-type", argument=name, dtype=array.dtype))
    return types.Array(from_dtype(array.dtype), array.ndim, map_layout(array), aligned=array.flags.aligned)
