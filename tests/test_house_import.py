"""`import tmalab` costs next to nothing, and brings neither numba-cuda nor a notebook."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tmalab.bootstrap import ROOT

TIME = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def in_fresh_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def seconds(module: str) -> float:
    """The best of several, so that another process's load does not count."""
    return min(float(in_fresh_python(TIME.format(module))) for _ in range(5))


def test_importing_tmalab_takes_less_than_0_3_seconds_and_less_than_numpy():
    ours, numpys = seconds("tmalab"), seconds("numpy")
    print(f"import tmalab {ours * 1000:.1f} ms, import numpy {numpys * 1000:.1f} ms, ratio {ours / numpys:.2f}")
    assert ours < 0.3
    assert ours < numpys


def test_using_the_library_imports_neither_numba_cuda_nor_a_notebook():
    code = """
import sys, tmalab
for name in tmalab.__all__:
    getattr(tmalab, name)
print(sorted({"numba", "cuda", "ipywidgets", "anywidget", "IPython", "jupyterlab", "matplotlib"} & sys.modules.keys()))
"""
    assert in_fresh_python(code) == "[]\n"


@pytest.mark.parametrize("package", ["tmalab", "grader"])
def test_every_public_name_exists(package):
    code = f"import {package} as p; print([name for name in [*p.__all__, *dir(p)] if not hasattr(p, name)])"
    assert in_fresh_python(code) == "[]\n"


@pytest.mark.parametrize("package", ["tmalab", "grader", "tests"])
def test_a_command_reaches_the_making_of_its_environment_with_the_standard_library_alone(package):
    """As in a fresh clone, where `python3 -m tmalab` has no other package yet."""
    code = f"""
import runpy, sys
from tmalab import bootstrap
def ensure(command, arguments):
    print(command, *arguments)
    sys.exit()
bootstrap.ensure = ensure
sys.argv[1:] = ["--help"]
runpy.run_module({package!r}, run_name="__main__")
"""
    command = [sys.executable, "-S", "-c", code]  # -S: without the packages that are installed
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"{package} --help\n", "")
