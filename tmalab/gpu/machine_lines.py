"""The machine code of a kernel with the lines that it comes from, as text: what the time model reads.

Compiled apart from what is launched, since lines change neither code nor result, but take a second to print.
"""

from __future__ import annotations

import math
import subprocess
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tmalab.gpu.compile import with_lines
from tmalab.gpu.device_arrays import located
from tmalab.gpu.errors import CompileError
from tmalab.gpu.ptxas import SECONDS, tool
from tmalab.gpu.signature import signature_of

if TYPE_CHECKING:
    from tmalab.launch import Launch


def machine_lines(launch: Launch) -> Future[str | None]:
    """Machine code with lines and encodings; None where the kernel does not compile, or a tool for it is missing.

    The kernel is compiled at once; its machine code is printed while the caller does something else.
    """
    assembler, disassembler = tool("ptxas"), tool("nvdisasm")
    function = launch.kernel.function
    ptx = None
    if assembler is not None and disassembler is not None:
        with suppress(CompileError, TypeError):
            ptx = with_lines(function, signature_of(function, located(launch.args)), math.prod(launch.block))
    worker = ThreadPoolExecutor(1)
    try:
        return worker.submit(lambda: ptx and _printed(ptx, assembler, disassembler))
    finally:
        worker.shutdown(wait=False)


@lru_cache(maxsize=64)
def _printed(ptx: str, assembler: str, disassembler: str) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        source, code = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, "utf-8")
        try:
            command = [assembler, "-arch=sm_90a", "-lineinfo", str(source), "-o", str(code)]
            subprocess.run(command, capture_output=True, check=True, timeout=SECONDS)
            command = [disassembler, "-c", "-novliw", "-hex", "-g", str(code)]
            printed = subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout
            return printed.decode("utf-8", "replace")
        except (OSError, subprocess.SubprocessError):
            return None
