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


@kernel
def mask_of_17_bits(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_2d_multicast(4096, tensor_map, 0, 0, bars[0], 65536)


@kernel
def offset_below_zero(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_3d_im2col(4096, tensor_map, 0, 0, 0, bars[0], -1)


@kernel
def offset_past_five_bits(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_5d_im2col(4096, tensor_map, 0, 0, 0, 0, 0, bars[0], 0, 32, 0)


@kernel
def float_as_policy(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk_tensor_2d_cache_hint(4096, tensor_map, 0, 0, bars[0], 0.5)


@kernel
def integer_as_bulk_source(tensor_map, out):
    bars = ptx.mbarrier_array(2)
    ptx.cp_async_bulk(4096, 0, 16, bars[0])


@kernel
def edit_of_an_argument(tensor_map, out):
    ptx.tensormap_replace_global_dim(tensor_map, 0, 64)


@kernel
def sixth_dimension(tensor_map, out):
    tile = cuda.shared.array(128, np.uint8, alignment=128)
    ptx.tensormap_replace_global_dim_shared_cta(tile, 5, 64)


@kernel
def float_as_address(tensor_map, out):
    tile = cuda.shared.array(128, np.uint8, alignment=128)
    ptx.tensormap_replace_global_address_shared_cta(tile, 1.5)


@kernel
def accumulator_of_another_width(tensor_map, out):
    acc = ptx.wgmma_zero_16()
    ptx.wgmma_m64n8k16_f32_bf16(acc, 0, 0, 1)


@kernel
def float_as_accumulator(tensor_map, out):
    ptx.wgmma_m64n8k16_f32_bf16(0.5, 0, 0, 1)


@kernel
def two_words_as_a(tensor_map, out):
    acc = ptx.wgmma_zero_8()
    ptx.wgmma_m64n8k16_f32_bf16_rs(acc, (1, 2), 0, 1)


@kernel
def scale_of_two(tensor_map, out):
    acc = ptx.wgmma_zero_8()
    ptx.wgmma_m64n8k16_f32_bf16(acc, 0, 0, 1, 2)


@kernel
def register_past_the_last(tensor_map, out):
    acc = ptx.wgmma_zero_8()
    out[0] = acc[4]


@kernel
def registers_in_fives(tensor_map, out):
    ptx.setmaxnreg_dec(45)


SENTENCES = {
    accumulator_of_another_width: "wgmma_m64n8k16_f32_bf16: acc is of 8 registers, but must be of 4",
    float_as_accumulator: "wgmma_m64n8k16_f32_bf16: acc is a float, but must be an accumulator: what ptx.wgmma_zero_N "
    "or the last wgmma returned, or a tuple of floats",
    two_words_as_a: "wgmma_m64n8k16_f32_bf16_rs: a is of 2 registers, but must be of 4",
    scale_of_two: "wgmma_m64n8k16_f32_bf16: scale_a is 2, but PTX has this instruction only for -1, 1",
    register_past_the_last: "acc[4]: the accumulator has registers 0 to 3 in each thread",
    registers_in_fives: "setmaxnreg_dec: n is 45, but PTX takes 24 to 256 in steps of 8 there; the nearest is 48",
    mask_of_17_bits: "cp_async_bulk_tensor_2d_multicast: cta_mask is 65536, but PTX takes 0 to 65535 there",
    offset_below_zero: "cp_async_bulk_tensor_3d_im2col: w_offset is -1, but PTX takes 0 to 65535 there",
    offset_past_five_bits: "cp_async_bulk_tensor_5d_im2col: h_offset is 32, but PTX takes 0 to 31 there",
    float_as_policy: "cp_async_bulk_tensor_2d_cache_hint: policy is a float, but must be a cache policy: what a "
    "createpolicy instruction returned",
    integer_as_bulk_source: "cp_async_bulk: src is an integer, but must be an array in global memory",
    edit_of_an_argument: "tensormap_replace_global_dim: tensor_map is a tensor map that is a kernel argument; a kernel "
    "can edit only a map in memory, a row of a uint8 array",
    sixth_dimension: "tensormap_replace_global_dim_shared_cta: ord is 5, but PTX has this instruction only for "
    "0, 1, 2, 3, 4",
    float_as_address: "tensormap_replace_global_address_shared_cta: value is a float, but must be an array in global "
    "memory or its address",
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
    tuple_as_count: "mbarrier_arrive: count is a tuple, but must be an integer",
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
