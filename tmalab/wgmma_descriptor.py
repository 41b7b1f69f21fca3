"""The matrix descriptor of wgmma: 64 bits that tell the tensor core where an operand lies in shared memory, and how.

    address, leading_bytes, stride_bytes    14 bits each, in units of 16 bytes: a descriptor is made with >> 4
    base_offset                             0 where the swizzle's pattern starts at a multiple of its period
    swizzle                                 2 bits: 0 none, 1 128B, 2 64B, 3 32B, the reverse of a tensor map's order

An operand of K-major rows that a tensor map loaded with the 128B swizzle has stride_bytes = 1024, which is 8 rows of
128 bytes, and no use for leading_bytes; the next 16 columns begin 32 bytes further on, which adds 2 to the descriptor.

>>> from tmalab import Swizzle
>>> made = WgmmaDescriptor(0x8400, Swizzle.B128, stride_bytes=1024)
>>> hex(made.encode())
'0x4000004000000840'
>>> WgmmaDescriptor.decode(made.encode() + 2).address == 0x8400 + 32
True

A number from somewhere is told field by field, and what can't be meant:

>>> print(WgmmaDescriptor.decode(1 << 62 | 1024 << 32 | 0x840))
address        33,792   bits 0-13 hold 0x840
leading_bytes  0        bits 16-29 hold 0x0
stride_bytes   16,384   bits 32-45 hold 0x400
base_offset    0        bits 49-51 hold 0x0
swizzle        B128     bits 62-63 hold 0x1
doubtful: stride_bytes is 16,384, 16 times the 1,024 bytes of 8 rows: it is to be shifted right by 4 when it is put in

Source: PTX ISA, wgmma, matrix descriptor; CUTLASS, mma_sm90_desc.hpp. What base_offset does was not measured.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, NamedTuple

from tmalab.data_types import Swizzle
from tmalab.swizzle import LINE, PATTERNS
from tmalab.texts import text

UNIT = 16  # bytes: what addresses and offsets count
REACH = 1 << 18  # bytes: what 14 bits of such units reach
ROWS = 8  # of a core matrix, and of a swizzle's atom
SHARED_TOP = 228 * 1024  # bytes: the end of a CTA's shared window on sm_90
SWIZZLE_CODES = {Swizzle.NONE: 0, Swizzle.B128: 1, Swizzle.B64: 2, Swizzle.B32: 3}
SWIZZLES = {code: swizzle for swizzle, code in SWIZZLE_CODES.items()}


class Bits(NamedTuple):
    """A field: `width` bits from bit `start` on, whose value counts `unit` bytes."""

    start: int
    width: int
    unit: int = 1

    def of(self, bits: int) -> int:
        """What the field holds in a descriptor."""
        return bits >> self.start & (1 << self.width) - 1

    def place(self, value: int) -> int:
        """The bits of a descriptor in which this field alone holds a value."""
        return (value // self.unit & (1 << self.width) - 1) << self.start


FIELDS = {
    "address": Bits(0, 14, UNIT),
    "leading_bytes": Bits(16, 14, UNIT),
    "stride_bytes": Bits(32, 14, UNIT),
    "base_offset": Bits(49, 3),
    "swizzle": Bits(62, 2),
}
USED = sum(((1 << field.width) - 1) << field.start for field in FIELDS.values())


def pattern_phase(address: int, swizzle: Swizzle) -> int:
    """How many 128-byte lines into the swizzle's pattern an address lies: 0 where base_offset is 0."""
    return address % PATTERNS[swizzle].period // LINE


