"""Random maps to encode, and random edits of them by a kernel.

>>> from random import Random
>>> random_map(Random(1), 0).mode, random_edit(Random(1), 0).mode
('map', 'map edit')
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tmalab.data_types import L2Promotion
from tmalab.ptx.tensormap import FIELDS
from tmalab.recorded.copy_maps import any_mode
from tmalab.recorded.map_case import EditCase, MapCase
from tmalab.tensor_map import TensorMap
from tmalab.tensor_map_fields import ADDRESS_STOP

EDITED = {  # field of a map: values that a kernel may give it, beside those that the instruction names
    "global_address": lambda draw: 16 * draw.getrandbits(draw.choice((12, 28, 43, 53))),
    "rank": lambda draw: draw.randrange(5),
    "box_dim": lambda draw: draw.choice((1, 256, draw.randint(1, 256))),
    "global_dim": lambda draw: draw.choice((1, 2**32 - 1, draw.randint(1, 4096))),
    "global_stride": lambda draw: 16 * draw.getrandbits(draw.choice((4, 12, 36))),
    "element_stride": lambda draw: draw.randint(1, 8),
}


def random_map(draw: Random, number: int) -> MapCase:
    """A map of a copy, anywhere in memory and with any L2 promotion; every fourth is then moved."""
    tm = replace(any_mode(draw), global_address=_address(draw), l2_promotion=draw.choice(tuple(L2Promotion)))
    return MapCase(f"map {number}", tm, _address(draw) if number % 4 == 0 else None)


def random_edit(draw: Random, number: int) -> EditCase:
    """One to three edits of a tiled or im2col map, in global or shared memory."""
    tm: TensorMap = any_mode(draw)
    edits = tuple(_edit(draw, tm.rank) for _ in range(draw.choice((1, 1, 2, 3))))
    return EditCase(f"edit {number}", tm, edits, draw.choice(("global", "shared")))


def _address(draw: Random) -> int:
    """Any but null, to which cuTensorMapReplaceAddress moves no map (measured, driver 580)."""
    return draw.randrange(32, ADDRESS_STOP >> draw.randrange(51), 32)


def _edit(draw: Random, rank: int) -> tuple[str, int, int]:
    name = draw.choice(list(FIELDS))
    field = FIELDS[name]
    value = EDITED[name](draw) if name in EDITED else draw.choice(field.value.allowed)
    ordinals = max(1, rank - 1) if name == "global_stride" else rank
    return name, draw.randrange(ordinals) if field.each else -1, value
