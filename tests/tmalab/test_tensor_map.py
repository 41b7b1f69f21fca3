"""TensorMap as its users see it, and the cases that people met in practice."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from random_maps import loadable
from slow_copy import SPANS, elements, unit_of

from tmalab import DataType, Interleave, L2Promotion, OobFill, Swizzle, TensorMap, TensorMapError

F16, F32, U8 = DataType.FLOAT16, DataType.FLOAT32, DataType.UINT8


def broken(*arguments, **options) -> dict[str, str]:
    """The rules that a map breaks: name, message."""
    with pytest.raises(TensorMapError) as caught:
        TensorMap(*arguments, **options)
    return dict(caught.value.violations)


# cases.md, Maps


def test_m1_a_null_address_is_legal_and_warned_of():
    tm = TensorMap(F16, 0, (1024, 1024, 1), (2048, 2097152), (64, 128, 1), swizzle=Swizzle.B128)
    assert len(tm.warnings) == 1
    assert "global_address is null" in tm.warnings[0]


def test_m2_a_stride_of_200_is_refused_and_208_is_nearest():
    found = broken(F16, 0x1000, (100, 64), (200,), (64, 8))
    assert list(found) == ["stride-multiple"]
    assert "global_strides[0] = 200" in found["stride-multiple"]
    assert "208" in found["stride-multiple"]


@pytest.mark.parametrize("dim", [104, 100])
def test_m3_rows_padded_to_208_bytes_are_legal(dim):
    TensorMap(F16, 0x1000, (dim, 64), (208,), (64, 8))


def test_m4_a_stride_of_four_f32_elements_is_legal():
    assert TensorMap(F32, 0x1000, (4, 64), (16,), (4, 8)).warnings == []


@pytest.mark.parametrize(("columns", "swizzle", "nearest"), [(80, Swizzle.B128, 64), (48, Swizzle.B32, 16)])
def test_m5_a_row_of_the_box_must_fit_the_swizzle_span(columns, swizzle, nearest):
    found = broken(F16, 0x1000, (1024, 64), (2048,), (columns, 8), swizzle=swizzle)
    assert list(found) == ["swizzle-span"]
    assert f"{2 * columns} bytes" in found["swizzle-span"]
    assert f"Nearest legal: {nearest}" in found["swizzle-span"]


def test_m6_a_narrow_row_is_legal_and_takes_a_pitch_of_the_span():
    tm = TensorMap(F16, 0x1000, (1024, 64), (2048,), (48, 8), swizzle=Swizzle.B128)
    assert (tm.row_bytes, tm.pitch, tm.transaction_bytes, tm.shared_bytes) == (96, 128, 768, 1024)
    assert "128 bytes apart" in tm.warnings[0]


def test_m7_a_side_of_512_is_refused_with_a_way_out():
    found = broken(F16, 0x1000, (1024, 64), (2048,), (512, 8))
    assert list(found) == ["box-range"]
    assert "sum of their bytes" in found["box-range"]


def test_m8_a_row_of_1000_in_one_box_is_refused_with_a_way_out():
    found = broken(F32, 0x1000, (1000,), (), (1000,))
    assert list(found) == ["box-range"]
    for hint in ("wider element", "dimension", "bulk copy without a map"):
        assert hint in found["box-range"]


@pytest.mark.parametrize(
    ("arguments", "rules", "nearest"),
    [
        ({"data_type": U8, "box_dim": (1000, 8)}, ["box-range", "box-row-multiple"], 256),
        ({"data_type": U8, "box_dim": (0, 8)}, ["box-range"], 16),
        ({"box_dim": (60, 8), "swizzle": Swizzle.B32}, ["box-row-multiple", "swizzle-span"], 16),
        ({"box_dim": (300, 8), "swizzle": Swizzle.B128}, ["box-range", "box-row-multiple", "swizzle-span"], 64),
    ],
)
def test_the_nearest_legal_row_is_the_same_for_every_rule_that_it_breaks(arguments, rules, nearest):
    memory = {"global_address": 0x1000, "global_dim": (1024, 64), "global_strides": (2048,)}
    found = broken(**{"data_type": F16, **memory, **arguments})
    assert list(found) == rules
    assert all(f"Nearest legal: {nearest}." in message for message in found.values())


@pytest.mark.parametrize(
    ("interleave", "address", "stride"), [(0, 2**57 - 16, 2**40 - 16), (2, 2**57 - 32, 2**40 - 32)]
)
def test_the_largest_address_and_stride_are_whole_chunks(interleave, address, stride):
    box = {"global_dim": (8, 8, 8), "box_dim": (16, 1, 1), "interleave": interleave}
    TensorMap(U8, address, global_strides=(stride, 64), **box)
    found = broken(U8, 2**57, global_strides=(2**40, 64), **box)
    assert f"Nearest legal: {address:#x}." in found["address-range"]
    assert f"Nearest legal: 2^40 - {2**40 - stride}." in found["stride-range"]


@pytest.mark.parametrize(
    ("data_type", "columns", "legal"), [(F32, 1, 4), (F32, 2, 4), (F32, 3, 4), (F16, 4, 8), (U8, 8, 16)]
)
def test_m9_a_row_under_16_bytes_is_refused(data_type, columns, legal):
    found = broken(data_type, 0x1000, (1024, 64), (8192,), (columns, 8))
    assert list(found) == ["box-row-multiple"]
    assert f"Nearest legal: {legal}." in found["box-row-multiple"]
    TensorMap(data_type, 0x1000, (1024, 64), (8192,), (legal, 8))


@pytest.mark.parametrize("data_type", DataType)
def test_m10_nan_fill_is_for_floating_types(data_type):
    arguments = (data_type, 0x1000, (64, 64), (1024,), (16, 8))
    if "FLOAT" in data_type.name:
        assert TensorMap(*arguments, oob_fill=OobFill.NAN).oob_fill is OobFill.NAN
    else:
        found = broken(*arguments, oob_fill=OobFill.NAN)
        assert list(found) == ["nan-fill"]
        assert f"oob_fill = 1 (NAN) with data_type {data_type.name} is not NONE=0" in found["nan-fill"]
        assert list(broken(*arguments, oob_fill=2)) == ["oob-fill"]


def test_m14_a_pitch_of_19_bytes_is_refused_and_32_is_nearest():
    assert "Nearest legal: 32" in broken(U8, 0x1000, (19, 64), (19,), (16, 8))["stride-multiple"]
    assert "fp8" in broken(13, 0x1000, (64, 64), (64,), (16, 8))["data-type"]


def test_m15_a_box_over_228_kib_is_refused_as_measured():
    found = broken(F32, 0x1000, (1024, 1024, 64), (4096, 1 << 22), (256, 256, 4))
    assert list(found) == ["box-bytes"]
    assert "measured" in found["box-bytes"]
    assert "box_dim[1] = 228, box_dim[2] = 1" in found["box-bytes"]
    TensorMap(F32, 0x1000, (1024, 1024, 64), (4096, 1 << 22), (256, 228, 1))
    both = broken(F32, 0x1000, (1024, 1024, 64), (4096, 1 << 22), (1024, 256, 4))
    assert list(both) == ["box-range", "box-bytes"]
    assert "box_dim[0] = 256, box_dim[1] = 228, box_dim[2] = 1" in both["box-bytes"]


def test_m18_rank_1_takes_no_stride_and_drops_the_dummy_that_bindings_need():
    assert TensorMap(F16, 0x1000, (64,), (), (64,)) == TensorMap(F16, 0x1000, (64,), [0], (64,))
    assert TensorMap(F16, 0x1000, (64,), [0], (64,)).global_strides == ()


def test_m19_element_strides_that_do_not_divide_the_box_are_warned_of():
    arguments = (F32, 0x1000, (1024, 64), (4096,))
    ragged = TensorMap(*arguments, (32, 7), (1, 2))
    assert ragged.delivered_dim == (32, 4)
    assert "holes or overlap" in ragged.warnings[0]
    assert TensorMap(*arguments, (32, 8), (1, 2)).warnings == []


# What a map knows and what it is


def test_a_map_has_the_arguments_names_and_types():
    tm = TensorMap(9, 0x1000, [64, 8], np.array([128]), (32, np.int64(4)), None, 0, 2, 3, 1)
    assert (tm.data_type, tm.interleave, tm.swizzle, tm.l2_promotion, tm.oob_fill) == (
        DataType.BFLOAT16,
        Interleave.NONE,
        Swizzle.B64,
        L2Promotion.B256,
        OobFill.NAN,
    )
    assert isinstance(tm.data_type, DataType)
    assert isinstance(tm.oob_fill, OobFill)
    assert (tm.global_dim, tm.global_strides, tm.box_dim, tm.element_strides) == ((64, 8), (128,), (32, 4), (1, 1))
    assert (tm.global_address, tm.rank, tm.element_size, tm.array) == (0x1000, 2, 2, None)


@given(loadable)
def test_a_map_knows_the_bytes_and_the_place_of_its_tile(tm):
    delivered = list(elements(tm, (0,) * tm.rank, 0))
    assert tm.innermost_bytes == unit_of(tm)
    assert tm.transaction_bytes == len(delivered) * tm.innermost_bytes
    assert tm.row_bytes == tm.delivered_dim[0] * tm.innermost_bytes
    assert tm.pitch == ((SPANS[tm.swizzle] if not tm.interleave else 0) or tm.row_bytes)
    rows, span = tm.transaction_bytes // tm.row_bytes * tm.pitch, SPANS[tm.swizzle] or 16
    assert tm.shared_bytes == -(-rows // span) * span
    assert max(max(addresses) for _, _, addresses in delivered) < tm.shared_bytes


def test_the_innermost_element_stride_does_not_thin_the_box():
    assert TensorMap(U8, 0x1000, (64, 64), (64,), (16, 9), (8, 4)).delivered_dim == (16, 3)


def test_a_map_does_not_change():
    tm = TensorMap(F16, 0x1000, (64,), (), (64,))
    with pytest.raises(FrozenInstanceError):
        tm.swizzle = Swizzle.B128


def test_equal_maps_are_equal_and_serve_as_keys_whatever_array_is_bound():
    tm = TensorMap(F16, 0x1000, (64,), (), (64,))
    assert {tm: 1}[TensorMap(6, 0x1000, [64], [], [64], [1]).bind(np.zeros(64, np.float16))] == 1
    assert tm != replace(tm, box_dim=(32,))


def test_another_address_keeps_everything_else():
    array = np.zeros(64, np.float16)
    tm = TensorMap(F16, 0x1000, (64,), (), (64,), l2_promotion=2).bind(array)
    moved = tm.with_address(0x2000)
    assert moved.global_address == 0x2000
    assert moved.array is array
    assert moved.with_address(0x1000) == tm
    with pytest.raises(TensorMapError, match="global_address = 0x2008"):
        tm.with_address(0x2008)


def test_maps_can_be_copied_and_pickled():
    tm = TensorMap(F16, 0x1000, (64, 4), (128,), (64, 2), swizzle=3)
    assert tm.transaction_bytes == 256
    assert pickle.loads(pickle.dumps(tm)) == copy.deepcopy(tm) == tm


def test_a_map_shows_what_is_not_the_default():
    tm = TensorMap(F16, 0x1000, (64, 4), (128,), (64, 2), (1, 2), swizzle=3, oob_fill=1)
    assert repr(tm) == (
        "TensorMap(FLOAT16, global_address=0x1000, global_dim=(64, 4), global_strides=(128,), box_dim=(64, 2), "
        "element_strides=(1, 2), swizzle=B128, oob_fill=NAN)"
    )


def test_an_error_lists_every_broken_rule_and_is_a_value_error():
    with pytest.raises(ValueError, match="2 rules are broken") as caught:
        TensorMap(F16, 0x1004, (64, 4), (130,), (64, 2))
    assert [rule for rule, _ in caught.value.violations] == ["address-multiple", "stride-multiple"]
    for _, message in caught.value.violations:
        assert message in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.violations, str(again)) == (caught.value.violations, str(caught.value))


def test_one_broken_rule_is_the_whole_message():
    with pytest.raises(TensorMapError) as caught:
        TensorMap(F16, 0x1004, (64,), (), (64,))
    assert str(caught.value) == caught.value.violations[0][1]
