"""Reductions: what becomes of an element in memory and one from shared memory, bit for bit.

Integers wrap. Floating sums are rounded to nearest even; subnormals count in full, but for the _FTZ types, which take
them for zeros on the way in and out. TFLOAT32 is added as float32, without rounding to TF32. Source: measured, H200
(special values in all pairs, and thousands of random ones, for each operation and type).

>>> found, data = np.array([5, 7], np.uint32).view(np.uint8), np.array([5, 9], np.uint32).view(np.uint8)
>>> combine("inc", "u32", found, data).view(np.uint32).tolist()                   # counts from 0 up to data
[0, 8]
>>> nan = np.array([0x7E01], np.uint16).view(np.uint8)
>>> hex(combine("add", "f16", nan, nan).view(np.uint16)[0]), hex(combine("max", "f16", nan, nan).view(np.uint16)[0])
('0x7fff', '0x7fff')
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tmalab.data_types import DataType

Combination = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of what memory holds with what the copy brings

OPERATIONS = {  # name: what becomes of the element d in memory and the element s that comes
    "add": "d + s",
    "min": "the smaller of d and s",
    "max": "the larger of d and s",
    "inc": "0 where d >= s, else d + 1",
    "dec": "s where d == 0 or d > s, else d - 1",
    "and": "d & s",
    "or": "d | s",
    "xor": "d ^ s",
}
MAP_ARITHMETIC = {  # element type: the arithmetic of its reductions, a type of PTX
    DataType.UINT32: "u32",
    DataType.INT32: "s32",
    DataType.UINT64: "u64",
    DataType.INT64: "s64",
    DataType.FLOAT16: "f16",
    DataType.BFLOAT16: "bf16",
    DataType.FLOAT32: "f32",
    DataType.FLOAT64: "f64",
    DataType.FLOAT32_FTZ: "f32.ftz",
    DataType.TFLOAT32: "f32",
    DataType.TFLOAT32_FTZ: "f32.ftz",
}
CANONICAL_16, CANONICAL_32 = np.uint16(0x7FFF), np.uint32(0x7FFF_FFFF)  # what becomes of every NaN
INDEFINITE_64 = np.uint64(0xFFF8_0000_0000_0000)  # inf - inf
SIGN_32, EXPONENT_32 = np.uint32(0x8000_0000), np.uint32(0x7F80_0000)


def combine(op: str, arithmetic: str, found: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The bytes that a reduction leaves where it found `found` and brought `data`: uint8, contiguous, of one shape.

    `arithmetic` is a type of PTX: "u32", "s64", "b32", "f16", "bf16", "f32", "f32.ftz", "f64"...
    """
    dtype, combinations = ARITHMETIC[arithmetic]
    with np.errstate(all="ignore"):
        return combinations[op](found.view(dtype), data.view(dtype)).astype(dtype, copy=False).view(np.uint8)


# Integers.


def _increment(found: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Up by one, and from the limit on back to 0."""
    return np.where(found >= limit, 0, found + 1)


def _decrement(found: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Down by one, and from 0 or beyond the limit back to the limit."""
    return np.where((found == 0) | (found > limit), limit, found - 1)


# Floating types, as bit patterns.


def _add_f16(found: np.ndarray, data: np.ndarray) -> np.ndarray:
    total = found.view(np.float16) + data.view(np.float16)
    return np.where(np.isnan(total), CANONICAL_16, total.view(np.uint16))


def _add_bf16(found: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Rounding twice is harmless: float32 has more than twice the bits."""
    total = _widened(found) + _widened(data)
    bits = total.view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(total), CANONICAL_16, nearest.astype(np.uint16))


def _add_f32(found: np.ndarray, data: np.ndarray) -> np.ndarray:
    total = found.view(np.float32) + data.view(np.float32)
    return np.where(np.isnan(total), CANONICAL_32, total.view(np.uint32))


def _add_f32_flushed(found: np.ndarray, data: np.ndarray) -> np.ndarray:
    return _flushed(_add_f32(_flushed(found), _flushed(data)))


def _add_f64(found: np.ndarray, data: np.ndarray) -> np.ndarray:
    """NaNs pass as they are, signalling ones too; of two, the one that the copy brings."""
    found, data = found.view(np.float64), data.view(np.float64)
    total = found + data
    total = np.where(np.isnan(total), INDEFINITE_64, total.view(np.uint64))
    total = np.where(np.isnan(found), found.view(np.uint64), total)
    return np.where(np.isnan(data), data.view(np.uint64), total)


def _flushed(bits: np.ndarray) -> np.ndarray:
    """float32 with zeros of the same sign for its subnormals."""
    return np.where(bits & EXPONENT_32, bits, bits & SIGN_32)


def _widened(bits: np.ndarray) -> np.ndarray:
    """bfloat16 as float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _ordered(smaller: bool, infinity: int) -> Combination:
    """min or max of 16-bit floating types. -0 is below +0; a number wins over a NaN."""

    def combination(found: np.ndarray, data: np.ndarray) -> np.ndarray:
        chosen = np.where((_rank(found) < _rank(data)) == smaller, found, data)
        no_number = [bits & np.uint16(0x7FFF) > infinity for bits in (found, data)]
        chosen = np.where(no_number[0], data, np.where(no_number[1], found, chosen))
        return np.where(no_number[0] & no_number[1], CANONICAL_16, chosen)

    return combination


def _rank(bits: np.ndarray) -> np.ndarray:
    """Integers in the order of the numbers that 16-bit patterns mean."""
    magnitude = (bits & np.uint16(0x7FFF)).astype(np.int32)
    return np.where(bits >> np.uint16(15), -magnitude - 1, magnitude)


_BITS: dict[str, Combination] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_COUNTS: dict[str, Combination] = {"inc": _increment, "dec": _decrement}
_ORDER: dict[str, Combination] = {"min": np.minimum, "max": np.maximum}
_NUMBERS: dict[str, Combination] = {"add": np.add, **_ORDER}
ARITHMETIC: dict[str, tuple[type, dict[str, Combination]]] = {  # type of PTX: as what NumPy holds it, and operations
    "u32": (np.uint32, {**_NUMBERS, **_COUNTS, **_BITS}),
    "s32": (np.int32, {**_NUMBERS, **_BITS}),
    "u64": (np.uint64, {**_NUMBERS, **_BITS}),
    "s64": (np.int64, _ORDER),
    "b32": (np.uint32, _BITS),
    "b64": (np.uint64, _BITS),
    "f16": (np.uint16, {"add": _add_f16, "min": _ordered(True, 0x7C00), "max": _ordered(False, 0x7C00)}),
    "bf16": (np.uint16, {"add": _add_bf16, "min": _ordered(True, 0x7F80), "max": _ordered(False, 0x7F80)}),
    "f32": (np.uint32, {"add": _add_f32}),
    "f32.ftz": (np.uint32, {"add": _add_f32_flushed}),
    "f64": (np.uint64, {"add": _add_f64}),
}
MAP_OPERATIONS = {  # element type: the operations that copies through maps have (measured, H200)
    data_type: tuple(op for op in OPERATIONS if op in ARITHMETIC[arithmetic][1])
    for data_type, arithmetic in MAP_ARITHMETIC.items()
}
