"""The instruction set as a learner meets it: names, operands, help. The list is written by hand."""

from __future__ import annotations

import pydoc
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
fence_mbarrier_init() fence_acq_rel_cluster() fence_proxy_tensormap_acquire(tensor_map) fence_proxy_tensormap_release()
elect_sync() barrier_sync(id, threads) barrier_arrive(id, threads) globaltimer() clock64()
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


def test_the_namespace_holds_instructions_and_nothing_else():
    assert all(isinstance(getattr(ptx, name), Instruction) for name in dir(ptx))


@pytest.mark.parametrize("name", dir(ptx))
def test_every_instruction_says_what_it_does_and_by_which_source(name):
    assert "Source: PTX ISA, " in getattr(ptx, name).__doc__ or name == "mbarrier_array"


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
