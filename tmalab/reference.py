"""The reference: what one copy does to memory, bit for bit. No time, no threads.

A load gathers the box (or an im2col map's pixels) from global memory, fills what lies outside the tensor, and lays the
rows into shared memory at the map's pitch, swizzled; a store does the reverse and drops what lies outside; a reduction
combines instead of overwriting. Everything else in this library that moves bytes asks here. Source: measured, H200
(all of 5,600 random loads, 1,600 random stores and 600 random reductions, tiled, interleaved and im2col).

>>> import numpy as np
>>> from tmalab import DataType, TensorMap, reference
>>> tensor = np.arange(4 * 32, dtype=np.uint8)                       # 4 rows of 32 bytes
>>> tm = TensorMap(DataType.UINT8, 0x1000, (32, 4), (32,), (16, 2))
>>> image = reference.load(tm, (16, 3), tensor, shared_address=128)  # the second row is outside
>>> image.data.tolist()[:3], image.data.tolist()[16:19], image.transaction_bytes
([112, 113, 114], [0, 0, 0], 32)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from tmalab.copy_checks import check_load, check_reduce, check_store, exact_address, exact_offsets
from tmalab.data_types import OobFill
from tmalab.faults import TmaFault
from tmalab.footprint import LoadFootprint, StoreFootprint, load_footprint, piece_bytes, store_footprint
from tmalab.inside import Column, Window, inside
from tmalab.reductions import MAP_ARITHMETIC, combine
from tmalab.swizzle import SECTOR, physical_chunks, shared_layout, written
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_doubts import SHARED_BYTES
from tmalab.texts import text
from tmalab.tf32 import round_to_tf32

__all__ = [
    "Image",
    "LoadFootprint",
    "Pieces",
    "StoreFootprint",
    "check_load",
    "check_reduce",
    "check_store",
    "load",
    "load_footprint",
    "load_pieces",
    "reduce",
    "store",
    "store_footprint",
]

NAN_HALF = 0x7FF7  # every 16 bits of a NaN fill, whatever the type (measured, H200)
CHUNK = np.dtype(f"V{SECTOR}")  # 16 bytes that are moved as one


class Image(NamedTuple):
    """What a load leaves in shared memory from its address on."""

    data: np.ndarray  # uint8; index 0 is the shared address
    written: np.ndarray  # bool, read-only: False in the gaps between narrow rows, which keep what they held
    transaction_bytes: int  # what the barrier is credited with in all


class Pieces(NamedTuple):
    """A load as it lands, piece by piece."""

    addresses: np.ndarray  # int64, (pieces, bytes of a piece): the shared address of every byte
    data: np.ndarray  # uint8, the same shape


def load(
    tm: TensorMap,
    coordinates: Sequence[int],
    memory: np.ndarray,
    shared_address: int = 0,
    im2col_offsets: Sequence[int] | None = None,
) -> Image:
    """Global to shared memory: the box at `coordinates` (elements, innermost first), as it lies at `shared_address`.

    `memory` is a contiguous uint8 array whose first byte lies at the map's global address; only what is read must be
    there. `im2col_offsets` (pixels) are those of a load through an im2col map, None for zeros. Raises TmaFault where
    the hardware would fault.
    """
    offsets, address = exact_offsets(_map(tm), im2col_offsets), exact_address(shared_address)
    coordinates = check_load(tm, coordinates, address, im2col_offsets=offsets)
    tile = _swizzled(tm, _gather(tm, coordinates, memory, offsets), address)
    return Image(tile, written(tm, address), tm.transaction_bytes)


def load_pieces(
    tm: TensorMap,
    coordinates: Sequence[int],
    memory: np.ndarray,
    shared_address: int = 0,
    shared_stop: int = SHARED_BYTES,
    im2col_offsets: Sequence[int] | None = None,
) -> Pieces:
    """The same load in the pieces that land, and are credited, together: 32 bytes, or 16 (see footprint.piece_bytes).

    `shared_stop` is where the CTA's shared memory ends (bytes).

    >>> tm = TensorMap(0, 0, (64, 4), (64,), (64, 2), swizzle=2)
    >>> load_pieces(tm, (0, 0), np.zeros(256, np.uint8)).addresses[:, 0].tolist()
    [0, 32, 64, 96]
    """
    offsets, address = exact_offsets(_map(tm), im2col_offsets), exact_address(shared_address)
    coordinates = check_load(tm, coordinates, address, shared_stop, offsets)
    rows = _rows(tm, _gather(tm, coordinates, memory, offsets))[..., : tm.row_bytes]
    addresses = shared_layout(tm, address)[..., None] + np.arange(SECTOR)
    size = piece_bytes(tm, coordinates)
    return Pieces(addresses.reshape(-1, size), rows.reshape(-1, size))


def store(
    tm: TensorMap, coordinates: Sequence[int], shared: np.ndarray, memory: np.ndarray, shared_address: int = 0
) -> None:
    """Shared to global memory: the tile at `shared_address` into the box at `coordinates`; changes `memory` in place.

    `shared[0]` lies at shared address 0, `memory[0]` at the map's global address. Past the upper edges elements are
    dropped, at the innermost edge only from the next multiple of 16 bytes on; what that would write past the end of
    `memory` is left out. Where coordinates share bytes the one delivered last wins, as it did on the H200 in all of 110
    such stores; PTX promises no order. Raises TmaFault where the hardware would fault.
    """
    shared, memory, address = _bytes("shared", shared), _writable(memory), exact_address(shared_address)
    found = _stored(_map(tm), coordinates, shared, memory, address)
    if found is not None:
        found.store(memory, _tile(tm, shared, address))


def reduce(
    op: str,
    tm: TensorMap,
    coordinates: Sequence[int],
    shared: np.ndarray,
    memory: np.ndarray,
    shared_address: int = 0,
) -> None:
    """The same, but each element of memory becomes `op` of what it was and of the element that comes.

    `op`: "add" "min" "max" "inc" "dec" "and" "or" "xor", in the map's element type (see tmalab.reductions). Where
    coordinates share bytes all of them count; their order, which rounding shows, is undefined on the hardware and that
    of delivery here. Raises TmaFault where the hardware would fault, ValueError for what is no operation.

    >>> memory, shared = np.arange(8, dtype=np.uint32).view(np.uint8), np.full(8, 10, np.uint32).view(np.uint8)
    >>> reduce("add", TensorMap(2, 0, (8,), (), (8,)), (4,), shared, memory)
    >>> memory.view(np.uint32).tolist()
    [0, 1, 2, 3, 14, 15, 16, 17]
    """
    check_reduce(op, _map(tm))
    shared, memory, address = _bytes("shared", shared), _writable(memory), exact_address(shared_address)
    found = _stored(tm, coordinates, shared, memory, address)
    if found is None:
        return
    arithmetic = MAP_ARITHMETIC[tm.data_type]
    rows = _tile(tm, shared, address)[found.tile].reshape(-1, found.width)
    _combine_at(memory, found.row_offsets(), rows, lambda before, data: combine(op, arithmetic, before, data))


def _gather(
    tm: TensorMap, coordinates: tuple[int, ...], memory: np.ndarray, offsets: Sequence[int] | None
) -> np.ndarray:
    """The tile before it is swizzled: uint8, its `shared_bytes`."""
    memory = _bytes("memory", memory)
    whole = np.zeros(tm.shared_bytes, np.uint8)
    tile = _rows(tm, whole)
    if tm.oob_fill == OobFill.NAN:
        tile[..., : tm.row_bytes].view(np.uint16)[...] = NAN_HALF
    found = inside(tm, coordinates, offsets)
    if found is not None:
        _check_memory(tm, found, memory)
        found.load(memory, tile)
        if tm.data_type.rounds_to_tf32:
            tile[found.tile] = round_to_tf32(tile[found.tile].view(np.uint32)).view(np.uint8)
    return whole


def _rows(tm: TensorMap, tile: np.ndarray) -> np.ndarray:
    """The rows of an unswizzled tile, sharing its bytes: shape (outer dimensions..., pitch)."""
    rows = tm.transaction_bytes // tm.row_bytes
    return tile[: rows * tm.pitch].reshape(*tm.delivered_dim[:0:-1], tm.pitch)


def _stored(
    tm: TensorMap, coordinates: Sequence[int], shared: np.ndarray, memory: np.ndarray, shared_address: int
) -> Window | Column | None:
    """What of a store reaches memory, once all is checked that a store or reduction asks for."""
    coordinates = check_store(tm, coordinates, shared_address, min(shared.size, SHARED_BYTES))
    exact = inside(tm, coordinates)
    if exact is None:
        return None
    _check_memory(tm, exact, memory)
    return inside(tm, coordinates, clip=True)


def _tile(tm: TensorMap, shared: np.ndarray, shared_address: int) -> np.ndarray:
    """The rows that a store reads, unswizzled: uint8, shape (outer dimensions..., pitch)."""
    source = shared[shared_address : shared_address + tm.shared_bytes]
    if source.size < tm.shared_bytes:  # shared memory ends in what is not read: a gap, or rows outside the tensor
        source = np.pad(source, (0, tm.shared_bytes - source.size))
    return _rows(tm, _swizzled(tm, source, shared_address))


def _swizzled(tm: TensorMap, tile: np.ndarray, shared_address: int) -> np.ndarray:
    """A tile's bytes, logical to physical or back: a swizzle undoes itself."""
    if not tm.swizzle:
        return tile
    return tile.view(CHUNK)[physical_chunks(tm, shared_address)].view(np.uint8)


