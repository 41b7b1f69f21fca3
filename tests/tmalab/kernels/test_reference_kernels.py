"""The course's kernels: right bytes and no hazard in any order, from Python and from the command line."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

from tmalab import TensorMap
from tmalab.kernels import LADDER
from tmalab.kernels.copy_2d import copy_2d
from tmalab.kernels.copy_column import copy_column
from tmalab.kernels.store_tile import store_tile


@pytest.mark.parametrize("name", LADDER)
def test_a_kernel_shows_what_its_header_says(name):
    for shown, run, result, expected in importlib.import_module(f"tmalab.kernels.{name}").demonstrate("simulator"):
        assert [*run.hazards, run.deadlock, run.fault] == [None, None], shown  # test_twins.py compiles each
        assert np.array_equal(result.view(np.uint8), expected.view(np.uint8)), shown


@pytest.mark.parametrize("name", LADDER)
def test_a_header_says_what_it_shows_how_it_differs_and_how_to_run_it(name):
    words = importlib.import_module(f"tmalab.kernels.{name}").__doc__
    assert words.startswith(f"{name}: ")
    assert [line.split()[0] for line in words.splitlines() if line[:1].isupper()] == ["Shows", "Differs", "Run"]
    assert f"python -m tmalab.kernels.{name} --on gpu" in words


def test_a_kernel_runs_from_the_command_line():
    done = subprocess.run([sys.executable, "-m", "tmalab.kernels.copy_2d"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.count("0 of 1024 bytes differ") == 2


def test_without_a_gpu_the_command_line_says_so_in_one_sentence():
    code = (
        "import sys, runpy; from tmalab.gpu import device; device._find = lambda: 'no GPU is here'; "
        "sys.argv = ['copy_2d', '--on', 'gpu']; runpy.run_module('tmalab.kernels.copy_2d', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "no GPU is here\n")


@pytest.mark.parametrize("seed", range(5))
def test_the_last_tile_is_copied_in_every_order(seed):
    tensor = np.arange(16 * 128, dtype=np.uint16).view(np.float16).reshape(16, 128)
    out = np.zeros((8, 64), np.float16)
    run = copy_2d.run(args=(TensorMap.from_array(tensor, (8, 64)), out, 64, 8), seed=seed)
    assert not run.hazards
    assert np.array_equal(out.view(np.uint16), tensor[8:, 64:].view(np.uint16))


@pytest.mark.parametrize("tiles", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_a_ring_serves_any_number_of_tiles(tiles, seed):
    tensor = np.arange(tiles * 512, dtype=np.uint16).view(np.float16).reshape(-1, 64)
    out = np.zeros_like(tensor)
    run = copy_column.run(block=32, args=(TensorMap.from_array(tensor, (8, 64)), out, tiles), seed=seed)
    assert not run.hazards
    assert np.array_equal(out.view(np.uint16), tensor.view(np.uint16))


@pytest.mark.parametrize("seed", range(3))
def test_a_tile_is_stored_in_every_order(seed):
    tile = np.arange(512, dtype=np.uint16).view(np.float16).reshape(8, 64)
    tensor = np.zeros((16, 128), np.float16)
    run = store_tile.run(args=(TensorMap.from_array(tensor, (8, 64)), tile, 64, 4), seed=seed)
    assert not run.hazards
    assert np.array_equal(tensor[4:12, 64:].view(np.uint16), tile.view(np.uint16))
    assert np.count_nonzero(tensor) == np.count_nonzero(tile)
