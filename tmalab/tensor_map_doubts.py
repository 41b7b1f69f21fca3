"""What the driver accepts, but a kernel's reader should know: the table of warnings.

>>> fields = Fields(0, 0x1000, (466, 32), (512,), (64, 8), (1, 1), 0, 0, 0, 0)
>>> for sentence in doubts(fields):
...     print(sentence)  # doctest: +NORMALIZE_WHITESPACE
global_dim[0] is 466 bytes, not a multiple of 16: a store across that edge also overwrites the 14 bytes after it,
in every row (measured, H200)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import NamedTuple

from tmalab.data_types import Interleave, Swizzle
from tmalab.swizzle import PATTERNS, SECTOR
from tmalab.tensor_map_fields import Fields, delivered_dim
from tmalab.texts import text

SHARED_BYTES = 232_448  # 227 KiB: all the shared memory that one CTA can have


class Doubt(NamedTuple):
    """One row: the values of each place where `key`'s sentence is true of a legal map."""

    key: str
    places: Callable[[Fields], Iterator[dict[str, object]]]


def _null_address(fields: Fields) -> Iterator[dict[str, object]]:
    if fields.global_address == 0:
        yield {}


def _store_clip(fields: Fields) -> Iterator[dict[str, object]]:
    row = fields.global_dim[0] * fields.element_size
    if row % SECTOR and not fields.interleave:
        yield {"row": row, "extra": -row % SECTOR}


def _rows_share_bytes(fields: Fields) -> Iterator[dict[str, object]]:
    """Some dimension's stride is shorter than what lies inside it, so that two coordinates reach one byte."""
    inside = fields.global_dim[0] * fields.element_size
    if fields.interleave:
        return
    for i, (stride, dim) in enumerate(zip(fields.global_strides, fields.global_dim[1:], strict=True)):
        if dim > 1 and stride < inside:
            yield {"i": i, "stride": stride, "inside": inside}
        inside = max(inside, stride * (dim - 1) + inside)


def _strides_ignored(fields: Fields) -> Iterator[dict[str, object]]:
    if fields.element_strides[0] != 1 and not fields.interleave:
        yield {"stride": fields.element_strides[0]}


def _ragged_strides(fields: Fields) -> Iterator[dict[str, object]]:
    start = 0 if fields.interleave else 1
    for i, (box, stride) in enumerate(zip(fields.box_dim, fields.element_strides, strict=True)):
        if i >= start and box % stride:
            yield {"i": i, "stride": stride, "box": box, "count": -(-box // stride)}


def _gap(fields: Fields) -> Iterator[dict[str, object]]:
    row, span = fields.box_dim[0] * fields.element_size, PATTERNS[Swizzle(fields.swizzle)].span
    if row < span and not fields.interleave:
        yield {"row": row, "span": span}


def _never_fits(fields: Fields) -> Iterator[dict[str, object]]:
    row = fields.box_dim[0] * fields.element_size
    pitch = PATTERNS[Swizzle(fields.swizzle)].span or row
    total = prod(delivered_dim(fields)[1:]) * pitch
    if total > SHARED_BYTES and not fields.interleave:
        yield {"bytes": total, "limit": SHARED_BYTES}


def _other_swizzle(fields: Fields) -> Iterator[dict[str, object]]:
    if fields.interleave == Interleave.B32 and fields.swizzle != Swizzle.B32:
        yield {"swizzle": Swizzle(fields.swizzle).name}


DOUBTS = (
    Doubt("map.null-address", _null_address),
    Doubt("map.store-clip", _store_clip),
    Doubt("map.rows-share-bytes", _rows_share_bytes),
    Doubt("map.stride-ignored", _strides_ignored),
    Doubt("map.ragged-stride", _ragged_strides),
    Doubt("map.narrow-row", _gap),
    Doubt("map.never-fits", _never_fits),
    Doubt("map.other-swizzle", _other_swizzle),
)


def doubts(fields: Fields) -> list[str]:
    """A sentence for each thing that a reader of a legal map should know; empty where there is nothing."""
    return [text(doubt.key, **values) for doubt in DOUBTS for values in doubt.places(fields)]


def object_address_doubts(address: int) -> list[str]:
    """What CUDA's headers say of a 128-byte map object at `address`: CUDA 12 aligns it to 64 bytes, CUDA 13 to 128.

    >>> object_address_doubts(0x1000)
    []
    >>> len(object_address_doubts(0x1040))
    1
    """
    return [text("map.object-alignment", address=hex(address))] if address % 128 else []
