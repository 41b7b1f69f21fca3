"""The ladder on a Hopper GPU: full sizes, sizes that are multiples of nothing but 8, prepared launches, graphs."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

from tmalab.gpu.errors import GpuStopped
from tmalab.kernels import (
    LADDER,
    copy_cp_async,
    copy_tensor,
    gemm,
    gemm_cluster,
    gemm_naive,
    gemm_persistent,
    gemm_pipelined,
    gemm_warp_specialized,
)
from tmalab.kernels.copy_tensor import Ring
from tmalab.kernels.gemm_tiles import TILES, Tile

pytestmark = pytest.mark.gpu

STEPS = (gemm_naive, gemm_pipelined, gemm_warp_specialized, gemm_persistent, gemm_cluster)
POISON = 0x7FC0  # a NaN as bf16


def random(rows: int, columns: int, seed: int) -> np.ndarray:
    return gemm.bf16(np.random.default_rng(seed).standard_normal((rows, columns), np.float32))


def check(launch_of, m: int, n: int, k: int, *options) -> None:
    """Bounded waits, poison behind, and an error's norm below 3e-3 of the product's."""
    a, b, c = random(m, k, 1), random(n, k, 2), np.full((m, n), POISON, np.uint16)
    how = launch_of(a, b, c, *options)
    run = how.pop("kernel").run(on="gpu", **how)
    assert run.ok, str(run)
    expected = gemm.float32(a) @ gemm.float32(b).T
    error = gemm.float32(c) - expected
    assert not np.isnan(error).any()
    assert np.linalg.norm(error) < 3e-3 * np.linalg.norm(expected)


@pytest.mark.parametrize("name", LADDER)
def test_a_kernel_shows_on_the_gpu_what_its_header_says(name):
    for shown, run, result, expected in importlib.import_module(f"tmalab.kernels.{name}").demonstrate("gpu"):
        assert run.ok, f"{shown}: {run}"
        assert np.array_equal(result.view(np.uint8), expected.view(np.uint8)), shown


@pytest.mark.parametrize("module", STEPS)
@pytest.mark.parametrize("sizes", [(2048, 2048, 2048), (1000, 1016, 520), (8, 8, 8), (4096, 136, 4104)])
def test_a_step_is_right_at_full_and_odd_sizes(module, sizes):
    check(module.launch_of, *sizes)


@pytest.mark.parametrize("module", [gemm_persistent, gemm_cluster])
def test_the_last_steps_are_right_at_8192(module):
    check(module.launch_of, 8192, 8192, 8192)


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("sizes", [(1000, 1016, 520), (2048, 2048, 1024)])
def test_every_shape_of_tiles_is_right(tile, sizes):
    check((gemm_cluster if tile.cluster == 2 else gemm_persistent).launch_of, *sizes, tile)


@pytest.mark.parametrize("group", [1, 4, 16, 64])
def test_the_order_of_the_tiles_does_not_change_the_product(group):
    check(gemm_cluster.launch_of, 2048, 2304, 256, Tile(2, 256, 4, 2, group))


def test_a_prepared_launch_gives_the_same_bits_again_and_again():
    a, b, c = random(512, 512, 1), random(512, 512, 2), np.full((512, 512), POISON, np.uint16)
    how = gemm_persistent.launch_of(a, b, c)
    kernel = how.pop("kernel")
    assert kernel.run(on="gpu", **how).ok
    once = c.copy()
    with kernel.prepare(**how) as launch:
        for _ in range(3):
            launch()
        c[:] = 0
        launch.fetch()
    assert np.array_equal(c, once)


@pytest.mark.parametrize("ring", [Ring(), Ring(16, 6, 1, 2), Ring(4, 8, 3)])
def test_every_byte_of_a_tensor_is_copied(ring):
    for rows, columns in ((4096, 256), (1001, 298)):
        source = np.random.default_rng(0).integers(1 << 62, size=(rows, columns))
        out = np.zeros_like(source)
        how = copy_tensor.launch_of(source, out, ring)
        assert how.pop("kernel").run(on="gpu", **how).ok
        assert np.array_equal(out, source)


def test_every_byte_is_copied_by_threads():
    source = np.random.default_rng(0).integers(1 << 62, size=(1_000_003, 2))
    out = np.zeros_like(source)
    how = copy_cp_async.launch_of(source, out)
    assert how.pop("kernel").run(on="gpu", **how).ok
    assert np.array_equal(out, source)


def test_pytorchs_tensors_are_used_where_they_are_and_a_graph_captures_the_launch():
    torch = pytest.importorskip("torch")
    a, b = (torch.randn(512, 512, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.full((512, 512), float("nan"), device="cuda", dtype=torch.bfloat16)
    how = gemm_cluster.launch_of(a, b, c)
    kernel = how.pop("kernel")
    assert kernel.run(on="gpu", **how).ok
    reference = a.float() @ b.float().t()
    assert float((c.float() - reference).norm() / reference.norm()) < 3e-3
    launch = kernel.prepare(**how)
    c.fill_(float("nan"))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch(torch.cuda.current_stream())
    graph.replay()
    torch.cuda.synchronize()
    assert float((c.float() - reference).norm() / reference.norm()) < 3e-3


def test_cupys_arrays_are_used_where_they_are():
    cupy = pytest.importorskip("cupy")
    source = cupy.arange(4096 * 256, dtype=cupy.int64).reshape(4096, 256)
    target = cupy.zeros_like(source)
    how = copy_tensor.launch_of(source, target)
    with how.pop("kernel").prepare(**how) as launch:
        launch(cupy.cuda.get_current_stream())
        launch.wait()
    assert bool((source == target).all())


FAULTS = """
import numpy as np
from tmalab import TensorMap
from tmalab.gpu.errors import GpuStopped
from tmalab.kernels.copy_2d import copy_2d
tensor, out = np.zeros((16, 128), np.float16), np.zeros((8, 64), np.float16)
launch = copy_2d.prepare(args=(TensorMap.from_array(tensor, (8, 64)), out, 3, 0))    # 6 bytes into a row
launch()
try:
    launch.wait()
except GpuStopped as error:
    print(error)
"""


def test_a_prepared_kernel_that_faults_names_the_likely_rule_and_the_restart():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, timeout=60)
    assert "illegal instruction; most likely coordinates[0] times the element size" in done.stdout
    assert "restart the process" in done.stdout
    assert GpuStopped.__name__ not in done.stderr
