"""The footprint of a copy: which global and shared bytes it touches, exactly; for whoever must know before copying.

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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tmalab.copy_checks import check_load, check_store, exact_address, exact_offsets
from tmalab.faults import TmaFault
from tmalab.inside import Column, Window, inside, shared_chunks
from tmalab.swizzle import SECTOR, shared_layout
from tmalab.tensor_map_doubts import SHARED_BYTES
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.tensor_map import TensorMap

PIECE = 2 * SECTOR  # bytes: a sector of global memory, which lands in one piece where a copy takes all of it


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


def load_footprint(
    tm: TensorMap,
    coordinates: Sequence[int],
    shared_address: int,
    shared_stop: int = SHARED_BYTES,
    im2col_offsets: Sequence[int] | None = None,
) -> LoadFootprint:
    """What a load of the box at `coordinates` to `shared_address` touches.

    `shared_stop` is where the CTA's shared memory ends (bytes). Raises TmaFault as the load would.
    """
    offsets, address = exact_offsets(tm, im2col_offsets), exact_address(shared_address)
    coordinates = check_load(tm, coordinates, address, shared_stop, offsets)
    starts, stops = _global_rows(tm, inside(tm, coordinates, offsets))
    shared = shared_layout(tm, address).reshape(-1)
    return LoadFootprint(shared, piece_bytes(tm, coordinates), starts, stops, tm.transaction_bytes)


def store_footprint(
    tm: TensorMap, coordinates: Sequence[int], shared_address: int, shared_stop: int = SHARED_BYTES
) -> StoreFootprint:
    """What a store or reduction from `shared_address` to the box at `coordinates` touches.

    `shared_stop` is where the CTA's shared memory ends (bytes). Raises TmaFault as the store would.
    """
    address = exact_address(shared_address)
    coordinates = check_store(tm, coordinates, address, shared_stop)
    found = inside(tm, coordinates, clip=True)
    return StoreFootprint(shared_chunks(tm, found, address), *_global_rows(tm, found))


def piece_bytes(tm: TensorMap, coordinates: Sequence[int]) -> int:
    """Bytes that land together: 32 where rows are made of whole 32-byte sectors of global memory, else 16.

    Source: measured, H200, for rows of 16 to 256 bytes and rows that start half a sector in. Narrow rows really land
    in pieces of both sizes.
    """
    start = tm.global_address + coordinates[0] * tm.innermost_bytes
    whole = not any(value % PIECE for value in (tm.row_bytes, start, *tm.global_strides))
    spread = tm.innermost_bytes == SECTOR and tm.element_strides[0] != 1 and tm.interleave
    return PIECE if whole and not spread else SECTOR


def _global_rows(tm: TensorMap, found: Window | Column | None) -> tuple[np.ndarray, np.ndarray]:
    if found is None:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    stop = tm.global_address + found.stop
    if stop > 2**63:
        raise TmaFault("illegal_address", text("reference.no-memory", stop=hex(stop), end="2^63"))
    starts = tm.global_address + found.row_offsets()
    return starts, starts + found.width
