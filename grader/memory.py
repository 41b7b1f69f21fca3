"""Copies of arrays that keep how they lie in memory: strides, and the bytes between the elements.

A tensor map's strides are those of the array that it was made from. A column of tiles out of a wider matrix is such an
array; NumPy's own copy, and its pickle, lay the elements side by side, and the map would then read others.

>>> view = np.arange(12, dtype=np.int16).reshape(3, 4)[:, 1:3]
>>> view.copy().strides, copied(view).strides
((4, 2), (8, 2))
>>> pickle.loads(pickled({"view": view}))["view"].strides
(8, 2)
"""

from __future__ import annotations

import ctypes
import io
import pickle
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds


def copied(array: np.ndarray) -> np.ndarray:
    """A copy that lies in memory of its own as the array does."""
    return array.copy() if array.flags.c_contiguous or not array.size else _made(*_parts(array))


def pickled(value: object) -> bytes:
    """The value pickled, arrays in it as they lie."""
    written = io.BytesIO()
    _Pickler(written, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return written.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is not np.ndarray or value.flags.c_contiguous or not value.size or value.dtype.hasobject:
            return NotImplemented
        return _made, _parts(value)


def _parts(array: np.ndarray) -> tuple[bytes, tuple[int, ...], np.dtype, int, tuple[int, ...]]:
    """All bytes from the first that belongs to an element to the last, and where the elements lie in them."""
    low, high = byte_bounds(array)
    return ctypes.string_at(low, high - low), array.shape, array.dtype, array.ctypes.data - low, array.strides


def _made(memory: bytes, shape: tuple[int, ...], dtype: np.dtype, offset: int, strides: tuple[int, ...]) -> np.ndarray:
    return np.ndarray(shape, dtype, bytearray(memory), offset, strides)
