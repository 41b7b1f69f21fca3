"""What the driver accepts of im2col maps: the rules that they share with tiled ones, and those of pixels and corners.

The first dimension holds the channels, the last the batch, and those between are spatial; with an interleave the
spatial ones come first, then the slices of channels, then the batch. One copy takes
`channels_per_pixel` channels of `pixels_per_column` pixels. It walks them in the *bounding box*: along each spatial
dimension from the lower corner to the dimension + the upper corner.

>>> from tmalab.tensor_map_fields import Im2colFields
>>> fields = Im2colFields(6, 0x1000, (64, 5, 8), (128, 640), (0,), (-5,), 64, 32, (1, 1, 1), 0, 3, 0, 0)
>>> for rule, message in judge(fields):
...     print(rule, "--", message)  # doctest: +NORMALIZE_WHITESPACE
pixel-box -- pixel_box_upper_corner[0] = -5 (bounding box: global_dim[1] = 5 - 5 - 0 = 0 pixels) is less than 1: along
each spatial dimension the bounding box must hold a pixel (the driver counts global_dim + upper in 32 bits with a sign).
Nearest legal: pixel_box_upper_corner[0] = -4. (measured, H200)
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from tmalab import tensor_map_rules
from tmalab.tensor_map_fields import LONGEST, Im2colFields, counted_bytes
from tmalab.tensor_map_limits import AtLeast, AtMost, Entries, Limit, Within, shown
from tmalab.tensor_map_measures import (
    RANK,
    Labels,
    Measure,
    argument,
    each,
    in_bytes,
    length,
    row_elements,
    row_shown,
    swizzled,
    the,
)
from tmalab.tensor_map_rules import (
    BOX_BYTES,
    CHUNK,
    COUNTS,
    MEASURED,
    MEMORY,
    OPTIONS,
    UNDOCUMENTED,
    Rule,
    span,
)
from tmalab.texts import text

DRIVER = "CUDA driver API, cuTensorMapEncodeIm2col"
CORNER_BITS = {3: 16, 4: 8, 5: 5}  # of each corner in the descriptor, by rank
CORNERS = {rank: Within(-(1 << bits - 1), (1 << bits - 1) - 1) for rank, bits in CORNER_BITS.items()}
DIMS = Within(1, 2**32)
SPATIAL = [Entries(max(rank - 2, 0), rank) for rank in range(LONGEST + 1)]
MAX_CHANNELS = 256
MAX_PIXELS = 1024


def first_spatial(fields: Im2colFields) -> int:
    """The dimension of the first corners: after the channels, but with an interleave W comes first (measured, H200)."""
    return 0 if fields.interleave else 1


def pixels(fields: Im2colFields) -> list[int]:
    """Pixels of the bounding box along each spatial dimension, as the driver counts: in 32 bits with a sign.

    >>> pixels(Im2colFields(6, 0, (64, 5, 2**31, 8), (), (0, 0), (-2, 1), 64, 32, (), 0, 3, 0, 0))
    [3, -2147483647]
    """
    dims = fields.global_dim if fields.interleave else fields.global_dim[1:]
    corners = zip(dims, fields.pixel_box_lower_corner, fields.pixel_box_upper_corner)
    return [(dim + upper + 2**31) % 2**32 - 2**31 - lower for dim, lower, upper in corners]


def _pixels_shown(fields: Im2colFields, index: int, value: int) -> str:
    upper, lower = fields.pixel_box_upper_corner[index], fields.pixel_box_lower_corner[index]
    i = index + first_spatial(fields)
    terms = f"{shown(fields.global_dim[i])} {_signed(upper)} {_signed(-lower)}"
    return text("map.bounding-box", corner=shown(upper), i=i, terms=terms, pixels=shown(value))


def _signed(value: int) -> str:
    return f"- {shown(-value)}" if value <= 0 else f"+ {shown(value)}"


def _larger_box(fields: Im2colFields, index: int, low: int, labels: Labels) -> str:
    """What to change so that the bounding box holds `low` pixels: the upper corner, or else the dimension."""
    corners = CORNERS[len(fields.global_dim)]
    upper = corners.held(fields.pixel_box_upper_corner[index])
    lower = corners.held(fields.pixel_box_lower_corner[index])
    i = index + first_spatial(fields)
    corner = lower + low - fields.global_dim[i]
    if corners.allows((corner,)):
        return f"{labels('pixel_box_upper_corner', index)} = {corner}"
    ends = 2**31 - 1 - upper if fields.global_dim[i] >= 2**30 else lower + low - upper
    return f"{labels('global_dim', i)} = {max(ends, 1)}"


def _in_range(fields: Im2colFields) -> Sequence[int]:
    """`pixels`, where rank and dimensions are such that it can be said."""
    known = len(fields.global_dim) in CORNERS and DIMS.allows(fields.global_dim)
    return pixels(fields)[: len(fields.global_dim) - 2] if known else ()


def _row_bytes(fields: Im2colFields) -> int:
    return fields.channels_per_pixel * fields.element_size


def _row(fields: Im2colFields) -> Sequence[int]:
    return (_row_bytes(fields),) if fields.element_size else ()


def _column(fields: Im2colFields) -> Sequence[int]:
    return (counted_bytes(fields),)


def _fewer_pixels(fields: Im2colFields, index: int | None, high: int, labels: Labels) -> str:
    return f"{labels('pixels_per_column', None)} = {high // _row_bytes(fields)}"


BOX = Measure("pixel_box_upper_corner", True, _in_range, _pixels_shown, _larger_box)  # pixels
ROW = Measure("channels_per_pixel", False, _row, row_shown, row_elements, attrgetter("element_size"))  # bytes
COLUMN = Measure("pixels_per_column", False, _column, in_bytes, _fewer_pixels, _row_bytes)


def _one_spatial(fields: Im2colFields) -> Limit:
    return SPATIAL[len(fields.global_dim)]


def _corners(fields: Im2colFields) -> Limit:
    return CORNERS[len(fields.global_dim)]


def _has_corners(fields: Im2colFields) -> bool:
    return len(fields.global_dim) in CORNERS


def _counted(rules: Sequence[Rule]) -> list[Rule]:
    """Rules that tiled maps have too, as this function of the driver documents them."""
    return [rule._replace(source=DRIVER) if rule.source == tensor_map_rules.DRIVER else rule for rule in rules]


LOWER, UPPER = "pixel_box_lower_corner", "pixel_box_upper_corner"
RULES = (
    Rule("rank", RANK, Within(3, 5), "map.why-im2col-rank", DRIVER),
    *_counted(COUNTS),
    Rule("lower-corner-count", length(LOWER), _one_spatial, "map.why-corner-count", DRIVER),
    Rule("upper-corner-count", length(UPPER), _one_spatial, "map.why-corner-count", DRIVER),
    *_counted(MEMORY),
    Rule("lower-corner-range", each(LOWER), _corners, "map.why-corner-range", DRIVER, _has_corners),
    Rule("upper-corner-range", each(UPPER), _corners, "map.why-corner-range", DRIVER, _has_corners),
    Rule("pixel-box", BOX, AtLeast(1), "map.why-pixel-box", MEASURED),
    Rule("channels-range", the("channels_per_pixel"), Within(1, MAX_CHANNELS), "map.why-channels-range", DRIVER),
    Rule("channels-multiple", ROW, CHUNK, "map.why-channels-multiple", MEASURED),
    Rule("swizzle-span", ROW, span, "map.why-channels-span", DRIVER, swizzled),
    Rule("pixels-range", the("pixels_per_column"), Within(1, MAX_PIXELS), "map.why-pixels-range", DRIVER),
    Rule("column-bytes", COLUMN, AtMost(BOX_BYTES), "map.why-column-bytes", UNDOCUMENTED),
    *_counted(OPTIONS),
)


def judge(fields: Im2colFields, labels: Labels = argument) -> list[tuple[str, str]]:
    """Every broken rule of an im2col map as (rule's name, message); empty for a map that the driver accepts."""
    return tensor_map_rules.judge(fields, labels, RULES)
