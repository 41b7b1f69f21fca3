"""Arrays that already lie in the GPU's memory, of CuPy, PyTorch, Numba or JAX: a kernel works on them where they are.

numba knows no bfloat16 and no float8: such an array is to a kernel one of its bits, uint16 or uint8, as tiles are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmalab.array_views import ArrayView, view_of
from tmalab.tensor_map import TensorMap

_NUMBERS = (bool, int, float, complex, np.generic, np.ndarray, TensorMap)


@dataclass(frozen=True)
class DeviceArray:
    """An array in the GPU's memory. Strides and address in bytes; `owner` keeps the memory alive."""

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    contiguous: bool
    owner: Any

    @property
    def size(self) -> int:
        """How many elements it has."""
        return int(np.prod(self.shape, dtype=np.int64))


def located(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """A launch's arguments in which every array in a GPU's memory is a DeviceArray, and one in this process NumPy's."""
    return tuple(map(_located, arguments))


def _located(argument: Any) -> Any:
    if isinstance(argument, _NUMBERS):
        return argument
    view = view_of(argument)
    if view is None:
        return argument
    return view.host if view.host is not None else _on_device(view, argument)


def _on_device(view: ArrayView, owner: Any) -> DeviceArray:
    name = view.dtype.removeprefix("torch.")
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = np.dtype(f"u{view.itemsize}")
    if dtype.kind not in "biufc":
        dtype = np.dtype(f"u{view.itemsize}")
    return DeviceArray(dtype, view.shape, view.strides, view.address, view.contiguous, owner)
