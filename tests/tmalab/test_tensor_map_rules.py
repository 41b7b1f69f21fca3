"""Every rule at its boundary, and all together against a predicate written from the measured facts."""

from math import prod

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from slow_copy import SIZES

from tmalab import TensorMap, TensorMapError
from tmalab.bench import fastest
from tmalab.recorded.map_boundaries import rules_of
from tmalab.tensor_map_fields import Fields, Im2colFields
from tmalab.tensor_map_rules import RULES, judge

LEGAL = {  # 8 x 64 float16, from which each boundary below is one step away
    "data_type": 6,
    "global_address": 0x1000,
    "global_dim": (128, 16),
    "global_strides": (256,),
    "box_dim": (64, 8),
    "element_strides": (1, 1),
    "interleave": 0,
    "swizzle": 0,
    "l2_promotion": 0,
    "oob_fill": 0,
}
LEGAL_IM2COL = (6, 0x1000, (64, 5, 9, 8), (128, 640, 5760), (0, 0), (-2, -2), 64, 32, (1, 1, 1, 1), 0, 3, 0, 0)
RANK_3 = {
    "global_dim": (128, 16, 4),
    "global_strides": (256, 4096),
    "box_dim": (16, 8, 2),
    "element_strides": (1, 1, 1),
}
TWICE = {
    "global_dim": (128,) * 6,
    "global_strides": (256,) * 5,
    "box_dim": (8,) + (1,) * 5,
    "element_strides": (1,) * 6,
}


def rules(**changes) -> list[str]:
    try:
        TensorMap(**(LEGAL | changes))
    except TensorMapError as error:
        return [rule for rule, _ in error.violations]
    return []


BOUNDARIES = [  # rule, the last legal value, the first illegal one
    ("data-type", {"data_type": 12, "box_dim": (8, 8)}, {"data_type": 13}),
    ("data-type", {"data_type": 0}, {"data_type": -1}),
    ("rank", {k: v[:5] if k != "global_strides" else v[:4] for k, v in TWICE.items()}, TWICE),
    ("rank", RANK_3 | {"interleave": 1}, {"interleave": 1}),
    ("stride-count", {}, {"global_strides": ()}),
    ("stride-count", {}, {"global_strides": (256, 256)}),
    ("box-count", {}, {"box_dim": (64,)}),
    ("element-stride-count", {}, {"element_strides": (1, 1, 1)}),
    ("address-range", {"global_address": 2**57 - 16}, {"global_address": 2**57}),
    ("address-range", {"global_address": 0}, {"global_address": -16}),
    ("address-multiple", {"global_address": 0x1010}, {"global_address": 0x1008}),
    (
        "address-multiple",
        RANK_3 | {"interleave": 2, "swizzle": 1, "global_address": 32},
        RANK_3 | {"interleave": 2, "swizzle": 1, "global_address": 16},
    ),
    ("dim-range", {"global_dim": (128, 1)}, {"global_dim": (128, 0)}),
    ("dim-range", {"global_dim": (2**32, 2**32)}, {"global_dim": (2**32, 2**32 + 1)}),
    ("stride-range", {"global_strides": (2**40 - 16,)}, {"global_strides": (2**40,)}),
    ("stride-range", {"global_strides": (0,)}, {"global_strides": (-16,)}),
    ("stride-multiple", {"global_strides": (272,)}, {"global_strides": (264,)}),
    (
        "stride-multiple",
        RANK_3 | {"interleave": 2, "global_strides": (256, 32)},
        RANK_3 | {"interleave": 2, "global_strides": (256, 48)},
    ),
    ("box-range", {"box_dim": (256, 256)}, {"box_dim": (64, 257)}),
    ("box-range", {"box_dim": (64, 1)}, {"box_dim": (64, 0)}),
    ("box-row-multiple", {"box_dim": (8, 8)}, {"box_dim": (12, 8)}),
    ("swizzle-span", {"swizzle": 1, "box_dim": (16, 8)}, {"swizzle": 1, "box_dim": (24, 8)}),
    ("swizzle-span", {"swizzle": 2, "box_dim": (32, 8)}, {"swizzle": 2, "box_dim": (40, 8)}),
    ("swizzle-span", {"swizzle": 3, "box_dim": (64, 8)}, {"swizzle": 3, "box_dim": (72, 8)}),
    ("box-bytes", {"data_type": 7, "box_dim": (256, 228)}, {"data_type": 7, "box_dim": (256, 229)}),
    (
        "box-bytes",
        {"data_type": 7, "box_dim": (256, 256), "element_strides": (1, 2)},
        {"data_type": 8, "box_dim": (256, 236), "element_strides": (2, 1)},
    ),
    ("element-stride-range", {"element_strides": (8, 8)}, {"element_strides": (1, 9)}),
    ("element-stride-range", {"element_strides": (8, 1)}, {"element_strides": (9, 1)}),
    ("element-stride-range", {}, {"element_strides": (1, 0)}),
    ("interleave", RANK_3 | {"interleave": 2}, RANK_3 | {"interleave": 3}),
    ("swizzle", {"swizzle": 3}, {"swizzle": 4}),
    ("l2-promotion", {"l2_promotion": 3}, {"l2_promotion": 4}),
    ("oob-fill", {"oob_fill": 1}, {"oob_fill": 2}),
    ("nan-fill", {"oob_fill": 1, "data_type": 6}, {"oob_fill": 1, "data_type": 1}),
]


