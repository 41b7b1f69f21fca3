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

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tmalab.data_types import ELEMENT_TYPES, DataType, Interleave, L2Promotion, OobFill, Swizzle
from tmalab.plain_traceback import PlainTraceback
from tmalab.swizzle import PATTERNS, SECTOR
from tmalab.tensor_map_fields import ADDRESS_STOP, LONGEST, MAX_RANK, AnyFields, Fields
from tmalab.tensor_map_limits import AtMost, Entries, Limit, MultipleOf, OneOf, Within
from tmalab.tensor_map_measures import (
    ADDRESS,
    BOX,
    BOX_ROW,
    FILL,
    MAX_SIDE,
    RANK,
    STRIDES,
    Labels,
    Measure,
    argument,
    each,
    length,
    swizzled,
    the,
)
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
    limit: Limit | Callable[[Any], Limit]
    why: str  # key of the text: the reason, and the way out where there is one
    source: str
    applies: Callable[[Any], bool] | None = None  # None: to every map


# Limits that depend on other fields, and conditions. What is the same for every map of a kind is made once.

CHUNK, TWO_CHUNKS = MultipleOf(SECTOR), MultipleOf(2 * SECTOR)
ADDRESSES, STRIDES_BELOW = (  # without INTERLEAVE_32B, and with it
    (Within(0, stop - SECTOR), Within(0, stop - 2 * SECTOR)) for stop in (ADDRESS_STOP, 2**40)
)
ANY_RANK, INTERLEAVED_RANK = Within(1, MAX_RANK), Within(3, MAX_RANK)
ENTRIES = [Entries(rank, rank) for rank in range(LONGEST + 1)]
BETWEEN = [Entries(max(rank - 1, 0), rank) for rank in range(LONGEST + 1)]
SPANS: dict[int, AtMost] = {mode: AtMost(PATTERNS[mode].span) for mode in Swizzle}


def chunk(fields: AnyFields) -> Limit:
    """The unit in which global memory is addressed."""
    return TWO_CHUNKS if fields.interleave == Interleave.B32 else CHUNK


def addresses(fields: AnyFields) -> Limit:
    """All the addresses in which a chunk fits."""
    return ADDRESSES[fields.interleave == Interleave.B32]


def strides(fields: AnyFields) -> Limit:
    """All the strides below 2^40 that are made of chunks."""
    return STRIDES_BELOW[fields.interleave == Interleave.B32]


def one_each(fields: AnyFields) -> Limit:
    """An entry for each dimension."""
    return ENTRIES[len(fields.global_dim)]


def one_between(fields: AnyFields) -> Limit:
    """An entry for each dimension but the innermost."""
    return BETWEEN[len(fields.global_dim)]


def span(fields: AnyFields) -> Limit:
    """The longest row that the swizzle takes."""
    return SPANS[fields.swizzle]


def _ranks(fields: Fields) -> Limit:
    return ANY_RANK if fields.interleave == Interleave.NONE else INTERLEAVED_RANK


def _nan_of_integers(fields: AnyFields) -> bool:
    element = ELEMENT_TYPES.get(fields.data_type)
    return fields.oob_fill == OobFill.NAN and element is not None and not element.floating


# Rules of every map: its memory, its options.
COUNTS = (
    Rule("stride-count", length("global_strides"), one_between, "map.why-stride-count", DRIVER),
    Rule("element-stride-count", length("element_strides"), one_each, "map.why-count", DRIVER),
)
MEMORY = (
    Rule("data-type", the("data_type"), OneOf(tuple(DataType)), "map.why-data-type", MEASURED),
    Rule("address-range", ADDRESS, addresses, "map.why-address-range", UNDOCUMENTED),
    Rule("address-multiple", ADDRESS, chunk, "map.why-address-multiple", DRIVER),
    Rule("dim-range", each("global_dim"), Within(1, 2**32), "map.why-dim-range", DRIVER),
    Rule("stride-range", STRIDES, strides, "map.why-stride-range", DRIVER),
    Rule("stride-multiple", STRIDES, chunk, "map.why-stride-multiple", DRIVER),
)
OPTIONS = (
    Rule("element-stride-range", each("element_strides"), Within(1, 8), "map.why-element-stride", DRIVER),
    Rule("interleave", the("interleave"), OneOf(tuple(Interleave)), "map.why-enumeration", DRIVER),
    Rule("swizzle", the("swizzle"), OneOf(tuple(Swizzle)), "map.why-swizzle", MEASURED),
    Rule("l2-promotion", the("l2_promotion"), OneOf(tuple(L2Promotion)), "map.why-enumeration", DRIVER),
    Rule("oob-fill", the("oob_fill"), OneOf(tuple(OobFill)), "map.why-enumeration", DRIVER),
    Rule("nan-fill", FILL, OneOf((OobFill.NONE,)), "map.why-nan-fill", DRIVER, _nan_of_integers),
)

