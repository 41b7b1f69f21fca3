"""@kernel and @device: a function of the kernel language, launched in the simulator or on a GPU through one interface.

A kernel is plain `numba.cuda` Python with `tmalab.ptx` instructions. It is not called but run:

>>> import tmalab
>>> from numba import cuda
>>> @tmalab.kernel
... def fill(out, value):
...     out[cuda.threadIdx.x] = value
>>> import numpy as np
>>> out = np.zeros(4, np.int32)
>>> run = fill.run(grid=1, block=4, args=(out, 7))
>>> run.ok, out.tolist()
(True, [7, 7, 7, 7])
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.run import Run
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.gpu.compile import Compiled
    from tmalab.gpu.prepared import Prepared

Dim = int | Sequence[int]
Triple = tuple[int, int, int]

LIMITS = {  # CUDA's limits of a launch on sm_90: each dimension, and the product where there is one
    "grid": ((2**31 - 1, 65535, 65535), None),
    "block": ((1024, 1024, 64), 1024),
    "cluster": ((8, 8, 8), 8),
}
BACKENDS = ("simulator", "gpu")
TRACES = ("last", "whole")


class Device:
    """A helper that kernels call: `@tmalab.device` on a function. In compiled code it is inlined."""

    __name__: str

    def __init__(self, function: Callable[..., Any]):
        self.function = _plain_function(function, "device")
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Run the helper: for the simulated thread that calls it, or as plain Python outside a kernel."""
        from tmalab.simulator.context import running

        thread = running()
        function = self.function if thread is None else thread.bound(self.function)
        return function(*args, **named)

    def __repr__(self) -> str:
        return f"<device {self.__name__}{inspect.signature(self.function)}>"


class Kernel:
    """A kernel: `@tmalab.kernel` on a function. `run` launches it, `ptx` and `sass` show what it compiles to."""

    __name__: str

    def __init__(self, function: Callable[..., Any]):
        self.function = _plain_function(function, "kernel")
        functools.update_wrapper(self, function)

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}{inspect.signature(self.function)}>"

    def __call__(self, *args: Any, **named: Any) -> None:
        raise TypeError(text("kernel.called", kernel=self.__name__))

    def __getitem__(self, configuration: Any) -> None:
        raise TypeError(text("kernel.called", kernel=self.__name__))

    def run(
        self,
        grid: Dim = 1,
        block: Dim = 128,
        args: Sequence[Any] = (),
        cluster: Dim = 1,
        on: str = "simulator",
        seed: int = 0,
        strict: bool = False,
        trace: str | bool = "last",
    ) -> Run:
        """Launch the kernel once and say how it went.

        grid, block, cluster   sizes in CTAs and threads, ints or up to three of them, x first
        args                   TensorMaps, NumPy arrays (which change in place) and numbers
        on                     "simulator", anywhere, or "gpu", a Hopper GPU
        seed                   which of the legal orders the simulator takes; the same seed repeats a run exactly
        strict                 also warn where the letter of PTX asks for more than common practice does
        trace                  "last", the last 4,096 events of a simulated run, or "whole" or True, all of them

        On a GPU, with trace=True, the first CTAs look at the clock at each event, and the run has a measured timeline.

        Raises TypeError or ValueError for a launch that is no launch. What the kernel does wrong is in the Run.
        """
        launch = Launch.of(self, grid, block, args, cluster, seed, strict, trace)
        if on not in BACKENDS:
            raise ValueError(text("kernel.backend", given=on))
        if on == "gpu":
            _require_gpu()
            from tmalab.gpu.launch import run_on_gpu

            shape = launch.grid, launch.block, launch.args
            return run_on_gpu(self, *shape, cluster=launch.cluster, trace=launch.trace == "whole")
        from tmalab.simulator import simulate

        return simulate(launch)

    def prepare(
        self,
        grid: Dim = 1,
        block: Dim = 128,
        args: Sequence[Any] = (),
        cluster: Dim = 1,
        min_ctas: int | None = None,
    ) -> Prepared:
        """A launch on the GPU that can be repeated at no more than a launch's cost: see `tmalab.gpu.prepared`.

        min_ctas   how many CTAs are to fit on an SM at once; the kernel then gets no more registers than that leaves

        Raises as `run` does, CompileError where the kernel does not compile, GpuUnavailable without a Hopper GPU.
        """
        _require_gpu()
        from tmalab.gpu.prepared import Prepared

        launch = Launch.of(self, grid, block, args, cluster, 0, False)
        return Prepared(self, launch.grid, launch.block, launch.args, launch.cluster, _min_ctas(min_ctas))

    def sass(self, args: Sequence[Any], block: Dim = 128) -> str:
        """The machine instructions of the kernel as `prepare` launches it, with CTAs of `block` threads; needs no GPU.

        Raises CompileError where the kernel does not compile, or nvdisasm is not installed; NoCompiler where numba-cuda
        or the CUDA toolkit is missing.
        """
        return self._compiled(args, block).sass

    def counts(self, args: Sequence[Any], block: Dim = 128) -> dict[str, int]:
        """What the kernel comes to for CTAs of `block` threads: of its PTX `instructions`, `bulk_tensor_copies` and
        `shared_bytes`; of its machine code `registers` of a thread, `spilled_bytes`, and where nvdisasm is installed
        `machine_instructions`, `wgmmas` and `tma_instructions`. Needs no GPU. Raises as `sass`, but for nvdisasm.
        """
        return self._compiled(args, block).all_counts

    def ptx(self, args: Sequence[Any]) -> str:
        """The PTX that the kernel compiles to for sm_90a with such arguments; needs no GPU.

        Raises CompileError where it does not compile, NoCompiler where numba-cuda or the CUDA toolkit is missing.
        """
        return self._compiled(args, None).ptx

    def _compiled(self, args: Sequence[Any], block: Dim | None) -> Compiled:
        """The kernel compiled for such arguments and, where known, CTAs of so many threads."""
        from tmalab.gpu.toolkit import require_compiler

        require_compiler()  # before what is imported for it, which may not be installed
        from tmalab.gpu.compile import compile_kernel

        threads = None if block is None else math.prod(_triple("block", block))
        return compile_kernel(self.function, _arguments(self, args), threads)


