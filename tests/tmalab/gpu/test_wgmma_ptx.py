"""wgmma in compiled code: every form assembles, accumulators stay in registers, nothing is spilled or serialized."""

from __future__ import annotations

import re
from string import Template

import numpy as np
import pytest
from numba import cuda

from tmalab import Swizzle, TensorMap, kernel, ptx
from tmalab.gpu.assemble import assemble, usage
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.errors import CompileError
from tmalab.kernels import gemm, gemm_warp_specialized
from tmalab.ptx.operands import Registers
from tmalab.wgmma_descriptor import WgmmaDescriptor

MULTIPLY = [name for name in dir(ptx) if name.startswith("wgmma_m64")]
OTHERS = [name for name in dir(ptx) if name.startswith(("ldmatrix", "stmatrix", "setmaxnreg"))]
MATRIX = np.zeros((256, 256), np.uint16)


def test_there_is_every_width_type_and_source_that_ptx_isa_has_for_16_bit_types():
    names = {f"wgmma_m64n{n}k16_f32_{t}{s}" for n in range(8, 257, 8) for t in ("bf16", "f16") for s in ("", "_rs")}
    assert set(MULTIPLY) == names


def line_of(name: str) -> str:
    """An instruction with registers and immediates in it."""
    made, values = ptx.INSTRUCTIONS[name], {}
    kinds = made.operands | ({"result": made.returns} if made.returns and not made.updates else {})
    for operand, kind in kinds.items():
        if isinstance(kind, Registers):
            values[operand] = f"{{{', '.join(f'%{kind.register}{i}' for i in range(kind.count))}}}"
        else:
            values[operand] = {"l": "%d0", "r": "%r9", "n": str(kind.allowed[-1] if kind.allowed else 0)}[kind.register]
    return Template(made.text).substitute(values)


@pytest.mark.parametrize("names", [MULTIPLY[i::8] for i in range(8)] + [OTHERS])
def test_every_form_passes_the_assembler(names):
    # nvJitLink 13.0 crashes on a stmatrix whose address is a constant number: an array's address, as kernels have it.
    registers = ".shared .align 128 .b8 tile[4096]; .reg .f32 %f<128>; .reg .b32 %r<10>; .reg .b64 %d<1>;"
    registers += "mov.b64 %d0, 0; mov.u32 %r9, tile;"
    lines = "\n".join(line_of(name) for name in names)
    text = f".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {{ {registers}\n{lines}\nret; }}"
    assert assemble(text, "k")[:4] == b"\x7fELF"


def test_a_kernel_is_the_lines_that_ptx_isa_asks_for():
    @kernel
    def one(out):
        tile = cuda.shared.array((64, 64), np.uint16, alignment=1024)
        tile[cuda.threadIdx.x, 0] = 0
        acc = ptx.wgmma_zero_16()
        desc = ptx.wgmma_descriptor(tile, Swizzle.B128, 1024)
        ptx.wgmma_fence()
        acc = ptx.wgmma_m64n16k16_f32_f16(acc, desc, desc, 1, scale_b=-1, trans_b=1)
        a = ptx.ldmatrix_x4(tile)
        acc = ptx.wgmma_m64n16k16_f32_f16_rs(acc, a, desc, 0)
        ptx.wgmma_commit_group()
        ptx.wgmma_wait_group(0)
        out[0] = acc[5]

    text = compile_kernel(one.function, (np.zeros(4, np.float32),)).ptx
    shape = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
    registers = r"\{acc0_0, acc0_1, acc0_2, acc0_3, acc0_4, acc0_5, acc0_6, acc0_7\}"
    assert re.search(rf"{re.escape(shape)} {registers}, %\w+, %\w+, p, 1, -1, 0, 1;", text)
    assert re.search(rf"{re.escape(shape)} {registers}, \{{%\w+, %\w+, %\w+, %\w+\}}, %\w+, p, 1, 1, 0;", text)
    assert re.search(r"ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16 \{%\w+, %\w+, %\w+, %\w+\}, \[%\w+\];", text)
    places = [
        text.index(part) for part in ("mov.b32 acc0_7, 0", "wgmma.fence", shape, "commit", "wait_group", "acc0_5;")
    ]
    assert places == sorted(places)  # a register is read behind the wait, and made before the fence


