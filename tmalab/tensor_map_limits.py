"""The kinds of limit that a rule can set: what is legal, how to say that a value is not, and the nearest legal one.

>>> MultipleOf(16).allows(200), MultipleOf(16).nearest(200)
(False, 208)
>>> Within(1, 256).problem("box_dim[0]", "512")
'box_dim[0] = 512 is outside 1 to 256'
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from tmalab.texts import text


class Within(NamedTuple):
    """At least `low`, at most `high`."""

    low: int
    high: int

    def allows(self, value: int) -> bool:
        return self.low <= value <= self.high

    def problem(self, field: str, value: str) -> str:
        return text("map.outside", field=field, value=value, low=shown(self.low), high=shown(self.high))

    def nearest(self, value: int) -> int | None:
        return min(max(value, self.low), self.high)


class AtMost(NamedTuple):
    """`high` bytes or fewer."""

    high: int

    def allows(self, value: int) -> bool:
        return value <= self.high

    def problem(self, field: str, value: str) -> str:
        return text("map.too-many", field=field, value=value, high=shown(self.high))

    def nearest(self, value: int) -> int | None:
        return self.high


class MultipleOf(NamedTuple):
    """A multiple of `unit`. The nearest legal value is the one above: what is mapped must still fit."""

    unit: int

    def allows(self, value: int) -> bool:
        return value % self.unit == 0

    def problem(self, field: str, value: str) -> str:
        return text("map.not-a-multiple", field=field, value=value, unit=self.unit)

    def nearest(self, value: int) -> int | None:
        return max(self.unit, value + -value % self.unit)


class OneOf(NamedTuple):
    """A member of an enumeration, or of the part of it that is allowed here. No value is near another."""

    members: tuple[IntEnum, ...]

    def allows(self, value: int) -> bool:
        return value in self.members

    def problem(self, field: str, value: str) -> str:
        members = ", ".join(f"{member.name}={member.value}" for member in self.members)
        return text("map.not-one-of", field=field, value=value, members=members)

    def nearest(self, value: int) -> int | None:
        return None


class Entries(NamedTuple):
    """A tuple of `length` values, because the rank says so."""

    length: int
    rank: int

    def allows(self, value: int) -> bool:
        return value == self.length

    def problem(self, field: str, value: str) -> str:
        return text("map.wrong-length", field=field, value=value, count=self.length, rank=self.rank)

    def nearest(self, value: int) -> int | None:
        return None


Limit = Within | AtMost | MultipleOf | OneOf | Entries


def shown(value: int) -> str:
    """An integer as a message prints it: large powers of two as such, and nothing longer than a line.

    >>> shown(200), shown(2**40 - 16), shown(2**32), shown(10**5000)
    ('200', '2^40 - 16', '2^32', 'about 2^16609')
    """
    bits = value.bit_length()
    if bits > 64:
        return text("map.about", sign="-" if value < 0 else "", power=bits - 1)
    if bits > 32 and value == 1 << bits - 1:
        return f"2^{bits - 1}"
    if bits > 32 and value >= (1 << bits) - 64:
        return f"2^{bits} - {(1 << bits) - value}"
    return str(value)
