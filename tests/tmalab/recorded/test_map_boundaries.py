"""Where a map lies: at a limit, just beyond it, or neither."""

import pytest

from tmalab.recorded.map_boundaries import Place, every_place, places
from tmalab.tensor_map_fields import Fields, Im2colFields

TILED = Fields(6, 0x1000, (100, 64), (4096,), (32, 9), (2, 2), 0, 2, 0, 0)
FULL = Fields(7, 0x1000, (100, 64), (4096,), (256, 228), (1, 1), 0, 0, 0, 0)
IM2COL = Im2colFields(6, 0x1000, (100, 64, 50), (4096, 8192), (-1,), (-1,), 32, 9, (2, 2, 2), 0, 3, 0, 0)


def found(fields, rule: str) -> set[tuple[str, bool]]:
    return {(place.side, place.beyond) for place in places(fields) if place.rule == rule}


@pytest.mark.parametrize(
    ("fields", "rule", "expected"),
    [
        (TILED._replace(global_dim=(1, 7)), "dim-range", {("low", False)}),
        (TILED._replace(global_dim=(0, 7)), "dim-range", {("low", True)}),
        (TILED._replace(global_dim=(2, 2**32)), "dim-range", {("high", False)}),
        (TILED._replace(global_dim=(2, 2**32 + 1)), "dim-range", {("high", True)}),
        (TILED._replace(global_dim=(2, 2**33)), "dim-range", set()),
        (TILED._replace(global_address=2**57 - 16), "address-range", {("high", False)}),
        (TILED._replace(global_address=2**57), "address-range", {("high", True)}),
        (TILED._replace(global_address=16), "address-multiple", {("unit", False)}),
        (TILED._replace(global_address=8), "address-multiple", {("unit", True)}),
        (TILED._replace(global_address=0x1000), "address-multiple", set()),
        (TILED, "swizzle-span", {("high", False)}),
        (TILED._replace(box_dim=(40, 9)), "swizzle-span", {("high", True)}),
        (TILED._replace(box_dim=(24, 9)), "swizzle-span", set()),
        (TILED._replace(data_type=12), "data-type", {("last", False)}),
        (TILED._replace(data_type=13), "data-type", {("last", True)}),
        (TILED._replace(oob_fill=1), "nan-fill", {("type", False)}),
        (TILED._replace(oob_fill=1, data_type=0), "nan-fill", {("type", True)}),
        (FULL, "box-bytes", {("high", False)}),
        (FULL._replace(box_dim=(256, 229)), "box-bytes", {("high", True)}),
        (FULL._replace(box_dim=(256, 200)), "box-bytes", set()),
        (IM2COL._replace(pixel_box_lower_corner=(-32768,)), "lower-corner-range", {("low", False)}),
        (IM2COL._replace(pixel_box_upper_corner=(32768,)), "upper-corner-range", {("high", True)}),
        (IM2COL._replace(pixel_box_upper_corner=(-64,)), "pixel-box", {("low", False)}),
        (IM2COL._replace(pixel_box_upper_corner=(-65,)), "pixel-box", {("low", True)}),
        (IM2COL._replace(global_dim=(100, 2**31 + 9, 1)), "pixel-box", {("low", True)}),
        (IM2COL._replace(pixels_per_column=1024), "pixels-range", {("high", False)}),
        (IM2COL._replace(channels_per_pixel=264, swizzle=0), "channels-range", {("high", True)}),
    ],
)  # fmt: skip
def test_a_map_lies_at_a_limit_just_beyond_it_or_at_neither(fields, rule, expected):
    assert found(fields, rule) == expected


def test_every_rule_has_two_sides_of_each_of_its_limits():
    assert {Place("rank", side, beyond) for side in ("low", "high") for beyond in (False, True)} <= every_place()
    assert not any(place.rule.endswith("count") for place in every_place())
