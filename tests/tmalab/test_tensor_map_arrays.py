"""Maps of NumPy arrays: what is right is mapped as it lies, what is wrong is said in the array's own terms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab import DataType, Swizzle, TensorMap, TensorMapError, reference
from tmalab.array_views import view_of
from tmalab.data_types import NOMINAL_ADDRESS


def problems(array, box_shape=(8, 64), **options) -> tuple[dict[str, str], str]:
    with pytest.raises(TensorMapError) as caught:
        TensorMap.from_array(array, box_shape, **options)
    return dict(caught.value.violations), str(caught.value)


def whole(shape=(64, 128), dtype=np.float16) -> np.ndarray:
    return np.zeros(shape, dtype)


def test_an_array_is_mapped_with_its_axes_reversed():
    array = np.zeros((4, 16, 128), np.float32)
    tm = TensorMap.from_array(array, (2, 8, 32), Swizzle.B128, element_strides=(2, 4, 1), l2_promotion=1)
    assert (tm.global_dim, tm.global_strides) == ((128, 16, 4), (512, 8192))
    assert (tm.box_dim, tm.element_strides, tm.delivered_dim) == ((32, 8, 2), (1, 4, 2), (32, 2, 1))
    assert (tm.data_type, tm.swizzle, tm.l2_promotion) == (DataType.FLOAT32, Swizzle.B128, 1)
    assert tm.array is array
    assert tm.global_address == NOMINAL_ADDRESS == 0x10000000


def test_a_view_keeps_its_strides_and_its_offset():
    view = whole()[2:, 8:]
    tm = TensorMap.from_array(view, (8, 64))
    assert (tm.global_dim, tm.global_strides) == ((120, 62), (256,))
    assert tm.global_address == NOMINAL_ADDRESS + 2 * 256 + 16


def test_a_row_of_one_axis_needs_no_stride():
    tm = TensorMap.from_array(np.zeros(1000, np.float32), (256,))
    assert (tm.global_dim, tm.global_strides, tm.box_dim) == ((1000,), (), (256,))


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_a_loaded_tile_is_the_slice_of_the_array(data):
    rank = data.draw(st.integers(1, 4))
    shape = [*(data.draw(st.integers(1, 6)) for _ in range(rank - 1)), 8 * data.draw(st.integers(1, 5))]
    box = [*(data.draw(st.integers(1, n)) for n in shape[:-1]), 8 * data.draw(st.integers(1, shape[-1] // 8))]
    start = [data.draw(st.integers(0, n - b)) for n, b in zip(shape[:-1], box[:-1], strict=True)]
    start.append(8 * data.draw(st.integers(0, (shape[-1] - box[-1]) // 8)))
    array = np.arange(np.prod(shape), dtype=np.uint16).reshape(shape)
    tm = TensorMap.from_array(array, box)
    tile = reference.load(tm, start[::-1], array.reshape(-1).view(np.uint8)).data.view(np.uint16).reshape(box)
    assert np.array_equal(tile, array[tuple(slice(s, s + b) for s, b in zip(start, box, strict=True))])


@pytest.mark.parametrize(
    "dtype", ["uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64"]
)
def test_the_type_follows_the_dtype(dtype):
    assert TensorMap.from_array(whole((8, 64), dtype), (8, 16)).data_type.name.lower() == dtype


def test_a_type_of_the_same_size_may_be_named_instead():
    tm = TensorMap.from_array(whole(dtype=np.uint16), (8, 64), data_type=DataType.BFLOAT16, oob_fill=1)
    assert tm.data_type is DataType.BFLOAT16
    assert TensorMap.from_array(whole(dtype=np.int8), (8, 64), data_type=0).data_type is DataType.UINT8


# cases.md M13, M14


def test_m13_a_row_of_65_halves_has_a_stride_of_130_bytes():
    found, message = problems(np.lib.stride_tricks.as_strided(whole(), (32, 64), (130, 2)))
    assert list(found) == ["stride-multiple"]
    assert "array.strides[0] = 130 bytes" in found["stride-multiple"]
    assert "Nearest legal: 144" in found["stride-multiple"]
    assert "strides (130, 2) bytes, not contiguous" in message


def test_m13_an_odd_offset_is_said_in_bytes_into_the_buffer():
    found, _ = problems(whole()[:, 1:])
    assert list(found) == ["address-multiple"]
    assert "(2 bytes into its buffer)" in found["address-multiple"]


def test_m13_an_array_expanded_along_its_innermost_axis_repeats_one_element():
    found, _ = problems(np.broadcast_to(whole((64, 1)), (64, 128)))
    assert list(found) == ["inner-stride"]
    assert "one element is repeated" in found["inner-stride"]


def test_an_array_expanded_along_another_axis_is_legal_and_warned_of():
    tm = TensorMap.from_array(np.broadcast_to(whole((1, 128)), (64, 128)), (8, 64))
    assert tm.global_strides == (0,)
    assert "same bytes" in tm.warnings[0]


def test_m13_a_transposed_array_is_told_which_axis_has_neighbours():
    found, _ = problems(whole((4, 64, 128)).transpose(0, 2, 1), (1, 8, 64))
    assert list(found) == ["inner-stride"]
    assert "transposed, axis 1" in found["inner-stride"]
    assert "256 bytes, not 2" in found["inner-stride"]


def test_every_second_element_is_no_row():
    found, _ = problems(whole()[:, ::2])
    assert list(found) == ["inner-stride"]
    assert "4 bytes, not 2" in found["inner-stride"]
    assert "transposed" not in found["inner-stride"]


@pytest.mark.parametrize(("view", "axis"), [(whole()[::-1], 0), (whole()[:, ::-1], 1)])
def test_a_reversed_axis_is_named(view, axis):
    found, _ = problems(view)
    assert list(found) == ["backwards"]
    assert f"axis {axis} runs backwards" in found["backwards"]


def test_m14_fp8_bits_in_int8_are_told_the_type_and_the_pitch():
    found, _ = problems(np.zeros((64, 19), np.int8), (8, 16))
    assert "DataType.UINT8" in found["data-type"]
    assert "Nearest legal: 32" in found["stride-multiple"]


@pytest.mark.parametrize(
    ("dtype", "name"), [("int16", "UINT16"), ("bool", "UINT8"), (">f4", "UINT32"), ("complex64", "UINT64")]
)
def test_a_dtype_that_tma_lacks_is_told_the_type_of_its_size(dtype, name):
    found, _ = problems(whole(dtype=dtype), (8, 16))
    assert f"DataType.{name}" in found["data-type"]


def test_elements_of_16_bytes_have_no_type_at_all():
    found, _ = problems(whole(dtype=np.complex128))
    assert "16 bytes an element" in found["data-type"]


def test_a_type_of_another_size_is_refused():
    found, _ = problems(whole(), data_type=DataType.FLOAT32)
    assert found["data-type"] == "data_type FLOAT32 has 4 bytes an element, the array's float16 has 2"


def test_the_boxs_problems_are_in_numpys_order():
    found, _ = problems(whole(), (300, 80), swizzle=Swizzle.B128)
    assert found["box-range"].startswith("box_shape[0] = 300")
    assert found["swizzle-span"].startswith("box_shape[1] = 80 elements")
    found, _ = problems(whole((256, 256), np.float32), (256, 256))
    assert "Nearest legal: box_shape[0] = 228." in found["box-bytes"]
    found, _ = problems(whole(), (8,))
    assert found["box-count"].startswith("box_shape has 1 entries")


def test_shapes_are_named_as_the_arrays():
    (found,) = problems(whole((0, 128)))[0].values()
    assert found.startswith("array.shape[0] = 0")
    assert problems(whole((1,) * 6), (1,) * 6)[0]["rank"].startswith("array.shape = 6 dimensions")
    assert list(problems(np.zeros((), np.float16), ())[0]) == ["rank"]


def test_an_axis_of_one_element_may_have_any_stride():
    """Its stride is never used, so the map takes a legal one."""
    assert TensorMap.from_array(whole((1, 100)), (1, 64)).global_strides == (224,)
    assert TensorMap.from_array(whole((64, 130))[:, :128][:1], (1, 64)).global_dim == (128, 1)
    assert TensorMap.from_array(whole()[:, ::128], (8, 8)).global_dim == (1, 64)


@pytest.mark.parametrize("value", [[1, 2], None, np.float16(3), "array"])
def test_what_is_no_array_is_a_type_error(value):
    with pytest.raises(TypeError, match="from_array takes an array"):
        TensorMap.from_array(value, (8, 64))


def test_objects_have_no_bytes():
    with pytest.raises(TypeError, match="Python objects"):
        TensorMap.from_array(np.array([[1, None]]), (1, 1))


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"box_shape": 64}, "box_shape"),
        ({"element_strides": 1}, "element_strides"),
        ({"data_type": np.float16}, "data_type"),
    ],
)
def test_an_argument_of_another_kind_is_named(options, field):
    with pytest.raises(TypeError, match=f"^{field} must be"):
        TensorMap.from_array(whole(), **({"box_shape": (8, 64)} | options))


def test_an_offset_is_counted_through_views_of_views():
    array = np.zeros((4, 8), np.float32)
    view = array[1:][:, 2:].T[1:]
    assert view_of(array).offset == 0
    assert view_of(view).offset == 32 + 8 + 4
    assert view_of(np.lib.stride_tricks.as_strided(view, (2, 2), (16, 4))).offset == 32 + 8 + 4
    assert view_of(np.frombuffer(array, np.uint8)[3:]).offset == 3
