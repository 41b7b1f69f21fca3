"""Copies without a map: what they ask for. All faults as an H200 told them."""

import numpy as np
import pytest

from tmalab import TensorMap, TmaFault, bulk
from tmalab.copy_checks import check_load


def fault(*arguments) -> str:
    with pytest.raises(TmaFault) as caught:
        bulk.check_copy(*arguments)
    return caught.value.kind


def test_c5_stages_of_64_bytes_are_fine_without_a_map_and_misaligned_with_one():
    tm = TensorMap(0, 0, (64,), (), (64,))
    for stage in range(1, 4, 2):
        bulk.check_copy(0x1000, 64 * stage, 64)
        with pytest.raises(TmaFault) as caught:
            check_load(tm, (0,), 64 * stage)
        assert caught.value.kind == "misaligned_address"


def test_c9_a_size_that_is_no_multiple_of_16_is_refused_with_what_the_hardware_makes_of_it():
    with pytest.raises(ValueError, match=r"132 bytes: .* credits 128 bytes .* Nearest: 128 or 144"):
        bulk.check_copy(0x1000, 0, 132)
    with pytest.raises(ValueError, match=r"credits 0 bytes"):
        bulk.check_copy(0x1000, 0, 15)


@pytest.mark.parametrize(("size", "moved"), [(1 << 20, 0), ((1 << 20) + 32, 32), (0x80000010, 16)])
def test_sizes_of_2_to_the_20_and_more_are_refused(size, moved):
    with pytest.raises(ValueError, match=rf"credits {moved} bytes"):
        bulk.check_copy(0x1000, 0, size)


def test_addresses_are_multiples_of_16():
    bulk.check_copy(0x1010, 0x30, 16)
    assert fault(0x1008, 0x30, 64) == "misaligned_address"
    assert fault(0x1010, 0x38, 64) == "misaligned_address"
    with pytest.raises(TmaFault, match=r"0x1008 .* Nearest: 0x1000 or 0x1010"):
        bulk.check_copy(0x1008, 0x30, 64)


def test_the_end_of_shared_memory_is_told_before_the_alignment():
    bulk.check_copy(0x1000, 960, 64, 1024)
    assert fault(0x1000, 976, 64, 1024) == "illegal_address"
    assert fault(0x1008, 1024, 64, 1024) == "illegal_address"
    assert fault(0x1000, 968, 64, 1024) == "illegal_address"
    assert fault(0x1000, -16, 64) == "illegal_address"


def test_a_copy_of_nothing_asks_for_nothing():
    bulk.check_copy(0x1008, 3, 0)


def test_a_reduction_asks_for_what_a_copy_does():
    bulk.check_reduce("add", "f64", 0x1000, 0, 64)
    with pytest.raises(TmaFault) as caught:
        bulk.check_reduce("inc", "u32", 0x1008, 0, 64)
    assert caught.value.kind == "misaligned_address"


@pytest.mark.parametrize(
    ("op", "type", "says"),
    [
        ("add", "s64", "no bulk reduction add of s64 elements; add has u32, s32, u64, f16, bf16, f32, f64"),
        ("and", "u32", "and has b32, b64"),
        ("mul", "u32", "mul has none"),
    ],
)
def test_reductions_that_there_are_not_are_refused_in_one_sentence(op, type, says):
    with pytest.raises(ValueError, match=says):
        bulk.check_reduce(op, type, 0x1000, 0, 64)


def test_every_reduction_has_its_arithmetic():
    found, data = np.arange(16, dtype=np.uint8), np.arange(16, 32, dtype=np.uint8)
    for op, types in bulk.OPERATIONS.items():
        for type in types:
            assert bulk.combined(op, type, found, data).dtype == np.uint8
            assert bulk.combined(op, type, found.reshape(1, 16), data.reshape(1, 16)).shape == (1, 16)


def test_reductions_work_on_elements_of_their_type():
    found, data = np.array([0xFFFFFFFF, 1], np.uint32), np.array([1, 1], np.uint32)
    assert bulk.combined("add", "u32", found.view(np.uint8), data.view(np.uint8)).view(np.uint32).tolist() == [0, 2]
    assert bulk.combined("add", "u64", found.view(np.uint8), data.view(np.uint8)).view(np.uint32).tolist() == [0, 3]
    assert bulk.combined("min", "s32", found.view(np.uint8), data.view(np.uint8)).view(np.uint32)[0] == 0xFFFFFFFF
    assert bulk.combined("min", "u32", found.view(np.uint8), data.view(np.uint8)).view(np.uint32)[0] == 1
