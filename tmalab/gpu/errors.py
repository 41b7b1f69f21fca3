"""What can go wrong on the way to the GPU, each as one sentence that says what to do.

>>> from tmalab.gpu.errors import place
>>> place("/home/ada/lesson.py", 12)
'lesson.py:12'
"""

from __future__ import annotations

import os

from tmalab.plain_traceback import PlainTraceback


class CompileError(PlainTraceback, ValueError):
    """A kernel that does not compile for sm_90a. `filename` and `line` are the learner's, where they are known."""

    def __init__(self, reason: str, filename: str | None = None, line: int | None = None):
        super().__init__(reason if line is None else f"{place(filename, line)}: {reason}")
        self.reason, self.filename, self.line = reason, filename, line


class GpuUnavailable(PlainTraceback, RuntimeError):
    """There is no GPU that could run a TMA kernel, or software that it needs is missing or too old."""


class NoCompiler(GpuUnavailable):
    """What kernels are compiled with is not installed."""


class GpuStopped(PlainTraceback, RuntimeError):
    """The GPU's context of this process is lost: an earlier kernel faulted, or one still runs. Restart the process."""


def place(filename: str | None, line: int) -> str:
    """`file.py:12`, or `cell:12` for a notebook's cell, as a message names a place in the source."""
    name = os.path.basename(filename or "")
    in_notebook = name.startswith("<") or "ipykernel_" in (filename or "")
    return f"{'cell' if in_notebook else name}:{line}"
