"""The instruction set as a learner meets it: names, operands, help. The list is written by hand."""

from __future__ import annotations

import pydoc
import re
import subprocess
import sys

import pytest

from tmalab import ptx
from tmalab.ptx.instruction import Instruction, instruction
from tmalab.ptx.operands import U32, Shared

SIGNATURES = """
mbarrier_array(n) mbarrier_init(bar, count) mbarrier_inval(bar) mbarrier_arrive(bar, count=1)
mbarrier_arrive_expect_tx(bar, bytes) mbarrier_arrive_drop(bar, count=1) mbarrier_arrive_no_complete(bar, count)
mbarrier_expect_tx(bar, bytes) mbarrier_complete_tx(bar, bytes)
mbarrier_test_wait(bar, state) mbarrier_try_wait(bar, state)
mbarrier_test_wait_parity(bar, parity) mbarrier_try_wait_parity(bar, parity) mbarrier_wait_parity(bar, parity)
mbarrier_wait_parity_cluster_scope(bar, parity) mapa(place, cta_rank)
mbarrier_pending_count(state) mbarrier_arrive_relaxed(bar, count=1) mbarrier_try_wait_cluster_scope(bar, state)
mbarrier_arrive_expect_tx_relaxed_cluster_scope(bar, bytes) mbarrier_test_wait_parity_relaxed(bar, parity)
cp_async_bulk_tensor_1d(dst, tensor_map, x, bar) cp_async_bulk_tensor_2d(dst, tensor_map, x, y, bar)
cp_async_bulk_tensor_3d(dst, tensor_map, x, y, z, bar) cp_async_bulk_tensor_4d(dst, tensor_map, x, y, z, w, bar)
cp_async_bulk_tensor_5d(dst, tensor_map, x, y, z, w, v, bar)
cp_async_bulk_tensor_1d_store(tensor_map, x, src) cp_async_bulk_tensor_2d_store(tensor_map, x, y, src)
cp_async_bulk_tensor_3d_store(tensor_map, x, y, z, src) cp_async_bulk_tensor_4d_store(tensor_map, x, y, z, w, src)
cp_async_bulk_tensor_5d_store(tensor_map, x, y, z, w, v, src)
cp_async_bulk_prefetch_tensor_1d(tensor_map, x) cp_async_bulk_prefetch_tensor_2d(tensor_map, x, y)
cp_async_bulk_prefetch_tensor_5d(tensor_map, x, y, z, w, v) prefetch_tensormap(tensor_map)
cp_async_bulk_commit_group() cp_async_bulk_wait_group(n) cp_async_bulk_wait_group_read(n)
cp_async(dst, src, bytes) cp_async_commit_group() cp_async_wait_group(n)
cp_async_mbarrier_arrive(bar) cp_async_mbarrier_arrive_noinc(bar)
fence_proxy_async() fence_proxy_async_shared_cta() fence_proxy_async_shared_cluster() fence_proxy_async_global()
fence_acq_rel_cta() fence_acq_rel_gpu() fence_acq_rel_sys()
fence_mbarrier_init() fence_acq_rel_cluster() fence_proxy_tensormap_acquire(tensor_map) fence_proxy_tensormap_release()
mbarrier_arrive_cluster(bar, cta_rank, count=1) mbarrier_arrive_expect_tx_cluster(bar, cta_rank, bytes)
mbarrier_arrive_drop_cluster_relaxed(bar, cta_rank, count=1) mbarrier_expect_tx_cluster(bar, cta_rank, bytes)
mbarrier_arrive_cluster_cluster_scope(bar, cta_rank, count=1) mbarrier_complete_tx_cluster(bar, cta_rank, bytes)
cp_async_bulk_tensor_2d_multicast(dst, tensor_map, x, y, bar, cta_mask)
cp_async_bulk_tensor_2d_multicast_cache_hint(dst, tensor_map, x, y, bar, cta_mask, policy)
cp_async_bulk_tensor_3d_im2col(dst, tensor_map, c, w, n, bar, w_offset)
cp_async_bulk_tensor_4d_im2col(dst, tensor_map, c, w, h, n, bar, w_offset, h_offset)
cp_async_bulk_tensor_5d_im2col(dst, tensor_map, c, w, h, d, n, bar, w_offset, h_offset, d_offset)
cp_async_bulk_tensor_4d_im2col_multicast(dst, tensor_map, c, w, h, n, bar, w_offset, h_offset, cta_mask)
cp_async_bulk_tensor_3d_im2col_cache_hint(dst, tensor_map, c, w, n, bar, w_offset, policy)
cp_async_bulk_tensor_3d_store_im2col(tensor_map, c, w, n, src)
cp_async_bulk_tensor_1d_store_cache_hint(tensor_map, x, src, policy)
cp_async_bulk_prefetch_tensor_3d_im2col(tensor_map, c, w, n, w_offset)
cp_reduce_async_bulk_tensor_1d_add(tensor_map, x, src) cp_reduce_async_bulk_tensor_2d_min(tensor_map, x, y, src)
cp_reduce_async_bulk_tensor_3d_max(tensor_map, x, y, z, src) cp_reduce_async_bulk_tensor_2d_inc(tensor_map, x, y, src)
cp_reduce_async_bulk_tensor_2d_dec(tensor_map, x, y, src) cp_reduce_async_bulk_tensor_2d_and(tensor_map, x, y, src)
cp_reduce_async_bulk_tensor_4d_or(tensor_map, x, y, z, w, src)
cp_reduce_async_bulk_tensor_5d_xor(tensor_map, x, y, z, w, v, src)
cp_async_bulk(dst, src, bytes, bar) cp_async_bulk_multicast(dst, src, bytes, bar, cta_mask)
cp_async_bulk_store(dst, src, bytes) cp_async_bulk_cluster(dst, cta_rank, src, bytes, bar)
cp_async_bulk_prefetch(src, bytes) cp_async_bulk_cache_hint(dst, src, bytes, bar, policy)
cp_reduce_async_bulk_add_u32(dst, src, bytes) cp_reduce_async_bulk_max_bf16_cache_hint(dst, src, bytes, policy)
cp_reduce_async_bulk_cluster_add_u64(dst, cta_rank, src, bytes, bar)
createpolicy_fractional_evict_first(fraction=1.0)
createpolicy_range_evict_last_evict_first(place, primary_size, total_size)
cluster_ctarank() cluster_nctarank() barrier_cluster_arrive() barrier_cluster_arrive_relaxed() barrier_cluster_wait()
tensormap_replace_global_address(tensor_map, value) tensormap_replace_box_dim(tensor_map, ord, value)
tensormap_replace_swizzle_mode_shared_cta(tensor_map, value) tensormap_cp_fenceproxy(dst, src)
elect_sync() barrier_sync(id, threads) barrier_arrive(id, threads) globaltimer() clock64()
setmaxnreg_inc(n) setmaxnreg_dec(n)
wgmma_descriptor(tile, swizzle, stride_bytes, leading_bytes=0) wgmma_fence() wgmma_commit_group() wgmma_wait_group(n)
wgmma_zero_8() wgmma_zero_256()
wgmma_m64n256k16_f32_bf16(acc, desc_a, desc_b, scale_d, scale_a=1, scale_b=1, trans_a=0, trans_b=0)
wgmma_m64n8k16_f32_f16(acc, desc_a, desc_b, scale_d, scale_a=1, scale_b=1, trans_a=0, trans_b=0)
wgmma_m64n136k16_f32_f16_rs(acc, a, desc_b, scale_d, scale_a=1, scale_b=1, trans_b=0)
ldmatrix_x1(place) ldmatrix_x4_trans(place) stmatrix_x2(place, r0, r1) stmatrix_x4_trans(place, r0, r1, r2, r3)
cvt_rn_bf16_f32(x) cvt_f32_bf16(bits) cvt_rn_bf16x2_f32(high, low) cvt_rn_f16x2_f32(high, low)
"""


