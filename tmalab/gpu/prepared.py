"""A prepared launch: compiled, loaded, its arguments on the device and its maps encoded once; a call only launches.

    product = gemm.prepare(grid=132, block=384, args=(a_map, b_map, c_map, m, n, k))
    product()                   # on the default stream; returns at once
    product(stream)             # PyTorch's, CuPy's, numba's, or a number: also one that a CUDA graph captures
    product.wait()              # until all is done; faults are told here

The kernel is launched as it is written: its waits have no limit, so that a kernel that hangs holds the GPU until its
process ends. Run it once with `run` first. Arrays in a GPU's memory are used where they are; NumPy's are copied there
once, and back by `fetch`.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from contextlib import ExitStack
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tmalab.gpu.compile import Compiled, compile_kernel
from tmalab.gpu.device import FAULTS, DriverError, call, hopper
from tmalab.gpu.device_arrays import located
from tmalab.gpu.errors import GpuStopped
from tmalab.gpu.launch import Triple, check_fits, config_of, fault_of, load
from tmalab.gpu.memory import download, on_device, parameters
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Kernel


class Prepared:
    """A kernel with its arguments, ready to be launched again and again. Made by `kernel.prepare`."""

    def __init__(
        self,
        kernel: Kernel,
        grid: Triple,
        block: Triple,
        args: Sequence[Any],
        cluster: Triple = (1, 1, 1),
        min_ctas: int | None = None,
    ):
        gpu = hopper()
        gpu.use()
        arguments = located(args)
        self.name = kernel.__name__
        self.compiled: Compiled = compile_kernel(kernel.function, arguments, math.prod(block), min_ctas)
        function = self._load(math.prod(block))
        check_fits(self.name, function, grid, block, cluster)
        self._gpu = gpu
        self._memory = ExitStack()
        self._layout = self._memory.enter_context(on_device(arguments))
        self._values = parameters(arguments, self._layout)
        self._pointers = (ctypes.c_void_p * len(self._values))(*map(ctypes.addressof, self._values))
        self._config, self._function = config_of(grid, block, cluster), function
        self._arguments = arguments  # keeps the memory alive

    def __call__(self, stream: Any = None) -> None:
        """Launch once more, on a stream; returns at once. GpuStopped where this process has lost the GPU."""
        from cuda.bindings import driver

        self._gpu.use()
        self._config.hStream = driver.CUstream(stream_number(stream))
        self._checked("cuLaunchKernelEx", self._config, self._function, ctypes.addressof(self._pointers), 0)

    def wait(self) -> None:
        """Wait until the GPU has done all it was given. GpuStopped, with the likely rule, where a kernel faulted."""
        self._checked("cuCtxSynchronize")

    def fetch(self) -> None:
        """Wait, then copy the NumPy arrays among the arguments back, in place."""
        self.wait()
        download(self._layout)

    def close(self) -> None:
        """Free what was allocated for NumPy arrays, after all launches are done. `with` does it too."""
        self.wait()
        self._memory.close()

    def __enter__(self) -> Prepared:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def _load(self, threads: int) -> Any:
        """The function to launch, of the driver, for CTAs of so many threads."""
        return _loaded(self.compiled)[1]

    def _checked(self, function: str, *arguments: Any) -> None:
        try:
            call(function, *arguments)
        except DriverError as error:
            if error.code not in FAULTS:
                raise
            raise GpuStopped(str(fault_of(self.name, FAULTS[error.code]))) from None


@lru_cache(maxsize=32)
def _loaded(compiled: Compiled) -> tuple[Any, Any]:
    return load(compiled.fast.cubin, compiled.name)


def stream_number(stream: Any) -> int:
    """A stream of any library as the driver's number; None is the default stream.

    >>> stream_number(None), stream_number(7)
    (0, 7)
    """
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    if hasattr(stream, "__cuda_stream__"):  # cuda.core's protocol: version and number
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr", "handle"):  # PyTorch, CuPy, numba
        number = getattr(stream, name, None)
        if number is not None:
            return int(getattr(number, "value", number) or 0)
    raise TypeError(text("gpu.stream", given=type(stream).__name__))
