"""What a recorded case found in memory: bytes that a small formula gives again, so that no recording stores them.

>>> from tmalab.recorded.inputs import memory
>>> memory("random", 0, 4).tolist(), memory("counting", 0, 6).tolist()
([175, 205, 29, 123], [0, 0, 1, 0, 2, 0])
"""

from __future__ import annotations

import numpy as np

# Bits of float32 numbers on which roundings, flushes and fills show: zeros, subnormals, one and its neighbours, ties of
# the 13 bits that TF32 drops, the largest numbers, infinities, NaNs. Each also with the sign.
SPECIAL = (
    *(0x00000000, 0x00000001, 0x00000FFF, 0x00001000, 0x00001001, 0x00002000, 0x00003000, 0x007FFFFF, 0x00800000),
    *(0x3F7FFFFF, 0x3F800000, 0x3F800001, 0x3F800FFF, 0x3F801000, 0x3F801001, 0x3F802FFF, 0x3F803000, 0x3F803001),
    *(0x7F7FEFFF, 0x7F7FF000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFE000, 0x7FFFFFFF),
)


def memory(pattern: str, seed: int, size: int) -> np.ndarray:
    """`size` bytes (uint8) of a pattern: "random", "counting" (16-bit numbers from `seed` on) or "special" floats."""
    words = -(-size // 8)
    if pattern == "random":
        values = splitmix64(np.arange(words, dtype=np.uint64) + np.uint64(seed << 32))
    elif pattern == "counting":
        values = (np.arange(4 * words) + seed).astype(np.uint16)
    elif pattern == "special":
        bits = np.array([*SPECIAL, *(value | 0x80000000 for value in SPECIAL)], np.uint32)
        values = bits[(np.arange(2 * words) + seed) % len(bits)]
    else:
        raise ValueError(f"no pattern of memory is called {pattern!r}")
    return values.view(np.uint8)[:size].copy()


def splitmix64(values: np.ndarray) -> np.ndarray:
    """A well mixed uint64 for each: the finisher of Steele, Lea and Flood's SplitMix generator."""
    mixed = values * np.uint64(0x9E3779B97F4A7C15) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