@pytest.mark.parametrize(("rule", "legal", "illegal"), BOUNDARIES)
def test_each_rule_holds_at_its_boundary(rule, legal, illegal):
    assert rules(**legal) == []
    assert rules(**illegal) == [rule]


def test_every_rule_has_a_boundary_above():
    assert {rule.name for rule in RULES} == {rule for rule, _, _ in BOUNDARIES}


def test_with_an_interleave_the_row_is_judged_and_the_span_is_not():
    assert rules(**RANK_3 | {"interleave": 1, "box_dim": (9, 8, 2)}) == ["box-row-multiple"]
    assert rules(**RANK_3 | {"interleave": 2, "swizzle": 1, "box_dim": (64, 8, 2)}) == []


def test_boxes_may_exceed_the_tensor_and_strides_may_overlap_or_decrease():
    assert rules(global_dim=(16, 2), box_dim=(64, 8)) == []
    assert rules(global_strides=(16,)) == []
    assert rules(**RANK_3 | {"global_strides": (4096, 256)}) == []


@pytest.mark.parametrize("illegal", [case[2] for case in BOUNDARIES])
def test_a_message_names_the_field_and_its_source(illegal):
    with pytest.raises(TensorMapError) as caught:
        TensorMap(**(LEGAL | illegal))
    ((rule, message),) = caught.value.violations
    field = next(row.measure.field for row in RULES if row.name == rule)
    assert message.startswith(field)
    assert message.endswith(
        ("(CUDA driver API, cuTensorMapEncodeTiled)", "(measured, H200)", "(measured, H200; undocumented)")
    )


