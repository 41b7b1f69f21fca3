"""tensormap.replace: what the instruction does to the 128 bytes of a tensor map.

On sm_90a it is no operation of the copy engine: ptxas turns it into ordinary loads and stores of the 32-bit words that
hold the field. So nothing is checked, and what the driver derives from other fields (the box's bytes, the swizzle's
own bits) stays as it was. Found in the code that ptxas 13.0 emits for each field.

>>> from tmalab import TensorMap
>>> tm = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8))
>>> TensorMap.decode(replaced(tm.encode(), "global_dim", 1, 12)).global_dim
(128, 12)
"""

from __future__ import annotations

from typing import Any

from tmalab.descriptor import (
    BOX,
    DIMS,
    ELEMENT_STRIDES,
    INTERLEAVE,
    OOB_FILL,
    RANK,
    SIZE,
    STRIDES,
    STRIDES_HIGH,
    SWIZZLE,
    TF32,
    TYPE,
    BitField,
)

WHOLE_ADDRESS = BitField("global_address", 0, 64)  # all of it, although the driver's addresses end at bit 56
BEHIND_STRIDES = BitField("global_strides[4] / 16", 224, 32)  # which no map has
ATOMICITY = BitField("swizzle atomicity", 86, 1)  # of Blackwell's swizzles: a new swizzle mode has none

_TF32_TYPES = {11: 7, 12: 8}  # numbers of the types that round to TF32: the type, beside the bit that asks for rounding


def _changes(field: str, ordinal: Any, value: int) -> list[tuple[BitField, int]]:
    """The bit fields that change, with their new values."""
    if (field, ordinal) == ("global_stride", len(STRIDES)):
        return [(BEHIND_STRIDES, value >> 4 & 0xFFFF_FFFF)]  # over the upper bits of all others (measured, H200)
    if field == "global_stride":
        return [(STRIDES[ordinal], value >> 4 & 0xFFFF_FFFF), (STRIDES_HIGH[ordinal], value >> 36 & 15)]
    if field == "elemtype":
        rounding = [(TF32, 1)] if value in _TF32_TYPES else []  # the other types leave that bit as it is
        return [*rounding, (TYPE, _TF32_TYPES.get(value, value))]
    if field == "swizzle_mode":
        return [(SWIZZLE, value), (ATOMICITY, 0)]
    if field in ("box_dim", "global_dim", "element_stride"):
        fields = {"box_dim": BOX, "global_dim": DIMS, "element_stride": ELEMENT_STRIDES}[field]
        return [(fields[ordinal], value - 1)]
    whole = {
        "global_address": WHOLE_ADDRESS,
        "rank": RANK,
        "interleave_layout": INTERLEAVE,
        "fill_mode": OOB_FILL,
    }
    return [(whole[field], value)]


def replaced(data: bytes, field: str, ordinal: int | None, value: int) -> bytes:
    """The 128 bytes with a field replaced; names, ordinals and values are those of PTX (rank: dimensions - 1)."""
    bits = int.from_bytes(data, "little")
    for place, new in _changes(field, ordinal, value):
        mask = (1 << place.width) - 1
        bits = bits & ~(mask << place.start) | (new & mask) << place.start
    return bits.to_bytes(SIZE, "little")
