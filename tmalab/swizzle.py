"""Swizzle: where a 16-byte chunk of a tile lies in shared memory.

Shared memory has 32 banks of 4 bytes; eight rows of 128 bytes put the same column into the same banks. A swizzle moves
each 16-byte chunk sideways by an amount that depends on the row, so that a column spreads over all banks:

    physical = address ^ ((address >> 3) & mask)

The three bits that number the 128-byte line (7-9) are XORed into the bits that number the chunk within it (4-6);
narrower swizzles use fewer of them. Doing it twice gives the address back. It works on *absolute* addresses, so the
pattern repeats every 256, 512 or 1,024 bytes whatever the tile's base. CuTe writes Swizzle<1,4,3>, <2,4,3>, <3,4,3>.
Source: 800 random loads on an H200, all of which agree.

>>> from tmalab import Swizzle
>>> hex(swizzle_address(0x80, Swizzle.B128))        # row 1, chunk 0 goes to chunk 1
'0x90'
>>> hex(swizzle_address(0x90, Swizzle.B128))        # and chunk 1 to chunk 0
'0x80'
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from tmalab.data_types import Swizzle

if TYPE_CHECKING:
    from tmalab.tensor_map import TensorMap

SECTOR = 16  # bytes: what a swizzle moves as one, a "16-byte chunk"
LINE = 128  # bytes: once through all 32 banks
Address = TypeVar("Address", int, np.ndarray)


class Pattern(NamedTuple):
    """One swizzle mode: a table row."""

    span: int  # bytes: the longest innermost row that it takes, and the pitch of every row; 0 without a swizzle
    mask: int  # the address bits that it changes
    period: int  # bytes after which the pattern repeats: the alignment that makes it start at its beginning


PATTERNS: dict[int, Pattern] = {
    Swizzle.NONE: Pattern(span=0, mask=0, period=16),
    Swizzle.B32: Pattern(span=32, mask=0b001_0000, period=256),
    Swizzle.B64: Pattern(span=64, mask=0b011_0000, period=512),
    Swizzle.B128: Pattern(span=128, mask=0b111_0000, period=1024),
}


def swizzle_address(address: Address, mode: int) -> Address:
    """The physical shared-memory address (bytes) of a logical one; an int or an integer array. It is its own inverse.

    >>> [swizzle_address(128 * row, Swizzle.B128) % 128 // 16 for row in range(8)]     # chunk 0 of rows 0..7
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    return address ^ ((address >> 3) & PATTERNS[Swizzle(mode)].mask)


def swizzle_sector(row: int, sector: int, mode: int) -> int:
    """The physical sector (16-byte column) of logical `sector` in row `row` of a tile whose base starts the pattern.

    Rows are the swizzle's span wide (32, 64 or 128 bytes), so 32B and 64B swizzles step every 4 or 2 rows.

    >>> swizzle_sector(5, 2, Swizzle.B128), 5 ^ 2
    (7, 7)
    >>> [swizzle_sector(row, 0, Swizzle.B64) for row in range(8)]
    [0, 0, 1, 1, 2, 2, 3, 3]
    """
    span = PATTERNS[Swizzle(mode)].span
    if not span:
        return sector
    return swizzle_address(row * span + sector * SECTOR, mode) % span // SECTOR


@lru_cache(maxsize=64)
def chunk_order(chunks: int, swizzle: int, phase: int) -> np.ndarray:
    """Where 16-byte chunks lie, all counted from an address that is `phase` modulo the pattern's period.

    The physical number of each logical chunk; as a swizzle undoes itself, the logical number of each physical one too.
    """
    order = (swizzle_address(phase + np.arange(0, chunks * SECTOR, SECTOR), swizzle) - phase) // SECTOR
    order.flags.writeable = False
    return order


def physical_chunks(tm: TensorMap, shared_address: int) -> np.ndarray:
    """`chunk_order` of a whole tile at a 128-byte aligned address, the gaps between narrow rows included."""
    return chunk_order(tm.shared_bytes // SECTOR, int(tm.swizzle), shared_address % PATTERNS[tm.swizzle].period)


def shared_layout(tensor_map: TensorMap, shared_address: int = 0) -> np.ndarray:
    """Where each 16-byte chunk of a tile lies: int64 addresses, shape (rows, chunks of a row), rows in delivery order.

    Rows follow each other at the map's pitch; `shared_address` is the tile's base in bytes.

    >>> from tmalab import DataType, TensorMap
    >>> tm = TensorMap(DataType.FLOAT16, 0, (64, 2), (128,), (64, 2), swizzle=Swizzle.B128)
    >>> shared_layout(tm).tolist()
    [[0, 16, 32, 48, 64, 80, 96, 112], [144, 128, 176, 160, 208, 192, 240, 224]]
    """
    rows, row = tensor_map.transaction_bytes // tensor_map.row_bytes, tensor_map.pitch // SECTOR
    chunks = physical_chunks(tensor_map, shared_address)[: rows * row].reshape(rows, row)
    return shared_address + chunks[:, : tensor_map.row_bytes // SECTOR] * SECTOR


def written(tm: TensorMap, shared_address: int) -> np.ndarray:
    """Which of a tile's `shared_bytes` a load writes: bool, read-only. All but the gaps between and after rows."""
    rows, phase = tm.transaction_bytes // tm.row_bytes, shared_address % PATTERNS[tm.swizzle].period
    shape = (tm.shared_bytes // SECTOR, rows, tm.row_bytes // SECTOR, tm.pitch // SECTOR)
    return _written(*shape, int(tm.swizzle), phase)


@lru_cache(maxsize=64)
def _written(chunks: int, rows: int, row: int, pitch: int, swizzle: int, phase: int) -> np.ndarray:
    """All but `swizzle` and `phase` in 16-byte chunks."""
    logical = np.zeros(chunks, bool)
    logical[: rows * pitch].reshape(rows, pitch)[:, :row] = True
    physical = logical[chunk_order(chunks, swizzle, phase)].repeat(SECTOR)
    physical.flags.writeable = False
    return physical