def multiples(unit: int, low: int, high: int):
    near = st.sampled_from([low, low + unit, high - unit, high])
    return st.one_of(near, st.integers(low // unit, high // unit).map(lambda k: k * unit), st.integers(low, high))


@st.composite
def arguments(draw) -> dict:
    """Arguments near the boundaries: about half of them legal."""
    data_type = draw(st.sampled_from([*range(13), 6, 7, 9, 13, 15]))
    rank, size = draw(st.sampled_from([1, 2, 2, 3, 4, 5])), (SIZES + [2] * 3)[data_type]
    row = draw(multiples(16 // size, 16 // size, 256))
    outer = draw(
        st.lists(st.sampled_from([1, 2, 3, 8, 57, 128, 228, 229, 256, 257]), min_size=rank - 1, max_size=rank - 1)
    )
    side = st.one_of(st.integers(1, 300), st.sampled_from([0, 1, 2**32, 2**32 + 1]))
    return {
        "data_type": data_type,
        "global_address": draw(st.sampled_from([0, 16, 0x1000, 0x1000, 0x1008, 2**57 - 16, 2**57, 2**64 - 16])),
        "global_dim": tuple(draw(st.lists(side, min_size=rank, max_size=rank))),
        "global_strides": tuple(draw(multiples(16, 0, 2**40)) for _ in range(rank - 1)),
        "box_dim": (row, *outer),
        "element_strides": tuple(draw(st.sampled_from([1, 1, 1, 1, 2, 3, 8, 9, 0])) for _ in range(rank)),
        "interleave": 0,
        "swizzle": draw(st.sampled_from([0, 0, 1, 2, 3, 4])),
        "l2_promotion": draw(st.sampled_from([0, 3, 4])),
        "oob_fill": draw(st.sampled_from([0, 0, 0, 1, 2])),
    }


def driver_accepts(a: dict) -> bool:
    """The facts measured on an H200, in one expression a fact."""
    if not 0 <= a["data_type"] <= 12:
        return False
    size, box, steps = SIZES[a["data_type"]], a["box_dim"], a["element_strides"]
    return (
        a["global_address"] % 16 == 0
        and a["global_address"] < 2**57
        and all(1 <= dim <= 2**32 for dim in a["global_dim"])
        and all(stride % 16 == 0 and stride < 2**40 for stride in a["global_strides"])
        and all(1 <= side <= 256 for side in box)
        and box[0] * size % 16 == 0
        and (a["swizzle"] == 0 or (a["swizzle"] <= 3 and box[0] * size <= 16 << a["swizzle"]))
        and all(1 <= step <= 8 for step in a["element_strides"])
        and prod(len(range(step, side + 1, step)) for side, step in zip(box, steps, strict=True)) * size <= 228 * 1024
        and a["l2_promotion"] <= 3
        and (a["oob_fill"] == 0 or (a["oob_fill"] == 1 and a["data_type"] >= 6))
    )


@settings(max_examples=500)
@given(arguments())
@example(LEGAL)
def test_random_maps_are_judged_as_the_driver_judges_them(a):
    assert (rules(**a) == []) == driver_accepts(a)


@given(arguments(), st.data())
def test_the_nearest_legal_value_of_a_field_breaks_its_rule_no_more(a, data):
    """Wherever a message names one, putting it into the field mends every rule for that place."""
    try:
        TensorMap(**a)
    except TensorMapError as error:
        rule, message = data.draw(st.sampled_from(error.violations))
    else:
        assume(False)
    if "Nearest legal: " not in message:
        return
    nearest = message.split("Nearest legal: ")[1].split(". (")[0]
    where = message.split(" = ")[0]
    changes = nearest.split(", ") if rule == "box-bytes" else [f"{where} = {nearest}"]
    mended = {name: list(value) if isinstance(value, tuple) else value for name, value in a.items()}
    for change in changes:
        exec(change.replace("^", "**"), {}, mended)
    assert [found for found in messages(mended) if found[1].startswith(f"{where} =") and found[0] != "box-bytes"] == []
    assert rule != "box-bytes" or rule not in dict(messages(mended))


def messages(a: dict) -> list[tuple[str, str]]:
    try:
        TensorMap(**a)
    except TensorMapError as error:
        return error.violations
    return []


def thirty_microseconds():
    """Plain Python that takes as long on the computer for which the promise is made; a busy or slow one needs more."""
    x = 1
    for _ in range(600):
        x = x * 3 % 1009
    return x


@pytest.mark.parametrize("fields", [Fields(**LEGAL), Im2colFields(*LEGAL_IM2COL)])
def test_judging_a_map_takes_less_than_30_microseconds(fields):
    """Against a loop that takes its turns with it, so that other work on this computer slows both."""
    table = rules_of(fields)
    judging, loop = fastest([lambda: judge(fields, rules=table), thirty_microseconds], rounds=2000)
    assert judging < loop
