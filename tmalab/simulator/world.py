"""What `cuda` means inside a simulated kernel: the part of numba.cuda that the kernel language has.

The kernel finds a module, as numba's is: the interpreter reads the names of a module in 5 ns, those of an object that
has an answer for unknown ones in 80. The indices are names in it, which the scheduler sets when it switches threads.
"""

from __future__ import annotations

import sys
from functools import partial
from math import prod
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.arrays import Array, make_array
from tmalab.simulator.atomics import Atomics
from tmalab.simulator.context import current_thread, now
from tmalab.simulator.errors import KernelError
from tmalab.simulator.memory import Memory, PrivateMemory, checked_shape, element_type, unlogged
from tmalab.simulator.threads import WARP, Dim3, len_of
from tmalab.simulator.warps import FULL_MASK
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Launch
    from tmalab.simulator.cta import Cta


class Shared:
    """cuda.shared"""

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> Array:
        """A static shared array: one for each place in the source."""
        cta, frame = (now.thread or current_thread()).cta, sys._getframe(1)
        array = cta.memory.arrays.get((id(frame.f_code), frame.f_lasti))  # as Source.site has it, for the common case
        return cta.shared_array(shape, dtype, alignment) if array is None else array


class Local:
    """cuda.local: arrays of one thread, in its registers or its stack."""

    def array(self, shape: Any, dtype: Any, alignment: int | None = None) -> Array:
        """An array of the calling thread; starts as garbage."""
        shape, dtype = checked_shape(shape), element_type(dtype)
        memory = PrivateMemory(prod(shape) * dtype.itemsize, "local")
        return make_array(memory, 0, shape, dtype, unlogged, name="local")


class Const:
    """cuda.const: arrays that are part of the kernel."""

    def array_like(self, values: np.ndarray) -> Array:
        """A read-only copy of a NumPy array."""
        values = np.ascontiguousarray(values)
        memory = Memory(values.reshape(-1).view(np.uint8).copy(), 0, "const")
        return make_array(memory, 0, values.shape, values.dtype, unlogged, name="const", writable=False)


class World:
    """The simulated `numba.cuda` of one launch.

    cuda      the module that the kernel finds; `names` are what it holds
    indices   of the threads of a CTA
    """

    def __init__(self, launch: Launch):
        self.blockDim, self.gridDim = Dim3(*launch.block), Dim3(*launch.grid)
        self.warpsize = WARP
        self.shared, self.local, self.const, self.atomic = Shared(), Local(), Const(), Atomics()
        functions = [name for name, value in vars(World).items() if isinstance(value, FunctionType) and name[0] != "_"]
        self.cuda = ModuleType("cuda")
        self.names: dict[str, Any] = self.cuda.__dict__
        self.names |= vars(self) | {name: getattr(self, name) for name in functions}
        self.names |= {"threadIdx": Dim3(0, 0, 0), "blockIdx": Dim3(0, 0, 0), "__getattr__": partial(getattr, self)}
        self.indices = [Dim3.at(index, launch.block) for index in range(len_of(launch.block))]
        self.cta: Cta | None = None

    def enter(self, cta: Cta) -> None:
        """A thread of another CTA runs."""
        self.cta, self.names["blockIdx"] = cta, cta.index3
        self.names["syncthreads"] = cta.barriers.sync_all

    @property
    def laneid(self) -> int:
        """The thread's number in its warp."""
        return current_thread().lane

    def syncthreads(self) -> None:
        """Wait for all threads of the CTA that have not exited."""
        current_thread().barriers.sync_all()  # the kernel finds that itself, see enter

    def syncwarp(self, mask: int = FULL_MASK) -> None:
        """Wait for the lanes of the mask."""
        thread = current_thread()
        thread.cta.warps.sync(thread, mask)

    def threadfence(self) -> None:
        """fence.acq_rel at the scope of the GPU."""
        current_thread().fences.acq_rel("gpu")

    def threadfence_block(self) -> None:
        """The same at the scope of the CTA."""
        current_thread().fences.acq_rel("cta")

    def threadfence_system(self) -> None:
        """The same towards the host and other GPUs."""
        current_thread().fences.acq_rel("gpu")

    def nanosleep(self, ns: int) -> None:
        """Let others run; how long is not simulated, and a wait is none."""
        current_thread().give_way()

    def grid(self, ndim: int) -> int | tuple[int, ...]:
        """The thread's place in the whole grid: an int, or a tuple of ndim of them."""
        thread, block, size = self.names["threadIdx"], self.names["blockIdx"], self.blockDim
        if ndim == 2:  # spelt out: every thread of a kernel asks
            return block.x * size.x + thread.x, block.y * size.y + thread.y
        return _first([block * size + thread for block, size, thread in zip(block, size, thread)], ndim)

    def gridsize(self, ndim: int) -> int | tuple[int, ...]:
        """The size of the whole grid in threads."""
        return _first([blocks * size for blocks, size in zip(self.gridDim, self.blockDim)], ndim)

    def __getattr__(self, name: str) -> Any:
        raise KernelError(text("simulator.not-in-language", name=name))


def _first(values: list[int], ndim: int) -> int | tuple[int, ...]:
    if ndim not in (1, 2, 3):
        raise KernelError(text("simulator.grid-ndim", given=repr(ndim)))
    return values[0] if ndim == 1 else tuple(values[:ndim])
