"""Loops over an accumulator's registers are written out; what can't be is a choice among all of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tmalab import kernel, ptx
from tmalab.gpu.compile import compile_kernel, rolled
from tmalab.gpu.errors import CompileError
from tmalab.gpu.unrolling import unrolled

OUT = np.zeros(64, np.float32)


def text_of(made, *args) -> str:
    return compile_kernel(made.function, (OUT, *args)).ptx


def test_a_loop_over_registers_is_written_out():
    @kernel
    def counted(out):
        acc = ptx.wgmma_zero_128()
        for i in range(64):
            out[i] = acc[i]

    text = text_of(counted)
    reads = re.findall(r"mov\.b32 %f\d+, acc0_(\d+);", text)
    assert reads == [str(i) for i in range(64)]
    assert len(re.findall(r"st\.global\.f32", text)) == 64
    assert "bra" not in text


def test_loops_in_loops_and_steps_between_registers_are_written_out_too():
    @kernel
    def nested(out):
        acc = ptx.wgmma_zero_64()
        for row in range(4):
            for pair in range(0, 8, 2):
                out[row] += acc[row * 8 + pair + 1] - acc[row * 8 + pair]

    text = text_of(nested)
    reads = sorted(map(int, re.findall(r"mov\.b32 %f\d+, acc0_(\d+);", text)))
    assert reads == list(range(32))
    assert "bra" not in text


def test_a_register_that_only_an_argument_names_is_chosen_when_the_kernel_runs():
    @kernel
    def asked(out, i):
        acc = ptx.wgmma_zero_16()
        out[0] = acc[i]

    text = text_of(asked, 3)
    assert sorted(re.findall(r"mov\.b32 %f\d+, acc0_(\d);", text)) == list("01234567")
    assert "bra" in text


def test_a_loop_whose_rounds_are_not_known_stays_one():
    @kernel
    def rounds(out, n):
        acc = ptx.wgmma_zero_16()
        for i in range(n):
            out[i] = acc[i]

    text = text_of(rounds, 8)
    assert set(re.findall(r"acc0_(\d)", text)) == set("01234567")


@pytest.mark.parametrize("last", [9, 200])
def test_a_counter_past_the_last_register_is_refused(last):
    @kernel
    def past(out):
        acc = ptx.wgmma_zero_16()
        for i in range(last):
            out[i % 64] = acc[i]

    with pytest.raises(CompileError, match="8"):
        text_of(past)


def test_loops_that_read_no_register_by_their_counter_are_left_as_they_are():
    ir = 'define void @"k"() {\nentry:\n  br label %"loop"\nloop:\n  br label %"loop"\n}'
    assert unrolled(ir) == ir
    read = '  %"x" = call float asm "mov.b32 $0, tmalab_acc$1_$2of8;", "=f,n,n"(i32 0, i64 %"i")\n'
    outside = ir.replace("entry:\n", f"entry:\n{read}")
    assert unrolled(outside) == outside
    inside = ir.replace("loop:\n", f"loop:\n{read}")
    assert unrolled(inside).count("llvm.loop.unroll.full") == 1


def test_a_loop_that_waits_is_never_written_out_several_times():
    """The compiler's own choice would be four rounds, and one more loop for the rest: five waits."""

    @kernel
    def waiting(out, n):
        full = ptx.mbarrier_array(1)
        for step in range(n):
            ptx.mbarrier_wait_parity(full[0], step % 2)
            out[step] = 1

    compiled = compile_kernel(waiting.function, (OUT, 9))
    assert len(re.findall(r"mbarrier\.try_wait", compiled.ptx)) == 1
    assert len(re.findall(r"SYNCS\.PHASECHK", compiled.sass)) == 2  # ptxas puts the first try before the loop


def test_a_loop_with_a_known_number_of_waits_is_the_compilers():
    @kernel
    def twice(out):
        full = ptx.mbarrier_array(2)
        for stage in range(2):
            ptx.mbarrier_wait_parity(full[stage], 0)
        out[0] = 1

    assert len(re.findall(r"mbarrier\.try_wait", text_of(twice))) == 2


def test_a_loop_without_waits_is_the_assemblers_to_write_out():
    @kernel
    def plain(out, n):
        for i in range(n):
            out[i] = i

    text = text_of(plain, 9)
    assert rolled(text) == text
