"""The ladder in CUDA C++: beside each kernel its twin in `tmalab/kernels/cuda/`, the same calls in the same order.

A twin calls functions that are named as in `tmalab.ptx`; `ptx.cuh` and `wgmma.cuh` there hold each instruction as one
line of inline assembly. NVRTC, which the extra `cuda` brings, compiles them, so neither nvcc nor a GPU is needed:

>>> from tmalab.kernels import twins
>>> twin = twins.compiled("copy_2d")
>>> twins.asynchronous(twin.ptx)["cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"]
1
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tmalab.gpu.errors import CompileError
from tmalab.gpu.toolkit import require_compiler

FOLDER = Path(__file__).parent / "cuda"
OPTIONS = (b"--gpu-architecture=sm_90a", b"--std=c++17", b"--display-error-number", b"--include-path=" + bytes(FOLDER))

# What only Python needs an instruction for: C++ declares an array, and fills it.
DECLARATIONS = re.compile(r"mbarrier_array|wgmma_zero_\d+|zero")
CHOSEN = {"multiply": "wgmma_m64n256k16_f32_bf16"}  # by the tile's shape in Python; the twins have the largest
_FAMILIES = r"cp\.async|cp\.reduce|mbarrier|wgmma|fence|barrier\.cluster|setmaxnreg|createpolicy|prefetch|stmatrix|mapa"
_OPCODE = re.compile(rf"(?<![\w.:])(?:{_FAMILIES})\.[\w.:]+")
_CALL = {  # of an instruction, by the language
    ".py": re.compile(r"ptx\.(\w+)\(|\b(multiply|zero)\("),
    ".cu": re.compile(r"ptx::(\w+)(?:<\w+>)?\("),
}
_CALL[".cuh"] = _CALL[".cu"]

_LAPS = "a loop without a wait at its head is written out several times, by each compiler as it likes"
_HEAD_TWICE = "numba's compiler asks once before the loop and then in it"
_TRY, _EXPECT = "mbarrier.try_wait.parity.shared::cta.b64", "mbarrier.arrive.expect_tx.shared::cta.b64"
_LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
DIFFERENCES = {  # kernel: the instructions that its PTX has another number of times than its twin's, and why
    "copy_2d": {_TRY: _HEAD_TWICE},
    "copy_column": {_TRY: _HEAD_TWICE, _EXPECT: _LAPS, _LOAD: _LAPS},
    "copy_cp_async": dict.fromkeys(
        ("cp.async.ca.shared.global", "cp.async.commit_group", "cp.async.wait_group"), _LAPS
    ),
    "gemm_pipelined": {_EXPECT: _LAPS, _LOAD: _LAPS},
}


class Twin(NamedTuple):
    """A kernel that NVRTC compiled for sm_90a: its PTX, its machine code, and what the compiler said."""

    ptx: str
    cubin: bytes
    log: str


class Call(NamedTuple):
    """An instruction in a source: its name in `tmalab.ptx`, and the line that calls it."""

    name: str
    line: str


def source(name: str) -> Path:
    """The file of a kernel's twin."""
    return FOLDER / f"{name}.cu"


@cache
def compiled(name: str) -> Twin:
    """The twin of a kernel of the ladder, compiled.

    Raises CompileError with the compiler's words where it does not compile, NoCompiler where NVRTC is missing.
    """
    require_compiler()
    from cuda.bindings import nvrtc

    text, path = source(name).read_bytes(), bytes(source(name))
    program = _checked(nvrtc.nvrtcCreateProgram(text, path, 0, [], []))
    try:
        (result,) = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), list(OPTIONS))
        log = _read(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).decode().strip("\0\n ")
        if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise CompileError(log)
        ptx = _read(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program).decode().rstrip("\0")
        return Twin(ptx, _read(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program), log)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def asynchronous(ptx: str) -> Counter[str]:
    """How often a PTX text has each instruction of copies, barriers, fences, clusters and the tensor core."""
    return Counter(_OPCODE.findall(re.sub(r"//.*", "", ptx)))


def calls(path: Path) -> list[Call]:
    """The instructions that a source calls, from its first line to its last; those that only declare left out."""
    return [call for call in _calls(path) if not DECLARATIONS.fullmatch(call.name)]


def _calls(path: Path) -> Iterator[Call]:
    for line in path.read_text("utf-8").splitlines():
        code = line.partition("  #" if path.suffix == ".py" else "//")[0]
        for found in _CALL[path.suffix].finditer(code):
            name = next(group for group in found.groups() if group)
            yield Call(CHOSEN.get(name, name), line.strip())


def beside(name: str) -> list[tuple[Call, Call]]:
    """Each call of a kernel with that of its twin."""
    module = import_module(f"tmalab.kernels.{name}")
    return list(zip(calls(Path(str(module.__file__))), calls(source(name)), strict=True))


def _read(size: Any, get: Any, program: Any) -> bytes:
    """A text or code of a program, which NVRTC writes into a buffer of the size that it says."""
    buffer = bytes(_checked(size(program)))
    _checked(get(program, buffer))
    return buffer


def _checked(answer: tuple[Any, ...]) -> Any:
    """What a function of NVRTC returned, without its status."""
    result, *values = answer
    if result.value:
        raise CompileError(result.name)
    return values[0] if values else None
