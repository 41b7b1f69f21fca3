"""Tensor maps: the rules of the driver, its limits, the 128 bytes, and the reductions."""

from __future__ import annotations

from collections.abc import Iterable

from docs.tables.markdown import table
from tmalab import descriptor as map_bytes
from tmalab.gpu.verdicts import compare
from tmalab.im2col_rules import RULES as IM2COL_RULES
from tmalab.recorded import verdicts
from tmalab.reductions import MAP_OPERATIONS
from tmalab.tensor_map_rules import RULES, Rule
from tmalab.texts import text


def rules(of: Iterable[Rule] = RULES) -> str:
    """The driver's rules for tiled tensor maps, or others."""
    rows = ((rule.name, f"`{rule.measure.field}`", text(rule.why), rule.source) for rule in of)
    return table(("rule", "field", "why, and the way out", "source"), rows)


def im2col_rules() -> str:
    """The driver's rules for im2col maps that tiled maps do not have."""
    return rules(
        rule for rule in IM2COL_RULES if rule.name not in {rule.name for rule in RULES} - {"rank", "swizzle-span"}
    )


def boundaries() -> str:
    """The recorded maps at each limit of the rules and just beyond it, and how driver and library differ on them."""
    asked = verdicts.read()
    answers = iter(asked.encoded)
    report = compare(asked.maps, lambda fields: next(answers))
    rows = (
        (
            f"{place['rule']}, {place['side']}",
            "just beyond" if place["beyond"] else "at",
            *(str(place[count]) for count in ("maps", "accepted", "false_accepts", "false_refusals")),
        )
        for place in report["boundaries"]
    )
    head = ("limit", "maps that lie", "maps", "accepted by the driver", "false accepts", "false refusals")
    return table(head, rows)


def descriptor() -> str:
    """The bits of a tensor map."""
    rows = ((f"{field.start} to {field.stop - 1}", field.name, field.kinds) for field in map_bytes.TABLE)
    return table(("bits", "field", "maps"), rows)


def reductions() -> str:
    """The reductions through maps that the hardware has."""
    rows = ((data_type.name, ", ".join(operations)) for data_type, operations in MAP_OPERATIONS.items())
    return table(("element type", "operations"), rows)


TABLES = (rules, im2col_rules, boundaries, descriptor, reductions)
