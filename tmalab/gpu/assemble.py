"""PTX to cubin, by NVIDIA's assembler through cuda.core. No GPU is needed; the driver is handed machine code only.

>>> from tmalab.gpu.assemble import assemble
>>> assemble(".version 8.0\\n.target sm_90a\\n.address_size 64\\n.visible .entry k() { ret; }", "k")[:4]
b'\\x7fELF'
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

from tmalab.gpu.errors import CompileError
from tmalab.texts import text

SHARED_LIMIT = 232_448  # bytes of shared memory that a CTA can have on sm_90: 227 KiB


def assemble(ptx: str, name: str) -> bytes:
    """The machine code of a PTX text for sm_90a; CompileError where the assembler refuses the kernel `name`."""
    check_shared(ptx, name)
    try:
        return bytes(Program(ptx, "ptx", ProgramOptions(arch="sm_90a")).compile("cubin").code)
    except Exception as error:  # cuda.core's linkers raise classes of their own, by toolkit version
        raise refusal(str(error)) from None


def check_shared(ptx: str, name: str) -> None:
    """Raise CompileError where the kernel `name` has more shared memory than a CTA can have, or of unknown size."""
    if "%dynamic_smem_size" in ptx:  # an array of shape 0: all sizes are static here, beyond CUDA C++'s 48 KiB too
        raise CompileError(text("gpu.dynamic-shared", kernel=name))
    arrays = shared_arrays(ptx)
    if sum(arrays) > SHARED_LIMIT:
        shown = " + ".join(f"{size:,}" for size in arrays)
        raise CompileError(text("gpu.too-much-shared", kernel=name, sum=shown, total=sum(arrays), limit=SHARED_LIMIT))


class Usage(NamedTuple):
    """What a kernel takes of each thread's registers, and what the assembler has against it.

    spilled   bytes that did not fit into registers, stores and loads together; `stack`: bytes of local memory
    losses    the assembler's remarks on lost performance, such as wgmmas that it serializes
    """

    registers: int
    spilled: int
    stack: int
    losses: tuple[str, ...]


def usage(ptx: str) -> Usage:
    """What the assembler says of a PTX text for sm_90a that it accepts."""
    linker = Linker(ObjectCode.from_ptx(ptx.encode()), options=LinkerOptions(arch="sm_90a", verbose=True))
    linker.link("cubin")
    return read_usage(linker.get_info_log())


def read_usage(log: str) -> Usage:
    """What an assembler's verbose log says of the one kernel in it."""
    stack, *spilled = map(int, re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)", log)[0])
    losses = re.findall(r"\((C\d+)\) Potential Performance Loss: (.*)", log)
    registers = int(re.findall(r"[Uu]sed (\d+) registers", log)[0])
    return Usage(registers, sum(spilled), stack, tuple(f"{reason.strip()} ({code})" for code, reason in losses))


def shared_arrays(ptx: str) -> list[int]:
    """The sizes in bytes of a kernel's static shared arrays, in the order of their declarations."""
    declared = re.findall(r"(?m)^\s*(?:\.visible\s+)?\.shared\s+\.align\s+\d+\s+\.b8\s+[\w$]+\[(\d+)\]", ptx)
    return [int(size) for size in declared]


def refusal(message: str) -> CompileError:
    """An assembler's log of a kernel that it refuses, as one sentence."""
    return CompileError(_reason(message))


def _reason(message: str) -> str:
    missing = re.search(r"Undefined reference to '(\w+)'|Unresolved extern function '(\w+)'", message)
    if missing:
        function = missing[1] or missing[2]
        return text("gpu.float16-arithmetic") if "__half" in function else text("gpu.not-linked", function=function)
    line = re.search(r"(?m)^.*(?:error|fatal)\s*:?\s*(.+)$", message)
    return text("gpu.assembler", reason=(line[1] if line else message.strip().splitlines()[-1]).strip())
