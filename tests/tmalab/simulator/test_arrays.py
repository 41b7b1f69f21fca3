"""Elements, places and what lies outside: arrays of the simulator behave as in compiled code."""

from __future__ import annotations

import numpy as np
import pytest

from tmalab.simulator.arrays import ADDRESS_SHIFT, KIND_BITS, READ, SIZE_SHIFT, WRITE, make_array
from tmalab.simulator.errors import KernelError
from tmalab.simulator.memory import Memory


def array_of(values, log=None):
    """A simulated array with the values of a NumPy array."""
    values = np.ascontiguousarray(values)
    memory = Memory(values.reshape(-1).view(np.uint8).copy(), 0x1000, "shared")
    note = (lambda entry: None) if log is None else log.append
    return make_array(memory, 0, values.shape, values.dtype, note, name="a")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.uint64, np.complex64])
def test_an_element_of_a_float_or_uint64_array_is_a_numpy_scalar(dtype):
    assert type(array_of(np.ones(3, dtype))[1]) is dtype


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64])
def test_an_element_of_an_integer_array_is_an_int(dtype):
    assert type(array_of(np.ones(3, dtype))[1]) is int


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 4), (2, 1, 2, 3)])
def test_elements_and_parts_are_those_of_numpy(shape):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    array = array_of(values)
    for index in np.ndindex(*shape):
        assert array[index] == values[index]
        for depth in range(1, len(shape)):
            part = array[index[:depth]]
            assert part.shape == values[index[:depth]].shape
            assert part[index[depth:]] == values[index]
    assert (array.shape, array.ndim, array.size, len(array)) == (shape, len(shape), values.size, shape[0])
    assert (array.strides, array.itemsize, array.nbytes) == (values.strides, 4, values.nbytes)


@pytest.mark.parametrize(
    "index", [np.s_[1:], np.s_[1, 2:], np.s_[:, 1], np.s_[..., 1], np.s_[0:2, 1:3], np.s_[::2, 1], np.s_[1, ::2]]
)
def test_a_slice_is_a_place_with_the_address_of_its_first_element(index):
    values = np.arange(20, dtype=np.int32).reshape(4, 5)
    part, array = values[index], array_of(values)
    assert array[index].shape == part.shape
    offset = part.__array_interface__["data"][0] - values.__array_interface__["data"][0]
    assert array[index].address == 0x1000 + offset
    for at in np.ndindex(*part.shape):
        assert array[index][at] == part[at]


def test_iterating_gives_rows_or_elements():
    assert list(array_of(np.arange(4))) == [0, 1, 2, 3]
    assert [row[0] for row in array_of(np.arange(6).reshape(3, 2))] == [0, 2, 4]


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        (np.float16, 1 / 3, np.float16(1 / 3)),
        (np.float32, np.float64(1e300), np.float32(np.inf)),
        (np.uint8, 300, 44),
        (np.int8, 200, -56),
        (np.int32, -1, -1),
        (np.uint32, -1, 2**32 - 1),
        (np.uint64, -1, 2**64 - 1),
        (np.int32, 3.9, 3),
        (np.int32, np.float32(-3.9), -3),
        (np.int64, 2**63, -(2**63)),
        (np.uint16, np.int64(65537), 1),
        (np.int32, True, 1),
    ],
)
def test_assignment_narrows_as_a_cast_does(dtype, value, stored):
    for shape in [(2,), (2, 2), (1, 2, 2)]:
        array = array_of(np.zeros(shape, dtype))
        with np.errstate(over="ignore"):
            array[(0,) * len(shape)] = value
        assert array[(0,) * len(shape)] == stored


def test_a_slice_can_be_filled_with_a_value_or_another_array():
    array, other = array_of(np.zeros((2, 3), np.int32)), array_of(np.arange(3, dtype=np.int32))
    array[0] = 7
    array[1, :] = other
    assert [[array[i, j] for j in range(3)] for i in range(2)] == [[7, 7, 7], [0, 1, 2]]


@pytest.mark.parametrize("index", ["x", 1.0, (0, 1, 2), (None, 0)])
def test_what_is_no_index_is_refused_in_one_sentence(index):
    with pytest.raises(KernelError):
        array_of(np.zeros((2, 2)))[index]


@pytest.mark.parametrize("value", ["text", None, float("nan"), [1]])
def test_what_is_no_value_of_the_type_is_refused_in_one_sentence(value):
    with pytest.raises(KernelError):
        array_of(np.zeros(2, np.int32))[0] = value


def test_an_array_is_no_value():
    array = array_of(np.zeros((2, 2), np.int32))
    with pytest.raises(KernelError, match="index it down to one element"):
        array[0, 0] = array[1]


def test_each_access_is_logged_with_its_bytes_and_kind():
    log = []
    array = array_of(np.zeros((4, 6), np.float16), log)
    array[1, 2] = 1.0
    array[3][5]
    decoded = [(entry >> ADDRESS_SHIFT, 1 << (entry >> SIZE_SHIFT & 7), entry & KIND_BITS) for entry in log]
    assert decoded == [(16, 2, WRITE), (46, 2, READ)]
