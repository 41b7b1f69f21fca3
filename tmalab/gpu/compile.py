"""Compile a kernel for sm_90a, the architecture of the H100 and H200. No GPU is needed.

numba-cuda turns the Python function into PTX, the tensor maps among its parameters become 128 bytes by value, and
NVIDIA's assembler makes a cubin. There are two texts of the same kernel: `Compiled.ptx` is what the learner wrote;
`Compiled.bounded_ptx` is what is launched, in which a wait that lasts too long gives up (see `bounded_waits`).

>>> import numpy as np
>>> from tmalab.gpu.compile import compile_kernel
>>> def fill(out):
...     out[0] = 1
>>> compile_kernel(fill, (np.zeros(4, np.int32),)).counts["instructions"]
5
"""

from __future__ import annotations

import re
import types
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from numba import cuda
from numba.cuda.types import void

from tmalab.gpu.accumulators import choices, declared
from tmalab.gpu.assemble import Usage, assemble, shared_arrays
from tmalab.gpu.bounded_waits import bound_waits
from tmalab.gpu.compile_errors import explained
from tmalab.gpu.device_arrays import located
from tmalab.gpu.errors import CompileError
from tmalab.gpu.helpers import fingerprint, for_numba, refuse_recursion
from tmalab.gpu.lowering import teach
from tmalab.gpu.parameters import map_positions, maps_by_value
from tmalab.gpu.ptxas import Assembled, assembled, disassembled, tool
from tmalab.gpu.signature import signature_of
from tmalab.gpu.toolkit import require_compiler
from tmalab.gpu.unrolling import loops_written_out
from tmalab.texts import text

ARCHITECTURE = (9, 0, "a")
_KEPT = 128  # compiled kernels; a notebook compiles each of its cells again and again
_IN_SASS = {  # what is counted of machine code: a pattern of its lines
    "machine_instructions": r"(?m)^\s*/\*[0-9a-f]{4,}\*/",
    "wgmmas": r"\bHGMMA\b",
    "tma_instructions": r"\bU(?:TMA|BLK)[A-Z]+\b",
}
_HEAD = re.compile(r"(\.entry\s[^{]*?)\s*\{")  # of the kernel, up to its body
_cache: OrderedDict[tuple, Compiled] = OrderedDict()


@dataclass(frozen=True)
class Compiled:
    """A kernel compiled for one signature. `name` is its entry point in the PTX and the cubins."""

    name: str
    ptx: str

    def for_block(self, threads: int | None, min_ctas: int | None = None) -> Compiled:
        """The kernel for CTAs of up to so many threads; itself where that is not known, or is no gain.

        With `min_ctas` it takes no more registers than let so many CTAs be on an SM at once.
        """
        if threads is None or not (min_ctas or self.gains_by_bound):
            return self
        return _for_block(self, threads, min_ctas)

    @cached_property
    def gains_by_bound(self) -> bool:
        """Whether the assembler should know the threads of a CTA.

        Otherwise it ignores setmaxnreg (C7508), and it may take a loop of wgmmas for one that could diverge, and
        serialize it (C7520). Other kernels are better off without: they would get more registers than they need.
        """
        return "setmaxnreg." in self.ptx or ("wgmma." in self.ptx and bool(self.usage.losses))

    @cached_property
    def bounded_ptx(self) -> str:
        """The PTX that `run` launches: every wait gives up past a deadline, and leaves a note for the host."""
        return bound_waits(self.ptx)

    @cached_property
    def cubin(self) -> bytes:
        """The kernel as the learner wrote it, assembled in this process: what is refused here does not compile."""
        return assemble(self.ptx, self.name)

    @cached_property
    def fast(self) -> Assembled:
        """The kernel as the learner wrote it, at its fastest: what a prepared launch starts."""
        return assembled(rolled(self.ptx), self.name)

    @cached_property
    def bounded_cubin(self) -> bytes:
        """The assembled kernel with bounded waits. Their `exit` may serialize wgmmas (C7518): right, but slow."""
        return assembled(self.bounded_ptx, self.name).cubin

    @property
    def usage(self) -> Usage:
        """Registers and spills of the kernel as the learner wrote it, and what costs performance."""
        return self.fast.usage

    @cached_property
    def sass(self) -> str:
        """The machine instructions of the kernel as the learner wrote it. CompileError where nvdisasm is missing."""
        return disassembled(self.fast.cubin)

    @property
    def all_counts(self) -> dict[str, int]:
        """`counts`, and of the machine code: registers, spilled bytes, and instructions where nvdisasm is installed."""
        found = self.counts | {"registers": self.usage.registers, "spilled_bytes": self.usage.spilled}
        if tool("nvdisasm") is None:
            return found
        return found | {name: len(re.findall(pattern, self.sass)) for name, pattern in _IN_SASS.items()}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Of the PTX: instructions, bulk tensor copies, bytes of static shared memory."""
        return {
            "instructions": len(_statements(self.ptx)),
            "bulk_tensor_copies": len(re.findall(r"\bcp(\.reduce)?\.async\.bulk\.tensor\b", self.ptx)),
            "shared_bytes": sum(shared_arrays(self.ptx)),
        }


@lru_cache(maxsize=_KEPT)
def _for_block(compiled: Compiled, threads: int, min_ctas: int | None) -> Compiled:
    least = min_ctas or ("setmaxnreg." in compiled.ptx and 1)  # else how many it begins with is not known (C7508)
    bounds = f".maxntid {threads}" + (f"\n.minnctapersm {least}" if least else "")
    return Compiled(compiled.name, _HEAD.sub(rf"\1\n{bounds}\n{{", compiled.ptx, count=1))


def compile_kernel(
    function: types.FunctionType, arguments: Sequence[Any], threads: int | None = None, min_ctas: int | None = None
) -> Compiled:
    """Compile a kernel's function for these arguments, or take it from the cache.

    `threads`: of a CTA, where known; `min_ctas`: how many CTAs are to fit on an SM at once.

    Raises CompileError, one sentence with the learner's line, where it does not compile or assemble, and TypeError
    where an argument cannot be passed to a kernel. NoCompiler where the CUDA toolkit is missing.
    """
    require_compiler()
    signature = signature_of(function, located(arguments))
    refuse_recursion(function)
    key = (fingerprint(function), signature)
    with explained(function):
        if key not in _cache:
            _cache[key] = _compile(function, signature)
            while len(_cache) > _KEPT:
                _cache.popitem(last=False)
        _cache.move_to_end(key)
        compiled = _cache[key].for_block(threads, min_ctas)
        compiled.cubin  # noqa: B018  what the assembler refuses does not compile
    return compiled


def with_lines(function: types.FunctionType, signature: tuple, threads: int) -> str:
    """The PTX of a kernel for CTAs of so many threads that names the learner's lines; raises as `compile_kernel`."""
    with explained(function):
        return _compile(function, signature, lineinfo=True).for_block(threads).ptx


