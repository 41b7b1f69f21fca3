"""Launch a kernel on a Hopper GPU and say how it went.

The kernel is compiled with bounded waits, its buffers go to the device and come back. cuda.core's launcher takes no
128-byte arguments, so the launch is the driver's own. What the hardware reports about a wrong kernel, a wait without
end or a fault, is in the Run; whatever else is wrong raises with one sentence.

>>> import numpy as np, tmalab
>>> from numba import cuda
>>> @tmalab.kernel
... def fill(out):
...     out[cuda.threadIdx.x] = 7
>>> from tmalab.gpu.launch import run_on_gpu      # run_on_gpu(fill, 1, 32, (np.zeros(32, np.int32),)).ok
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.faults import TmaFault
from tmalab.gpu.bounded_waits import LIMIT_NS, SIZE, SYMBOL, Notes, bound_waits, fresh_notes, read_notes
from tmalab.gpu.clocked_ptx import SYMBOL as LOOKS
from tmalab.gpu.clocked_ptx import clocked, read_looks, size_of
from tmalab.gpu.compile import Compiled, compile_kernel
from tmalab.gpu.deadlock import as_hazard, deadlock_of
from tmalab.gpu.device import FAULTS, NOT_READY, DriverError, call, hopper, stop
from tmalab.gpu.device_arrays import located
from tmalab.gpu.errors import CompileError, GpuStopped, GpuUnavailable
from tmalab.gpu.measured_timeline import timeline_of_looks
from tmalab.gpu.memory import download, on_device, parameters
from tmalab.gpu.ptxas import assembled
from tmalab.run import Run
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.launch import Kernel

Triple = tuple[int, int, int]
_NOT_TAKEN = (200, 209, 222)  # CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU, UNSUPPORTED_PTX_VERSION
ENDLESS_SECONDS = 30  # a kernel that still runs so long after its waits must have given up never ends


_LIKELY = {  # kind of fault: the rule that was most likely broken
    "illegal_instruction": "gpu.likely-illegal-instruction",
    "misaligned_address": "gpu.likely-misaligned-address",
    "illegal_address": "gpu.likely-illegal-address",
    "launch_failed": "gpu.likely-launch-failed",
}


class Loaded(NamedTuple):
    """A kernel in the driver: its handle, and the device addresses of the notes that its waits leave, and of the looks
    at the clock that it takes, if it does."""

    library: Any
    kernel: Any
    notes: int
    looks: int = 0


def run_on_gpu(
    kernel: Kernel,
    grid: Triple,
    block: Triple,
    args: Sequence[Any],
    cluster: Triple = (1, 1, 1),
    limit_ns: int = LIMIT_NS,
    trace: bool = False,
) -> Run:
    """Launch once and wait for the end. Arrays change in place, unless the kernel faults.

    Sizes are CTAs and threads, x first; `limit_ns` is how long waits may fail before the launch counts as a deadlock.
    `trace`: with looks at the clock, from which the run's timeline is made.
    Raises GpuUnavailable without a Hopper GPU, GpuStopped where this process has lost it.
    """
    gpu = hopper()
    gpu.use()
    args = located(args)
    try:
        compiled = compile_kernel(kernel.function, args, math.prod(block))
    except CompileError as error:
        failed = error  # `error` is gone when the block ends
        return Run(on="gpu", compiling=lambda: failed)
    threads = math.prod(block)
    found = loaded(compiled, threads if trace else None)
    check_fits(kernel.__name__, found.kernel, grid, block, cluster)
    try:
        with on_device(args) as layout:
            call("cuMemcpyHtoD", found.notes, fresh_notes(limit_ns), len(fresh_notes()))
            if trace:
                call("cuMemsetD8", found.looks, 0, size_of(threads))
            _launch(found.kernel, grid, block, cluster, parameters(args, layout))
            _finish(limit_ns)
            download(layout)
            notes = _notes(found)
            looks = read_looks(memory_at(found.looks, size_of(threads)), threads) if trace else None
    except DriverError as error:
        if error.code not in FAULTS:
            raise
        return Run(on="gpu", fault=fault_of(kernel.__name__, FAULTS[error.code]))
    run = Run(on="gpu", measuring=None if looks is None else lambda: timeline_of_looks(looks))
    if notes.count:
        run.deadlock = deadlock_of(notes, threads)
        run.hazards = [as_hazard(run.deadlock)]
    return run


@lru_cache(maxsize=32)
def loaded(compiled: Compiled, looking: int | None = None) -> Loaded:
    """A kernel with bounded waits; `looking`: and with looks at the clock, for CTAs of so many threads."""
    cubin = compiled.bounded_cubin if looking is None else looking_cubin(compiled, looking)
    library, kernel = load(cubin, compiled.name)
    notes, _ = call("cuLibraryGetGlobal", library, SYMBOL.encode())
    looks = 0 if looking is None else call("cuLibraryGetGlobal", library, LOOKS.encode())[0]
    return Loaded(library, kernel, int(notes), int(looks))


@lru_cache(maxsize=32)
def looking_cubin(compiled: Compiled, threads: int) -> bytes:
    """Machine code with bounded waits and looks at the clock, for CTAs of so many threads."""
    return assembled(bound_waits(clocked(compiled.ptx, threads)), compiled.name).cubin


def load(cubin: bytes, name: str) -> tuple[Any, Any]:
    """Machine code in the driver: its library, and its kernel in the current context.

    GpuUnavailable where the driver is too old for it.
    """
    try:
        library = call("cuLibraryLoadData", cubin, [], [], 0, [], [], 0)
    except DriverError as error:
        if error.code not in _NOT_TAKEN:
            raise
        raise GpuUnavailable(text("gpu.not-taken", cuda=hopper().cuda)) from None
    return library, call("cuKernelGetFunction", call("cuLibraryGetKernel", library, name.encode()))


def config_of(grid: Triple, block: Triple, cluster: Triple) -> Any:
    """A launch as the driver takes it, on the default stream."""
    from cuda.bindings import driver

    config = driver.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = grid
    config.blockDimX, config.blockDimY, config.blockDimZ = block
    if cluster != (1, 1, 1):
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        size = attribute.value.clusterDim
        size.x, size.y, size.z = cluster
        config.attrs, config.numAttrs = [attribute], 1
    return config


def check_fits(name: str, function: Any, grid: Triple, block: Triple, cluster: Triple) -> None:
    """ValueError for CTAs with more threads than registers, and for clusters that no part of the GPU holds."""
    from cuda.bindings.driver import CUfunction_attribute as attribute

    threads = math.prod(block)
    most = call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function)
    if threads > most:
        registers = call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
        raise ValueError(text("gpu.too-many-registers", kernel=name, threads=threads, registers=registers, most=most))
    if cluster != (1, 1, 1) and call("cuOccupancyMaxActiveClusters", function, config_of(grid, block, cluster)) < 1:
        raise ValueError(text("gpu.cluster-does-not-fit", kernel=name, ctas=math.prod(cluster), threads=threads))


def _launch(function: Any, grid: Triple, block: Triple, cluster: Triple, values: list[Any]) -> None:
    """Start the kernel on the default stream."""
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
    call("cuLaunchKernelEx", config_of(grid, block, cluster), function, ctypes.addressof(pointers), 0)


def _finish(limit_ns: int) -> None:
    """Wait until the kernel has ended; GpuStopped where it seems that it never will."""
    from cuda.bindings import driver

    stream = driver.CUstream(0)
    begin = time.monotonic()
    deadline = begin + limit_ns / 1e9 + ENDLESS_SECONDS
    while (now := time.monotonic()) < deadline:
        try:
            call("cuStreamQuery", stream)
            return
        except DriverError as error:
            if error.code != NOT_READY:
                raise
        time.sleep(0 if now < begin + 0.01 else 0.001)
    reason = text("gpu.endless", seconds=ENDLESS_SECONDS)
    stop(reason)
    raise GpuStopped(text("gpu.stopped", reason=reason))


def _notes(loaded: Loaded) -> Notes:
    return read_notes(memory_at(loaded.notes, SIZE))


def memory_at(address: int, size: int) -> bytes:
    memory = ctypes.create_string_buffer(size)
    call("cuMemcpyDtoH", ctypes.addressof(memory), address, size)
    return memory.raw


def fault_of(kernel: str, kind: str) -> TmaFault:
    """What the driver said, which rule is likely, and that this process is done with the GPU."""
    reason = text("gpu.faulted", kernel=kernel, likely=text(_LIKELY[kind]))
    stop(reason)
    return TmaFault(kind, text("gpu.fault", reason=reason))