@dataclass(frozen=True)
class WgmmaDescriptor:
    """A descriptor as its fields. What the two strides step over depends on the operand's layout.

    address         of the matrix in the shared window, in bytes, a multiple of 16
    swizzle         a `Swizzle`, or its number in a tensor map
    stride_bytes    K-major: 8 rows. MN-major: 8 columns of K with a swizzle, 8 rows without
    leading_bytes   K-major: 8 columns without a swizzle, unused with one. MN-major: a span of rows, or 8 columns
    base_offset     lines of 128 bytes, 0 to 7
    """

    address: int
    swizzle: Swizzle
    stride_bytes: int
    leading_bytes: int = 0
    base_offset: int = 0
    unused: int = 0  # bits that no field has, as they were found

    def __post_init__(self):
        object.__setattr__(self, "swizzle", Swizzle(operator.index(self.swizzle)))

    def encode(self) -> int:
        """The 64 bits, as a signed integer, as kernels hold it. Of byte counts bits 0-3 and those past 17 are lost."""
        values = {name: getattr(self, name) for name in FIELDS} | {"swizzle": SWIZZLE_CODES[self.swizzle]}
        bits = sum(field.place(values[name]) for name, field in FIELDS.items()) | self.unused
        return bits - (bits >> 63 << 64)

    @classmethod
    def decode(cls, bits: int) -> WgmmaDescriptor:
        """The fields of 64 bits, signed or not. Raises ValueError for what is no 64-bit number."""
        bits = operator.index(bits)
        if not -(1 << 63) <= bits < 1 << 64:
            raise ValueError(text("wgmma.no-descriptor", given=hex(bits)))
        bits &= (1 << 64) - 1
        values: dict[str, Any] = {name: field.of(bits) * field.unit for name, field in FIELDS.items()}
        return cls(**values | {"swizzle": SWIZZLES[values["swizzle"]]}, unused=bits & ~USED)

    @property
    def doubts(self) -> list[str]:
        """What can hardly be meant, a sentence each."""
        atom = ROWS * (PATTERNS[self.swizzle].span or UNIT)
        found = [*self._bits_between()]
        if self.address >= SHARED_TOP:
            found.append(text("wgmma.address-beyond", address=f"{self.address:,}", top=f"{SHARED_TOP:,}"))
        if self.stride_bytes == UNIT * atom:
            words = {"stride": f"{self.stride_bytes:,}", "atom": f"{atom:,}"}
            found.append(text("wgmma.stride-not-shifted", **words))
        if 0 < self.stride_bytes < atom:
            words = {"stride": f"{self.stride_bytes:,}", "atom": f"{atom:,}", "rows": f"{ROWS}"}
            found.append(text("wgmma.stride-too-small", **words))
        phase, period = pattern_phase(self.address, self.swizzle), PATTERNS[self.swizzle].period
        if phase != self.base_offset:
            words = {"address": f"{self.address:,}", "into": f"{phase * LINE}", "period": f"{period:,}"}
            found.append(text("wgmma.pattern-phase", **words, swizzle=self.swizzle.name))
        return found

    def _bits_between(self) -> list[str]:
        """Bits that belong to no field: the two above a byte count are its upper ones where it was not shifted."""
        found, rest = [], self.unused
        for name, field in FIELDS.items():
            above = rest >> field.start + field.width & 0b11
            if field.unit == UNIT and above:
                raw = above << field.width | getattr(self, name) // UNIT
                words = {"field": name, "first": field.start + field.width, "raw": f"{raw:,}"}
                found.append(text("wgmma.not-shifted", **words, last=field.start + field.width + 1))
                rest &= ~(0b11 << field.start + field.width)
        return [*found, *([text("wgmma.unused-bits", bits=hex(rest))] if rest else [])]

    def __str__(self) -> str:
        bits = self.encode() & (1 << 64) - 1
        lines = []
        for name, field in FIELDS.items():
            value = getattr(self, name)
            shown = value.name if isinstance(value, Swizzle) else f"{value:,}"
            words = {"first": field.start, "last": field.start + field.width - 1, "raw": hex(field.of(bits))}
            lines.append(f"{name:<13}  {shown:<7}  {text('wgmma.field', **words)}")
        return "\n".join([*lines, *(text("wgmma.doubtful", doubt=doubt) for doubt in self.doubts)])
