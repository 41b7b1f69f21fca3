"""TF32: float32 with 10 mantissa bits, to which loads through TFLOAT32 maps round.

Nearest, ties to even, at bit 13; every NaN becomes 0x7FFFE000. Subnormals are kept, by the FTZ types too. Stores round
nothing. Source: measured, H200.

>>> bits = np.array([1.0, 1.0 + 2**-11, 1.0 + 3 * 2**-11], np.float32).view(np.uint32)   # two ties
>>> round_to_tf32(bits).view(np.float32).tolist() == [1.0, 1.0, 1.0 + 2 * 2**-10]
True
"""

from __future__ import annotations

import numpy as np

DROPPED = np.uint32(0x1FFF)  # the 13 mantissa bits that TF32 has not
HALF = np.uint32(0x0FFF)  # just under half of the last kept bit: the tie is decided by that bit itself
MAGNITUDE = np.uint32(0x7FFF_FFFF)
INFINITY = np.uint32(0x7F80_0000)
NAN = np.uint32(0x7FFF_E000)


def round_to_tf32(bits: np.ndarray) -> np.ndarray:
    """float32 bit patterns (uint32) rounded as a load through a TFLOAT32 map rounds them."""
    rounded = (bits + HALF + ((bits >> np.uint32(13)) & np.uint32(1))) & ~DROPPED
    return np.where((bits & MAGNITUDE) > INFINITY, NAN, rounded)
