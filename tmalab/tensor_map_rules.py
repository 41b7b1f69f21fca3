"""What the driver accepts: the rules of a tensor map, as one table.

cuTensorMapEncodeTiled answers a bad map with CUDA_ERROR_INVALID_VALUE and no word more. `judge` finds every broken rule
and says which field, which value, which limit, why, and the nearest legal value. Adding a rule is adding a row.

>>> fields = Fields(6, 0x1000, (100, 64), (200,), (64, 8), (1, 1), 0, 0, 0, 0)
>>> for rule, message in judge(fields):
...     print(rule, "--", message)  # doctest: +NORMALIZE_WHITESPACE
stride-multiple -- global_strides[0] = 200 bytes is not a multiple of 16: the hardware reaches rows only at multiples
of 16 bytes (32 with INTERLEAVE_32B); pad the rows in memory. Nearest legal: 208.
(CUDA driver API, cuTensorMapEncodeTiled)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tmalab.data_types import ELEMENT_TYPES, DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.plain_traceback import PlainTraceback
from tmalab.swizzle import PATTERNS, SECTOR
from tmalab.tensor_map_fields import (
    ADDRESS,
    ADDRESS_STOP,
    BOX,
    BOX_ROW,
    MAX_RANK,
    MAX_SIDE,
    RANK,
    STRIDES,
    Fields,
    Labels,
    Measure,
    argument,
    each,
    length,
    the,
)
from tmalab.tensor_map_limits import AtMost, Entries, Limit, MultipleOf, OneOf, Within
from tmalab.texts import text

DRIVER = "CUDA driver API, cuTensorMapEncodeTiled"
MEASURED = "measured, H200"
UNDOCUMENTED = "measured, H200; undocumented"
BOX_BYTES = 233_472  # 228 KiB


class TensorMapError(PlainTraceback, ValueError):
    """A map that the driver would refuse. `.violations` lists every broken rule as (rule, message).

    `about` describes the array that the map was to be made of.
    """

    def __init__(self, violations: list[tuple[str, str]], about: str = ""):
        lines = [message for _, message in violations]
        if about:
            lines = [about, *(f"  {line}" for line in lines)]
        elif len(lines) > 1:
            lines = [text("map.several", count=len(lines)), *(f"  {line}" for line in lines)]
        super().__init__("\n".join(lines))
        self.violations = violations
        self.about = about

    def __reduce__(self):
        return TensorMapError, (self.violations, self.about)


class Rule(NamedTuple):
    """One row: what `measure` sees keeps to `limit`, wherever the rule `applies`."""

    name: str
    measure: Measure
    limit: Limit | Callable[[Fields], Limit]
    why: str  # key of the text: the reason, and the way out where there is one
    source: str
    applies: Callable[[Fields], bool] | None = None  # None: to every map


# Limits that depend on other fields, and conditions.


def _address_unit(fields: Fields) -> Limit:
    return MultipleOf(32 if fields.interleave == Interleave.B32 else 16)


def _ranks(fields: Fields) -> Limit:
    return Within(1 if fields.interleave == Interleave.NONE else 3, MAX_RANK)


def _one_each(fields: Fields) -> Limit:
    return Entries(len(fields.global_dim), len(fields.global_dim))


def _one_between(fields: Fields) -> Limit:
    return Entries(max(len(fields.global_dim) - 1, 0), len(fields.global_dim))


def _span(fields: Fields) -> Limit:
    return AtMost(PATTERNS[fields.swizzle].span)


def _swizzled(fields: Fields) -> bool:
    return fields.interleave == Interleave.NONE and fields.swizzle in (Swizzle.B32, Swizzle.B64, Swizzle.B128)


def _without_nan(fields: Fields) -> bool:
    return fields.data_type in ELEMENT_TYPES and not ELEMENT_TYPES[fields.data_type].floating


RULES = (
    Rule("data-type", the("data_type"), OneOf(tuple(DataType)), "map.why-data-type", MEASURED),
    Rule("rank", RANK, _ranks, "map.why-rank", DRIVER),
    Rule("stride-count", length("global_strides"), _one_between, "map.why-stride-count", DRIVER),
    Rule("box-count", length("box_dim"), _one_each, "map.why-count", DRIVER),
    Rule("element-stride-count", length("element_strides"), _one_each, "map.why-count", DRIVER),
    Rule("address-range", ADDRESS, Within(0, ADDRESS_STOP - SECTOR), "map.why-address-range", UNDOCUMENTED),
    Rule("address-multiple", ADDRESS, _address_unit, "map.why-address-multiple", DRIVER),
    Rule("dim-range", each("global_dim"), Within(1, 2**32), "map.why-dim-range", DRIVER),
    Rule("stride-range", STRIDES, Within(0, 2**40 - 16), "map.why-stride-range", DRIVER),
    Rule("stride-multiple", STRIDES, _address_unit, "map.why-stride-multiple", DRIVER),
    Rule("box-range", each("box_dim"), Within(1, MAX_SIDE), "map.why-box-range", DRIVER),
    Rule("box-row-multiple", BOX_ROW, MultipleOf(SECTOR), "map.why-box-row-multiple", DRIVER),
    Rule("swizzle-span", BOX_ROW, _span, "map.why-swizzle-span", DRIVER, _swizzled),
    Rule("box-bytes", BOX, AtMost(BOX_BYTES), "map.why-box-bytes", UNDOCUMENTED),
    Rule("element-stride-range", each("element_strides"), Within(1, 8), "map.why-element-stride", DRIVER),
    Rule("interleave", the("interleave"), OneOf(tuple(Interleave)), "map.why-enumeration", DRIVER),
    Rule("swizzle", the("swizzle"), OneOf(tuple(Swizzle)), "map.why-swizzle", MEASURED),
    Rule("l2-promotion", the("l2_promotion"), OneOf(tuple(L2Promotion)), "map.why-enumeration", DRIVER),
    Rule("oob-fill", the("oob_fill"), OneOf(tuple(OobFill)), "map.why-enumeration", DRIVER),
    Rule("nan-fill", the("oob_fill"), OneOf((OobFill.NONE,)), "map.why-nan-fill", DRIVER, _without_nan),
)


def judge(fields: Fields, labels: Labels = argument) -> list[tuple[str, str]]:
    """Every broken rule as (rule's name, message); empty for a map that the driver accepts."""
    violations = []
    for rule in RULES:
        if rule.applies is None or rule.applies(fields):
            limit = rule.limit(fields) if callable(rule.limit) else rule.limit
            for index, value in rule.measure.values(fields):
                if not limit.allows(value):
                    violations.append((rule.name, _message(rule, limit, fields, labels, index, value)))
    return violations


def _message(rule: Rule, limit: Limit, fields: Fields, labels: Labels, index: int | None, value: int) -> str:
    problem = limit.problem(labels(rule.measure.field, index), rule.measure.show(fields, value))
    nearest = limit.nearest(value)
    way_out = "" if nearest is None else text("map.nearest", value=rule.measure.show_nearest(fields, nearest, labels))
    return text("map.broken", problem=problem, why=text(rule.why), nearest=way_out, source=rule.source)
