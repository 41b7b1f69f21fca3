"""Shared memory that nobody has written: a warning where it is read, a hazard where what was read matters."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.mutants.case import tile_map
from tmalab import kernel, ptx

SEEDS = (0, 1, 2)


@kernel
def dropped(out):
    tile = cuda.shared.array(64, np.int32)
    i = cuda.threadIdx.x
    doubled = tile[i] * 2
    out[i] = i
    doubled += 1


@kernel
def reaches_global_memory(out):
    tile = cuda.shared.array(64, np.int32)
    out[cuda.threadIdx.x] = tile[cuda.threadIdx.x]


@kernel
def reaches_it_by_way_of_another_tile(out):
    tile = cuda.shared.array(64, np.int32)
    other = cuda.shared.array(64, np.float32)
    i = cuda.threadIdx.x
    other[i] = np.float32(tile[i])
    out[i] = other[i]


@kernel
def decides_what_is_written(out):
    tile = cuda.shared.array(64, np.int32)
    if tile[cuda.threadIdx.x] > 3:
        out[cuda.threadIdx.x] = 1


@kernel
def decides_who_waits(out):
    tile = cuda.shared.array(64, np.int32)
    if tile[0] > 3:
        cuda.syncwarp()
    out[cuda.threadIdx.x] = 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_value_that_is_used_for_nothing_is_a_warning(seed):
    out = np.zeros(32, np.int32)
    run = dropped.run(block=32, args=(out,), seed=seed)
    assert run.ok
    assert out.tolist() == list(range(32))
    (warning,) = run.warnings
    assert "reads tile[" in warning
    assert f"{__file__.rsplit('/')[-1]}:{dropped.function.__code__.co_firstlineno + 4}" in warning


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "matters",
    [reaches_global_memory, reaches_it_by_way_of_another_tile, decides_what_is_written, decides_who_waits],
)
def test_a_value_that_reaches_global_memory_or_decides_is_a_hazard(matters, seed):
    run = matters.run(block=32, args=(np.zeros(32, np.int32),), seed=seed)
    assert [hazard.name for hazard in run.hazards] == ["uninitialised-read"]
    assert not run.warnings


def test_a_store_of_what_nobody_wrote_reaches_global_memory():
    @kernel
    def stores(target):
        tile = cuda.shared.array((8, 64), np.float16, alignment=128)
        ptx.cp_async_bulk_tensor_2d_store(target, 0, 0, tile)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)

    run = stores.run(block=1, args=(tile_map(np.zeros((8, 64), np.float16)),))
    assert [hazard.name for hazard in run.hazards] == ["uninitialised-read"]
    assert "garbage goes to global memory" in run.hazards[0].message
