"""What makes a copy fault, and what is no copy at all.

A kernel's mistake raises TmaFault, as the hardware would fault; arguments that no kernel could pass raise ValueError or
TypeError. All of it was measured on an H200, the documents say little.

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

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tmalab.data_types import Interleave
from tmalab.faults import TmaFault
from tmalab.swizzle import LINE, SECTOR, swizzle_address
from tmalab.tensor_map_doubts import SHARED_BYTES
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.tensor_map import TensorMap

NAMES = "xyzwv"  # of coordinates, innermost first, as the instructions name them


def check_load(
    tm: TensorMap, coordinates: Sequence[int], shared_address: int, shared_stop: int = SHARED_BYTES
) -> tuple[int, ...]:
    """The coordinates as ints, or the load's fault. `shared_stop`: where the CTA's shared memory ends (bytes)."""
    coordinates = _coordinates(tm, coordinates)
    _check_innermost(tm, coordinates[0])
    _check_shared(tm, operator.index(shared_address), shared_stop)
    return coordinates


def check_store(
    tm: TensorMap, coordinates: Sequence[int], shared_address: int, shared_stop: int = SHARED_BYTES
) -> tuple[int, ...]:
    """The coordinates as ints, or the store's fault: a load's, and that no coordinate may be negative."""
    coordinates = check_load(tm, coordinates, shared_address, shared_stop)
    for i, value in enumerate(coordinates):
        if value < 0:
            message = text("reference.negative-coordinate", i=i, name=NAMES[i], value=value)
            raise TmaFault("illegal_instruction", message)
    return coordinates


def _coordinates(tm: TensorMap, coordinates: Sequence[int]) -> tuple[int, ...]:
    if tm.interleave != Interleave.NONE:
        raise NotImplementedError(text("reference.interleaved", interleave=tm.interleave.name))
    try:
        values = tuple(map(operator.index, coordinates))
    except TypeError:
        raise TypeError(text("reference.coordinates-not-integers", rank=tm.rank)) from None
    if len(values) != tm.rank:
        raise ValueError(text("reference.coordinate-count", count=len(values), rank=tm.rank))
    for i, value in enumerate(values):
        if not -(2**31) <= value < 2**31:
            raise ValueError(text("reference.coordinate-range", i=i, name=NAMES[i], value=value))
    return values


def _check_innermost(tm: TensorMap, x: int) -> None:
    if x * tm.element_size % SECTOR:
        unit = SECTOR // tm.element_size
        below = x // unit * unit
        values = {"x": x, "byte": x * tm.element_size, "below": below, "above": below + unit}
        raise TmaFault("illegal_instruction", text("reference.innermost-coordinate", **values))


def _check_shared(tm: TensorMap, address: int, stop: int) -> None:
    if address % LINE:
        below = address - address % LINE
        values = {"address": hex(address), "below": hex(below), "above": hex(below + LINE)}
        raise TmaFault("misaligned_address", text("reference.shared-alignment", **values))
    # The gaps of narrow rows count only where the whole tile, gaps included, does not fit.
    if address < 0 or (address + tm.shared_bytes > stop and _last_written(tm, address) >= stop):
        values = {"address": hex(address), "bytes": tm.shared_bytes, "stop": hex(stop)}
        raise TmaFault("illegal_address", text("reference.shared-range", **values))


def _last_written(tm: TensorMap, address: int) -> int:
    """The highest shared address that holds a delivered byte of the tile at `address`: one of its last row."""
    row = address + tm.shared_bytes - tm.pitch
    return max(swizzle_address(chunk, tm.swizzle) for chunk in range(row, row + tm.row_bytes, SECTOR)) + SECTOR - 1