def plain_signature(made: Instruction) -> str:
    parameters = made.__signature__.parameters.values()
    shown = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default}" for p in parameters)
    return f"{made.__name__}({shown})"


@pytest.mark.parametrize("signature", [f"{part})" for part in SIGNATURES.replace("\n", " ").split(")") if part.strip()])
def test_operands_are_those_of_ptx_in_the_order_of_ptx(signature):
    signature = signature.strip()
    assert plain_signature(getattr(ptx, signature.split("(")[0])) == signature


def test_every_reduction_of_the_hardware_has_a_name():
    to_global = {
        name.split("_", 4)[4] for name in dir(ptx) if re.fullmatch(r"cp_reduce_async_bulk_[a-z]+_[a-z]+\d+", name)
    }
    words = (
        "add_u32 add_s32 add_u64 add_f16 add_bf16 add_f32 add_f64 inc_u32 dec_u32 and_b32 and_b64 or_b32 or_b64 xor_b32"
    )
    ordered = [f"{way}_{type}" for way in ("min", "max") for type in ("u32", "s32", "u64", "s64", "f16", "bf16")]
    assert to_global == {*words.split(), "xor_b64", *ordered}


def test_the_namespace_holds_instructions_and_nothing_else():
    assert all(isinstance(getattr(ptx, name), Instruction) for name in dir(ptx))
    assert [getattr(ptx, name).__name__ for name in dir(ptx)] == dir(ptx)


def test_every_instruction_says_what_it_does_and_by_which_source():
    without = [name for name in dir(ptx) if "Source: PTX ISA, " not in getattr(ptx, name).__doc__]
    assert without == ["mbarrier_array"]


def test_help_shows_the_operands_and_the_words():
    shown = pydoc.plain(pydoc.render_doc(ptx.cp_async_bulk_tensor_2d))
    operands = "cp_async_bulk_tensor_2d(dst: Shared, tensor_map: Map, x: I32, y: I32, bar: Shared"
    assert operands.replace(" ", "") in "".join(shown.split())  # Python 3.13 gives each operand a line of its own
    assert "128-byte aligned" in shown


def test_the_instruction_set_needs_no_compiler():
    code = "import sys; from tmalab import ptx; dir(ptx); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_an_instruction_outside_a_kernel_says_so_in_one_sentence():
    with pytest.raises(RuntimeError, match="instructions act for a simulated thread") as caught:
        ptx.fence_proxy_async()
    assert "\n" not in str(caught.value)


def test_a_text_that_forgets_an_operand_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="bar"):

        @instruction("mbarrier.init.shared::cta.b64 [$barrier], $count;")
        def mbarrier_init(thread, bar: Shared, count: U32) -> None:
            """An operand with two names."""


@pytest.mark.parametrize("name", ["cp_async_bulk_tensor_2d_gather4", "cp_async_bulk_tensor_2d_store_scatter4"])
def test_c14_gather4_and_scatter4_are_said_to_be_of_later_gpus(name):
    with pytest.raises(AttributeError, match="came with sm_100"):
        getattr(ptx, name)


def test_a_misspelled_instruction_is_told_what_is_similar():
    with pytest.raises(AttributeError, match=r"no instruction mbarier_init; similar are mbarrier_init"):
        ptx.mbarier_init  # noqa: B018
    assert not hasattr(ptx, "__no_such_thing__")
    assert not hasattr(ptx, "qqqqqqqq")