def _require_gpu() -> None:
    """Raise GpuUnavailable or GpuStopped before what a GPU needs is imported, which may not be installed."""
    from tmalab.gpu.device import hopper

    hopper()


def kernel(function: Callable[..., Any]) -> Kernel:
    """Make a kernel of a function."""
    return Kernel(function)


def device(function: Callable[..., Any]) -> Device:
    """Make a helper of a function, for kernels and other helpers to call."""
    return Device(function)


@dataclass(frozen=True)
class Launch:
    """A launch whose arguments make sense: all sizes as triples, x first."""

    kernel: Kernel
    grid: Triple
    block: Triple
    args: tuple[Any, ...]
    cluster: Triple = (1, 1, 1)
    seed: int = 0
    strict: bool = False
    trace: str = "last"

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        grid: Dim,
        block: Dim,
        args: Sequence[Any],
        cluster: Dim,
        seed: int,
        strict: bool,
        trace: str | bool = "last",
    ) -> Launch:
        """Check what a learner passed; TypeError or ValueError in one sentence."""
        grid, block, cluster = _triple("grid", grid), _triple("block", block), _triple("cluster", cluster)
        for axis, (ctas, of_cluster) in enumerate(zip(grid, cluster)):
            if ctas % of_cluster:
                raise ValueError(text("kernel.cluster", axis="xyz"[axis], grid=ctas, cluster=of_cluster))
        if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)):
            raise TypeError(text("kernel.seed", given=repr(seed)))
        if seed < 0:
            raise ValueError(text("kernel.seed", given=seed))
        if not isinstance(strict, (bool, np.bool_)):
            raise TypeError(text("kernel.strict", given=repr(strict)))
        if trace is True:
            trace = "whole"
        if trace not in TRACES:
            raise ValueError(text("kernel.trace", given=repr(trace)))
        return cls(kernel, grid, block, _arguments(kernel, args), cluster, int(seed), bool(strict), trace)


def _triple(name: str, given: Dim) -> Triple:
    """An int or up to three of them as (x, y, z)."""
    try:
        several: Any = given if isinstance(given, (tuple, list)) else (given,)
        sizes = tuple(map(operator.index, several))
    except TypeError:
        raise TypeError(text("kernel.dim-type", name=name, given=repr(given))) from None
    if isinstance(given, bool) or not 1 <= len(sizes) <= 3:
        raise TypeError(text("kernel.dim-type", name=name, given=repr(given)))
    x, y, z = (*sizes, 1, 1)[:3]
    each, together = LIMITS[name]
    for axis, size, limit in zip("xyz", (x, y, z), each):
        if not 1 <= size <= limit:
            raise ValueError(text("kernel.dim-range", name=name, axis=axis, value=size, limit=limit))
    if together and x * y * z > together:
        raise ValueError(text("kernel.dim-product", name=name, value=x * y * z, limit=together))
    return x, y, z


def _min_ctas(given: int | None) -> int | None:
    """How many CTAs are to fit on an SM: 1 to 32, or None."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= 32):
        raise ValueError(text("kernel.min-ctas", given=repr(given)))
    return given


def _arguments(kernel: Kernel, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments as a tuple that fits the kernel's parameters."""
    if not isinstance(args, (tuple, list)):
        raise TypeError(text("kernel.args-type", given=type(args).__name__))
    names = list(inspect.signature(kernel.function).parameters)
    if len(names) != len(args):
        counts = {"wanted": len(names), "given": len(args)}
        raise TypeError(text("kernel.args-count", kernel=kernel.__name__, names=", ".join(names), **counts))
    return tuple(args)


def _plain_function(function: Any, decorator: str) -> FunctionType:
    if not inspect.isfunction(function):
        raise TypeError(text("kernel.decorated", decorator=decorator, given=type(function).__name__))
    return function
