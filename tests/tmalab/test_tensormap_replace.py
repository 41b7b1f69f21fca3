"""tensormap.replace writes the bits of one field, and nothing else."""

from __future__ import annotations

import pytest

from tmalab import DataType, Interleave, OobFill, Swizzle, TensorMap
from tmalab.tensormap_replace import replaced

BEFORE = TensorMap(DataType.FLOAT16, 0x1000, (128, 16, 4), (256, 4096), (64, 8, 2), element_strides=(1, 1, 2))


@pytest.mark.parametrize(
    ("field", "ordinal", "value", "changed"),
    [
        ("global_address", None, 0x7F00_0000, {"global_address": 0x7F00_0000}),
        ("global_dim", 0, 96, {"global_dim": (96, 16, 4)}),
        ("global_dim", 2, 9, {"global_dim": (128, 16, 9)}),
        ("global_stride", 0, 512, {"global_strides": (512, 4096)}),
        ("global_stride", 1, 3 << 37, {"global_strides": (256, 3 << 37)}),
        ("element_stride", 1, 8, {"element_strides": (1, 8, 2)}),
        ("interleave_layout", None, 1, {"interleave": Interleave.B16}),
        ("fill_mode", None, 1, {"oob_fill": OobFill.NAN}),
        ("elemtype", None, 1, {"data_type": DataType.UINT16}),
        ("elemtype", None, 10, {"data_type": DataType.BFLOAT16}),
    ],
)
def test_a_replaced_field_is_what_the_driver_would_have_written(field, ordinal, value, changed):
    from dataclasses import replace

    assert replaced(BEFORE.encode(), field, ordinal, value)[:64] == replace(BEFORE, **changed).encode()[:64]


def test_what_the_driver_derives_from_other_fields_stays_as_it_was():
    before = BEFORE.encode()
    for field, ordinal, value in (("box_dim", 1, 4), ("swizzle_mode", None, 3)):
        after = replaced(before, field, ordinal, value)
        assert after != before
        assert after[64:] == before[64:]
    assert TensorMap(6, 0, (8,), (), (8,), swizzle=Swizzle.B128).encode()[64:] != before[64:]


def test_ptx_counts_the_rank_from_0():
    flat = TensorMap(DataType.FLOAT16, 0, (128, 16), (256,), (64, 8)).encode()
    assert replaced(replaced(flat, "rank", None, 2), "rank", None, 1) == flat
    assert replaced(flat, "rank", None, 2)[8] >> 4 & 7 == 2


def test_ptx_counts_types_as_the_descriptor_does_and_not_as_the_driver():
    """M20: 9 is BFLOAT16 for the driver and FLOAT64 for the device."""
    single = TensorMap(DataType.FLOAT32, 0, (64,), (), (4,))
    for number, data_type in ((8, DataType.FLOAT32_FTZ), (11, DataType.TFLOAT32), (12, DataType.TFLOAT32_FTZ)):
        expected = TensorMap(data_type, 0, (64,), (), (4,)).encode()
        assert replaced(single.encode(), "elemtype", None, number)[:64] == expected[:64]
    assert DataType(9) is DataType.BFLOAT16
    assert (
        replaced(single.encode(), "elemtype", None, 9)[8:10]
        == TensorMap(DataType.FLOAT64, 0, (64,), (), (2,)).encode()[8:10]
    )


def test_the_rounding_to_tf32_stays_when_another_type_is_set():
    rounding = TensorMap(DataType.TFLOAT32, 0, (64,), (), (4,)).encode()
    assert replaced(rounding, "elemtype", None, 7) == rounding
