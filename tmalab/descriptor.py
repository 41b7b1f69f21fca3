"""The 128 bytes of a tensor map: the opaque object that cuTensorMapEncodeTiled writes and the copy engine reads.

NVIDIA documents none of it. The table below was found by comparing what the driver wrote for tens of thousands of maps
(driver 580, H200); `encode` equals each of them. Bits are numbered from bit 0 of byte 0, little-endian.

>>> from tmalab import TensorMap
>>> tm = TensorMap(6, 0x1000, (128, 16), (256,), (64, 8), swizzle=3)
>>> data = tm.encode()
>>> len(data), data[:8].hex(), TensorMap.decode(data) == tm
(128, '0010000000000000', True)

What a dump says, field by field:

>>> [(field.name, value) for field, value in read(data) if field.name.startswith("box")][:2]
[('box_dim[0] - 1', 63), ('box_dim[1] - 1', 7)]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tmalab.data_types import DataType, Swizzle
from tmalab.plain_traceback import PlainTraceback
from tmalab.tensor_map_fields import MAX_RANK, Fields, counted_bytes
from tmalab.texts import text

SIZE = 128  # bytes


class DescriptorError(PlainTraceback, ValueError):
    """128 bytes that are no tensor map of the driver's. The message says which field betrays it."""


class BitField(NamedTuple):
    """`width` bits from bit `start` on."""

    name: str
    start: int
    width: int

    def of(self, bits: int) -> int:
        """The field's value in the 1,024 bits of a descriptor."""
        return bits >> self.start & (1 << self.width) - 1


# The element types' numbers in the descriptor: they are not the driver API's. Bit 80 asks for rounding to TF32.
TYPE_CODES = {
    DataType.UINT8: 0,
    DataType.UINT16: 1,
    DataType.UINT32: 2,
    DataType.INT32: 3,
    DataType.UINT64: 4,
    DataType.INT64: 5,
    DataType.FLOAT16: 6,
    DataType.FLOAT32: 7,
    DataType.FLOAT32_FTZ: 8,
    DataType.FLOAT64: 9,
    DataType.BFLOAT16: 10,
    DataType.TFLOAT32: 7 | 1 << 9,
    DataType.TFLOAT32_FTZ: 8 | 1 << 9,
}
TYPES = {code: data_type for data_type, code in TYPE_CODES.items()}

ADDRESS = BitField("global_address", 0, 64)
IM2COL = BitField("im2col", 64, 1)
RANK = BitField("rank - 1", 68, 3)
TYPE = BitField("data type", 71, 4)
INTERLEAVE = BitField("interleave", 75, 2)
SWIZZLE = BitField("swizzle", 77, 2)
OOB_FILL = BitField("oob_fill", 79, 1)
TF32 = BitField("round to TF32", 80, 1)
L2_PROMOTION = BitField("l2_promotion", 81, 2)
STRIDES = [BitField(f"global_strides[{i}] / 16, low", 96 + 32 * i, 32) for i in range(MAX_RANK - 1)]
STRIDES_HIGH = [BitField(f"global_strides[{i}] / 16, high", 224 + 4 * i, 4) for i in range(MAX_RANK - 1)]
DIMS = [BitField(f"global_dim[{i}] - 1", 256 + 32 * i, 32) for i in range(MAX_RANK)]
ELEMENT_STRIDES = [BitField(f"element_strides[{i}] - 1", 416 + 3 * i, 3) for i in range(MAX_RANK)]
BOX = [BitField(f"box_dim[{i}] - 1", 440 + 8 * i, 8) for i in range(MAX_RANK)]
BOX_BYTES = BitField("box bytes", 512, 18)
SWIZZLE_MODES = [BitField(f"swizzle is {mode.name}", 580 + (mode and 3 + mode), 1) for mode in Swizzle]
TABLE = (
    *(ADDRESS, IM2COL, RANK, TYPE, INTERLEAVE, SWIZZLE, OOB_FILL, TF32, L2_PROMOTION),
    *(*STRIDES, *STRIDES_HIGH, *DIMS, *ELEMENT_STRIDES, *BOX, BOX_BYTES, *SWIZZLE_MODES),
)


def encode(fields: Fields) -> bytes:
    """The 128 bytes that the driver writes for a legal tiled map."""
    bits = sum(value << field.start for field, value in _values(fields))
    return bits.to_bytes(SIZE, "little")


def decode(data: bytes) -> Fields:
    """The arguments of the tiled map in 128 bytes, not judged. DescriptorError where they are no such map."""
    bits = _bits(data)
    if IM2COL.of(bits):
        raise DescriptorError(text("map.descriptor-im2col"))
    rank = RANK.of(bits) + 1
    code = TYPE.of(bits) | TF32.of(bits) << 9
    if rank > MAX_RANK or code not in TYPES:
        wrong = (RANK.name, rank - 1) if rank > MAX_RANK else (TYPE.name, TYPE.of(bits))
        raise DescriptorError(text("map.descriptor-field", field=wrong[0], value=wrong[1]))
    fields = Fields(
        int(TYPES[code]),
        ADDRESS.of(bits),
        tuple(field.of(bits) + 1 for field in DIMS[:rank]),
        tuple(16 * (low.of(bits) | high.of(bits) << 32) for low, high in zip(STRIDES, STRIDES_HIGH))[: rank - 1],
        tuple(field.of(bits) + 1 for field in BOX[:rank]),
        tuple(field.of(bits) + 1 for field in ELEMENT_STRIDES[:rank]),
        INTERLEAVE.of(bits),
        SWIZZLE.of(bits),
        L2_PROMOTION.of(bits),
        OOB_FILL.of(bits),
    )
    for field, value in _values(fields):
        if field.of(bits) != value:
            raise DescriptorError(text("map.descriptor-field", field=field.name, value=field.of(bits)))
    if encode(fields) != bytes(data):
        raise DescriptorError(text("map.descriptor-unknown"))
    return fields


def read(data: bytes) -> Iterator[tuple[BitField, int]]:
    """Every field of the table with its value, whatever the bytes are."""
    bits = _bits(data)
    return ((field, field.of(bits)) for field in TABLE)


def _bits(data: bytes) -> int:
    if len(data) != SIZE:
        raise DescriptorError(text("map.descriptor-size", size=len(data)))
    return int.from_bytes(data, "little")


def _values(fields: Fields) -> Iterator[tuple[BitField, int]]:
    """What the driver writes, field by field. What is not named is zero."""
    code = TYPE_CODES[DataType(fields.data_type)]
    yield ADDRESS, fields.global_address
    yield RANK, len(fields.global_dim) - 1
    yield TYPE, code & 15
    yield TF32, code >> 9
    yield INTERLEAVE, fields.interleave
    yield SWIZZLE, fields.swizzle
    yield OOB_FILL, fields.oob_fill
    yield L2_PROMOTION, fields.l2_promotion
    for low, high, stride in zip(STRIDES, STRIDES_HIGH, fields.global_strides):
        yield low, stride >> 4 & 0xFFFF_FFFF
        yield high, stride >> 36
    for places, values in ((DIMS, fields.global_dim), (ELEMENT_STRIDES, fields.element_strides), (BOX, fields.box_dim)):
        for place, value in zip(places, values):
            yield place, value - 1
    yield BOX_BYTES, counted_bytes(fields)
    yield SWIZZLE_MODES[fields.swizzle], 1
