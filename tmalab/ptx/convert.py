"""cvt: between float32, in which kernels compute, and the narrower types that memory holds.

A bf16 number is kept as its 16 bits, in a uint16 array; an instruction that returns bits returns a plain integer.

>>> from tmalab.ptx.convert import bf16_bits
>>> hex(bf16_bits(1.0)), hex(bf16_bits(3.1415927))
('0x3f80', '0x4049')
"""

from __future__ import annotations

from struct import Struct

import numpy as np

from tmalab.ptx.instruction import instruction
from tmalab.ptx.operands import F32, U32, Bits16

_FLOAT32, _UINT32 = Struct("f"), Struct("I")


def bf16_bits(x: float) -> int:
    """The bits of the bf16 number nearest to float32 `x`, ties to even; NaN is 0x7FFF, as the hardware gives it."""
    if x != x:
        return 0x7FFF
    (bits,) = _UINT32.unpack(_FLOAT32.pack(np.float32(x)))  # a third of the time of NumPy's view
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


@instruction("cvt.rn.bf16.f32 $result, $x;", pure=True)
def cvt_rn_bf16_f32(thread, x: F32) -> Bits16:
    """The 16 bits of `x` as bf16, rounded to nearest, ties to even. Source: PTX ISA, cvt."""
    return bf16_bits(x)


@instruction("cvt.f32.bf16 $result, $bits;", pure=True)
def cvt_f32_bf16(thread, bits: Bits16) -> F32:
    """The float32 number that 16 bf16 bits stand for; exact. Source: PTX ISA, cvt."""
    return np.uint32(bits << 16).view(np.float32)


@instruction("cvt.rn.bf16x2.f32 $result, $high, $low;", pure=True)
def cvt_rn_bf16x2_f32(thread, high: F32, low: F32) -> U32:
    """Two bf16 numbers in 32 bits: `low` in the low half, which memory holds first. Source: PTX ISA, cvt."""
    return bf16_bits(high) << 16 | bf16_bits(low)


@instruction("cvt.rn.f16x2.f32 $result, $high, $low;", pure=True)
def cvt_rn_f16x2_f32(thread, high: F32, low: F32) -> U32:
    """Two f16 numbers in 32 bits: `low` in the low half, which memory holds first. Source: PTX ISA, cvt."""
    return f16_bits(high) << 16 | f16_bits(low)


def f16_bits(x: float) -> int:
    """The bits of the f16 number nearest to float32 `x`, ties to even; NaN is 0x7FFF, as the hardware gives it."""
    if np.isnan(x):
        return 0x7FFF
    with np.errstate(over="ignore"):
        return int(np.float32(x).astype(np.float16).view(np.uint16))