def _combine_at(memory: np.ndarray, offsets: np.ndarray, rows: np.ndarray, combination: Callable) -> None:
    """Combine each row with the bytes at its offset; one after the other where rows meet."""
    order = np.sort(offsets)
    if (order[1:] - order[:-1] < rows.shape[1]).any():
        groups = [(offsets[i : i + 1], rows[i : i + 1]) for i in range(len(rows))]
    else:
        groups = [(offsets, rows)]
    for places, data in groups:
        targets = places[:, None] + np.arange(rows.shape[1])
        present = targets < memory.size
        before = memory[np.minimum(targets, memory.size - 1)]
        memory[targets[present]] = combination(before, data)[present]


def _check_memory(tm: TensorMap, found: Window | Column, memory: np.ndarray) -> None:
    if found.stop > memory.size:
        stop, end = hex(tm.global_address + found.stop), hex(tm.global_address + memory.size)
        raise TmaFault("illegal_address", text("reference.no-memory", stop=stop, end=end))


def _map(tm: TensorMap) -> TensorMap:
    if not isinstance(tm, TensorMap):
        raise TypeError(text("reference.not-a-map", type=type(tm).__name__))
    return tm


def _bytes(name: str, array: np.ndarray) -> np.ndarray:
    """An array's own bytes in a row."""
    if not (isinstance(array, np.ndarray) and array.dtype == np.uint8 and array.flags.c_contiguous):
        raise TypeError(text("reference.not-bytes", name=name))
    return array if array.ndim == 1 and type(array) is np.ndarray else array.view(np.ndarray).reshape(-1)


def _writable(memory: np.ndarray) -> np.ndarray:
    memory = _bytes("memory", memory)
    if not memory.flags.writeable:
        raise ValueError(text("reference.read-only"))
    return memory
