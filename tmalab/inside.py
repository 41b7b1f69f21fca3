"""What of a copy lies inside the tensor: the bytes of global memory that it reads or writes.

Of a tiled copy it is itself a box, because coordinates grow along each dimension: a strided `Window` of global memory,
and the same window of the tile. An im2col copy takes pixels wherever its walk leads: a `Column` of them.

>>> from tmalab import DataType, TensorMap
>>> tm = TensorMap(DataType.UINT8, 0, (40, 4), (48,), (32, 2))
>>> found = inside(tm, (16, 3))                  # hangs over the right and the lower edge: 24 bytes of one row
>>> found.row_offsets().tolist(), found.width
([160], 24)
>>> inside(tm, (16, 3), clip=True).width         # a store writes up to the next 16
32
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tmalab.im2col import channels_dim, spatial_dims, walk
from tmalab.im2col_map import Im2colMap
from tmalab.swizzle import SECTOR, shared_layout

if TYPE_CHECKING:
    from tmalab.tensor_map import TensorMap

SAFE = 2**62  # bytes: offsets below it are computed in 64 bits


class Window(NamedTuple):
    """The part of a box inside the tensor, in NumPy's order (outermost first); the innermost dimension in bytes."""

    tile: tuple[slice, ...]  # where it lies in the tile: outer dimensions, bytes of a row
    offset: int  # bytes from the map's global address to its first byte
    shape: tuple[int, ...]  # of interleaved maps with one dimension more: slices, bytes of a slice
    strides: tuple[int, ...]  # bytes
    stop: int  # bytes from the map's global address to just past the last byte

    @property
    def width(self) -> int:
        """Contiguous bytes of each of its rows."""
        return self.shape[-1]

    def row_offsets(self) -> np.ndarray:
        """Bytes from the map's global address to each row: int64, shape (rows,), in delivery order."""
        offsets = np.array(self.offset, np.int64)
        for n, stride in zip(self.shape[:-1], self.strides[:-1], strict=True):
            offsets = offsets[..., None] + np.arange(n) * stride
        return offsets.reshape(-1)

    def load(self, memory: np.ndarray, tile: np.ndarray) -> None:
        """Copy it from global memory into a tile, shape (outer dimensions..., pitch)."""
        tile[self.tile].reshape(self.shape)[...] = self._of(memory)

    def store(self, memory: np.ndarray, tile: np.ndarray) -> None:
        """Copy it from a tile to global memory. What would lie past the end of `memory` is left out."""
        if self.stop <= memory.size and self._apart():
            self._of(memory)[...] = tile[self.tile].reshape(self.shape)
        else:
            scatter(memory, self.row_offsets(), tile[self.tile].reshape(-1, self.width))

    def _apart(self) -> bool:
        """Whether its rows surely share no bytes: then NumPy may write them in any order."""
        reach = 1  # bytes from the first to just past the last, over the dimensions with smaller strides
        for stride, n in sorted((stride, n) for stride, n in zip(self.strides, self.shape, strict=True) if n > 1):
            if stride < reach:
                return False
            reach += stride * (n - 1)
        return True

    def _of(self, memory: np.ndarray) -> np.ndarray:
        """The window of global memory, sharing its bytes."""
        return np.ndarray(self.shape, np.uint8, memory, self.offset, self.strides)


class Column(NamedTuple):
    """The pixels of an im2col copy inside the tensor, and the bytes of each."""

    tile: tuple[np.ndarray, slice]  # where it lies in the tile: numbers of pixels, bytes of a row
    offsets: np.ndarray  # (pixels,): bytes from the map's global address to each
    width: int  # bytes of each

    @property
    def stop(self) -> int:
        """Bytes from the map's global address to just past the last byte."""
        return int(self.offsets.max()) + self.width

    def row_offsets(self) -> np.ndarray:
        """Bytes from the map's global address to each row: int64, shape (rows,), in delivery order."""
        return self.offsets.astype(np.int64)

    def load(self, memory: np.ndarray, tile: np.ndarray) -> None:
        """Copy it from global memory into a tile, shape (pixels, pitch)."""
        places = np.ndarray((memory.size - self.width + 1, self.width), np.uint8, memory, 0, (1, 1))
        tile[self.tile] = places[self.offsets]

    def store(self, memory: np.ndarray, tile: np.ndarray) -> None:
        """Copy it from a tile to global memory. What would lie past the end of `memory` is left out."""
        scatter(memory, self.offsets, tile[self.tile])


def inside(
    tm: TensorMap, coordinates: Sequence[int], offsets: Sequence[int] | None = None, clip: bool = False
) -> Window | Column | None:
    """What of the copy at `coordinates` lies inside the tensor, or None where nothing does.

    `offsets` are those of an im2col load. `clip`: cut at the innermost edge as stores do, at the next multiple of 16
    bytes, not at the element (measured, H200).
    """
    return _column(tm, coordinates, offsets, clip) if isinstance(tm, Im2colMap) else _window(tm, coordinates, clip)


