"""Prices of accesses, from machine code."""

from __future__ import annotations

import doctest

import numpy as np
from numba import cuda

from tmalab import kernel
from tmalab.launch import Launch
from tmalab.timing import machine, machine_code
from tmalab.timing.machine_code import LOOP, ONCE, ask_for_prices, read_code


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
    return ask_for_prices(launch)()[line]


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


def test_a_kernel_that_does_not_compile_has_no_prices():
    @kernel
    def wrong(out, turns):
        out.nothing()

    assert ask_for_prices(Launch.of(wrong, 1, 32, (np.zeros(1, np.int32), 64), 1, 0, False))() == {}
