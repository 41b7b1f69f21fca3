"""CUDA's names and numbers, as cuda.h has them."""

import numpy as np
import pytest

from tmalab import DataType, Interleave, L2Promotion, OobFill, Swizzle

CUDA_NAMES = {  # cuda.h: the enumerators without their prefix
    DataType: "UINT8 UINT16 UINT32 INT32 UINT64 INT64 FLOAT16 FLOAT32 FLOAT64 BFLOAT16 "
    "FLOAT32_FTZ TFLOAT32 TFLOAT32_FTZ",
    Interleave: "NONE 16B 32B",
    Swizzle: "NONE 32B 64B 128B",
    L2Promotion: "NONE L2_64B L2_128B L2_256B",
    OobFill: "NONE NAN_REQUEST_ZERO_FMA",
}


@pytest.mark.parametrize("enumeration", CUDA_NAMES)
def test_the_enumerations_count_as_cudas_do(enumeration):
    ours = [member.name for member in sorted(enumeration)]
    cudas = CUDA_NAMES[enumeration].replace("L2_", "").replace("NAN_REQUEST_ZERO_FMA", "NAN").split()
    theirs = [f"B{name[:-1]}" if name[0].isdigit() else name for name in cudas]
    assert ours == theirs
    assert [member.value for member in sorted(enumeration)] == list(range(len(theirs)))


@pytest.mark.parametrize("data_type", DataType)
def test_a_types_size_is_that_of_the_bits_in_its_name(data_type):
    bits = {"TFLOAT32": 32, "TFLOAT32_FTZ": 32, "FLOAT32_FTZ": 32, "BFLOAT16": 16}
    expected = bits.get(data_type.name) or int("".join(c for c in data_type.name if c.isdigit()))
    assert data_type.size * 8 == expected
    assert data_type.dtype.itemsize == data_type.size


def test_floating_types_are_those_with_float_in_their_name():
    assert {t for t in DataType if t.floating} == {t for t in DataType if "FLOAT" in t.name}


def test_only_tf32_types_round():
    assert {t.name for t in DataType if t.rounds_to_tf32} == {"TFLOAT32", "TFLOAT32_FTZ"}


@pytest.mark.parametrize("data_type", [t for t in DataType if t < DataType.BFLOAT16])
def test_a_numpy_dtype_finds_its_type(data_type):
    assert DataType.of(data_type.dtype) is data_type


@pytest.mark.parametrize("dtype", ["int8", "int16", "bool", "complex64", ">f4", "S1"])
def test_a_dtype_that_tma_does_not_know_finds_none(dtype):
    assert DataType.of(np.dtype(dtype)) is None
