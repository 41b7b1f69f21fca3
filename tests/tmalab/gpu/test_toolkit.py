"""Without a compiler kernels are simulated all the same, and what needs one says in a sentence what to install."""

from __future__ import annotations

import sys

import cuda.pathfinder
import numpy as np
import pytest

from tmalab.gpu import toolkit
from tmalab.gpu.errors import NoCompiler
from tmalab.kernels.copy_2d import copy_2d


@pytest.fixture
def lacking(monkeypatch):
    """A computer with numba-cuda and without one library of the toolkit."""
    toolkit.why_no_compiler.cache_clear()

    def lack(library: str) -> None:
        def load(name: str):
            if name == library:
                raise cuda.pathfinder.DynamicLibNotFoundError(name)

        monkeypatch.setattr(cuda.pathfinder, "load_nvidia_dynamic_lib", load)

    yield lack
    toolkit.why_no_compiler.cache_clear()


@pytest.mark.parametrize("library", toolkit.LIBRARIES)
def test_each_library_that_is_missing_is_named_with_what_brings_it(lacking, library):
    lacking(library)
    with pytest.raises(NoCompiler, match=rf"library {library}: install tmalab\[cuda\]"):
        copy_2d.ptx((np.zeros((16, 128), np.float16), np.zeros((8, 64), np.float16), 64, 8))


def test_a_simulated_run_is_no_worse_for_it(lacking):
    from tmalab import demo
    from tmalab.data_types import Swizzle

    lacking("nvrtc")
    assert demo.simulate(Swizzle.B128).run.ok


def test_a_python_without_numba_cuda_is_told_what_brings_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba_cuda", None)
    toolkit.why_no_compiler.cache_clear()
    try:
        assert "needs numba-cuda: install tmalab[cuda]" in toolkit.why_no_compiler()
    finally:
        toolkit.why_no_compiler.cache_clear()
