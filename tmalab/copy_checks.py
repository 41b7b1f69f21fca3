"""What makes a copy through a map fault, and what is no copy at all.

A kernel's mistake raises TmaFault, as the hardware would fault; arguments that no kernel could pass raise ValueError or
TypeError. Where several things are wrong the hardware tells of an illegal instruction first, then of a misaligned
address, then of an illegal one. All of it was measured on an H200, the documents say little.

>>> from tmalab import DataType, TensorMap
>>> tm = TensorMap(DataType.FLOAT16, 0, (1024, 64), (2048,), (64, 8))
>>> check_load(tm, (128, 3), 1024)
(128, 3)
>>> check_load(tm, (130, 3), 1024)
Traceback (most recent call last):
tmalab.faults.TmaFault: coordinate 0 (x) = 130 is byte 260 of a row, not a multiple of 16: the innermost coordinate of \
a copy starts a 16-byte chunk. Nearest: 128 or 136
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tmalab.data_types import Swizzle
from tmalab.faults import TmaFault
from tmalab.im2col import OFFSET_BITS, SPATIAL, channels_dim, corners, spatial_dims
from tmalab.im2col_map import Im2colMap
from tmalab.inside import inside, shared_chunks
from tmalab.reductions import MAP_OPERATIONS, OPERATIONS
from tmalab.swizzle import LINE, PATTERNS, SECTOR, shared_layout
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_doubts import MOST_ELEMENTS, SHARED_BYTES
from tmalab.tensor_map_fields import integer, integers
from tmalab.tensor_map_limits import shown
from tmalab.texts import text

PERIOD = PATTERNS[Swizzle.B128].period  # bytes after which all swizzles repeat
TILED = "xyzwv"  # names of a tiled copy's coordinates, innermost first


def check_load(
    tm: TensorMap,
    coordinates: Sequence[int],
    shared_address: int,
    shared_stop: int = SHARED_BYTES,
    im2col_offsets: Sequence[int] | None = None,
) -> tuple[int, ...]:
    """The coordinates as ints, or the load's fault. `shared_stop`: where the CTA's shared memory ends (bytes)."""
    coordinates = _coordinates(tm, coordinates)
    exact_offsets(tm, im2col_offsets)
    _check_place(tm, coordinates)
    address = _check_alignment(shared_address)
    # The gaps of narrow rows count only where the whole tile, gaps included, does not fit.
    if address < 0 or (address + tm.shared_bytes > shared_stop and _last_written(tm, address) >= shared_stop):
        _past_shared(tm, address, shared_stop)
    return coordinates


def check_store(
    tm: TensorMap, coordinates: Sequence[int], shared_address: int, shared_stop: int = SHARED_BYTES
) -> tuple[int, ...]:
    """The coordinates as ints, or the store's fault. `shared_stop`: where the CTA's shared memory ends (bytes).

    In contrast to a load no coordinate may be negative, an im2col map's bounding box must lie inside the tensor, and
    shared memory need only hold what reaches global memory.
    """
    coordinates = _coordinates(tm, coordinates)
    _check_place(tm, coordinates)
    for i, value in enumerate(coordinates):
        if value < 0:
            _illegal("negative-coordinate", i=i, name=_name(tm, i), value=value)
    if isinstance(tm, Im2colMap):
        _check_box_of_store(tm)
    address = _check_alignment(shared_address)
    if address < 0 or (address + tm.shared_bytes > shared_stop and _last_read(tm, coordinates, address) >= shared_stop):
        _past_shared(tm, address, shared_stop)
    return coordinates


def check_reduce(op: str, tm: TensorMap) -> None:
    """The fault of a reduction that the map's element type does not have. ValueError where `op` is no operation."""
    if op not in OPERATIONS:
        raise ValueError(text("reference.no-operation", op=op, operations=", ".join(OPERATIONS)))
    if op not in MAP_OPERATIONS.get(tm.data_type, ()):
        types = ", ".join(data_type.name for data_type, operations in MAP_OPERATIONS.items() if op in operations)
        _illegal("no-reduction", op=op, type=tm.data_type.name, types=types)


# What no kernel could pass.


def exact_address(shared_address: int) -> int:
    """A shared-memory address as an int, whatever kind of integer it was."""
    return integer("shared_address", shared_address)


