"""Arrays of every library: what a map takes from them, and what is wrong with them in their own terms."""

from contextlib import suppress

import numpy as np
import pytest
from fake_arrays import ADDRESS, CudaArray, CupyArray, DLPackArray, Tensor
from hypothesis import given
from numba import cuda
from test_tensor_map_fields import STRANGE, Hostile, anything

import tmalab
from tmalab import DataType, TensorMap, TensorMapError, ptx
from tmalab.array_views import view_of
from tmalab.data_types import NOMINAL_ADDRESS


def problems(array, box_shape=(8, 64), **options) -> tuple[dict[str, str], str]:
    with pytest.raises(TensorMapError) as caught:
        TensorMap.from_array(array, box_shape, **options)
    return dict(caught.value.violations), str(caught.value)


DEVICE_ARRAYS = [
    Tensor((64, 128)),
    CudaArray((64, 128)),
    CupyArray((64, 128), strides=(256, 2)),
    DLPackArray((64, 128)),
    DLPackArray((64, 128), strides=(128, 1), device=13),
]


@pytest.mark.parametrize("array", DEVICE_ARRAYS, ids=lambda array: type(array).__name__)
def test_an_array_in_a_gpus_memory_keeps_its_address(array):
    tm = TensorMap.from_array(array, (8, 64), swizzle=3)
    assert (tm.data_type, tm.global_dim, tm.global_strides) == (DataType.FLOAT16, (128, 64), (256,))
    assert (tm.global_address, tm.box_dim, tm.array is array, tm.on_device) == (ADDRESS, (64, 8), True, True)


def test_a_bound_array_of_a_gpu_gives_its_address():
    tm = TensorMap(6, 0x1000, (128, 64), (256,), (64, 8))
    array = CupyArray((64, 128))
    assert (tm.bind(array).global_address, tm.bind(array).array is array) == (ADDRESS, True)
    assert tm.bind(np.zeros((64, 128), np.float16)).global_address == 0x1000


# Types that NumPy lacks


def test_bfloat16_is_known_by_name_or_must_be_named():
    assert TensorMap.from_array(Tensor((64, 128), "bfloat16"), (8, 64)).data_type is DataType.BFLOAT16
    assert TensorMap.from_array(DLPackArray((64, 128), code=4), (8, 64)).data_type is DataType.BFLOAT16
    nameless = CudaArray((64, 128), "<V2")
    assert "pass data_type=DataType.UINT16" in problems(nameless)[0]["data-type"]
    assert TensorMap.from_array(nameless, (8, 64), data_type=9).data_type is DataType.BFLOAT16


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_fp8_is_told_uint8(dtype):
    found, message = problems(Tensor((64, 128), dtype), (8, 64))
    assert list(found) == ["data-type"]
    assert f"{dtype} is no TMA element type: pass data_type=DataType.UINT8" in message
    assert TensorMap.from_array(Tensor((64, 128), dtype), (8, 64), data_type=0).data_type is DataType.UINT8


@pytest.mark.parametrize(("code", "name"), [(10, "float8_e4m3fn"), (12, "float8_e5m2"), (14, "float8_e8m0fnu")])
def test_fp8_is_named_by_dlpack(code, name):
    found, _ = problems(DLPackArray((64, 128), code=code, bits=8))
    assert name in found["data-type"]
    assert "UINT8" in found["data-type"]


class NamedBfloat16:
    """ml_dtypes' bfloat16 as NumPy shows it."""

    name, isnative = "bfloat16", True


def test_numpys_bfloat16_of_ml_dtypes_is_known_by_its_name():
    assert DataType.of(NamedBfloat16()) is DataType.BFLOAT16


# cases.md M13, M14, in PyTorch's and CuPy's terms


def test_m13_a_tensors_odd_pitch_is_its_stride_times_the_element():
    found, message = problems(Tensor((64, 64), stride=(65, 1)))
    assert list(found) == ["stride-multiple"]
    assert found["stride-multiple"].startswith("tensor.stride(0) * 2 = 130 bytes")
    assert "Nearest legal: 144" in found["stride-multiple"]
    assert "torch.float16, shape (64, 64), strides (130, 2) bytes, not contiguous, 0 bytes into its storage" in message


def test_m13_an_odd_storage_offset_is_said_in_bytes():
    found, _ = problems(Tensor((64, 120), stride=(128, 1), offset=1))
    assert list(found) == ["address-multiple"]
    assert "(2 bytes into its storage) = 0x7f58eba00002" in found["address-multiple"]


def test_m13_an_expanded_tensor_repeats_one_element():
    found, _ = problems(Tensor((64, 128), stride=(1, 0)))
    assert "one element is repeated" in found["inner-stride"]
    assert "copy it with tensor.contiguous()" in found["inner-stride"]
    assert "same bytes" in TensorMap.from_array(Tensor((64, 128), stride=(0, 1)), (8, 64)).warnings[0]


@pytest.mark.parametrize(
    ("array", "copy"),
    [
        (Tensor((128, 64), stride=(1, 128)), "tensor.contiguous()"),
        (CupyArray((128, 64), strides=(2, 256)), "cupy.ascontiguousarray"),
        (DLPackArray((128, 64), strides=(1, 128)), "your library's function"),
    ],
)
def test_m13_a_transposed_array_is_told_how_to_copy_it(array, copy):
    found, _ = problems(array)
    assert "transposed, axis 0" in found["inner-stride"]
    assert copy in found["inner-stride"]