def shared_chunks(tm: TensorMap, found: Window | Column | None, shared_address: int) -> np.ndarray:
    """Where a store reads what reaches global memory: shared addresses (bytes) of 16-byte chunks, int64, (chunks,)."""
    if found is None:
        return np.empty(0, np.int64)
    *rows, row = found.tile
    layout = shared_layout(tm, shared_address).reshape(*tm.delivered_dim[:0:-1], -1)
    return layout[(*rows, slice(row.start // SECTOR, row.stop // SECTOR))].reshape(-1)


def scatter(memory: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> None:
    """Write each of `rows` (uint8, 2-D) at its offset in `memory`, but for what lies past the end.

    Where rows share bytes the last one counts, as for NumPy's assignment to repeated indices.
    """
    targets = offsets[:, None] + np.arange(rows.shape[1])
    present = targets < memory.size
    memory[targets[present].astype(np.int64)] = rows[present]


def _window(tm: TensorMap, coordinates: Sequence[int], clip: bool) -> Window | None:
    outer = _outer(tm, coordinates)
    if outer is None:
        return None
    tile, shape, strides, offset, last = outer
    unit = tm.innermost_bytes
    if tm.interleave:  # dimension 0 is one more that is stepped through, slice by slice
        slices = tile.pop(0)
        row, width = slice(slices.start * unit, slices.stop * unit), unit
    else:
        inside = _row(tm, coordinates[0], clip)
        if inside is None:
            return None
        row = inside
        width, start = row.stop - row.start, coordinates[0] * unit + row.start
        offset, last = offset + start, last + start
    return Window((*tile[::-1], row), offset, (*shape[::-1], width), (*strides[::-1], 1), last + width)


def _outer(tm: TensorMap, coordinates: Sequence[int]) -> tuple[list[slice], list[int], list[int], int, int] | None:
    """What of the dimensions that are stepped through lies inside.

    Where in the tile, shape and strides, innermost first, and the offsets of the first and of the last row.
    """
    tile, shape, strides, offset, last = [], [], [], 0, 0
    for i in range(0 if tm.interleave else 1, tm.rank):
        start, step, edge = coordinates[i], tm.element_strides[i], tm.global_dim[i]
        stride = tm.global_strides[i - 1] if i else tm.innermost_bytes
        # the elements start, start + step, ... that are not before 0 and before the edge
        low, high = max(0, -(start // step)), min(tm.delivered_dim[i], -((start - edge) // step))
        if high <= low:
            return None
        tile.append(slice(low, high))
        shape.append(high - low)
        strides.append(step * stride)
        offset += (start + low * step) * stride
        last += (start + (high - 1) * step) * stride
    return tile, shape, strides, offset, last


def _row(tm: TensorMap, x: int, clip: bool) -> slice | None:
    """The bytes of a row of elements that lie inside, for the innermost coordinate `x`."""
    size = tm.innermost_bytes
    low, high = max(0, -x * size), min(tm.row_bytes, (tm.global_dim[0] - x) * size)
    if high <= low:
        return None
    return slice(low, high + -high % SECTOR) if clip else slice(low, high)


def _column(tm: Im2colMap, coordinates: Sequence[int], offsets: Sequence[int] | None, clip: bool) -> Column | None:
    channels = channels_dim(tm)
    first = coordinates[channels]
    if tm.interleave:
        row = slice(0, tm.row_bytes) if 0 <= first < tm.global_dim[channels] else None
    else:
        row = _row(tm, first, clip)
    if row is None:
        return None
    dims = (*spatial_dims(tm), tm.rank - 1)
    positions = walk(tm, coordinates, offsets)
    there = np.logical_and.reduce([(p >= 0) & (p < tm.global_dim[i]) for i, p in zip(dims, positions, strict=True)])
    pixels = np.flatnonzero(there)
    if not pixels.size:
        return None
    strides = (tm.innermost_bytes, *tm.global_strides)
    start = first * strides[channels] + row.start
    starts = _dot([positions[k][pixels] for k in range(len(dims))], [strides[i] for i in dims]) + start
    return Column((pixels, row), starts, row.stop - row.start)


def _dot(positions: list[np.ndarray], strides: list[int]) -> np.ndarray:
    """The sum of positions times strides; in Python's integers where 64 bits might not hold it."""
    if sum(int(along.max()) * stride for along, stride in zip(positions, strides, strict=True)) >= SAFE:
        positions = [along.astype(object) for along in positions]
    return reduce(operator.add, (along * stride for along, stride in zip(positions, strides, strict=True)))
