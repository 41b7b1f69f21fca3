"""Canonical layouts: where wgmma looks for the elements of an operand in shared memory.

An operand is made of core matrices, 8 rows of 16 bytes, which a descriptor strings together. Rows run along K
("K-major") or along M or N ("MN-major", with the transpose bit of the instruction, for 16-bit types). With a swizzle,
each row takes the whole span, and 16-byte chunks are where `tmalab.swizzle` puts them. In chunks, with `span` chunks
in a row:

    K-major    none      (row, column) at row // 8 * stride + row % 8 + column * leading
               swizzled  (row, column) at row // 8 * stride + row % 8 * span + column
    MN-major   none      (k, chunk) at k // 8 * leading + k % 8 + chunk * stride
               swizzled  (k, chunk) at k // 8 * stride + k % 8 * span + chunk % span + chunk // span * leading

>>> from tmalab import Swizzle
>>> from tmalab.wgmma_descriptor import WgmmaDescriptor
>>> rows = WgmmaDescriptor(0x8000, Swizzle.B128, stride_bytes=1024)
>>> [hex(address) for address in operand_chunks(rows, 64)[9]]       # row 9: the second of the second 8
['0x8490', '0x8480']

Source: CUTLASS, mma_traits_sm90_gmma.hpp; PTX ISA, wgmma, shared memory matrix layout.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tmalab.swizzle import PATTERNS, SECTOR, swizzle_address
from tmalab.wgmma_descriptor import REACH, ROWS, WgmmaDescriptor

DEPTH = 16  # elements along K that one wgmma of 16-bit types takes
WIDTH = SECTOR // 2  # elements of a chunk


@lru_cache(maxsize=512)
def operand_chunks(descriptor: WgmmaDescriptor, length: int, k_major: bool = True) -> np.ndarray:
    """The physical addresses (bytes) of an operand's 16-byte chunks; int64, read-only.

    `length` is M or N. K-major: shape (length, 2), row by row. MN-major: shape (16, length / 8), column by column of K.
    """
    chunks = _k_major(descriptor, length) if k_major else _mn_major(descriptor, length)
    chunks = swizzle_address((descriptor.address + chunks) % REACH, descriptor.swizzle)
    chunks.flags.writeable = False
    return chunks


def _k_major(descriptor: WgmmaDescriptor, length: int) -> np.ndarray:
    span = PATTERNS[descriptor.swizzle].span
    rows, columns = np.arange(length)[:, None], np.arange(DEPTH // WIDTH)
    along = SECTOR if span else descriptor.leading_bytes
    return rows // ROWS * descriptor.stride_bytes + rows % ROWS * (span or SECTOR) + columns * along


def _mn_major(descriptor: WgmmaDescriptor, length: int) -> np.ndarray:
    span = PATTERNS[descriptor.swizzle].span
    columns, chunks = np.arange(DEPTH)[:, None], np.arange(length // WIDTH)
    if not span:
        within = columns % ROWS * SECTOR + columns // ROWS * descriptor.leading_bytes
        return within + chunks * descriptor.stride_bytes
    wide = span // SECTOR
    within = columns % ROWS * span + columns // ROWS * descriptor.stride_bytes
    return within + chunks % wide * SECTOR + chunks // wide * descriptor.leading_bytes


def operand(memory: np.ndarray, descriptor: WgmmaDescriptor, length: int, k_major: bool = True) -> np.ndarray:
    """The operand as 16-bit words: uint16, shape (length, 16).

    `memory`: uint8, the shared window from address 0 on, a multiple of 16 bytes.
    """
    chunks = operand_chunks(descriptor, length, k_major)
    found = memory.reshape(-1, SECTOR)[chunks // SECTOR].view(np.uint16).reshape(len(chunks), -1)
    return found if k_major else found.T
