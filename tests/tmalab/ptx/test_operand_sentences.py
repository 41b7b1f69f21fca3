"""A wrong operand is refused in both worlds, by the same sentence."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, kernel, ptx
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.errors import CompileError

TENSOR = np.zeros((16, 128), np.float16)
MAP = TensorMap.from_array(TENSOR, (8, 64))
N = 12


@kernel
def value_not_place(tensor_map, out):
    bars = cuda.shared.array(2, np.uint64)
    ptx.mbarrier_init(bars[0], 1)


@kernel
def float_as_place(tensor_map, out):
    ptx.mbarrier_init(1.5, 1)


@kernel
def float_as_count(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.mbarrier_init(bars[0], 1.5)


@kernel
def element_as_place(tensor_map, out):
    tile = cuda.shared.array((2, 4), np.float16, alignment=128)
    tile[0, 0] = 1
    ptx.cp_async_bulk_tensor_2d_store(tensor_map, 0, 0, tile[0, 0])


@kernel
def float_as_coordinate(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_2d(4096, tensor_map, 0.0, 0, bars[0])


@kernel
def map_as_place(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_2d(tensor_map, tensor_map, 0, 0, bars[0])


@kernel
def place_as_map(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_2d(4096, 4096, 0, 0, bars[0])


@kernel
def fence_of_an_argument(tensor_map, out):
    ptx.fence_proxy_tensormap_acquire(tensor_map)


@kernel
def integer_as_source(tensor_map, out):
    tile = cuda.shared.array(4, np.float32, alignment=16)
    ptx.cp_async(tile, 4096, 16)


@kernel
def immediate_that_ptx_lacks(tensor_map, out):
    tile = cuda.shared.array(4, np.float32, alignment=16)
    ptx.cp_async(tile, out, N)


@kernel
def immediate_float(tensor_map, out):
    ptx.cp_async_bulk_wait_group(0.5)


@kernel
def tuple_as_count(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.mbarrier_arrive(bars[0], (1, 2))


@kernel
def too_many(tensor_map, out):
    ptx.fence_proxy_async(1)


@kernel
def too_few(tensor_map, out):
    ptx.mbarrier_init(4096)


@kernel
def unknown_name(tensor_map, out):
    ptx.mbarrier_init(4096, counts=1)


SENTENCES = {
    value_not_place: "mbarrier_init: bar is the value stored in shared memory, not its place: make the barriers with "
    "ptx.mbarrier_array(n), so that full[s] is a place, or write full[s:]",
    float_as_place: "mbarrier_init: bar is a float, but must be an array in shared memory or its address",
    float_as_count: "mbarrier_init: count is a float, but must be an integer",
    element_as_place: "cp_async_bulk_tensor_2d_store: src is a float, but must be an array in shared memory or its "
    "address",
    float_as_coordinate: "cp_async_bulk_tensor_2d: x is a float, but must be an integer",
    map_as_place: "cp_async_bulk_tensor_2d: dst is a tensor map, but must be an array in shared memory or its address",
    place_as_map: "cp_async_bulk_tensor_2d: tensor_map is an integer, but must be a tensor map: a kernel argument, or "
    "a 128-byte row of a uint8 array in global memory",
    fence_of_an_argument: "fence_proxy_tensormap_acquire: tensor_map is a tensor map that is a kernel argument; only a "
    "map in global memory, a row of a uint8 array, needs this fence",
    integer_as_source: "cp_async: src is an integer, but must be an array in global memory",
    immediate_that_ptx_lacks: "cp_async: bytes is 12, but PTX has this instruction only for 4, 8, 16",
    immediate_float: "cp_async_bulk_wait_group: n is a float, but must be a literal or a module-level integer, because "
    "it is part of the instruction",
    tuple_as_count: "mbarrier_arrive: count is neither a number nor an array nor a map, but must be an integer",
    too_many: "fence_proxy_async takes fence_proxy_async()",
    too_few: "mbarrier_init takes mbarrier_init(bar, count)",
    unknown_name: "mbarrier_init takes mbarrier_init(bar, count)",
}


@pytest.mark.parametrize("wrong", SENTENCES, ids=lambda wrong: wrong.__name__)
def test_compiled_code_and_the_simulator_refuse_with_the_same_sentence(wrong):
    arguments = (MAP, np.zeros(4, np.float32))
    with pytest.raises(CompileError) as compiled:
        compile_kernel(wrong.function, arguments)
    assert compiled.value.reason == SENTENCES[wrong]
    run = wrong.run(block=1, args=arguments)
    assert SENTENCES[wrong] in str(run.fault)
    assert not run.ok


def test_the_simulator_alone_can_tell_global_memory_from_shared():
    @kernel
    def global_as_shared(out):
        ptx.mbarrier_init(out, 1)

    run = global_as_shared.run(block=1, args=(np.zeros(4, np.int64),))
    assert "bar is an array in global memory, but must be an array in shared memory" in str(run.fault)
