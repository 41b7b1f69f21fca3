"""A profiler, a debugger or a coverage tool may watch a kernel; and the simulator leaves the interpreter as it was."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

from tmalab.bootstrap import ROOT

WATCHERS = {
    "cProfile": ("p = cProfile.Profile(); p.enable()", "p.disable()"),
    "sys.setprofile": ("sys.setprofile(lambda *_: None)", "sys.setprofile(None)"),
    "sys.settrace": ("def t(*_): return t\nsys.settrace(t)", "sys.settrace(None)"),
}
KERNEL = """
import cProfile, sys
import numpy as np
from numba import cuda
from tmalab import kernel
from tmalab.simulator.watchdog import patience

@kernel
def swaps(out):
    mine = cuda.threadIdx.x
    out[mine] = mine
    cuda.syncthreads()
    seen = out[31 - mine]
    cuda.syncthreads()
    out[mine] = seen

@kernel
def never_ends(out):
    while True:
        pass

def run(made):
    out = np.zeros(32, np.int32)
    return made.run(block=32, args=(out,)), out

"""


@pytest.mark.parametrize(("start", "stop"), WATCHERS.values(), ids=WATCHERS)
def test_a_run_is_watched_after_another_run(start, stop, tmp_path):
    lines = []
    for before in ("run(swaps)", "with patience(0.2, 5): run(never_ends)"):
        lines += [before, start, "result, out = run(swaps)", stop]
        lines.append("assert result.ok and out.tolist() == list(range(31, -1, -1))")
    lines.append("print('done')")
    script = tmp_path / "watched.py"
    script.write_text(textwrap.dedent(KERNEL) + "\n".join(lines) + "\n")
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)
    assert done.stdout == "done\n", done.stderr
