"""Bulk copies without a map: contiguous bytes, a size, two addresses; what they ask for, and what reductions compute.

They do not clip: every byte must be there. Addresses and size are multiples of 16. The H200 checks the addresses alone:
of a size it takes `bytes & 0xFFFF0`, in silence, and credits as much, which PTX calls undefined and this library
refuses. Where two things are wrong it tells of shared memory's end first, then of alignment, then of missing global
memory. Source: PTX ISA, cp.async.bulk and cp.reduce.async.bulk; measured, H200.

>>> check_copy(0x1000, 0x40, 64)
>>> check_copy(0x1000, 0x40, 132)
Traceback (most recent call last):
ValueError: a bulk copy of 132 bytes: the size must be a multiple of 16 below 2^20. The H200 moves and credits 128 \
bytes and says nothing, so that a barrier which expects 132 waits for ever. Nearest: 128 or 144
"""

from __future__ import annotations

import numpy as np

from tmalab.faults import TmaFault
from tmalab.reductions import combine
from tmalab.swizzle import SECTOR
from tmalab.tensor_map_doubts import SHARED_BYTES
from tmalab.texts import text

SIZE_STOP = 1 << 20  # bytes
_ORDERED = ("u32", "s32", "u64", "s64", "f16", "bf16")
OPERATIONS = {  # operation: the element types that it has (PTX ISA, cp.reduce.async.bulk; assembled for sm_90a)
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"),
    "min": _ORDERED,
    "max": _ORDERED,
    "inc": ("u32",),
    "dec": ("u32",),
    "and": ("b32", "b64"),
    "or": ("b32", "b64"),
    "xor": ("b32", "b64"),
}


def check_copy(address: int, shared_address: int, bytes: int, shared_stop: int = SHARED_BYTES) -> None:
    """The fault of a copy between `address` (global memory, or a peer's shared memory) and this CTA's shared memory.

    All in bytes; `shared_stop` is where the CTA's shared memory ends. ValueError for a size that PTX leaves undefined.
    """
    if bytes % SECTOR or not 0 <= bytes < SIZE_STOP:
        below = min(max(bytes, 0), SIZE_STOP - 1) // SECTOR * SECTOR
        above = min(below + SECTOR, SIZE_STOP - SECTOR)
        moved = bytes & (SIZE_STOP - SECTOR)
        raise ValueError(text("reference.bulk-size", bytes=bytes, moved=moved, below=below, above=above))
    if not bytes:
        return
    if not 0 <= shared_address <= shared_stop - bytes:
        values = {"bytes": bytes, "address": hex(shared_address), "stop": hex(shared_stop)}
        raise TmaFault("illegal_address", text("reference.bulk-shared-range", **values))
    for place in (shared_address, address):
        if place % SECTOR:
            below = place // SECTOR * SECTOR
            values = {"address": hex(place), "below": hex(below), "above": hex(below + SECTOR)}
            raise TmaFault("misaligned_address", text("reference.bulk-alignment", **values))


def check_reduce(
    op: str, type: str, address: int, shared_address: int, bytes: int, shared_stop: int = SHARED_BYTES
) -> None:
    """The fault of a reduction of elements of a PTX type ("u32", "b64", "bf16"...): that of a copy.

    ValueError where there is no such operation, or none of such elements.
    """
    if type not in OPERATIONS.get(op, ()):
        types = ", ".join(OPERATIONS.get(op, ())) or text("reference.nothing")
        raise ValueError(text("reference.bulk-no-operation", op=op, type=type, types=types))
    check_copy(address, shared_address, bytes, shared_stop)


def combined(op: str, type: str, found: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The bytes that a bulk reduction leaves where it found `found` and brought `data`: uint8, of one shape.

    >>> combined("xor", "b32", np.full(16, 3, np.uint8), np.full(16, 1, np.uint8)).tolist() == [2] * 16
    True
    """
    return combine(op, type, np.ascontiguousarray(found), np.ascontiguousarray(data))
