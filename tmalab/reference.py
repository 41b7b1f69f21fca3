"""The reference: what one copy does to memory, bit for bit. No time, no threads.

A load gathers the box from global memory, fills what lies outside the tensor, and lays the rows into shared memory at
the map's pitch, swizzled; a store does the reverse and drops what lies outside. Everything else in this library that
moves bytes asks here. Source: measured, H200 (all of 800 random loads and 166 random stores).

>>> import numpy as np
>>> from tmalab import DataType, TensorMap, reference
>>> tensor = np.arange(4 * 32, dtype=np.uint8)                       # 4 rows of 32 bytes
>>> tm = TensorMap(DataType.UINT8, 0x1000, (32, 4), (32,), (16, 2))
>>> image = reference.load(tm, (16, 3), tensor, shared_address=128)  # the second row is outside
>>> image.data.tolist()[:3], image.data.tolist()[16:19], image.transaction_bytes
([112, 113, 114], [0, 0, 0], 32)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tmalab.copy_checks import check_load, check_store
from tmalab.data_types import OobFill
from tmalab.faults import TmaFault
from tmalab.footprint import (
    LoadFootprint,
    StoreFootprint,
    Window,
    delivered_chunks,
    load_footprint,
    physical_chunks,
    piece_bytes,
    store_footprint,
    window,
    written,
)
from tmalab.swizzle import SECTOR
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
    "check_store",
    "load",
    "load_footprint",
    "load_pieces",
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

    `memory` is a uint8 array whose first byte lies at the map's global address. Raises TmaFault where the hardware
    would fault.
    """
    coordinates = check_load(_tiled(tm), coordinates, shared_address)
    if im2col_offsets is not None:
        raise ValueError(text("reference.im2col-offsets"))
    tile = _swizzled(tm, _gather(tm, coordinates, memory).reshape(-1), shared_address)
    return Image(tile, written(tm, shared_address), tm.transaction_bytes)


def load_pieces(
    tm: TensorMap,
    coordinates: Sequence[int],
    memory: np.ndarray,
    shared_address: int = 0,
    shared_stop: int = SHARED_BYTES,
) -> Pieces:
    """The same load in the pieces that land, and are credited, together: 32 bytes, or 16 (see footprint.piece_bytes).

    `shared_stop` is where the CTA's shared memory ends (bytes).

    >>> tm = TensorMap(0, 0, (64, 4), (64,), (64, 2), swizzle=2)
    >>> load_pieces(tm, (0, 0), np.zeros(256, np.uint8)).addresses[:, 0].tolist()
    [0, 32, 64, 96]
    """
    coordinates = check_load(_tiled(tm), coordinates, shared_address, shared_stop)
    rows = _gather(tm, coordinates, memory)[..., : tm.row_bytes]
    addresses = delivered_chunks(tm, shared_address)[..., None] + np.arange(SECTOR)
    return Pieces(addresses.reshape(-1, piece_bytes(tm)), rows.reshape(-1, piece_bytes(tm)))


def store(
    tm: TensorMap, coordinates: Sequence[int], shared: np.ndarray, memory: np.ndarray, shared_address: int = 0
) -> None:
    """Shared to global memory: the tile at `shared_address` into the box at `coordinates`; changes `memory` in place.

    `shared[0]` lies at shared address 0, `memory[0]` at the map's global address. Past the upper edges elements are
    dropped, at the innermost edge only from the next multiple of 16 bytes on; what that would write past the end of
    `memory` is left out. Where coordinates share bytes, which of them wins is as undefined as on the hardware. Raises
    TmaFault where the hardware would fault.
    """
    shared, memory = _bytes("shared", shared), _bytes("memory", memory)
    if not memory.flags.writeable:
        raise ValueError(text("reference.read-only"))
    coordinates = check_store(_tiled(tm), coordinates, shared_address, shared.size)
    exact, inside = window(tm, coordinates), window(tm, coordinates, clip=True)
    if exact is None or inside is None:
        return
    _check_memory(tm, exact, memory)
    source = shared[shared_address : shared_address + tm.shared_bytes]
    if source.size < tm.shared_bytes:  # shared memory ends in the gap after the last row
        source = np.pad(source, (0, tm.shared_bytes - source.size))
    tile = _swizzled(tm, source, shared_address).reshape(*tm.delivered_dim[:0:-1], tm.pitch)[inside.tile]
    if inside.stop <= memory.size:
        _view(inside, memory)[...] = tile
    else:
        targets = inside.row_offsets()[:, None] + np.arange(inside.shape[-1])
        present = targets < memory.size
        memory[targets[present]] = tile.reshape(targets.shape)[present]


def _gather(tm: TensorMap, coordinates: tuple[int, ...], memory: np.ndarray) -> np.ndarray:
    """The tile before it is swizzled: uint8, shape (outer dimensions..., pitch)."""
    memory = _bytes("memory", memory)
    tile = np.zeros((*tm.delivered_dim[:0:-1], tm.pitch), np.uint8)
    if tm.oob_fill == OobFill.NAN:
        tile[..., : tm.row_bytes].view(np.uint16)[...] = NAN_HALF
    inside = window(tm, coordinates)
    if inside is not None:
        _check_memory(tm, inside, memory)
        tile[inside.tile] = _view(inside, memory)
        if tm.data_type.rounds_to_tf32:
            elements = tile[inside.tile].view(np.uint32)
            elements[...] = round_to_tf32(elements)
    return tile


def _swizzled(tm: TensorMap, tile: np.ndarray, shared_address: int) -> np.ndarray:
    """A tile's bytes, logical to physical or back: a swizzle undoes itself."""
    if not tm.swizzle:
        return tile
    return tile.view(CHUNK).take(physical_chunks(tm, shared_address)).view(np.uint8)


def _view(inside: Window, memory: np.ndarray) -> np.ndarray:
    """A window of global memory, sharing its bytes."""
    return np.ndarray(inside.shape, np.uint8, memory, inside.offset, inside.strides)


def _check_memory(tm: TensorMap, inside: Window, memory: np.ndarray) -> None:
    if inside.stop > memory.size:
        stop, end = hex(tm.global_address + inside.stop), hex(tm.global_address + memory.size)
        raise TmaFault("illegal_address", text("reference.no-memory", stop=stop, end=end))


def _tiled(tm: TensorMap) -> TensorMap:
    if not isinstance(tm, TensorMap):
        raise TypeError(text("reference.not-a-map", type=type(tm).__name__))
    return tm


def _bytes(name: str, array: np.ndarray) -> np.ndarray:
    if not (isinstance(array, np.ndarray) and array.dtype == np.uint8 and array.ndim == 1 and array.flags.c_contiguous):
        raise TypeError(text("reference.not-bytes", name=name))
    return array
