"""The 128 bytes of a tensor map: the opaque object that cuTensorMapEncode* writes and the copy engine reads.

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

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from tmalab.data_types import DataType, Swizzle
from tmalab.im2col_rules import CORNER_BITS
from tmalab.plain_traceback import PlainTraceback
from tmalab.tensor_map_fields import MAX_RANK, AnyFields, Fields, Im2colFields, counted_bytes
from tmalab.texts import text

SIZE = 128  # bytes


class DescriptorError(PlainTraceback, ValueError):
    """128 bytes that are no tensor map of the driver's. The message says which field betrays it."""


class BitField(NamedTuple):
    """`width` bits from bit `start` on, in the maps that `kinds` names."""

    name: str
    start: int
    width: int
    kinds: str = "all"
    signed: bool = False

    @property
    def stop(self) -> int:
        """The bit after its last."""
        return self.start + self.width

    def of(self, bits: int) -> int:
        """The field's value in the 1,024 bits of a descriptor."""
        value = bits >> self.start & (1 << self.width) - 1
        return value - (1 << self.width) if self.signed and value >> self.width - 1 else value

    def place(self, value: int) -> int:
        """The bits of a descriptor in which this field alone holds `value`."""
        return (value & (1 << self.width) - 1) << self.start


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

ADDRESS = BitField("global_address", 0, 57)
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
BOX = [BitField(f"box_dim[{i}] - 1", 440 + 8 * i, 8, "tiled") for i in range(MAX_RANK)]
CHANNELS = BitField("channels_per_pixel - 1", 440, 8, "im2col")
PIXELS = BitField("pixels_per_column - 1", 480, 10, "im2col")
LOWER, UPPER = (
    {
        rank: [
            BitField(f"pixel_box_{side}_corner[{i}]", start + bits * i, bits, f"im2col, rank {rank}", signed=True)
            for i in range(rank - 2)
        ]
        for rank, bits in CORNER_BITS.items()
    }
    for side, start in (("lower", 448), ("upper", 464))
)
BOX_BYTES = BitField("box bytes", 512, 18)
SWIZZLE_MODES = [BitField(f"swizzle is {mode.name}", 580 + (mode and 3 + mode), 1) for mode in Swizzle]
HEAD = (
    *(ADDRESS, IM2COL, RANK, TYPE, INTERLEAVE, SWIZZLE, OOB_FILL, TF32, L2_PROMOTION),
    *(*STRIDES, *STRIDES_HIGH, *DIMS, *ELEMENT_STRIDES),
)
TAIL = (BOX_BYTES, *SWIZZLE_MODES)
CORNERS = {rank: (*LOWER[rank], *UPPER[rank]) for rank in CORNER_BITS}
TABLE = (*HEAD, *BOX, CHANNELS, *(field for rank in CORNERS for field in CORNERS[rank]), PIXELS, *TAIL)


def encode(fields: AnyFields) -> bytes:
    """The 128 bytes that the driver writes for a legal map, tiled or im2col."""
    bits = 0
    for field, value in _values(fields):
        bits |= field.place(value)
    return bits.to_bytes(SIZE, "little")


def decode(data: bytes) -> AnyFields:
    """The arguments of the map in 128 bytes, not judged. DescriptorError where they are no map of the driver's."""
    fields = decode_edited(data)
    for reason in stale(data, fields):
        raise DescriptorError(reason)
    return fields


def stale(data: bytes, fields: AnyFields) -> list[str]:
    """Why the driver would write other bytes for `fields`, which `decode_edited` read from `data`: a sentence each.

    A kernel's edits leave what the driver derives from other fields (the box's bytes, the swizzle's own bits).
    DescriptorError where bits are set that belong to no field, and where none is set.
    """
    if not any(data):
        raise DescriptorError(text("map.descriptor-zeros"))
    bits, known, wrong = _bits(data), 0, []
    for field, value in _values(fields):
        known |= field.place(-1)
        if field.of(bits) != value:
            reason = text("map.descriptor-stale", field=field.name, value=field.of(bits), wanted=value)
            wrong.append(reason + (_other_number(bits, fields) if field is BOX_BYTES else ""))
    if bits & ~(known | sum(mode.place(1) for mode in SWIZZLE_MODES)):
        raise DescriptorError(text("map.descriptor-unknown"))
    if not wrong and encode(fields) != bytes(data):
        wrong.append(text("map.descriptor-swizzles"))
    return wrong


