"""What a recorded case found in memory: bytes that a small formula gives again, so that no recording stores them.

>>> from tmalab.recorded.inputs import memory
>>> memory("random", 0, 4).tolist(), memory("counting", 0, 6).tolist()
([175, 205, 29, 123], [0, 0, 1, 0, 2, 0])
>>> [hex(bits) for bits in memory("special 2", 0, 8).view("uint16").tolist()]
['0x8002', '0x7f80', '0x3', '0x9001']
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Bits of float32 numbers on which roundings, flushes and fills show: zeros, subnormals, one and its neighbours, ties of
# the 13 bits that TF32 drops, the largest numbers, infinities, NaNs. Each also with the sign.
SPECIAL = (
    *(0x00000000, 0x00000001, 0x00000FFF, 0x00001000, 0x00001001, 0x00002000, 0x00003000, 0x007FFFFF, 0x00800000),
    *(0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F802FFF, 0x3F803000, 0x3F803001),
    *(0x7F7FEFFF, 0x7F7FF000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFE000, 0x7FFFFFFF),
)

# The same for operations on two elements, by their bytes: small integers, which as floats are subnormals; halves of the
# last bit of one, so that sums are ties; the largest numbers; infinities; NaNs. Each also with the sign.
_FLOAT16 = (*range(4), 0x3FF, 0x400, 0x1000, 0x1001, 0x1400, 0x3BFF, 0x3C00, 0x3C01, 0x7BFF, 0x7C00, 0x7C01, 0x7E00)
_BFLOAT16 = (0x7F, 0x80, 0x3B80, 0x3B81, 0x3C00, 0x3F7F, 0x3F80, 0x3F81, 0x7F7F, 0x7F80, 0x7F81, 0x7FC0, 0x7FFF)
_ONE_AND_TIES = (0x3FF0_0000_0000_0000, 0x3FF0_0000_0000_0001, 0x3CA0_0000_0000_0000, 0x3CA0_0000_0000_0001)
_ENDS = (0x7FEF_FFFF_FFFF_FFFF, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF, 2**32 - 1, 2**52)
SPECIALS: dict[int, np.ndarray] = {
    2: np.array([*_FLOAT16, *_BFLOAT16], np.uint16),
    4: np.array([*SPECIAL, *range(2, 5), 0x33800000, 0x33800001, 0x34000000], np.uint32),
    8: np.array([*range(4), *_ONE_AND_TIES, *_ENDS], np.uint64),
}
EXPONENTS: dict[str, tuple[Any, int, int]] = {  # float: an integer of its size, bits of mantissa and exponent
    "f16": (np.uint16, 10, 5),
    "bf16": (np.uint16, 7, 8),
    "f32": (np.uint32, 23, 8),
    "f64": (np.uint64, 52, 11),
}


def memory(pattern: str, seed: int, size: int) -> np.ndarray:
    """`size` bytes (uint8) of a pattern.

    "random"     every bit
    "counting"   16-bit numbers from `seed` on
    "special"    floats of 32 bits from SPECIAL, in their order
    "special N"  elements of N bytes from SPECIALS, in a random order
    "close F"    floats of type F ("f16", "bf16", "f32", "f64") of like size, so that sums are rounded
    """
    words = -(-size // 8)
    kind, _, element = pattern.partition(" ")
    if pattern == "random":
        values = _hash(words, seed)
    elif pattern == "counting":
        values = (np.arange(4 * words) + seed).astype(np.uint16)
    elif pattern == "special":
        bits = np.array([*SPECIAL, *(value | 0x80000000 for value in SPECIAL)], np.uint32)
        values = bits[(np.arange(2 * words) + seed) % len(bits)]
    elif kind == "special" and element.isdigit() and int(element) in SPECIALS:
        values = _chosen(int(element), words, seed)
    elif kind == "close" and element in EXPONENTS:
        values = _close(element, words, seed)
    else:
        raise ValueError(f"no pattern of memory is called {pattern!r}")
    return values.view(np.uint8)[:size].copy()


def _chosen(size: int, words: int, seed: int) -> np.ndarray:
    """Special elements, each with a random sign."""
    bits = SPECIALS[size]
    drawn = _hash(words * 8 // size, seed)
    sign = (drawn >> np.uint64(63)) << np.uint64(8 * size - 1)
    return bits[(drawn >> np.uint64(8)) % np.uint64(len(bits))] ^ sign.astype(bits.dtype)


def _close(element: str, words: int, seed: int) -> np.ndarray:
    """Random floats whose exponents are within 16 of each other."""
    dtype, mantissa, exponent = EXPONENTS[element]
    values = _hash(words, seed).view(dtype)
    kept = dtype(~(((1 << exponent) - 1) << mantissa) & np.iinfo(dtype).max)
    near = (values >> dtype(mantissa)) % dtype(16) + dtype(2 ** (exponent - 1) - 8)
    return values & kept | near << dtype(mantissa)


def _hash(count: int, seed: int) -> np.ndarray:
    return splitmix64(np.arange(count, dtype=np.uint64) + np.uint64(seed << 32))


def splitmix64(values: np.ndarray) -> np.ndarray:
    """A well mixed uint64 for each: the finisher of Steele, Lea and Flood's SplitMix generator."""
    mixed = values * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
