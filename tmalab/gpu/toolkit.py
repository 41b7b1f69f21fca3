"""What compiling for sm_90a needs: numba-cuda, and libraries of the CUDA toolkit. The simulator runs without them.

`pip install tmalab` brings numba-cuda (not on macOS, where it does not exist). The libraries come with the extra
`cuda`, or with a CUDA 13 that is installed on the computer.

>>> from tmalab.gpu.toolkit import why_no_compiler
>>> why_no_compiler() is None      # else one sentence
True
"""

from __future__ import annotations

import sys
from functools import cache

from tmalab.gpu.errors import NoCompiler
from tmalab.texts import text

LIBRARIES = ("nvvm", "nvrtc", "nvJitLink")  # numba-cuda's compiler, what tells it of architectures, its assembler


def require_compiler() -> None:
    """Raise NoCompiler where kernels cannot be compiled."""
    if reason := why_no_compiler():
        raise NoCompiler(reason)


@cache
def why_no_compiler() -> str | None:
    """Why kernels cannot be compiled here, in one sentence; None where they can."""
    try:
        import numba_cuda  # noqa: F401
        from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib
    except ImportError:
        return text("gpu.no-numba-cuda-on-macos" if sys.platform == "darwin" else "gpu.no-numba-cuda")
    for library in LIBRARIES:
        try:
            load_nvidia_dynamic_lib(library)
        except DynamicLibNotFoundError:
            return text("gpu.no-toolkit", library=library)
    return None
