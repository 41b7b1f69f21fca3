"""Variants: what a class seed draws, among those whose inputs ran on an H200.

>>> variant_of(0), variant_of(7), 0 < variant_of(2026) < VARIANTS
(0, 7, True)
"""

from __future__ import annotations

import hashlib

VARIANTS = 32  # number 0 is the public course


def variant_of(seed: int) -> int:
    """The variant of a class with this seed: the public one for seed 0 alone."""
    if 0 <= seed < VARIANTS:
        return seed
    return 1 + int.from_bytes(hashlib.sha256(str(seed).encode()).digest()[:8], "big") % (VARIANTS - 1)