RULES = (  # of a tiled map
    Rule("rank", RANK, _ranks, "map.why-rank", DRIVER),
    *COUNTS,
    Rule("box-count", length("box_dim"), one_each, "map.why-count", DRIVER),
    *MEMORY,
    Rule("box-range", each("box_dim"), Within(1, MAX_SIDE), "map.why-box-range", DRIVER),
    Rule("box-row-multiple", BOX_ROW, CHUNK, "map.why-box-row-multiple", DRIVER),
    Rule("swizzle-span", BOX_ROW, span, "map.why-swizzle-span", DRIVER, swizzled),
    Rule("box-bytes", BOX, AtMost(BOX_BYTES), "map.why-box-bytes", UNDOCUMENTED),
    *OPTIONS,
)


def judge(fields: AnyFields, labels: Labels = argument, rules: tuple[Rule, ...] = RULES) -> list[tuple[str, str]]:
    """Every broken rule as (rule's name, message); empty for a map that the driver accepts."""
    violations = []
    for rule in rules:
        _, measure, limit, _, _, applies = rule
        if applies is None or applies(fields):
            if callable(limit):
                limit = limit(fields)
            values = measure.values(fields)
            if not limit.allows(values):
                violations += [(rule.name, said) for said in _messages(rule, limit, fields, labels, values, rules)]
    return violations


def _messages(
    rule: Rule, limit: Limit, fields: AnyFields, labels: Labels, values: Sequence[int], rules: tuple[Rule, ...]
) -> Iterator[str]:
    """A sentence for each value that breaks the rule: problem, reason, nearest legal value, source."""
    measure = rule.measure
    for i, value in enumerate(values[:MAX_RANK]):
        if limit.allows((value,)):
            continue
        index = i if measure.counts else None
        problem = limit.problem(labels(measure.field, index), measure.show(fields, index, value))
        nearest = limit.nearest(value)
        if nearest is not None and measure.unit is not None:
            nearest = _legal(fields, measure, measure.unit(fields), index, nearest, rules)
        legal = "" if nearest is None else measure.show_nearest(fields, index, nearest, labels)
        way_out = text("map.nearest", value=legal) if legal else ""
        yield text("map.broken", problem=problem, why=text(rule.why), nearest=way_out, source=rule.source)


def _legal(
    fields: AnyFields, measure: Measure, unit: int, index: int | None, value: int, rules: tuple[Rule, ...]
) -> int | None:
    """The value, or the next one by which the entry that is measured breaks no other rule either; None: there is none.

    Both in the unit of the measure, which is `unit` for these fields.
    """
    entry = value // unit
    for _ in rules:
        moved = _moved(_with_entry(fields, measure.field, index, entry), measure.field, index, rules)
        if moved == entry:
            return entry * unit
        if moved is None:
            return None
        entry = moved
    return None


def _moved(fields: AnyFields, field: str, index: int | None, rules: tuple[Rule, ...]) -> int | None:
    """What the first rule that an entry breaks has in its place; the entry itself where it breaks none."""
    i = index or 0
    for rule in rules:
        measure = rule.measure
        if measure.field != field or measure.unit is None or not (rule.applies is None or rule.applies(fields)):
            continue
        limit = rule.limit(fields) if callable(rule.limit) else rule.limit
        value = measure.values(fields)[i : i + 1]
        if not limit.allows(value):
            nearest = limit.nearest(*value)
            return None if nearest is None else nearest // measure.unit(fields)
    entry = getattr(fields, field)
    return entry if index is None else entry[index]


def _with_entry(fields: AnyFields, field: str, index: int | None, entry: int) -> AnyFields:
    """The fields with another value in one place."""
    changed: Any = entry
    if index is not None:
        values = getattr(fields, field)
        changed = (*values[:index], entry, *values[index + 1 :])
    return fields._replace(**{field: changed})
