"""The footprint of a copy: which global and shared bytes one box touches, exactly.

The part of a box that lies inside the tensor is itself a box, because coordinates grow along each dimension. So it is a
strided window of global memory, and the same window of the tile; everything here follows from that.

>>> from tmalab import DataType, TensorMap
>>> tm = TensorMap(DataType.UINT8, 0, (40, 4), (48,), (32, 2))
>>> footprint = load_footprint(tm, (16, 3), shared_address=128)      # hangs over the right and the lower edge
>>> footprint.shared.tolist(), footprint.transaction_bytes           # 16-byte chunks; all are delivered
([128, 144, 160, 176], 64)
>>> footprint.global_starts.tolist(), footprint.global_stops.tolist()        # 24 bytes of one row are read
([160], [184])
>>> store_footprint(tm, (16, 3), shared_address=128).global_stops.tolist()   # a store writes up to the next 16
[192]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tmalab.copy_checks import check_load, check_store
from tmalab.faults import TmaFault
from tmalab.swizzle import PATTERNS, SECTOR, swizzle_address
from tmalab.tensor_map_doubts import SHARED_BYTES
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.tensor_map import TensorMap


# Global memory: the window of the box that lies inside the tensor.


class Window(NamedTuple):
    """The part of a box inside the tensor, in NumPy's order (outermost first); the innermost dimension in bytes."""

    tile: tuple[slice, ...]  # where it lies in the tile
    offset: int  # bytes from the map's global address to its first byte
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes

    @property
    def stop(self) -> int:
        """Bytes from the map's global address to just past the last byte."""
        return self.offset + sum((n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)) + 1

    def row_offsets(self) -> np.ndarray:
        """Bytes from the map's global address to each innermost row: int64, shape (rows,)."""
        offsets = np.array(self.offset, np.int64)
        for n, stride in zip(self.shape[:-1], self.strides[:-1], strict=True):
            offsets = offsets[..., None] + np.arange(n) * stride
        return offsets.reshape(-1)


def window(tm: TensorMap, coordinates: tuple[int, ...], clip: bool = False) -> Window | None:
    """The window of the box at `coordinates` (elements, innermost first), or None where all of it lies outside.

    `clip`: cut at the innermost edge as stores do, at the next multiple of 16 bytes, not at the element (measured,
    H200).
    """
    size, row_bytes = tm.element_size, tm.row_bytes
    left = coordinates[0] * size
    low, high = max(0, -left), min(row_bytes, tm.global_dim[0] * size - left)
    if high <= low:
        return None
    if clip:
        high += -high % SECTOR
    tile, shape, strides, offset = [slice(low, high)], [high - low], [1], left + low
    for i in range(1, tm.rank):  # the elements start, start + step, ... that are not before 0 and before the edge
        start, step, edge = coordinates[i], tm.element_strides[i], tm.global_dim[i]
        low, high = max(0, -(start // step)), min(tm.delivered_dim[i], -((start - edge) // step))
        if high <= low:
            return None
        tile.append(slice(low, high))
        shape.append(high - low)
        strides.append(step * tm.global_strides[i - 1])
        offset += (start + low * step) * tm.global_strides[i - 1]
    return Window(tuple(tile[::-1]), offset, tuple(shape[::-1]), tuple(strides[::-1]))


# Shared memory: the tile's rows at their pitch, swizzled.


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


def delivered_chunks(tm: TensorMap, shared_address: int) -> np.ndarray:
    """Shared addresses (bytes) of the 16-byte chunks of a tile: int64, shape (outer dimensions..., chunks of a row)."""
    rows = physical_chunks(tm, shared_address).reshape(*tm.delivered_dim[:0:-1], tm.pitch // SECTOR)
    return shared_address + rows[..., : tm.row_bytes // SECTOR] * SECTOR


def written(tm: TensorMap, shared_address: int) -> np.ndarray:
    """Which of a tile's `shared_bytes` a load writes: bool, read-only. All but the gaps between narrow rows."""
    rows, phase = tm.shared_bytes // tm.pitch, shared_address % PATTERNS[tm.swizzle].period
    return _written(rows, tm.row_bytes // SECTOR, tm.pitch // SECTOR, int(tm.swizzle), phase)


@lru_cache(maxsize=64)
def _written(rows: int, row_chunks: int, pitch_chunks: int, swizzle: int, phase: int) -> np.ndarray:
    logical = np.zeros((rows, pitch_chunks), bool)
    logical[:, :row_chunks] = True
    physical = logical.reshape(-1)[chunk_order(logical.size, swizzle, phase)].repeat(SECTOR)
    physical.flags.writeable = False
    return physical


# What a copy touches, for whoever must know before or without copying.


class LoadFootprint(NamedTuple):
    """All that a load touches. Addresses in bytes, int64."""

    shared: np.ndarray  # (chunks,): addresses of the 16-byte chunks that it writes, in delivery order
    piece_bytes: int  # bytes that land, and are credited to the barrier, together: 32, or 16
    global_starts: np.ndarray  # (rows,): in-bounds bytes that it reads, from here
    global_stops: np.ndarray  # to just before here
    transaction_bytes: int  # what its barrier is credited with in all


class StoreFootprint(NamedTuple):
    """All that a store or reduction touches. Addresses in bytes, int64."""

    shared: np.ndarray  # (chunks,): addresses of the 16-byte chunks that reach global memory
    global_starts: np.ndarray  # (rows,): bytes that it writes, from here
    global_stops: np.ndarray  # to just before here, the clip at 16 bytes included


def piece_bytes(tm: TensorMap) -> int:
    """Bytes that land together: 32, or 16 where rows are no multiples of 32 (measured for rows of 16, H200)."""
    return 2 * SECTOR if tm.row_bytes % (2 * SECTOR) == 0 else SECTOR


def load_footprint(
    tm: TensorMap, coordinates: Sequence[int], shared_address: int, shared_stop: int = SHARED_BYTES
) -> LoadFootprint:
    """What a load of the box at `coordinates` to `shared_address` touches.

    `shared_stop` is where the CTA's shared memory ends (bytes). Raises TmaFault as the load would.
    """
    coordinates = check_load(tm, coordinates, shared_address, shared_stop)
    starts, stops = _global_rows(tm, window(tm, coordinates))
    shared = delivered_chunks(tm, shared_address).reshape(-1)
    return LoadFootprint(shared, piece_bytes(tm), starts, stops, tm.transaction_bytes)


def store_footprint(
    tm: TensorMap, coordinates: Sequence[int], shared_address: int, shared_stop: int = SHARED_BYTES
) -> StoreFootprint:
    """What a store from `shared_address` to the box at `coordinates` touches.

    `shared_stop` is where the CTA's shared memory ends (bytes). Raises TmaFault as the store would.
    """
    coordinates = check_store(tm, coordinates, shared_address, shared_stop)
    inside = window(tm, coordinates, clip=True)
    starts, stops = _global_rows(tm, inside)
    if inside is None:
        return StoreFootprint(starts, starts, stops)
    *rows, columns = inside.tile
    chunks = slice(columns.start // SECTOR, columns.stop // SECTOR)
    return StoreFootprint(delivered_chunks(tm, shared_address)[(*rows, chunks)].reshape(-1), starts, stops)


def _global_rows(tm: TensorMap, inside: Window | None) -> tuple[np.ndarray, np.ndarray]:
    if inside is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    stop = tm.global_address + inside.stop
    if stop > 2**63:
        raise TmaFault("illegal_address", text("reference.no-memory", stop=hex(stop), end="2^63"))
    starts = tm.global_address + inside.row_offsets()
    return starts, starts + inside.shape[-1]
