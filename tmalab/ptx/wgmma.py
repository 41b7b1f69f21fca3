"""wgmma: the tensor core multiplies for a warpgroup, 128 threads, asynchronously.

D = A * B + D, with A of 64 rows and 16 columns of bf16 or f16, B of 16 rows and N columns, N = 8, 16, ..., 256, and D
in float32. A and B lie in shared memory and are named by descriptors (A may also come from registers: `_rs`); D is the
accumulator, N / 2 registers of each thread, which an instruction takes and returns whole; the one that it took is then
no more:

    acc = ptx.wgmma_zero_128()
    ptx.wgmma_fence()
    acc = ptx.wgmma_m64n128k16_f32_bf16(acc, desc_a, desc_b, 1)
    ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(0)
    out[...] = acc[3]                                  # registers are read one by one: tmalab.wgmma_fragments

All 128 threads execute each of these together. Until the wait, neither the registers nor the operands in shared memory
may be touched. B is written as N rows that run along K, as A as M rows, unless a transpose bit says otherwise.

>>> from tmalab import ptx
>>> ptx.wgmma_m64n8k16_f32_f16.text.split("; ")[2]
'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 $acc, $desc_a, $desc_b, p, $scale_a, $scale_b, $trans_a, $trans_b'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.operands import I64, U32, Immediate, Kind, Shared, Zeros, accumulator, immediate, words

WIDTHS = range(8, 257, 8)  # N
TYPES = ("bf16", "f16")  # of A and B

_SIGN, _TRANSPOSE, _FRAGMENT = immediate(-1, 1), immediate(0, 1), words(4)
_SOURCES = {  # suffix: where A is, its operand, the immediates and their defaults
    "": ("desc_a", I64, {"scale_a": 1, "scale_b": 1, "trans_a": 0, "trans_b": 0}),
    "_rs": ("a", _FRAGMENT, {"scale_a": 1, "scale_b": 1, "trans_b": 0}),
}
_KINDS = {"scale_a": _SIGN, "scale_b": _SIGN, "trans_a": _TRANSPOSE, "trans_b": _TRANSPOSE}
_DOC = """Multiply 64x16 by 16x{n} {type} numbers and add the product to `acc`, in float32; returns the new accumulator.

{a} `desc_b` is the descriptor of B. With `scale_d` 0 the product alone is the result. Literals: `scale_a`, `scale_b`,
1 or -1, which multiply the operands; {transposes} 1: rows run along {along}, not along K. Asynchronous: commit and wait
before the result is read. Reads shared memory through the asynchronous proxy. Source: PTX ISA, wgmma.mma_async."""
_A_IS = {
    "": "`desc_a` is the descriptor of A.",
    "_rs": "`a` is A in registers: four words of two numbers each, the first in the low half (wgmma_fragments.a_of).",
}


def _multiply(n: int, type: str, suffix: str) -> Instruction:
    """One shape and type, A from shared memory or from registers."""
    source, kind, options = _SOURCES[suffix]
    name = f"wgmma_m64n{n}k16_f32_{type}{suffix}"
    transposes = [f"`{option}`" for option in options if option.startswith("trans")]
    operands: dict[str, Kind] = {"acc": accumulator(n // 2), source: kind, "desc_b": I64, "scale_d": U32}
    return Instruction(
        name,
        "{ .reg .pred p; setp.ne.b32 p, $scale_d, 0; "
        f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{type}.{type} $acc, ${source}, $desc_b, p, "
        f"{', '.join(f'${option}' for option in options)}; }}",
        operands | {option: _KINDS[option] for option in options},
        _meaning(name, n, type, suffix),
        _DOC.format(
            n=n,
            type=type,
            a=_A_IS[suffix],
            transposes=" and ".join(transposes),
            along="M or N" if len(transposes) == 2 else "N",
        ),
        returns=accumulator(n // 2),
        defaults=options,
        updates="acc",
    )


def _meaning(name: str, n: int, type: str, suffix: str) -> Callable[..., Any]:
    def from_memory(thread, acc, desc_a, desc_b, scale_d, scale_a, scale_b, trans_a, trans_b):
        return thread.wgmma.multiply(name, n, type, acc, desc_a, desc_b, scale_d, (scale_a, scale_b, trans_a, trans_b))

    def from_registers(thread, acc, a, desc_b, scale_d, scale_a, scale_b, trans_b):
        return thread.wgmma.multiply(name, n, type, acc, a, desc_b, scale_d, (scale_a, scale_b, 0, trans_b))

    return from_registers if suffix else from_memory


def _zero(n: int) -> Instruction:
    def body(thread: Any) -> Any:
        return thread.wgmma.zero(n // 2)

    return Instruction(
        f"wgmma_zero_{n}",
        "mov.b32 $result, 0;",
        {},
        body,
        f"The accumulator of a wgmma with N = {n}, all zeros: {n // 2} registers.\n\n"
        "Source: PTX ISA, wgmma, register fragments.",
        returns=Zeros("Accumulator", n // 2),
        pure=True,
    )


for _n in WIDTHS:
    globals()[f"wgmma_zero_{_n}"] = _zero(_n)
    for _type in TYPES:
        for _suffix in _SOURCES:
            globals()[f"wgmma_m64n{_n}k16_f32_{_type}{_suffix}"] = _multiply(_n, _type, _suffix)


@instruction(
    "{ .reg .b32 low, high, part; and.b32 low, $tile, 0x3fff0; shr.u32 low, low, 4; and.b32 part, $leading_bytes, "
    "0x3fff0; shl.b32 part, part, 12; or.b32 low, low, part; and.b32 high, $stride_bytes, 0x3fff0; shr.u32 high, high, "
    "4; sub.u32 part, 4, $swizzle; shl.b32 part, part, 30; or.b32 high, high, part; mov.b64 $result, {low, high}; }",
    pure=True,
)
def wgmma_descriptor(thread, tile: Shared, swizzle: U32, stride_bytes: U32, leading_bytes: U32 = 0) -> I64:
    """The matrix descriptor of an operand at `tile`, for a wgmma.

    `swizzle` is a `Swizzle`, as in the map that loaded it; `stride_bytes` from 8 rows to the next 8 (1,024 with the
    128B swizzle); `leading_bytes` for layouts that have two strides. 32 bytes further on is 2 more: see
    `tmalab.wgmma_descriptor`. Source: PTX ISA, wgmma, matrix descriptor.
    """
    return thread.wgmma.descriptor(tile, swizzle, stride_bytes, leading_bytes)


@instruction("wgmma.fence.sync.aligned;")
def wgmma_fence(thread) -> None:
    """Order what threads did to their registers before what the next wgmma does to the same.

    Before the first wgmma of a warpgroup, and after an accumulator was read or made anew; not between wgmmas of one
    shape that pass an accumulator on. All warps of the warpgroup execute it. Source: PTX ISA, wgmma.fence.
    """
    thread.wgmma.fence()


@instruction("wgmma.commit_group.sync.aligned;")
def wgmma_commit_group(thread) -> None:
    """Close the warpgroup's uncommitted wgmmas into a group, possibly an empty one, which counts.

    Source: PTX ISA, wgmma.commit_group.
    """
    thread.wgmma.commit()


@instruction("wgmma.wait_group.sync.aligned $n;")
def wgmma_wait_group(thread, n: Immediate) -> None:
    """Wait until at most the `n` newest groups of the warpgroup are pending.

    The others' accumulators may then be read, and their operands in shared memory overwritten.
    Source: PTX ISA, wgmma.wait_group.
    """
    thread.wgmma.wait(n)
