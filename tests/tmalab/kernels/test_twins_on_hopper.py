"""The twins in CUDA C++ on a Hopper GPU: every byte is as the Python kernel leaves it, and as it must be."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tmalab import TensorMap
from tmalab.gpu import launch, memory
from tmalab.gpu.device import call, hopper
from tmalab.kernels import LADDER, copy_tensor, gemm, gemm_cluster, gemm_persistent, twins
from tmalab.kernels.gemm_tiles import TILES
from tmalab.launch import Kernel
from tmalab.simulator.memory import SHARED_LIMIT

pytestmark = pytest.mark.gpu

SIZED = ("gemm_naive", "gemm_pipelined", "gemm_warp_specialized")  # which take the sizes of C beside its address


class Done:
    """A twin's run, for a demonstration: its waits have no limit, so that it has ended, or nothing would be here."""

    ok = True


def run_twin(self, grid: Any = 1, block: Any = 128, args: Sequence[Any] = (), cluster: Any = 1, **_: Any) -> Done:
    """`Kernel.run` on the GPU, of the twin of the same name."""
    hopper().use()
    twin = twins.compiled(self.__name__)
    _library, function = launch.load(twin.cubin, self.__name__)
    with memory.on_device(args) as layout:
        values = parameters(self.__name__, args, layout)
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))
        config = launch.config_of(triple(grid), triple(block), triple(cluster))
        if ".extern .shared" in twin.ptx:
            from cuda.bindings.driver import CUfunction_attribute as attribute

            most = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            call("cuFuncSetAttribute", function, most, SHARED_LIMIT)
            config.sharedMemBytes = SHARED_LIMIT
        call("cuLaunchKernelEx", config, function, ctypes.addressof(pointers), 0)
        call("cuCtxSynchronize")
        memory.download(layout)
    return Done()


def triple(given: Any) -> tuple[int, ...]:
    given = given if isinstance(given, (tuple, list)) else (given,)
    return (*given, *(1,) * (3 - len(given)))


def parameters(name: str, args: Sequence[Any], layout: Any) -> list[Any]:
    """The parameters in CUDA C++: a map as its bytes, an array as its address, numbers as they are."""
    values: list[Any] = []
    for arg in args:
        if isinstance(arg, TensorMap):
            values.append(memory._map(arg, layout))
        elif isinstance(arg, np.ndarray):
            values.append(ctypes.c_uint64(layout.address_of(arg)))
            values += [ctypes.c_int32(size) for size in arg.shape if name in SIZED]
        else:
            values.append(ctypes.c_int32(int(arg)))
    return [*values, ctypes.c_int64(len(args[0]))] if name == "copy_cp_async" else values


def same(monkeypatch, shown) -> None:
    """`shown` tells what a kernel did: by its twin, then by itself."""
    with monkeypatch.context() as patched:
        patched.setattr(Kernel, "run", run_twin)
        by_twin = shown()
    for (what, _, twins_own, expected), (_, run, python, _) in zip(by_twin, shown(), strict=True):
        assert run.ok, what
        assert twins_own.tobytes() == python.tobytes() == expected.tobytes(), what


OF_ONE_SHAPE = ("copy_tensor", "gemm_persistent", "gemm_cluster")  # the Python kernels have other shapes too


@pytest.mark.parametrize("name", [name for name in LADDER if name not in OF_ONE_SHAPE])
def test_a_twin_does_what_the_python_kernel_does(name, monkeypatch):
    same(monkeypatch, lambda: importlib.import_module(f"tmalab.kernels.{name}").demonstrate("gpu"))


@pytest.mark.parametrize("sizes", [(4096, 512), (1003, 298), (3, 10)])
def test_the_twin_of_the_tensors_copy_does_what_the_python_kernel_does(sizes, monkeypatch):
    def copy():
        source = np.random.default_rng(0).integers(-(2**62), 2**62, sizes)
        out = np.zeros_like(source)
        how = copy_tensor.launch_of(source, out)
        return [(str(sizes), how.pop("kernel").run(on="gpu", **how), out, source)]

    same(monkeypatch, copy)


@pytest.mark.parametrize(("module", "tile"), [(gemm_persistent, TILES[0]), (gemm_cluster, TILES[3])])
@pytest.mark.parametrize("sizes", [(256, 512, 448), (1000, 1016, 520), (40, 72, 40), (2048, 2048, 2048)])
def test_a_persistent_twin_multiplies_as_the_python_kernel_does(module, tile, sizes, monkeypatch):
    def product():
        m, n, k = sizes
        a, b, c = gemm.small_integers(m, k, 1), gemm.small_integers(n, k, 2), np.full((m, n), 0x7FC0, np.uint16)
        how = module.launch_of(a, b, c, tile)
        return [gemm.shown(str(sizes), how.pop("kernel").run(on="gpu", **how), a, b, c)]

    same(monkeypatch, product)
