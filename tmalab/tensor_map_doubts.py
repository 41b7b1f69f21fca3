"""What the driver accepts, but a kernel's reader should know: the table of warnings.

>>> from tmalab import TensorMap
>>> for sentence in doubts(TensorMap(0, 0x1000, (466, 32), (512,), (64, 8))):
...     print(sentence)  # doctest: +NORMALIZE_WHITESPACE
global_dim[0] is 466 bytes, not a multiple of 16: a store across that edge also overwrites the 14 bytes after it,
in every row (measured, H200)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.data_types import Interleave, Swizzle
from tmalab.swizzle import SECTOR
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.tensor_map import TensorMap

Places = Iterator[dict[str, object]]
SHARED_BYTES = 232_448  # 227 KiB: all the shared memory that one CTA can have
# Elements along a dimension: the driver accepts twice as many, and every copy then faults (measured, H200)
MOST_ELEMENTS = 2**31


class Doubt(NamedTuple):
    """One row: the values of each place where `key`'s sentence is true of a legal map."""

    key: str
    places: Callable[[TensorMap], Places]


def _null_address(tm: TensorMap) -> Places:
    if tm.global_address == 0:
        yield {}


def _too_long(tm: TensorMap) -> Places:
    for i, dim in enumerate(tm.global_dim):
        if dim > MOST_ELEMENTS:
            yield {"i": i, "dim": dim}


def _store_clip(tm: TensorMap) -> Places:
    row = tm.global_dim[0] * tm.element_size
    if row % SECTOR and not tm.interleave:
        yield {"row": row, "extra": -row % SECTOR}


def _rows_share_bytes(tm: TensorMap) -> Places:
    """Some dimension's stride is shorter than what lies inside it, so that two coordinates reach one byte."""
    inside = tm.global_dim[0] * tm.innermost_bytes
    for i, (stride, dim) in enumerate(zip(tm.global_strides, tm.global_dim[1:], strict=True)):
        if dim > 1 and stride < inside:
            yield {"i": i, "stride": stride, "inside": inside}
        inside = max(inside, stride * (dim - 1) + inside)


def _strides_ignored(tm: TensorMap) -> Places:
    if tm.element_strides[0] != 1 and not tm.interleave:
        yield {"stride": tm.element_strides[0]}


def _ragged_strides(tm: TensorMap) -> Places:
    ignored = tm.rank - 2 if tm.interleave else 0
    for i, (box, stride) in enumerate(zip(tm.box_dim, tm.element_strides, strict=True)):
        if i != ignored and box % stride:
            yield {"i": i, "stride": stride, "box": box, "count": -(-box // stride)}


def _slices_ignored(tm: TensorMap) -> Places:
    if tm.interleave and tm.box_dim[-2] != 1:
        yield {"i": tm.rank - 2, "box": tm.box_dim[-2]}


def _channels_ignored(tm: Any) -> Places:
    if tm.interleave and tm.channels_per_pixel * tm.element_size != tm.innermost_bytes:
        yield {"channels": tm.channels_per_pixel, "slice": tm.innermost_bytes}


def _gap(tm: TensorMap) -> Places:
    if tm.row_bytes < tm.pitch:
        yield {"row": tm.row_bytes, "span": tm.pitch}


def _never_fits(tm: TensorMap) -> Places:
    if tm.shared_bytes > SHARED_BYTES:
        yield {"bytes": tm.shared_bytes, "limit": SHARED_BYTES}


def _other_swizzle(tm: TensorMap) -> Places:
    if tm.interleave == Interleave.B32 and tm.swizzle != Swizzle.B32:
        yield {"swizzle": tm.swizzle.name}


EVERY = (
    Doubt("map.null-address", _null_address),
    Doubt("map.too-long", _too_long),
    Doubt("map.store-clip", _store_clip),
    Doubt("map.rows-share-bytes", _rows_share_bytes),
)
SHARED = (
    Doubt("map.narrow-row", _gap),
    Doubt("map.never-fits", _never_fits),
    Doubt("map.other-swizzle", _other_swizzle),
)
DOUBTS = (  # of a tiled map
    *EVERY,
    Doubt("map.stride-ignored", _strides_ignored),
    Doubt("map.ragged-stride", _ragged_strides),
    Doubt("map.slices-ignored", _slices_ignored),
    *SHARED,
)
IM2COL_DOUBTS = (*EVERY, Doubt("map.channels-ignored", _channels_ignored), *SHARED)


def doubts(tm: TensorMap, table: tuple[Doubt, ...] = DOUBTS) -> list[str]:
    """A sentence for each thing that a reader of a legal map should know; empty where there is nothing."""
    return [text(doubt.key, **values) for doubt in table for values in doubt.places(tm)]


def object_address_doubts(address: int) -> list[str]:
    """What is doubtful about a 128-byte map object at `address`: CUDA 12 aligns it to 64 bytes, CUDA 13 to 128.

    >>> object_address_doubts(0x1000)
    []
    >>> len(object_address_doubts(0x1040))
    1
    """
    if not address % 128:
        return []
    return [text("map.object-faults" if address % 64 else "map.object-alignment", address=hex(address))]
