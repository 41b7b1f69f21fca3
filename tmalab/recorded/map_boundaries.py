"""At which boundaries of the driver's rules a map lies: at a limit, or just beyond it.

>>> from tmalab.tensor_map_fields import Fields
>>> fields = Fields(6, 0x1010, (2**32, 16), (2**40,), (64, 8), (1, 1), 0, 3, 0, 0)
>>> sorted(place for place in places(fields) if place.rule in ("dim-range", "stride-range"))
[Place(rule='dim-range', side='high', beyond=False), Place(rule='stride-range', side='high', beyond=True)]
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import NamedTuple

from tmalab import im2col_rules, tensor_map_rules
from tmalab.tensor_map_fields import AnyFields, Im2colFields
from tmalab.tensor_map_limits import AtLeast, AtMost, Entries, Limit, MultipleOf, OneOf, Within
from tmalab.tensor_map_rules import BOX_BYTES

NEAR = 32  # how far beyond a limit is still just beyond, in the rule's own unit
NEAR_FULL = BOX_BYTES // 64  # the same in bytes of a whole box, which grows by a row at a time at least


class Place(NamedTuple):
    """A limit of a rule: the side of it (low, high, or another), and whether a map lies at it or just beyond."""

    rule: str
    side: str
    beyond: bool


def rules_of(fields: AnyFields) -> tuple[tensor_map_rules.Rule, ...]:
    """The table by which such a map is judged."""
    return im2col_rules.RULES if isinstance(fields, Im2colFields) else tensor_map_rules.RULES


def places(fields: AnyFields) -> set[Place]:
    """Every boundary that the map lies at, or just beyond. Counts of entries are none: the driver asks for one rank."""
    found = set()
    for rule in rules_of(fields):
        if rule.name == "nan-fill":
            if fields.oob_fill == 1:
                found.add(Place(rule.name, "type", rule.applies is not None and rule.applies(fields)))
        elif rule.applies is None or rule.applies(fields):
            limit = rule.limit(fields) if callable(rule.limit) else rule.limit
            for value in rule.measure.values(fields):
                found |= {Place(rule.name, side, beyond) for side, beyond in _sides(limit, value)}
    return found


def every_place() -> set[Place]:
    """All that there are."""
    rules = {rule.name: rule for rule in (*im2col_rules.RULES, *tensor_map_rules.RULES)}
    sides = {name: SIDES.get(name, ("low", "high")) for name in rules if not name.endswith("count")}
    return {Place(name, side, beyond) for name in sides for side in sides[name] for beyond in (False, True)}


ENUMERATIONS = ("data-type", "interleave", "swizzle", "l2-promotion", "oob-fill")
SIDES = {
    **dict.fromkeys(ENUMERATIONS, ("last",)),
    **dict.fromkeys(("address-multiple", "stride-multiple", "box-row-multiple", "channels-multiple"), ("unit",)),
    **dict.fromkeys(("address-range", "stride-range", "swizzle-span", "box-bytes", "column-bytes"), ("high",)),
    "nan-fill": ("type",),
    "pixel-box": ("low",),
}


@singledispatch
def _sides(limit: Limit, value: int) -> Iterator[tuple[str, bool]]:
    """Which sides of its limit a value is at or just beyond."""
    raise NotImplementedError(limit)


@_sides.register
def _(limit: Within, value: int) -> Iterator[tuple[str, bool]]:
    step = NEAR if limit.high > 2**32 else 1  # addresses and strides come in chunks
    if value == limit.low and step == 1:
        yield "low", False
    if limit.high - step < value <= limit.high:
        yield "high", False
    if limit.low - NEAR <= value < limit.low and step == 1:
        yield "low", True
    if limit.high < value <= limit.high + NEAR:
        yield "high", True


@_sides.register
def _(limit: AtMost, value: int) -> Iterator[tuple[str, bool]]:
    near = NEAR_FULL if limit.high == BOX_BYTES else 0
    if limit.high - near <= value <= limit.high:
        yield "high", False
    if limit.high < value <= limit.high + max(near, NEAR):
        yield "high", True


@_sides.register
def _(limit: AtLeast, value: int) -> Iterator[tuple[str, bool]]:
    if limit.low - NEAR <= value <= limit.low or value < -(2**30):  # the last: 32 bits that have just run over
        yield "low", value != limit.low


@_sides.register
def _(limit: MultipleOf, value: int) -> Iterator[tuple[str, bool]]:
    if value % (2 * limit.unit):
        yield "unit", value % limit.unit != 0


@_sides.register
def _(limit: OneOf, value: int) -> Iterator[tuple[str, bool]]:
    if value >= max(limit.members):
        yield "last", value > max(limit.members)


@_sides.register
def _(limit: Entries, value: int) -> Iterator[tuple[str, bool]]:
    return iter(())
