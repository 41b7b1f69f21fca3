"""The kinds of limit that a rule can set: what is legal, how to say that a value is not, and the nearest legal one.

`allows` takes all values that a rule looks at in one map, so that a legal map is judged fast.

>>> MultipleOf(16).allows([208, 200]), MultipleOf(16).nearest(200)
(False, 208)
>>> Within(1, 256).problem("box_dim[0]", "512")
'box_dim[0] = 512 is outside 1 to 256'
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from tmalab.texts import text


class Within(NamedTuple):
    """At least `low`, at most `high`."""

    low: int
    high: int

    def allows(self, values: Sequence[int]) -> bool:
        low, high = self
        return not [value for value in values if not low <= value <= high]

    def problem(self, field: str, value: str) -> str:
        return text("map.outside", field=field, value=value, low=shown(self.low), high=shown(self.high))

    def nearest(self, value: int) -> int | None:
        return self.held(value)

    def held(self, value: int) -> int:
        """The value within the limits that is nearest."""
        return min(max(value, self.low), self.high)


class AtMost(NamedTuple):
    """`high` bytes or fewer."""

    high: int

    def allows(self, values: Sequence[int]) -> bool:
        return not values or max(values) <= self.high

    def problem(self, field: str, value: str) -> str:
        return text("map.too-many", field=field, value=value, high=shown(self.high))

    def nearest(self, value: int) -> int | None:
        return self.high


class AtLeast(NamedTuple):
    """`low` or more."""

    low: int

    def allows(self, values: Sequence[int]) -> bool:
        return not values or min(values) >= self.low

    def problem(self, field: str, value: str) -> str:
        return text("map.too-few", field=field, value=value, low=shown(self.low))

    def nearest(self, value: int) -> int | None:
        return self.low


class MultipleOf(NamedTuple):
    """A multiple of `unit`. The nearest legal value is the one above: what is mapped must still fit."""

    unit: int

    def allows(self, values: Sequence[int]) -> bool:
        unit = self.unit
        return not [value for value in values if value % unit]

    def problem(self, field: str, value: str) -> str:
        return text("map.not-a-multiple", field=field, value=value, unit=self.unit)

    def nearest(self, value: int) -> int | None:
        return max(self.unit, value + -value % self.unit)


class OneOf(NamedTuple):
    """A member of an enumeration, or of the part of it that is allowed here. Of several none is nearer than another."""

    members: tuple[IntEnum, ...]

    def allows(self, values: Sequence[int]) -> bool:
        members = self.members
        return not [value for value in values if value not in members]

    def problem(self, field: str, value: str) -> str:
        members = ", ".join(f"{member.name}={member.value}" for member in self.members)
        key = "map.not-one-of" if len(self.members) > 1 else "map.not-the-one"
        return text(key, field=field, value=value, members=members)

    def nearest(self, value: int) -> int | None:
        return self.members[0].value if len(self.members) == 1 else None


class Entries(NamedTuple):
    """A tuple of `length` values, because the rank says so."""

    length: int
    rank: int

    def allows(self, values: Sequence[int]) -> bool:
        length = self.length
        return not [value for value in values if value != length]

    def problem(self, field: str, value: str) -> str:
        return text("map.wrong-length", field=field, value=value, count=self.length, rank=self.rank)

    def nearest(self, value: int) -> int | None:
        return None


Limit = Within | AtMost | AtLeast | MultipleOf | OneOf | Entries


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
