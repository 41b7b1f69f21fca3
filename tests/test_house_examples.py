"""Every Python example in README and docs is run by a test, here or in test_house_readme.py."""

from __future__ import annotations

import runpy

import pytest

from tests.pages import examples
from tmalab.gpu.errors import GpuUnavailable

GIVEN = """
import json
import numpy as np
import tmalab
from numba import cuda
from tmalab import Swizzle, TensorMap, ptx
from tmalab.kernels import gemm_cluster, gemm_pipelined

@tmalab.kernel
def kernel(tensor_map, out):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, 512, cuda.blockDim.x):  # without a wait
        out[i // 64, i % 64] = tile[i // 64, i % 64]

grid, block, out = 1, 128, np.zeros((8, 64), np.float16)
tensor_map = TensorMap.from_array(np.ones((16, 128), np.float16), (8, 64), Swizzle.B128)
args = (tensor_map, out)
a, b, c = (np.zeros(shape, np.uint16) for shape in ((128, 64), (128, 64), (128, 128)))
"""  # what the pages' examples take for granted
TICKETS = """
@tmalab.kernel
def kernel(out):
    out[cuda.threadIdx.x] = cuda.threadIdx.x

out = np.zeros(4, np.int32)
"""
PRODUCT = """
how = gemm_pipelined.launch_of(a, b, c)
gemm, grid, block, (a_map, b_map, c, k) = (how[name] for name in ("kernel", "grid", "block", "args"))
"""
EXAMPLES = {  # page, example: what that one takes for granted besides, and words of what it prints
    ("exploration.md", 0): ("", "read-before-wait"),
    ("exploration.md", 1): (TICKETS, ""),
    ("figures.md", 0): ("", "conflict"),
    ("timing.md", 0): ("", "copy engine: busy"),
    ("timing.md", 2): (PRODUCT, "wave"),
}
ON_HOPPER = {("ladder.md", 0), ("timing.md", 1)}
READMES = {("README.md", 0)}  # tests/test_house_readme.py runs it


def test_every_python_example_is_run_by_a_test():
    assert examples().keys() == EXAMPLES.keys() | ON_HOPPER | READMES


@pytest.mark.parametrize("place", EXAMPLES, ids=str)
def test_a_python_example_runs(place, tmp_path, monkeypatch, capsys):
    given, said = EXAMPLES[place]
    monkeypatch.chdir(tmp_path)  # some write files
    (tmp_path / "example.py").write_text(GIVEN + given + examples()[place], "utf-8")
    runpy.run_path(str(tmp_path / "example.py"))
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("place", sorted(ON_HOPPER), ids=str)
def test_a_python_example_for_a_gpu_comes_as_far_as_it(place, tmp_path, monkeypatch):
    from tmalab.gpu import device

    def none() -> None:
        raise GpuUnavailable("there is none")

    monkeypatch.setattr(device, "hopper", none)
    (tmp_path / "example.py").write_text(GIVEN + examples()[place], "utf-8")
    with pytest.raises(GpuUnavailable, match="there is none"):
        runpy.run_path(str(tmp_path / "example.py"))
