"""Cases as plain values for JSON, and back.

A field that has its default is left out. A tensor map is its constructor's arguments; a case says of which class it is,
unless it is a tensor copy.

>>> from tmalab.recorded.barrier_case import BarrierCase
>>> to_plain(BarrierCase("one arrival", ((0, 1, 0), (2, 1, 0))))
{'class': 'BarrierCase', 'name': 'one arrival', 'steps': [[0, 1, 0], [2, 1, 0]]}
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from tmalab.recorded.barrier_case import BarrierCase
from tmalab.recorded.bulk_case import BulkCase
from tmalab.recorded.case import Case
from tmalab.recorded.issued_case import IssuedCase
from tmalab.recorded.map_case import EditCase, MapCase
from tmalab.tensor_map import TensorMap

AnyCase = Case | BulkCase | BarrierCase | MapCase | EditCase | IssuedCase
CLASSES = {made.__name__: made for made in (Case, BulkCase, BarrierCase, MapCase, EditCase, IssuedCase)}


def to_plain(case: AnyCase) -> dict[str, Any]:
    """A case as plain values."""
    kind = {} if type(case) is Case else {"class": type(case).__name__}
    return kind | {
        field.name: _plain(getattr(case, field.name))
        for field in fields(case)
        if field.default is MISSING or getattr(case, field.name) != field.default
    }


def from_plain(plain: dict[str, Any]) -> AnyCase:
    """The inverse."""
    values = {name: _value(value) for name, value in plain.items() if name != "class"}
    return CLASSES[plain.get("class", "Case")](**values)


def _plain(value: Any) -> Any:
    if isinstance(value, TensorMap):
        names = [field.name for field in fields(value) if hasattr(value, field.name) and field.name != "array"]
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, (str, type(None))) else int(value)


def _value(plain: Any) -> Any:
    if isinstance(plain, dict):
        return TensorMap.im2col(**plain) if "pixel_box_lower_corner" in plain else TensorMap(**plain)
    return tuple(map(_value, plain)) if isinstance(plain, list) else plain