def _compile(function: types.FunctionType, signature: tuple, lineinfo: bool = False) -> Compiled:
    teach()
    emitted = _emit(function, signature, lineinfo)
    if emitted is None:  # a register that no counter names
        with choices():
            emitted = _emit(function, signature, lineinfo)
    if emitted is None:
        raise CompileError(text("gpu.accumulator-choice"))
    name = re.sub(r"\W", "_", function.__name__, flags=re.ASCII)  # what PTX takes for a name
    name = name if name.strip("_") else f"kernel{name}"
    return Compiled(name, maps_by_value(tidy(emitted, name), map_positions(signature)))


def _emit(function: types.FunctionType, signature: tuple, lineinfo: bool = False) -> str | None:
    """numba's PTX; None where inline assembly was given a variable for a constant: it goes on with wrong code."""
    with warnings.catch_warnings(record=True) as remarks, loops_written_out():
        warnings.simplefilter("always")
        emitted, _ = cuda.compile_ptx(for_numba(function), void(*signature), cc=ARCHITECTURE, lineinfo=lineinfo)
    return None if any("inline asm constraint 'n'" in str(remark.message) for remark in remarks) else emitted


def tidy(ptx: str, name: str) -> str:
    """PTX under readable names: the entry is the function, shared arrays count from 0. Same code, same text."""
    entry = re.findall(r"\.entry\s+([\w$]+)", ptx)[0]
    ptx = re.sub(r"(?m)^\.common \.global .*NumbaEnv.*\n|^\t// (?:begin|end) inline asm\n", "", ptx).replace(
        entry, name
    )
    renamed: dict[str, str] = {}

    def rename(found: re.Match) -> str:
        stem = {"_cudapy_smem": "shared", "barriers": "barriers"}[found[1]]
        return renamed.setdefault(found[0], f"{stem}_{sum(new.startswith(stem) for new in renamed.values())}")

    return declared(re.sub(r"\b(_cudapy_smem|barriers)_\d+\b", rename, ptx), name)


def rolled(ptx: str) -> str:
    """PTX in which no loop is written out several times, where the kernel waits for barriers in its loops.

    The assembler would do so to overlap rounds, but a round that begins with a wait overlaps with nothing: all that
    comes of it is code, whose first instructions an SM must fetch before a short kernel can begin.
    """
    if "mbarrier.try_wait" not in ptx:
        return ptx
    return _HEAD.sub(r'\1\n.pragma "nounroll";\n{', ptx, count=1)


def _statements(ptx: str) -> list[str]:
    """The instructions in the bodies of a PTX text, without directives, labels and comments."""
    code = re.sub(r"//.*", "", ptx)
    bodies = "".join(re.findall(r"\)\s*(?:\.\w+[^{;]*)?\{(.*?)\n\}", code, re.DOTALL))
    pieces = (re.sub(r"^(?:\s*(?:[{}]|[\w$]+:))*", "", piece).strip() for piece in bodies.split(";"))
    return [piece for piece in pieces if piece and not piece.startswith((".", "}"))]
