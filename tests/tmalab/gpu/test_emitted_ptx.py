"""The PTX of every instruction: the line that PTX ISA asks for, in a kernel that NVIDIA's assembler accepts.

The lines are written by hand, with a register where an operand stands.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter

import numpy as np
import pytest
from numba import cuda

from tmalab import TensorMap, ptx
from tmalab.gpu.compile import compile_kernel
from tmalab.ptx.operands import Kind

S = "shared::cta.b64"
LOAD = "shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "global.shared::cta.bulk_group"
IM2COL = "shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
TO_PEER = "shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
LINES = {
    "mbarrier_init": f"mbarrier.init.{S} [R], R;",
    "mbarrier_inval": f"mbarrier.inval.{S} [R];",
    "mbarrier_expect_tx": f"mbarrier.expect_tx.relaxed.cta.{S} [R], R;",
    "mbarrier_complete_tx": f"mbarrier.complete_tx.relaxed.cta.{S} [R], R;",
    "mbarrier_arrive_no_complete": f"mbarrier.arrive.noComplete.{S} R, [R], R;",
    "mbarrier_pending_count": "mbarrier.pending_count.b64 R, R;",
    "mbarrier_arrive": f"mbarrier.arrive.{S} R, [R], R;",
    "mbarrier_arrive_relaxed": f"mbarrier.arrive.relaxed.cta.{S} R, [R], R;",
    "mbarrier_arrive_cluster_scope": f"mbarrier.arrive.release.cluster.{S} R, [R], R;",
    "mbarrier_arrive_relaxed_cluster_scope": f"mbarrier.arrive.relaxed.cluster.{S} R, [R], R;",
    "mbarrier_arrive_expect_tx": f"mbarrier.arrive.expect_tx.{S} R, [R], R;",
    "mbarrier_arrive_expect_tx_cluster_scope": f"mbarrier.arrive.expect_tx.release.cluster.{S} R, [R], R;",
    "mbarrier_arrive_drop": f"mbarrier.arrive_drop.{S} R, [R], R;",
    "mbarrier_arrive_drop_relaxed": f"mbarrier.arrive_drop.relaxed.cta.{S} R, [R], R;",
    "mbarrier_test_wait": f"mbarrier.test_wait.{S} done, [R], R;",
    "mbarrier_try_wait": f"mbarrier.try_wait.{S} done, [R], R;",
    "mbarrier_test_wait_parity": f"mbarrier.test_wait.parity.{S} done, [R], R;",
    "mbarrier_try_wait_parity": f"mbarrier.try_wait.parity.{S} done, [R], R;",
    "mbarrier_try_wait_parity_relaxed": f"mbarrier.try_wait.parity.relaxed.cta.{S} done, [R], R;",
    "mbarrier_try_wait_parity_cluster_scope": f"mbarrier.try_wait.parity.acquire.cluster.{S} done, [R], R;",
    "mbarrier_wait_parity": f"WAIT: mbarrier.try_wait.parity.{S} done, [R], R; @!done bra WAIT;",
    "cp_async_bulk_tensor_1d": f"cp.async.bulk.tensor.1d.{LOAD} [R], [R, {{R}}], [R];",
    "cp_async_bulk_tensor_2d": f"cp.async.bulk.tensor.2d.{LOAD} [R], [R, {{R, R}}], [R];",
    "cp_async_bulk_tensor_3d": f"cp.async.bulk.tensor.3d.{LOAD} [R], [R, {{R, R, R}}], [R];",
    "cp_async_bulk_tensor_5d": f"cp.async.bulk.tensor.5d.{LOAD} [R], [R, {{R, R, R, R, R}}], [R];",
    "cp_async_bulk_tensor_1d_store": f"cp.async.bulk.tensor.1d.{STORE} [R, {{R}}], [R];",
    "cp_async_bulk_tensor_4d_store": f"cp.async.bulk.tensor.4d.{STORE} [R, {{R, R, R, R}}], [R];",
    "cp_async_bulk_prefetch_tensor_2d": "cp.async.bulk.prefetch.tensor.2d.L2.global [R, {R, R}];",
    "prefetch_tensormap": "prefetch.tensormap [R];",
    "cp_async_bulk_commit_group": "cp.async.bulk.commit_group;",
    "cp_async_bulk_wait_group": "cp.async.bulk.wait_group 16;",
    "cp_async_bulk_wait_group_read": "cp.async.bulk.wait_group.read 16;",
    "cp_async": "cp.async.ca.shared.global [R], [R], 16;",
    "cp_async_commit_group": "cp.async.commit_group;",
    "cp_async_wait_group": "cp.async.wait_group 16;",
    "cp_async_mbarrier_arrive": f"cp.async.mbarrier.arrive.{S} [R];",
    "cp_async_mbarrier_arrive_noinc": f"cp.async.mbarrier.arrive.noinc.{S} [R];",
    "fence_proxy_async": "fence.proxy.async;",
    "fence_proxy_async_shared_cta": "fence.proxy.async.shared::cta;",
    "fence_proxy_async_shared_cluster": "fence.proxy.async.shared::cluster;",
    "fence_proxy_async_global": "fence.proxy.async.global;",
    "fence_mbarrier_init": "fence.mbarrier_init.release.cluster;",
    "fence_acq_rel_cluster": "fence.acq_rel.cluster;",
    "fence_proxy_tensormap_acquire": "fence.proxy.tensormap::generic.acquire.gpu [R], 128;",
    "fence_proxy_tensormap_acquire_sys": "fence.proxy.tensormap::generic.acquire.sys [R], 128;",
    "fence_proxy_tensormap_release": "fence.proxy.tensormap::generic.release.gpu;",
    "fence_proxy_tensormap_release_sys": "fence.proxy.tensormap::generic.release.sys;",
    "elect_sync": "elect.sync _|done, 0xffffffff;",
    "barrier_sync": "barrier.sync R, R;",
    "barrier_arrive": "barrier.arrive R, R;",
    "globaltimer": "mov.u64 R, %globaltimer;",
    "clock64": "mov.u64 R, %clock64;",
    "cp_async_bulk_tensor_2d_multicast": (
        f"cp.async.bulk.tensor.2d.{LOAD}.multicast::cluster [R], [R, {{R, R}}], [R], R;"
    ),
    "cp_async_bulk_tensor_2d_cache_hint": f"cp.async.bulk.tensor.2d.{LOAD}.L2::cache_hint [R], [R, {{R, R}}], [R], R;",
    "cp_async_bulk_tensor_1d_multicast_cache_hint": (
        f"cp.async.bulk.tensor.1d.{LOAD}.multicast::cluster.L2::cache_hint [R], [R, {{R}}], [R], R, R;"
    ),
    "cp_async_bulk_tensor_3d_im2col": f"cp.async.bulk.tensor.3d.{IM2COL} [R], [R, {{R, R, R}}], [R], {{R}};",
    "cp_async_bulk_tensor_4d_im2col_multicast": (
        f"cp.async.bulk.tensor.4d.{IM2COL}.multicast::cluster [R], [R, {{R, R, R, R}}], [R], {{R, R}}, R;"
    ),
    "cp_async_bulk_tensor_5d_im2col_multicast_cache_hint": (
        f"cp.async.bulk.tensor.5d.{IM2COL}.multicast::cluster.L2::cache_hint "
        "[R], [R, {R, R, R, R, R}], [R], {R, R, R}, R, R;"
    ),
    "cp_async_bulk_prefetch_tensor_4d_im2col_cache_hint": (
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col.L2::cache_hint [R, {R, R, R, R}], {R, R}, R;"
    ),
    "cp_async_bulk_tensor_2d_store_cache_hint": (
        f"cp.async.bulk.tensor.2d.{STORE}.L2::cache_hint [R, {{R, R}}], [R], R;"
    ),
    "cp_async_bulk_tensor_3d_store_im2col": (
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [R, {R, R, R}], [R];"
    ),
    "cp_reduce_async_bulk_tensor_2d_add": (
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [R, {R, R}], [R];"
    ),
    "cp_reduce_async_bulk_tensor_5d_xor_im2col_cache_hint": (
        "cp.reduce.async.bulk.tensor.5d.global.shared::cta.xor.im2col_no_offs.bulk_group.L2::cache_hint "
        "[R, {R, R, R, R, R}], [R], R;"
    ),
    "cp_async_bulk": f"cp.async.bulk.{LOAD} [R], [R], R, [R];",
    "cp_async_bulk_multicast": f"cp.async.bulk.{LOAD}.multicast::cluster [R], [R], R, [R], R;",
    "cp_async_bulk_store_cache_hint": f"cp.async.bulk.{STORE}.L2::cache_hint [R], [R], R, R;",
    "cp_async_bulk_prefetch": "cp.async.bulk.prefetch.L2.global [R], R;",
    "cp_async_bulk_cluster": f"cp.async.bulk.{TO_PEER} [to], [R], R, [full];",
    "cp_reduce_async_bulk_add_bf16": f"cp.reduce.async.bulk.{STORE}.add.noftz.bf16 [R], [R], R;",
    "cp_reduce_async_bulk_min_s64_cache_hint": f"cp.reduce.async.bulk.{STORE}.L2::cache_hint.min.s64 [R], [R], R, R;",
    "cp_reduce_async_bulk_cluster_inc_u32": f"cp.reduce.async.bulk.{TO_PEER}.inc.u32 [to], [R], R, [full];",
    "createpolicy_fractional_evict_last": "createpolicy.fractional.L2::evict_last.b64 R, R;",
    "createpolicy_range_evict_normal_evict_first": (
        "createpolicy.range.global.L2::evict_normal.L2::evict_first.b64 R, [R], R, R;"
    ),
    "mbarrier_arrive_cluster": "mbarrier.arrive.shared::cluster.b64 _, [peer], R;",
    "mbarrier_arrive_cluster_relaxed": "mbarrier.arrive.relaxed.cta.shared::cluster.b64 _, [peer], R;",
    "mbarrier_arrive_expect_tx_cluster_cluster_scope": (
        "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [peer], R;"
    ),
    "mbarrier_arrive_drop_cluster": "mbarrier.arrive_drop.shared::cluster.b64 _, [peer], R;",
    "mbarrier_complete_tx_cluster": "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [peer], R;",
    "cluster_ctarank": "mov.u32 R, %cluster_ctarank;",
    "cluster_nctarank": "mov.u32 R, %cluster_nctarank;",
    "barrier_cluster_arrive": "barrier.cluster.arrive.release;",
    "barrier_cluster_arrive_relaxed": "barrier.cluster.arrive.relaxed;",
    "barrier_cluster_wait": "barrier.cluster.wait.acquire;",
    "tensormap_replace_global_address": "tensormap.replace.tile.global_address.global.b1024.b64 [R], R;",
    "tensormap_replace_global_dim_shared_cta": "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [R], 4, R;",
    "tensormap_replace_elemtype": "tensormap.replace.tile.elemtype.global.b1024.b32 [R], 12;",
    "tensormap_cp_fenceproxy": (
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [R], [R], 128;"
    ),
    "cvt_rn_bf16_f32": "cvt.rn.bf16.f32 R, R;",
    "cvt_f32_bf16": "cvt.f32.bf16 R, R;",
    "cvt_rn_bf16x2_f32": "cvt.rn.bf16x2.f32 R, R, R;",
    "cvt_rn_f16x2_f32": "cvt.rn.f16x2.f32 R, R, R;",
}
OPERANDS = {
    "Shared": "bars[1]",
    "Global": "source",
    "Map": "tensor_map",
    "MapRow": "maps[1]",
    "GlobalAddress": "source",
    "F32": "f",
}

TENSOR = np.zeros((16, 128), np.float16)
MAP = TensorMap.from_array(TENSOR, (8, 64))
ARGUMENTS = (MAP, np.zeros((2, 128), np.uint8), np.zeros(64, np.float32), 5, np.float32(1.5), np.zeros(4, np.int64))


def kernel_of(body: str):
    """A kernel with one of everything among its arguments."""
    source = "def kernel(tensor_map, maps, source, n, f, out):\n    bars = ptx.mbarrier_array(4)\n" + textwrap.indent(
        body, "    "
    )
    scope = {"ptx": ptx, "cuda": cuda, "np": np}
    exec(source, scope)
    return scope["kernel"]


def emitted(body: str) -> str:
    return compile_kernel(kernel_of(body), ARGUMENTS).ptx


def written(kind: Kind) -> str:
    """An operand of the kind, as a kernel writes it; of an immediate the largest value."""
    if kind.register == "n":
        return str(kind.allowed[-1] if kind.allowed else 16)
    return OPERANDS.get(kind.name, "n")


def call_of(name: str, place: int = 0) -> str:
    made = getattr(ptx, name)
    call = f"ptx.{name}({', '.join(map(written, made.operands.values()))})"
    return f"out[{place}] = {call}" if made.returns and name != "mbarrier_array" else call


def pattern(line: str) -> str:
    return re.escape(line).replace("R", r"%\w+")


@pytest.mark.parametrize("name", LINES)
def test_an_instruction_is_the_line_that_ptx_isa_asks_for(name):
    assert re.search(pattern(LINES[name]), emitted(call_of(name)))


ELSEWHERE = ("mbarrier_array", "wgmma_", "ldmatrix_", "stmatrix_", "setmaxnreg_")  # the last ones: test_wgmma_ptx.py


OTHERS = [name for name in dir(ptx) if name not in LINES and not name.startswith(ELSEWHERE)]
TOGETHER = 12  # in one kernel, since most of a compiler's time goes by the kernel
MNEMONIC = re.compile(r"(?:cp|mbarrier|createpolicy|tensormap|fence|mapa)\.\S+")


@pytest.mark.parametrize("first", range(0, len(OTHERS), TOGETHER), ids=lambda first: OTHERS[first])
def test_every_other_form_passes_the_assembler(first):
    names = OTHERS[first : first + TOGETHER]
    asked = Counter(MNEMONIC.search(ptx.INSTRUCTIONS[name].text)[0] for name in names)
    text = emitted("\n".join(call_of(name, place) for place, name in enumerate(names)))
    assert asked - Counter(MNEMONIC.findall(text)) == Counter()


def test_an_optional_operand_is_filled_in():
    text = emitted(
        "ptx.mbarrier_arrive(bars[0])\nptx.mbarrier_arrive(bars[0], 3)\nptx.mbarrier_arrive(bars[0], count=7)"
    )
    counts = re.findall(r"mbarrier\.arrive\.\S+ %\w+, \[%\w+\], (%\w+);", text)
    values = [re.search(rf"mov\.u32\s+{re.escape(register)}, (\d+);", text)[1] for register in counts]
    assert values == ["1", "3", "7"]


def test_a_place_in_a_peer_is_found_by_its_rank():
    text = emitted("ptx.cp_async_bulk_cluster(bars[0], n, 4096, 64, bars[2])")
    rank = re.search(r"mapa\.shared::cluster\.u32 to, %\w+, (%\w+);", text)[1]
    assert re.search(rf"mapa\.shared::cluster\.u32 full, %\w+, {re.escape(rank)};", text)
    assert re.search(
        r"mapa\.shared::cluster\.u32 peer, %\w+, %\w+;", emitted("ptx.mbarrier_arrive_cluster(bars[0], n)")
    )


def test_a_policy_is_for_all_accesses_unless_a_fraction_is_given():
    text = emitted("out[0] = ptx.createpolicy_fractional_evict_first()")
    register = re.search(r"createpolicy\.fractional\.\S+ %\w+, (%\w+);", text)[1]
    assert re.search(rf"mov\.[fb]32\s+{re.escape(register)}, 0f3F800000;", text)  # 1.0


def test_operands_may_be_named():
    text = emitted("ptx.cp_async_bulk_tensor_2d(bar=bars[0], y=8, x=64, tensor_map=tensor_map, dst=bars[1])")
    x, y = re.search(r"\{(%\w+), (%\w+)\}", text).groups()
    assert re.search(rf"mov\.u32\s+{x}, 64;", text)
    assert re.search(rf"mov\.u32\s+{y}, 8;", text)


def test_a_place_is_the_address_of_its_first_element():
    text = emitted(
        "tile = cuda.shared.array((4, 32), np.float32, alignment=128)\n"
        "ptx.mbarrier_init(tile[2, 16:], 1)\nptx.mbarrier_init(4096, 1)\nptx.mbarrier_init(bars[3], 1)"
    )
    assert re.search(r"add\.s64\s+\S+ %\w+, 320;", text)  # (2 * 32 + 16) * 4
    assert re.search(r"mov\.u32\s+%\w+, 4096;", text)
    assert re.search(r"add\.s64\s+\S+ %\w+, 24;", text)


def test_states_are_plain_integers_and_predicates_are_conditions():
    assert "bra" in emitted(
        "state = ptx.mbarrier_arrive(bars[0])\nkept = state\n"
        "while not ptx.mbarrier_try_wait(bars[0], kept):\n    pass\nout[0] = kept"
    )


def test_each_call_of_mbarrier_array_has_barriers_of_its_own():
    text = emitted(
        "a = ptx.mbarrier_array(2); b = ptx.mbarrier_array(3)\nptx.mbarrier_init(a[0], 1)\nptx.mbarrier_init(b[0], 1)"
    )
    sizes = re.findall(r"\.shared \.align 8 \.b8 barriers_\d\[(\d+)\];", text)
    assert sorted(sizes) == ["16", "24", "32"]  # the first line of every kernel here makes four


def test_two_shared_arrays_on_one_line_are_two():
    text = emitted(
        "a, b = cuda.shared.array(4, np.int32), cuda.shared.array(4, np.int32)\n"
        "a[n] = 1\nb[n] = 2\nout[0] = a[0] + b[0]"
    )
    assert len(re.findall(r"\.shared \.align 4 \.b8 shared_\d\[16\];", text)) == 2


def test_an_array_without_alignment_has_that_of_its_elements():
    assert ".align 2 .b8 shared_0[128]" in emitted(
        "t = cuda.shared.array(64, np.float16)\nt[n] = f\nout[0] = np.float32(t[n + 1])"
    )