def test_a_cupy_array_that_runs_backwards_is_named_by_its_axis():
    found, message = problems(CupyArray((64, 128), strides=(-256, 2), offset=63 * 256))
    assert "axis 0 runs backwards (stride -256 bytes)" in found["backwards"]
    assert f"at address {hex(ADDRESS + 63 * 256)}" in message


def test_m14_fp8_with_a_pitch_of_19_bytes_is_told_both():
    found, _ = problems(Tensor((64, 19), "float8_e4m3fn"), (8, 16))
    assert "DataType.UINT8" in found["data-type"]
    assert "Nearest legal: 32" in found["stride-multiple"]


# This process's memory


def test_a_tensor_in_this_processs_memory_is_bound_as_the_same_memory():
    memory = np.zeros(64 * 128 * 2 + 256, np.uint8)
    tm = TensorMap.from_array(Tensor((64, 128), "bfloat16", offset=128, device="cpu", memory=memory), (8, 64))
    assert (tm.global_address, tm.data_type, tm.on_device) == (NOMINAL_ADDRESS + 256, DataType.BFLOAT16, False)
    assert (tm.array.dtype, tm.array.shape) == (np.uint16, (64, 128))
    tm.array[0, 0] = 0xABCD
    assert memory[256:258].tolist() == [0xCD, 0xAB]


def test_host_memory_by_dlpack_is_bound_as_the_same_memory():
    memory = np.zeros((64, 128), np.float32)
    array = DLPackArray((64, 64), bits=32, strides=(128, 1), device=1, address=memory.ctypes.data)
    tm = TensorMap.from_array(array, (8, 32))
    assert (tm.global_strides, tm.array.dtype, tm.array.strides) == ((512,), np.float32, (512, 4))
    tm.array[1, 2] = 7
    assert memory[1, 2] == 7


def test_a_tensor_of_this_process_runs_in_the_simulator():
    memory = np.arange(64 * 64, dtype=np.uint8)
    tm = TensorMap.from_array(Tensor((64, 64), "uint8", device="cpu", memory=memory), (8, 64))
    assert load_one.run(args=(tm, out := np.zeros((8, 64), np.uint8)), block=32).ok
    assert np.array_equal(out.ravel(), memory[: 8 * 64])


@tmalab.kernel
def load_one(tensor_map, out):
    tile = cuda.shared.array((8, 64), np.uint8, alignment=128)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(full[0], 512)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    ptx.mbarrier_wait_parity(full[0], 0)
    for i in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
        out[i // 64, i % 64] = tile[i // 64, i % 64]


def test_the_simulator_says_in_one_sentence_that_a_gpus_memory_is_out_of_reach():
    tm = TensorMap.from_array(CupyArray((64, 64), "|u1"), (8, 64))
    with pytest.raises(TypeError, match=r'the map of a cupy\.ndarray in a GPU.s memory, .* on="gpu"'):
        load_one.run(args=(tm, np.zeros((8, 64), np.uint8)), block=32)


# What is no array, or has no memory


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (Tensor((8, 64), device="meta"), "meta"),
        (Tensor((8, 64), layout="sparse_coo"), "sparse_coo"),
        (CudaArray((8, 64), mask=CudaArray((8, 64))), "mask"),
        (DLPackArray((8, 64), device=8), "kind of device 8"),
    ],
)
def test_memory_that_tma_cannot_reach_is_refused_by_its_kind(array, said):
    with pytest.raises(TypeError, match=f"nowhere that TMA could reach: .*{said}"):
        TensorMap.from_array(array, (8, 64))


def test_a_tensor_that_is_conjugated_when_read_is_told_how_to_resolve_it():
    tensor = Tensor((8, 64))
    tensor.is_conj = lambda: True
    with pytest.raises(TypeError, match=r"map tensor\.resolve_conj\(\)"):
        TensorMap.from_array(tensor, (8, 64))


def test_a_tensor_whose_address_is_null_has_no_memory():
    tensor = Tensor((8, 64))
    tensor.data_ptr = lambda: 0
    with pytest.raises(TypeError, match="its address is null"):
        TensorMap.from_array(tensor, (8, 64))


def test_a_librarys_own_refusal_is_passed_on():
    tensor = Tensor((8, 64))
    tensor.stride = lambda: 1 / 0
    with pytest.raises(TypeError, match="nowhere that TMA could reach: division by zero"):
        TensorMap.from_array(tensor, (8, 64))


NO_ARRAYS = [value for value in STRANGE if not isinstance(value, (np.ndarray, memoryview))]


@pytest.mark.parametrize("value", [*NO_ARRAYS, Hostile(), np.ndarray], ids=lambda value: type(value).__name__)
def test_what_is_no_array_is_a_type_error(value):
    assert view_of(value) is None
    for take in (lambda: TensorMap.from_array(value, (8, 64)), lambda: TensorMap(6, 0, (64,), (), (64,)).bind(value)):
        with pytest.raises(TypeError, match=f"takes an array .*, not {type(value).__name__}$"):
            take()


@given(anything, anything)
def test_a_cuda_array_interface_of_nonsense_is_no_array(shape, data):
    array = CudaArray(shape)
    array.__cuda_array_interface__["data"] = data
    with suppress(TensorMapError, TypeError):
        TensorMap.from_array(array, (8, 64))


def test_lanes_and_odd_sizes_have_no_type():
    found, _ = problems(DLPackArray((8, 64), lanes=4))
    assert "float16x4 has 8 bytes" in found["data-type"] or "UINT64" in found["data-type"]
    found, _ = problems(DLPackArray((8, 64), code=17, bits=4))
    assert "UINT8" in found["data-type"]
