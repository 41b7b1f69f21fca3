"""Prices of accesses, from machine code."""

from __future__ import annotations

import doctest

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.launch import Launch
from tmalab.timing import machine, machine_code
from tmalab.timing.fit import ACCESS_LOOP
from tmalab.timing.machine_code import LOOP, ONCE, ask_for_prices, read_code
from tmalab.timing.micro import BENCHMARKS


@kernel
def divided(out, turns):
    tile = cuda.shared.array((8, 32), np.int32)
    for i in range(turns):
        tile[i // 32 % 8, i % 32] = i
    out[0] = tile[0, 0]


@kernel
def plain(out, turns):
    tile = cuda.shared.array((8, 32), np.int32)
    for i in range(turns):
        tile[0, i & 31] = i
    out[0] = tile[0, 0]


def dearest(found):
    """The price of the access in the loop, in the fifth line of each kernel."""
    launch = Launch.of(found, 1, 32, (np.zeros(1, np.int32), 64), 1, 0, False)
    line = found.function.__code__.co_firstlineno + 4
    return ask_for_prices(launch)(0)[line]


def test_the_examples_of_the_docstrings_hold():
    for module in (machine_code, machine):
        assert doctest.testmod(module).failed == 0


def test_an_address_with_divisions_costs_several_times_a_plain_one():
    assert dearest(divided).alone > 2 * dearest(plain).alone > 20


def test_what_stands_outside_of_loops_is_paid_once():
    once = read_code(LOOP.replace("BRA `(.L_x_1)", "EXIT"))[ONCE]
    assert once.alone == 6  # of the branch: the other line accesses memory


def test_arithmetic_around_an_event_is_paid_by_the_event():
    found = read_code(LOOP.replace("LDS R2, [R1]", "SYNCS R2, [R1]").replace("LDS R3, [R1+0x80]", "NOP"))
    assert found[7] == (6, 1, ())


def test_arithmetic_is_paid_where_the_assembler_put_it():
    late = LOOP.replace(
        " /*0030*/ LDS", " /*0028*/ IADD3 R4, R4, R5, RZ ; /* 0x0 */\n /* 0x000fc80000000000 */\n /*0030*/ LDS"
    )
    before, after = (read_code(text)[7] for text in (LOOP, late))
    assert [cost.alone for cost in after.each] == [before.each[0].alone, before.each[1].alone + 4]


def test_reads_in_a_row_take_the_scheduler_at_once_and_writes_one_by_one():
    reads = read_code(LOOP)[7].each
    assert [cost.taken for cost in reads] == [sum(cost.slots for cost in reads), 0]
    writes = read_code(LOOP.replace("LDS R2, [R1]", "STS [R1], R2").replace("LDS R3, [R1+0x80]", "STS [R1+0x80], R3"))
    assert [cost.taken for cost in writes[7].each] == [cost.slots for cost in writes[7].each]


WRITES = """\
.L_x_1:
\t//## File "k.py", line 7
 /*0010*/ STS [R1], R2 ; /* 0x0 */
 /* 0x000fc20000000000 */
 /*0020*/ IADD3 R2, R2, 0x1, RZ ; /* 0x0 */
 /* 0x000fc40000000000 */
\t//## File "k.py", line 6
 /*0030*/ @P0 BRA `(.L_x_1) ; /* 0x0 */
 /* 0x000fcc0000000000 */
"""


def test_what_writes_registers_that_an_access_holds_waits_for_it():
    holding = WRITES.replace("0x000fc20000000000", "0x0003c20000000000")  # barrier 1 is open until they are read
    waiting = holding.replace("0x000fc40000000000", "0x002fc40000000000")  # and waited for
    assert [read_code(text, 16)[7].alone for text in (WRITES, holding)] == [9, 9]
    assert read_code(waiting, 0)[7].alone == 9
    assert read_code(waiting, 16)[7].alone == 9 + 16 - 1  # the write's own cycle counts


def test_the_benchmark_from_which_the_hold_is_known_takes_what_the_fit_says():
    benchmark = BENCHMARKS["access"]
    launch = Launch.of(benchmark.kernel, 1, 32, benchmark.arguments(8), 1, 0, False)
    line = next(number for number, price in ask_for_prices(launch)(0).items() if price.copies == 4)
    for hold in (14, 16, 20):
        assert ask_for_prices(launch)(hold)[line].alone * 4 == ACCESS_LOOP + hold


def test_integers_take_their_pipe_every_other_cycle_and_products_another_pipe():
    def slots(*instructions):
        rows = [f" /*00{n}0*/ {text} ; /* 0x0 */\n /* 0x000fc20000000000 */" for n, text in enumerate(instructions)]
        head, loop = LOOP.split('\t//## File "k.py", line 7\n')
        return read_code(head + '\t//## File "k.py", line 7\n' + "\n".join(rows) + "\n" + loop)[7].each[0].slots

    assert slots() == 3  # the branch, the loop's own IADD3, the read
    assert slots(*["IADD3 R1, R1, R2, RZ"] * 8) == 2 * 9
    assert slots(*["IADD3 R1, R1, R2, RZ", "IMAD R3, R3, R4, R5"] * 8) == 3 + 16


def test_a_kernel_that_does_not_compile_has_no_prices():
    @kernel
    def wrong(out, turns):
        out.nothing()

    assert ask_for_prices(Launch.of(wrong, 1, 32, (np.zeros(1, np.int32), 64), 1, 0, False))(0) == {}
