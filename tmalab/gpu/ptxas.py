"""ptxas and nvdisasm: NVIDIA's assembler as a program, and the way back from machine code to text.

nvJitLink, which assembles inside this process, takes every kernel for a part of something larger, and so ignores
setmaxnreg (C7504). ptxas takes it for the whole: what is launched is its work, wherever it is installed (the extra
`cuda` brings it). Without it kernels are right, but those that hand registers on are slower.

>>> from tmalab.gpu.ptxas import tool
>>> path = tool("ptxas")      # None where it is not installed
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tmalab.gpu.assemble import Usage, assemble, check_shared, read_usage, refusal, usage
from tmalab.gpu.errors import CompileError
from tmalab.texts import text

SECONDS = 120  # for one kernel; the largest takes two
RELEASES = range(13000, 14000)  # of CUDA, as CUDA counts: older ones refuse the PTX, of later ones nothing is known


class Assembled(NamedTuple):
    """Machine code for sm_90a, what it takes of a thread's registers, and who made it: ptxas or nvJitLink."""

    cubin: bytes
    usage: Usage
    by: str


@cache
def tool(name: str) -> str | None:
    """The path of a program of the CUDA toolkit, from the wheels or from an installed toolkit; None where it is not."""
    from cuda.pathfinder import find_nvidia_binary_utility

    path = find_nvidia_binary_utility(name)
    try:
        return path if path is None or name != "ptxas" or _release(path) in RELEASES else None
    except OSError:  # a sandbox that lets no program start
        return None


def assembled(ptx: str, name: str) -> Assembled:
    """The kernel `name` of a PTX text, by ptxas where it is installed. CompileError where the assembler refuses it."""
    path = tool("ptxas")
    if path is None:
        return Assembled(assemble(ptx, name), usage(ptx), "nvJitLink")
    check_shared(ptx, name)
    with tempfile.TemporaryDirectory() as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, "utf-8")
        done = _call(path, "-arch=sm_90a", "-v", str(source), "-o", str(code))
        log = (done.stdout + done.stderr).replace(f"{source}, ", "")
        if done.returncode:
            raise refusal(log)
        return Assembled(code.read_bytes(), read_usage(log), "ptxas")


def disassembled(cubin: bytes) -> str:
    """The machine instructions of a cubin, as text. CompileError where nvdisasm is not installed."""
    path = tool("nvdisasm")
    if path is None:
        raise CompileError(text("gpu.no-nvdisasm"))
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder, "kernel.cubin")
        code.write_bytes(cubin)
        return _call(path, "-c", "-novliw", str(code)).stdout


def _release(path: str) -> int:
    """13000 for CUDA 13.0; 0 where the program does not say."""
    found = re.search(r"release (\d+)\.(\d+)", _call(path, "--version").stdout)
    return int(found[1]) * 1000 + int(found[2]) * 10 if found else 0


def _call(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=SECONDS)
