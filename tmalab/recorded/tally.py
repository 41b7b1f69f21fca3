"""What the recordings cover, and whether the reference agrees: counted by mode, type, swizzle and rank.

>>> from tmalab.recorded.tally import tally
>>> counted = tally("lesson-1")
>>> key = Kind("tiled load", "load", "FLOAT16", "B128", 2)
>>> counted[key].cases, counted[key].mismatches
(16, 0)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tmalab import recorded
from tmalab.data_types import Swizzle
from tmalab.recorded.by_reference import by_reference, same
from tmalab.recorded.plain import AnyCase


class Kind(NamedTuple):
    """What kind of case: without a map there is no swizzle and no rank, and a bulk reduction's type is PTX's."""

    mode: str
    operation: str
    data_type: str
    swizzle: str
    rank: int


@dataclass
class Count:
    """Cases of one kind, and those in which the reference says something else than the hardware did."""

    cases: int = 0
    mismatches: int = 0


@lru_cache(maxsize=32)
def tally(name: str) -> dict[Kind, Count]:
    """The cases of a recording, compared with the reference and counted."""
    reading, counted = recorded.read(name), dict[Kind, Count]()
    for case, result in zip(reading.cases, reading.results, strict=True):
        count = counted.setdefault(kind_of(case, result), Count())
        count.cases += 1
        count.mismatches += not same(by_reference(case), result)
    return counted


def kind_of(case: AnyCase, result: object) -> Kind:
    """What kind of case it is."""
    mode = f"{case.mode}, {result}" if isinstance(result, str) else case.mode
    operation, _, element = case.operation.partition(" ")
    tm = getattr(case, "tensor_map", None)
    if tm is None:
        return Kind(mode, operation, element, "", 0)
    return Kind(mode, operation, tm.data_type.name, Swizzle(tm.swizzle).name, tm.rank)
