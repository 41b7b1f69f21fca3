"""What is measured: products m x n x k, and copies of so many bytes, as they are written on the command line.

>>> products("1024, 8192x8192x1024")
[(1024, 1024, 1024), (8192, 8192, 1024)]
>>> copies("2GiB, 64MiB")
[2147483648, 67108864]
"""

from __future__ import annotations

import re

from tmalab.texts import text

PRODUCTS = (  # of the comparison with cuBLAS
    *((size, size, size) for size in (1024, 2048, 4096, 6144, 8192)),
    (8192, 8192, 1024),
    (4096, 14336, 4096),
    (16384, 8192, 4096),
)
LADDER = ((8192, 8192, 8192),)
COPIES = (2 << 30,)  # bytes

_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_STEP, _LARGEST = 8, 65536  # of a product's sizes: rows are whole multiples of 16 bytes; what a run may ask for
_ROW = 2048  # bytes, of a tile of copy_tensor


def products(given: str) -> list[tuple[int, int, int]]:
    """Products as `m x n x k`, or one number for all three. ValueError, in one sentence, for what is none."""
    return [_product(part.strip()) for part in given.split(",")]


def copies(given: str) -> list[int]:
    """Sizes of copies in bytes. ValueError, in one sentence, for what is none."""
    return [_copy(part.strip()) for part in given.split(",")]


def _product(part: str) -> tuple[int, int, int]:
    sizes = [int(size) if size.isascii() and size.isdigit() else 0 for size in part.split("x")]
    if len(sizes) == 1:
        sizes *= 3
    if len(sizes) != 3 or not all(0 < size <= _LARGEST and size % _STEP == 0 for size in sizes):
        raise ValueError(text("bench.no-product", given=part, step=_STEP, largest=_LARGEST))
    return sizes[0], sizes[1], sizes[2]


def _copy(part: str) -> int:
    found = re.fullmatch(r"(\d+)\s*([KMG]iB)", part, re.ASCII)
    size = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < size <= 32 << 30 or size % _ROW:
        raise ValueError(text("bench.no-copy", given=part))
    return size