def _other_number(bits: int, fields: AnyFields) -> str:
    """What to think of if the type's number, read as the driver's API counts, is a type that the box's bytes fit."""
    code = TYPE.of(bits)
    if TF32.of(bits) or code not in list(DataType) or DataType(code) == fields.data_type:
        return ""
    other, size = DataType(code), fields.element_size
    if BOX_BYTES.of(bits) * size != counted_bytes(fields) * other.size:
        return ""
    words = {"name": DataType(fields.data_type).name, "code": code, "other": other.name, "before": other.size}
    return text("map.descriptor-other-number", **words, right=TYPE_CODES[other] & 15)


def decode_edited(data: bytes) -> AnyFields:
    """The arguments in 128 bytes that a kernel may have edited: what the driver derives need not fit them.

    DescriptorError where rank or type are no map's.
    """
    bits = _bits(data)
    rank = RANK.of(bits) + 1
    code = TYPE.of(bits) | TF32.of(bits) << 9
    lowest = 3 if IM2COL.of(bits) else 1
    if not lowest <= rank <= MAX_RANK or code not in TYPES:
        wrong = (TYPE.name, TYPE.of(bits)) if lowest <= rank <= MAX_RANK else (RANK.name, rank - 1)
        raise DescriptorError(text("map.descriptor-field", field=wrong[0], value=wrong[1]))
    memory = (
        int(TYPES[code]),
        ADDRESS.of(bits),
        _each(DIMS[:rank], bits, 1),
        tuple(16 * (low.of(bits) | high.of(bits) << 32) for low, high in zip(STRIDES, STRIDES_HIGH))[: rank - 1],
    )
    options = (
        _each(ELEMENT_STRIDES[:rank], bits, 1),
        *(field.of(bits) for field in (INTERLEAVE, SWIZZLE, L2_PROMOTION, OOB_FILL)),
    )
    if IM2COL.of(bits):
        corners = _each(LOWER[rank], bits), _each(UPPER[rank], bits)
        column: Any = (*memory, *corners, CHANNELS.of(bits) + 1, PIXELS.of(bits) + 1, *options)
        return Im2colFields(*column)
    box: Any = (*memory, _each(BOX[:rank], bits, 1), *options)
    return Fields(*box)


def _each(fields: Sequence[BitField], bits: int, more: int = 0) -> tuple[int, ...]:
    """The values of several fields, each `more` than it says."""
    return tuple(field.of(bits) + more for field in fields)


def read(data: bytes) -> Iterator[tuple[BitField, int]]:
    """Every field of the table that such a map has, with its value, whatever the bytes are."""
    bits = _bits(data)
    rank = RANK.of(bits) + 1
    middle = (CHANNELS, *CORNERS.get(rank, ()), PIXELS) if IM2COL.of(bits) else BOX
    return ((field, field.of(bits)) for field in (*HEAD, *middle, *TAIL))


def _bits(data: bytes) -> int:
    if len(data) != SIZE:
        raise DescriptorError(text("map.descriptor-size", size=len(data)))
    return int.from_bytes(data, "little")


def _values(fields: AnyFields) -> Iterator[tuple[BitField, int]]:
    """What the driver writes, field by field. What is not named is zero."""
    code = TYPE_CODES[DataType(fields.data_type)]
    rank = len(fields.global_dim)
    yield ADDRESS, fields.global_address
    yield RANK, rank - 1
    yield TYPE, code & 15
    yield TF32, code >> 9
    yield INTERLEAVE, fields.interleave
    yield SWIZZLE, fields.swizzle
    yield OOB_FILL, fields.oob_fill
    yield L2_PROMOTION, fields.l2_promotion
    for low, high, stride in zip(STRIDES, STRIDES_HIGH, fields.global_strides):
        yield low, stride >> 4 & 0xFFFF_FFFF
        yield high, stride >> 36
    yield from ((place, value - 1) for place, value in zip(DIMS, fields.global_dim))
    yield from ((place, value - 1) for place, value in zip(ELEMENT_STRIDES, fields.element_strides))
    if hasattr(fields, "box_dim"):  # a map's own fields come here as well as the driver's arguments
        yield from ((place, value - 1) for place, value in zip(BOX, cast(Fields, fields).box_dim))
    else:
        column = cast(Im2colFields, fields)
        yield IM2COL, 1
        yield CHANNELS, column.channels_per_pixel - 1
        yield from zip(LOWER[rank], column.pixel_box_lower_corner)
        yield from zip(UPPER[rank], column.pixel_box_upper_corner)
        yield PIXELS, column.pixels_per_column - 1
    yield BOX_BYTES, counted_bytes(fields)
    yield SWIZZLE_MODES[fields.swizzle], 1
