"""im2col: every rule at its boundary, and all together against a predicate written from the measured facts."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from slow_copy import SIZES

from tmalab import TensorMap, TensorMapError
from tmalab.im2col_rules import RULES

LEGAL = {
    "data_type": 6,
    "global_address": 0x1000,
    "global_dim": (256, 40, 8),
    "global_strides": (512, 20480),
    "pixel_box_lower_corner": (-1,),
    "pixel_box_upper_corner": (-1,),
    "channels_per_pixel": 64,
    "pixels_per_column": 64,
    "element_strides": (1, 1, 1),
    "interleave": 0,
    "swizzle": 0,
    "l2_promotion": 0,
    "oob_fill": 0,
}


def of_rank(rank: int, **changes) -> dict:
    """The same map with another number of dimensions."""
    corners = (-1,) * max(rank - 2, 0)
    return {
        "global_dim": (256, *(40,) * (rank - 1)),
        "global_strides": (512,) * (rank - 1),
        "element_strides": (1,) * rank,
        "pixel_box_lower_corner": corners,
        "pixel_box_upper_corner": corners,
        **changes,
    }


def rules(**changes) -> list[str]:
    try:
        TensorMap.im2col(**(LEGAL | changes))
    except TensorMapError as error:
        return [rule for rule, _ in error.violations]
    return []


LOWER, UPPER = "pixel_box_lower_corner", "pixel_box_upper_corner"
WIDE = {"global_dim": (256, 70_000, 8)}
B32 = {"interleave": 2, "swizzle": 1}
BOUNDARIES = [  # rule, the last legal value, the first illegal one
    ("data-type", {"data_type": 12}, {"data_type": 13}),
    ("rank", of_rank(3), of_rank(2)),
    ("rank", of_rank(5), of_rank(6)),
    ("stride-count", {}, {"global_strides": (512,)}),
    ("element-stride-count", {}, {"element_strides": (1, 1)}),
    ("lower-corner-count", {}, {LOWER: (-1, -1)}),
    ("upper-corner-count", {}, {UPPER: ()}),
    ("address-range", {"global_address": 2**57 - 16}, {"global_address": 2**57}),
    ("address-multiple", {"global_address": 16}, {"global_address": 8}),
    ("address-multiple", {**B32, "global_address": 32}, {**B32, "global_address": 16}),
    ("dim-range", {"global_dim": (256, 40, 2**32)}, {"global_dim": (256, 40, 2**32 + 1)}),
    ("dim-range", {"global_dim": (1, 40, 1)}, {"global_dim": (0, 40, 1)}),
    ("stride-range", {"global_strides": (512, 2**40 - 16)}, {"global_strides": (512, 2**40)}),
    ("stride-multiple", {"global_strides": (512, 16)}, {"global_strides": (512, 24)}),
    ("stride-multiple", {**B32, "global_strides": (512, 32)}, {**B32, "global_strides": (512, 16)}),
    ("lower-corner-range", {LOWER: (-(2**15),)}, {LOWER: (-(2**15) - 1,)}),
    ("lower-corner-range", {**WIDE, LOWER: (2**15 - 1,)}, {**WIDE, LOWER: (2**15,)}),
    ("lower-corner-range", of_rank(4, **{LOWER: (-128, 0)}), of_rank(4, **{LOWER: (-1, -129)})),
    ("upper-corner-range", of_rank(4, **{UPPER: (127, 0)}), of_rank(4, **{UPPER: (128, 0)})),
    ("upper-corner-range", of_rank(5, **{UPPER: (15, 0, -16)}), of_rank(5, **{UPPER: (0, 0, -17)})),
    ("lower-corner-range", of_rank(5, **{LOWER: (15, 0, -16)}), of_rank(5, **{LOWER: (16, 0, 0)})),
    ("pixel-box", {UPPER: (-40,)}, {UPPER: (-41,)}),
    ("pixel-box", {LOWER: (38,)}, {LOWER: (39,)}),
    ("pixel-box", {"global_dim": (256, 2**31, 8)}, {"global_dim": (256, 2**31 + 1, 8)}),
    ("pixel-box", {"global_dim": (256, 2**32, 8), UPPER: (0,)}, {"global_dim": (256, 2**32, 8)}),
    ("channels-range", {"channels_per_pixel": 256}, {"channels_per_pixel": 264}),
    ("channels-range", {"channels_per_pixel": 8}, {"channels_per_pixel": 0}),
    ("channels-multiple", {"channels_per_pixel": 8}, {"channels_per_pixel": 12}),
    ("swizzle-span", {"swizzle": 3}, {"swizzle": 3, "channels_per_pixel": 72}),
    ("swizzle-span", {"swizzle": 2, "channels_per_pixel": 32}, {"swizzle": 2, "channels_per_pixel": 40}),
    ("swizzle-span", {"swizzle": 1, "channels_per_pixel": 16}, {"swizzle": 1, "channels_per_pixel": 24}),
    ("pixels-range", {"pixels_per_column": 1024}, {"pixels_per_column": 1025}),
    ("pixels-range", {"pixels_per_column": 1}, {"pixels_per_column": 0}),
    (
        "column-bytes",
        {"channels_per_pixel": 256, "pixels_per_column": 456},
        {"channels_per_pixel": 256, "pixels_per_column": 457},
    ),
    ("element-stride-range", {"element_strides": (8, 8, 8)}, {"element_strides": (1, 1, 9)}),
    ("element-stride-range", {}, {"element_strides": (0, 1, 1)}),
    ("interleave", {"interleave": 1}, {"interleave": 3}),
    ("swizzle", {"swizzle": 3}, {"swizzle": 4}),
    ("l2-promotion", {"l2_promotion": 3}, {"l2_promotion": 4}),
    ("oob-fill", {"oob_fill": 1}, {"oob_fill": 2}),
    ("nan-fill", {"oob_fill": 1}, {"oob_fill": 1, "data_type": 1}),
]


@pytest.mark.parametrize(("rule", "legal", "illegal"), BOUNDARIES)
def test_each_rule_holds_at_its_boundary(rule, legal, illegal):
    assert rules(**legal) == []
    assert rules(**illegal) == [rule]


def test_every_rule_has_a_boundary_above():
    assert {rule.name for rule in RULES} == {rule for rule, _, _ in BOUNDARIES}


@pytest.mark.parametrize("illegal", [case[2] for case in BOUNDARIES])
def test_a_message_names_the_field_and_its_source(illegal):
    with pytest.raises(TensorMapError) as caught:
        TensorMap.im2col(**(LEGAL | illegal))
    ((rule, message),) = caught.value.violations
    assert message.startswith(next(row.measure.field for row in RULES if row.name == rule))
    assert message.endswith(
        ("(CUDA driver API, cuTensorMapEncodeIm2col)", "(measured, H200)", "(measured, H200; undocumented)")
    )


def test_m11_a_corner_of_200_has_no_room_in_8_bits():
    with pytest.raises(TensorMapError) as caught:
        TensorMap.im2col(**LEGAL | of_rank(4, **{UPPER: (0, 200)}))
    ((rule, message),) = caught.value.violations
    assert rule == "upper-corner-range"
    assert "pixel_box_upper_corner[1] = 200 is outside -128 to 127" in message
    assert "Nearest legal: 127." in message
    assert rules(**{UPPER: (200,)}) == []  # with one spatial dimension there is


def test_with_an_interleave_the_corners_belong_to_the_first_dimensions():
    """W, H, slices of channels, N instead of channels, W, H, N (measured, H200)."""
    dims = {**of_rank(4), "interleave": 1, "swizzle": 0, UPPER: (-8, 0)}
    assert rules(**dims | {"global_dim": (256, 1, 40, 8), LOWER: (0, 0)}) == []
    assert rules(**dims | {"global_dim": (8, 40, 40, 8), LOWER: (0, 0)}) == ["pixel-box"]


def test_with_an_interleave_no_span_limits_the_channels():
    assert rules(interleave=1, swizzle=1, channels_per_pixel=256) == []


def mended(message: str, values: dict) -> dict:
    """The arguments with what a message proposes written into them."""
    where, proposal = message.split(" = ")[0], message.split("Nearest legal: ")[1].split(". (")[0]
    change = proposal if " = " in proposal else f"{where} = {proposal.removesuffix(' bytes')}"
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    exec(change.replace("^", "**"), {}, lists)
    return lists


@pytest.mark.parametrize(
    "illegal",
    [
        {UPPER: (-41,)},
        {LOWER: (2**15 - 1,)},
        {LOWER: (2**15 - 1,), UPPER: (-(2**15),)},
        {"global_dim": (256, 2**31 + 5, 8)},
        {"global_dim": (256, 2**32, 8), UPPER: (3,), LOWER: (3,)},
        of_rank(4, **{LOWER: (127, -1), UPPER: (-128, -1), "global_dim": (256, 1, 40, 8)}),
        {"channels_per_pixel": 256, "pixels_per_column": 1000},
        {"channels_per_pixel": 12},
        {"channels_per_pixel": 200, "swizzle": 2},
        {"pixels_per_column": 5000, "channels_per_pixel": 8},
        {"global_strides": (512, 24)},
    ],
)
def test_the_nearest_legal_value_mends_the_rule(illegal):
    values = LEGAL | illegal
    with pytest.raises(TensorMapError) as caught:
        TensorMap.im2col(**values)
    ((_, message),) = caught.value.violations
    TensorMap.im2col(**mended(message, values))


@st.composite
def arguments(draw) -> dict:
    """Arguments near the boundaries: about half of them legal."""
    data_type = draw(st.sampled_from([*range(13), 6, 7, 9, 13]))
    rank, size = draw(st.integers(3, 5)), (SIZES + [2] * 3)[data_type]
    low, high = {3: (-32768, 32767), 4: (-128, 127), 5: (-16, 15)}[rank]
    corner = st.one_of(st.integers(-3, 3), st.sampled_from([low - 1, low, high, high + 1]))
    side = st.sampled_from([1, 2, 5, 40, 300, 70_000, 2**31 - 3, 2**31, 2**31 + 2, 2**32, 0])
    chunks = draw(st.sampled_from([1, 2, 4, 8, 9, 16, 32]))
    return {
        "data_type": data_type,
        "global_address": draw(st.sampled_from([0, 32, 0x1000, 0x1000, 16, 0x1008, 2**57 - 32, 2**57])),
        "global_dim": tuple(draw(side) for _ in range(rank)),
        "global_strides": tuple(draw(st.sampled_from([0, 32, 512, 48, 2**40 - 32, 2**40])) for _ in range(rank - 1)),
        "pixel_box_lower_corner": tuple(draw(corner) for _ in range(rank - 2)),
        "pixel_box_upper_corner": tuple(draw(corner) for _ in range(rank - 2)),
        "channels_per_pixel": chunks * 16 // size + draw(st.sampled_from([0, 0, 0, 0, 1])),
        "pixels_per_column": draw(st.sampled_from([1, 64, 228, 456, 457, 912, 1024, 1025, 0])),
        "element_strides": tuple(draw(st.sampled_from([1, 1, 1, 1, 8, 9, 0])) for _ in range(rank)),
        "interleave": draw(st.sampled_from([0, 0, 0, 1, 2])),
        "swizzle": draw(st.sampled_from([0, 0, 1, 2, 3])),
        "l2_promotion": draw(st.sampled_from([0, 3])),
        "oob_fill": draw(st.sampled_from([0, 0, 1])),
    }


def driver_accepts(a: dict) -> bool:
    """The facts measured on an H200, in one expression a fact."""
    if not 0 <= a["data_type"] <= 12:
        return False
    row, rank = a["channels_per_pixel"] * SIZES[a["data_type"]], len(a["global_dim"])
    unit, half = 32 if a["interleave"] == 2 else 16, {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}[rank]
    corners = list(zip(a["pixel_box_lower_corner"], a["pixel_box_upper_corner"], strict=True))
    measured = a["global_dim"][0 if a["interleave"] else 1 :]
    boxes = [int.from_bytes(((d + up) % 2**32).to_bytes(4, "little"), "little", signed=True) > low
             for d, (low, up) in zip(measured, corners)]  # fmt: skip
    return (
        a["global_address"] % unit == 0
        and a["global_address"] < 2**57
        and all(1 <= dim <= 2**32 for dim in a["global_dim"])
        and all(stride % unit == 0 and stride < 2**40 for stride in a["global_strides"])
        and all(-half <= corner < half for pair in corners for corner in pair)
        and all(boxes)
        and 1 <= a["channels_per_pixel"] <= 256
        and row % 16 == 0
        and (a["interleave"] > 0 or a["swizzle"] == 0 or row <= 16 << a["swizzle"])
        and 1 <= a["pixels_per_column"] <= 1024
        and row * a["pixels_per_column"] <= 228 * 1024
        and all(1 <= step <= 8 for step in a["element_strides"])
        and (a["oob_fill"] == 0 or a["data_type"] >= 6)
    )


@settings(max_examples=500)
@given(arguments())
@example(LEGAL)
def test_random_maps_are_judged_as_the_driver_judges_them(a):
    assert (rules(**a) == []) == driver_accepts(a)
