"""What faults, with which kind, and what the message tells the learner to write."""

import numpy as np
import pytest

from tmalab import TensorMap, TmaFault, reference
from tmalab.copy_checks import check_load, check_store

F16 = TensorMap(6, 0, (1024, 64), (2048,), (64, 8))
F32 = TensorMap(7, 0, (1024, 64), (4096,), (32, 8))
MEMORY = np.zeros(1 << 18, np.uint8)


def fault(check, *arguments) -> TmaFault:
    with pytest.raises(TmaFault) as caught:
        check(*arguments)
    return caught.value


@pytest.mark.parametrize("check", [check_load, check_store])
@pytest.mark.parametrize(("tm", "x", "nearest"), [(F16, 130, "128 or 136"), (F32, 2, "0 or 4")])
def test_an_innermost_coordinate_inside_a_chunk_is_an_illegal_instruction(check, tm, x, nearest):
    found = fault(check, tm, (x, 0), 0)
    assert found.kind == "illegal_instruction"
    assert nearest in str(found)


def test_an_innermost_coordinate_at_a_chunk_is_fine_and_so_are_negative_and_other_ones():
    assert check_load(F32, (4, 0), 0) == (4, 0)
    assert check_load(F16, (-8, -3), 0) == (-8, -3)


@pytest.mark.parametrize("check", [check_load, check_store])
@pytest.mark.parametrize("address", [16, 64, 1024 + 127])
def test_a_shared_address_off_128_bytes_is_misaligned(check, address):
    assert fault(check, F16, (0, 0), address).kind == "misaligned_address"


def test_three_stages_of_16_bytes_each_are_misaligned_but_the_first():
    """cases.md C4."""
    tm = TensorMap(0, 0, (64,), (), (16,))
    check_load(tm, (0,), 0)
    for stage in (1, 2):
        assert fault(check_load, tm, (0,), 16 * stage).kind == "misaligned_address"


@pytest.mark.parametrize("check", [check_load, check_store])
def test_a_tile_past_227_kib_of_shared_memory_is_an_illegal_address(check):
    check(F16, (0, 0), 232_448 - 1024)
    assert fault(check, F16, (0, 0), 232_448 - 896).kind == "illegal_address"
    assert fault(check, F16, (0, 0), -128).kind == "illegal_address"


def test_the_simulator_may_name_another_end_of_shared_memory():
    check_load(F16, (0, 0), 0, 1024)
    assert fault(check_load, F16, (0, 0), 0, 1023).kind == "illegal_address"


def test_only_delivered_bytes_must_lie_inside_shared_memory_not_the_last_gap():
    narrow = TensorMap(0, 0, (16, 2), (16,), (16, 2), swizzle=3)  # row 1's chunk lies at 128 + 16
    check_load(narrow, (0, 0), 0, 160)
    assert fault(check_load, narrow, (0, 0), 0, 159).kind == "illegal_address"


@pytest.mark.parametrize("coordinates", [(-8, 0), (0, -1)])
def test_a_negative_coordinate_of_a_store_faults_and_of_a_load_does_not(coordinates):
    check_load(F16, coordinates, 0)
    assert "negative" in str(fault(check_store, F16, coordinates, 0))


def test_load_and_store_check_what_they_are_given():
    shared = np.zeros(2048, np.uint8)
    assert fault(reference.load, F16, (130, 0), MEMORY).kind == "illegal_instruction"
    assert fault(reference.load, F16, (0, 0), MEMORY, 64).kind == "misaligned_address"
    assert fault(reference.load_pieces, F16, (0, 0), MEMORY, 64).kind == "misaligned_address"
    assert fault(reference.store, F16, (0, -1), shared, MEMORY).kind == "illegal_instruction"
    assert fault(reference.store, F16, (0, 0), shared, MEMORY, 1152).kind == "illegal_address"


@pytest.mark.parametrize(
    ("coordinates", "error", "says"),
    [
        ((0,), ValueError, "1 coordinates for a map of rank 2"),
        ((0, 0, 0), ValueError, "3 coordinates"),
        ((0, 2**31), ValueError, "coordinate 1 .y. = 2147483648"),
        ((0, -(2**31) - 1), ValueError, "32 bits"),
        ((0, 1.0), TypeError, "2 integers"),
        (7, TypeError, "2 integers"),
        (None, TypeError, "2 integers"),
    ],
)
def test_coordinates_that_no_kernel_can_pass_are_refused_in_one_sentence(coordinates, error, says):
    with pytest.raises(error, match=says):
        check_load(F16, coordinates, 0)


def test_coordinates_may_be_numpy_integers():
    assert check_load(F16, np.array([64, 3], np.int32), np.int64(128)) == (64, 3)


def test_a_shared_address_must_be_an_integer():
    with pytest.raises(TypeError):
        check_load(F16, (0, 0), 128.0)