LOOP = """
def looped(a_map, b_map, out, steps):
    a = cuda.shared.array((4, 64, 64), np.uint16, alignment=1024)
    b = cuda.shared.array((4, {n}, 64), np.uint16, alignment=1024)
    full = ptx.mbarrier_array(4)
    tid = cuda.threadIdx.x
    if tid // 128 == 0:
        acc = ptx.wgmma_zero_{n}()
        for k in range(steps):
            ptx.mbarrier_wait_parity(full[k % 4], k // 4 % 2)
            desc_a = ptx.wgmma_descriptor(a[k % 4], 3, 1024)
            desc_b = ptx.wgmma_descriptor(b[k % 4], 3, 1024)
            ptx.wgmma_fence()
            for i in range(4):
                acc = ptx.wgmma_m64n{n}k16_f32_bf16(acc, desc_a + 2 * i, desc_b + 2 * i, 1)
            ptx.wgmma_commit_group()
            ptx.wgmma_wait_group({wait})
        ptx.wgmma_wait_group(0)
        for i in range({n} // 2):
            out[tid, i] = acc[i]
    else:
        ptx.cp_async_bulk_tensor_2d(a[0], a_map, 0, 0, full[0])
        ptx.cp_async_bulk_tensor_2d(b[0], b_map, 0, 0, full[0])
"""


@pytest.mark.parametrize(("n", "wait"), [(128, 0), (128, 1), (256, 0), (256, 1)])
def test_a_loop_keeps_its_accumulator_in_registers_at_any_width(n, wait):
    scope = {"cuda": cuda, "ptx": ptx, "np": np}
    exec(LOOP.format(n=n, wait=wait), scope)
    maps = [TensorMap.from_array(MATRIX, (64, 64), swizzle=Swizzle.B128)] * 2
    compiled = compile_kernel(scope["looped"], (*maps, np.zeros((128, n // 2), np.float32), 8), 256)
    assert (compiled.usage.spilled, compiled.usage.stack, compiled.usage.losses) == (0, 0, ())
    assert n // 2 < compiled.usage.registers < n // 2 + 60


def test_setmaxnreg_makes_the_assembler_know_the_threads_of_a_cta():
    @kernel
    def gives(out):
        ptx.setmaxnreg_dec(40)
        out[0] = 1

    arguments = (np.zeros(4, np.int32),)
    assert ".maxntid 384" in compile_kernel(gives.function, arguments, 384).ptx
    assert ".maxntid" not in compile_kernel(gives.function, arguments).ptx


def test_an_accumulator_that_a_condition_chooses_is_refused():
    @kernel
    def changing(out, n):
        a = ptx.wgmma_zero_8()
        b = ptx.wgmma_zero_8()
        for _ in range(n):
            a = ptx.wgmma_m64n8k16_f32_bf16(a, 0, 0, 1)
            a, b = b, a
        out[0] = a[0]

    with pytest.raises(CompileError, match="which accumulator a wgmma takes must be known"):
        compile_kernel(changing.function, (np.zeros(4, np.float32), 3))


def test_a_descriptor_in_compiled_code_is_that_of_the_library():
    @kernel
    def describe(out):
        out[0] = ptx.wgmma_descriptor(0x8450, Swizzle.B64, 512, 4096)

    text = compile_kernel(describe.function, (np.zeros(1, np.int64),)).ptx
    steps = re.search(r"\{ \.reg \.b32 low, high, part;.*?\}; \}", text)[0]
    for expected in ("0x3fff0", "shr.u32 low, low, 4", "shl.b32 part, part, 12", "shl.b32 part, part, 30"):
        assert expected in steps
    low, high = 0x8450 >> 4 | 4096 << 12, 512 >> 4 | (4 - Swizzle.B64) << 30  # what those lines compute
    assert WgmmaDescriptor(0x8450, Swizzle.B64, 512, 4096).encode() & (1 << 64) - 1 == low | high << 32


def test_usage_tells_what_nvjitlink_loses():
    text = compile_kernel(gemm_warp_specialized.gemm_warp_specialized.function,
                          (*[gemm.bf16_map(MATRIX, 128, 64)] * 2, MATRIX, 256)).ptx  # fmt: skip
    assert any("C7504" in loss for loss in usage(text).losses)
