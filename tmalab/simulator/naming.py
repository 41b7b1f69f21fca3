"""Names for reports: addresses and numbers of threads in the learner's terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tmalab.simulator.arrays import Array
from tmalab.simulator.threads import Dim3, len_of
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch
    from tmalab.simulator.memory import Memory


def element_of(memory: Memory, address: int) -> tuple[str | None, tuple[int, ...] | None]:
    """The array that holds an address (bytes), by name, and the indices of the element there."""
    found = memory.allocation(address)
    if found is None or found.array.name is None:
        return None, None
    return found.array.name, indices_at(found.array, address - memory.base - found.start)


def indices_at(array: Array, offset: int) -> tuple[int, ...] | None:
    """The indices of the element `offset` bytes into an array; None where there is none (a gap between rows), or where
    an axis runs backwards."""
    indices = [0] * array.ndim
    if any(stride < 0 for stride in array.strides):
        return None
    for axis in sorted(range(array.ndim), key=lambda axis: -array.strides[axis]):
        stride = array.strides[axis]
        if stride == 0:
            continue
        indices[axis] = min(offset // stride, array.shape[axis] - 1)
        offset -= indices[axis] * stride
    return tuple(indices) if offset < array.itemsize else None


def element_name(memory: Memory, address: int) -> str:
    """`tile[3, 8]`"""
    name, indices = element_of(memory, address)
    if name is None:
        return text("hazards.nameless", space=memory.space, address=hex(address))
    if indices is None:
        return name
    return f"{name}[{', '.join(map(str, indices))}]"


def part_name(memory: Memory, address: int) -> str:
    """`ring[1]`: the part of an array that begins at an address, less last indices of 0; `tile` for a whole matrix."""
    name, indices = element_of(memory, address)
    if name is None:
        return text("hazards.nameless", space=memory.space, address=hex(address))
    least = 1 if indices and len(indices) > 2 else 0
    while indices and indices[-1] == 0 and len(indices) > least:
        indices = indices[:-1]
    return name if not indices else f"{name}[{', '.join(map(str, indices))}]"


def row_name(memory: Memory, address: int) -> str:
    """`maps[0]`: the row of an array that begins at an address."""
    name, indices = element_of(memory, address)
    return f"{name}[{indices[0]}]" if name is not None and indices else part_name(memory, address)


def barrier_name(memory: Memory, address: int) -> str:
    """`full[1]`, or `bar` where the array is one barrier."""
    name, indices = element_of(memory, address)
    if name is None:
        return text("hazards.nameless", space=memory.space, address=hex(address))
    allocation = memory.allocation(address)
    return name if allocation is None or allocation.array.size == 1 or not indices else f"{name}[{indices[0]}]"


def thread_name(launch: Launch, number: int) -> str:
    """`thread 37`, with x, y and z where the block has them, and its CTA where there are several."""
    cta, index = divmod(number, len_of(launch.block))
    name = f"thread {_name(index, launch.block)}"
    return name if len_of(launch.grid) == 1 else f"{name} of {cta_name(launch, cta)}"


def cta_name(launch: Launch, number: int) -> str:
    """`CTA 2`, with x, y and z where the grid has them."""
    return f"CTA {_name(number, launch.grid)}"


def _name(index: int, shape: tuple[int, int, int]) -> str:
    return str(index) if shape[1] == shape[2] == 1 else str(tuple(Dim3.at(index, shape)))
