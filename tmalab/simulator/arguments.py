"""A launch's arguments: NumPy arrays become arrays of simulated global memory, maps move to their place in it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.maps_in_memory import arrays_of_rows
from tmalab.simulator.memory import GlobalMemory
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch

FINEST_COPY = 4  # bytes: the least that cp.async reads from global memory


def arrays_of(launch: Launch) -> list[np.ndarray]:
    """The arrays of a launch and behind its maps; TypeError, in one sentence, for what a kernel cannot be given."""
    arrays = []
    for name, value in zip(inspect.signature(launch.kernel.function).parameters, launch.args):
        if isinstance(value, TensorMap):
            if value.array is None:
                raise TypeError(text("simulator.map-without-array", name=name))
            if value.on_device:
                kind = type(value.array)
                given = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
                raise TypeError(text("simulator.map-on-device", name=name, given=given))
            arrays.append(value.array)
        elif isinstance(value, np.ndarray):
            if (reason := why_no_argument(value)) is not None:
                values = {"dtype": value.dtype, "strides": value.strides, "size": value.itemsize}
                raise TypeError(text(reason, name=name, **values))
            arrays.append(value)
        elif not isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
            raise TypeError(text("simulator.argument-type", name=name, given=type(value).__name__))
    return arrays + arrays_of_rows(launch.args)


def why_no_argument(array: np.ndarray) -> str | None:
    """Why an array cannot be accessed by a kernel: the key of the sentence, or None."""
    if array.dtype.kind not in "iufbc" or not array.dtype.isnative or array.itemsize > 16:
        return "simulator.argument-dtype"
    if any(stride % array.itemsize for stride in array.strides):
        return "simulator.argument-strides"
    return None


def bound_arguments(launch: Launch, memory: GlobalMemory, note: Callable[[int], None]) -> tuple[Any, ...]:
    """The arguments as the kernel sees them; `note` logs the accesses to their arrays."""
    names = list(inspect.signature(launch.kernel.function).parameters)
    bound = tuple(_bound(name, value, memory, note) for name, value in zip(names, launch.args))
    for name, value in zip(names, launch.args):
        if isinstance(value, TensorMap) and why_no_argument(value.array) is None:
            memory.array(value.array, note, name)  # so that reports can name it, after the arrays proper
    return bound


def finest_elements(launch: Launch, memory: GlobalMemory) -> int:
    """The largest power of two (bytes) that divides all addresses and sizes at which global memory is accessed."""
    sizes = [FINEST_COPY]
    for value in launch.args:
        if isinstance(value, TensorMap):
            sizes.append(value.element_size)
        elif isinstance(value, np.ndarray) and value.size:
            address = memory.layout.address_of(value)
            sizes += [value.itemsize, address & -address]
    return min(sizes)


def _bound(name: str, value: Any, memory: GlobalMemory, note: Callable[[int], None]) -> Any:
    if isinstance(value, TensorMap):
        return value.with_address(memory.layout.address_of(value.array))
    if isinstance(value, np.ndarray):
        return memory.array(value, note, name)
    return value.item() if isinstance(value, (np.integer, np.bool_)) else value
