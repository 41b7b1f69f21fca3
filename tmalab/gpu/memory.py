"""The buffers behind a launch's arguments, in the GPU's memory, and the arguments as the driver takes them.

One allocation holds all buffers, laid out as the simulator lays them out. Maps are encoded anew with the addresses that
their arrays have there. An array is to a compiled kernel what numba makes of it: seven values or more.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from tmalab.buffers import ALIGNMENT, GlobalLayout
from tmalab.descriptor import SIZE
from tmalab.gpu.device import DriverError, call, stopped
from tmalab.gpu.device_arrays import DeviceArray
from tmalab.gpu.maps import encode
from tmalab.maps_in_memory import arrays_of_rows, placed
from tmalab.tensor_map import TensorMap
from tmalab.texts import text


@contextmanager
def on_device(arguments: Sequence[Any]) -> Iterator[GlobalLayout]:
    """The buffers of a launch's arguments in device memory: a GlobalLayout of device addresses, freed afterwards."""
    arrays = [array for array in map(_array, arguments) if array is not None] + arrays_of_rows(arguments)
    allocation = call("cuMemAlloc", GlobalLayout(arrays, 0).size + ALIGNMENT)  # some room for a store's clip
    try:
        layout = GlobalLayout(arrays, int(allocation))
        with placed(arguments, layout):
            for buffer in layout.buffers:
                if buffer.data.size:
                    call("cuMemcpyHtoD", buffer.address, buffer.data.ctypes.data, buffer.data.size)
            yield layout
    finally:
        _free(allocation)


def download(layout: GlobalLayout) -> None:
    """Copy every buffer back to its arrays, in place."""
    for buffer in layout.buffers:
        if buffer.data.size and buffer.data.flags.writeable:
            call("cuMemcpyDtoH", buffer.data.ctypes.data, buffer.address, buffer.data.size)


def parameters(arguments: Sequence[Any], layout: GlobalLayout) -> list[Any]:
    """The kernel's parameters as ctypes values, in the order of the PTX."""
    values: list[Any] = []
    for argument in arguments:
        if isinstance(argument, TensorMap):
            values.append(_map(argument, layout))
        elif isinstance(argument, np.ndarray):
            values += _array_parts(argument, layout.address_of(argument))
        elif isinstance(argument, DeviceArray):
            values += _array_parts(argument, argument.address)
        elif isinstance(argument, (bool, np.bool_)):
            values.append(ctypes.c_uint8(bool(argument)))
        elif isinstance(argument, (int, np.integer)):
            values.append(ctypes.c_int64(int(argument)))
        elif isinstance(argument, (np.float32, np.float16)):
            values.append(ctypes.c_float(float(argument)))
        else:
            values.append(ctypes.c_double(float(argument)))
    return values


def _array(argument: Any) -> np.ndarray | None:
    """The array of this process's memory that an argument maps, if any."""
    if isinstance(argument, TensorMap):
        if argument.array is None:
            raise ValueError(text("gpu.unbound-map"))
        return None if argument.on_device else argument.array
    return argument if isinstance(argument, np.ndarray) else None


def _map(tm: TensorMap, layout: GlobalLayout) -> Any:
    if not tm.on_device:
        tm = tm.with_address(layout.address_of(tm.array))
    return (ctypes.c_uint8 * SIZE).from_buffer_copy(encode(tm))


def _array_parts(array: np.ndarray | DeviceArray, address: int) -> list[Any]:
    """numba's array: two pointers for its own memory management, sizes, data, shape, strides."""
    words = [0, 0, array.size, array.dtype.itemsize, address, *array.shape, *array.strides]
    return [ctypes.c_int64(word) for word in words]


def _free(allocation: Any) -> None:
    """Free the buffers, unless the process has lost the GPU: it would wait for a kernel that never ends."""
    if stopped():
        return
    with suppress(DriverError, ImportError):  # after a fault, and at the process's end, the driver frees everything
        call("cuMemFree", allocation)