def exact_offsets(tm: TensorMap, offsets: Sequence[int] | None) -> tuple[int, ...] | None:
    """The offsets of an im2col load as ints; None where there are none. A tiled map takes none."""
    if offsets is None:
        return None
    values = integers("im2col_offsets", offsets)
    if not isinstance(tm, Im2colMap):
        if values:
            raise ValueError(text("reference.im2col-offsets"))
        return None
    if len(values) != tm.rank - 2:
        raise ValueError(text("reference.offset-count", given=len(values), rank=tm.rank, count=tm.rank - 2))
    last = (1 << OFFSET_BITS[tm.rank]) - 1
    for i, value in enumerate(values):
        if not 0 <= value <= last:
            words = {"i": i, "name": SPATIAL[i], "value": shown(value), "last": last, "rank": tm.rank}
            raise ValueError(text("reference.offset-range", **words))
    return values


def _coordinates(tm: TensorMap, coordinates: Sequence[int]) -> tuple[int, ...]:
    values = integers("coordinates", coordinates)
    if len(values) != tm.rank:
        raise ValueError(text("reference.coordinate-count", given=len(values), count=tm.rank))
    for i, value in enumerate(values):
        if not -(2**31) <= value < 2**31:
            raise ValueError(text("reference.coordinate-range", i=i, name=_name(tm, i), value=shown(value)))
    return values


# Illegal instructions.


def _check_place(tm: TensorMap, coordinates: tuple[int, ...]) -> None:
    """What loads and stores ask of the map and of where the copy begins."""
    if max(tm.global_dim) > MOST_ELEMENTS:
        i = next(i for i, dim in enumerate(tm.global_dim) if dim > MOST_ELEMENTS)
        _illegal("too-many-elements", i=i, value=tm.global_dim[i])
    if coordinates[0] * tm.innermost_bytes % SECTOR:  # slices of an interleaved map are chunks
        _off_chunk(tm, coordinates[0])
    if isinstance(tm, Im2colMap):
        for number, (low, high) in enumerate(corners(tm)):
            i = spatial_dims(tm)[number]
            if not low <= coordinates[i] <= high:
                values = {"i": i, "name": _name(tm, i), "value": coordinates[i], "low": low, "high": high}
                _illegal("outside-the-box", **values)


def _check_box_of_store(tm: Im2colMap) -> None:
    for number, (low, high) in enumerate(corners(tm)):
        i = spatial_dims(tm)[number]
        if low < 0 or high >= tm.global_dim[i]:
            _illegal("store-box", name=SPATIAL[number], low=low, high=high, last=tm.global_dim[i] - 1)


def _off_chunk(tm: TensorMap, x: int) -> None:
    unit = SECTOR // tm.element_size
    below = x // unit * unit
    values = {"name": _name(tm, 0), "x": x, "byte": x * tm.element_size, "below": below, "above": below + unit}
    _illegal("innermost-coordinate", **values)


def _name(tm: TensorMap, i: int) -> str:
    """What a coordinate is called: as in the instructions, of an interleaved im2col map after what it counts."""
    if not isinstance(tm, Im2colMap):
        return TILED[i]
    if i == tm.rank - 1:
        return "n"
    return "c" if i == channels_dim(tm) else SPATIAL[i - spatial_dims(tm)[0]]


def _illegal(key: str, **values: object) -> None:
    raise TmaFault("illegal_instruction", text(f"reference.{key}", **values))


# Shared memory.


def _check_alignment(shared_address: int) -> int:
    address = exact_address(shared_address)
    if address % LINE:
        below = address - address % LINE
        values = {"address": hex(address), "below": hex(below), "above": hex(below + LINE)}
        raise TmaFault("misaligned_address", text("reference.shared-alignment", **values))
    return address


def _past_shared(tm: TensorMap, address: int, stop: int) -> None:
    values = {"address": hex(address), "bytes": tm.shared_bytes, "stop": hex(stop)}
    raise TmaFault("illegal_address", text("reference.shared-range", **values))


def _last_written(tm: TensorMap, address: int) -> int:
    """The highest shared address that a load to `address` writes."""
    return _last(shared_layout(tm, address % PERIOD), address)


def _last_read(tm: TensorMap, coordinates: tuple[int, ...], address: int) -> int:
    """The highest shared address that a store from `address` reads: of chunks that reach global memory; -1: none."""
    return _last(shared_chunks(tm, inside(tm, coordinates, clip=True), address % PERIOD), address)


def _last(chunks: np.ndarray, address: int) -> int:
    """The last byte of the chunks of a tile at `address`, which are given as if it lay in the first period."""
    return int(chunks.max()) + address - address % PERIOD + SECTOR - 1 if chunks.size else -1
