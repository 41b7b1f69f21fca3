"""What a kernel does wrong in Python is in the Run, with its line; it never raises, and nothing hangs."""

from __future__ import annotations

import time

import numpy as np
import pytest
from numba import cuda

from tests.mutants.right import CASES
from tests.pace import within
from tmalab import device, kernel, ptx
from tmalab.run import KernelFault
from tmalab.simulator.watchdog import patience

OUT = np.zeros(64, np.int32)


def line_of(made, offset):
    """A line of a kernel, counted from its decorator."""
    return made.function.__code__.co_firstlineno + offset


@kernel
def divides(out):
    out[cuda.threadIdx.x] = 1 // (cuda.threadIdx.x - 5)


@kernel
def indexes_a_tuple(out):
    pair = (1, 2)
    out[0] = pair[cuda.threadIdx.x]


@kernel
def misses_a_name(out):
    out[0] = nothing_of_this_name  # noqa: F821


@kernel
def gives_a_float(out):
    ptx.mbarrier_init(ptx.mbarrier_array(1), 1.5)


@kernel
def gives_a_value(out):
    bars = cuda.shared.array(2, np.uint64)
    ptx.mbarrier_init(bars[1], 1)


@kernel
def asks_for_more_of_cuda(out):
    out[0] = cuda.shfl_sync(0xFFFFFFFF, 1, 0)


@kernel
def takes_too_much_shared_memory(out):
    tile = cuda.shared.array((256, 1024), np.uint8)
    out[0] = tile[0, 0]


@kernel
def writes_text(out):
    out[0] = "text"


@kernel
def uses_an_array_as_a_value(out):
    tile = cuda.shared.array((2, 2), np.int32)
    out[0] = tile[0]


@kernel
def leaves_python(out):
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("made", "offset", "words"),
    [
        (leaves_python, 2, "SystemExit"),
        (divides, 2, "ZeroDivisionError"),
        (indexes_a_tuple, 3, "IndexError"),
        (misses_a_name, 2, "nothing_of_this_name"),
        (gives_a_float, 2, "count is a float"),
        (gives_a_value, 3, "mbarrier_array"),
        (asks_for_more_of_cuda, 2, "cuda.shfl_sync is not part of the kernel language"),
        (takes_too_much_shared_memory, 2, "262,144"),
        (writes_text, 2, "'text' cannot be stored in out"),
        (uses_an_array_as_a_value, 3, "tile is an array"),
    ],
)
def test_an_error_in_a_thread_is_a_fault_with_its_line(made, offset, words):
    run = made.run(block=32, args=(OUT,))
    assert isinstance(run.fault, KernelFault)
    assert not run.ok
    assert (run.fault.kind, run.fault.file, run.fault.line) == ("python_error", __file__, line_of(made, offset))
    assert words in str(run.fault)
    assert "\n" not in str(run.fault)
    assert run.fault.thread == (
        "thread 5" if made is divides else "thread 2" if made is indexes_a_tuple else "thread 0"
    )


def undecorated(x):
    return x + 1


@kernel
def calls_a_plain_function(out):
    out[0] = undecorated(1)


def test_a_plain_function_is_asked_to_be_a_device_function():
    run = calls_a_plain_function.run(block=1, args=(OUT,))
    assert "undecorated is a plain function: put @tmalab.device on it" in str(run.fault)


@device
def endlessly(n):
    return endlessly(n + 1)


@kernel
def recurses(out):
    out[0] = endlessly(0)


def test_deep_recursion_is_a_fault():
    assert "cannot recurse" in str(recurses.run(block=1, args=(OUT,)).fault)


@kernel
def yields(out):
    yield 1


def test_a_generator_is_no_kernel():
    run = yields.run(block=1, args=(OUT,))
    assert "yields is a generator" in str(run.fault)
    assert not run.ok


@kernel
def starts_another(out):
    divides.run(block=1, args=(out,))


def test_a_kernel_cannot_start_another():
    assert "cannot start another" in str(starts_another.run(block=1, args=(OUT,)).fault)


# Loops without an end.


@kernel
def spins(out):
    i = 0
    while True:
        i += 1


@kernel
def spins_with_instructions(out):
    bar = ptx.mbarrier_array(1)
    ptx.mbarrier_init(bar, 1)
    while True:
        ptx.mbarrier_expect_tx(bar, 0)


@pytest.mark.parametrize(("made", "lines"), [(spins, (3, 4)), (spins_with_instructions, (4, 5))])
def test_a_loop_that_lets_nobody_else_run_is_stopped_with_its_line(made, lines):
    with patience(0.5, 5):
        start = time.process_time()
        run = made.run(block=2, args=(OUT,))
    assert within(time.process_time() - start, 10)
    assert run.fault.kind == "endless_loop"
    assert line_of(made, 0) + lines[0] - 0 <= run.fault.line <= line_of(made, 0) + lines[1]
    assert run.fault.file == __file__


@kernel
def goes_on_for_ever(out):
    while True:
        cuda.syncthreads()


def test_a_run_that_goes_on_and_on_is_stopped():
    with patience(5, 1):
        run = goes_on_for_ever.run(block=32, args=(OUT,))
    assert run.fault.kind == "endless_loop"
    assert "not over after 1 seconds" in str(run.fault)


@kernel
def swallows(out):
    while True:
        try:  # noqa: SIM105
            cuda.syncthreads()
        except BaseException:
            pass


def test_a_kernel_that_swallows_every_exception_is_left_behind():
    with patience(5, 1):
        run = swallows.run(block=2, args=(OUT,))
    assert run.fault.kind == "endless_loop"


def test_after_an_error_the_next_run_is_as_new():
    divides.run(block=32, args=(OUT,))
    case = CASES["copy_tile"]()
    assert not case.kernel.run(args=case.args).hazards
    assert case.is_right()


def test_a_fault_keeps_what_was_written_before_it():
    @kernel
    def writes_then_fails(out):
        out[cuda.threadIdx.x] = 7
        out[1 // cuda.threadIdx.x] = 7

    out = np.zeros(4, np.int32)
    assert writes_then_fails.run(block=4, args=(out,)).fault is not None
    assert out[0] == 7


def test_arithmetic_of_a_kernel_warns_nobody(recwarn):
    @kernel
    def overflows(x, out):
        out[0] = np.float32(x[0]) * np.float32(x[0])
        out[1] = np.float32(x[0]) / np.float32(0)

    out = np.zeros(2, np.float32)
    run = overflows.run(block=1, args=(np.array([1e30], np.float32), out))
    assert run.fault is None
    assert np.isinf(out).all()
    assert not recwarn.list


def test_an_interrupt_of_the_person_at_the_keyboard_goes_through():
    @kernel
    def interrupted(out):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted.run(block=2, args=(OUT,))
    case = CASES["copy_tile"]()
    assert not case.kernel.run(args=case.args).hazards


@pytest.mark.parametrize("raised", [SystemExit("bye"), GeneratorExit(), BaseException("odd")])
def test_whatever_a_kernel_raises_is_in_the_run(raised):
    @kernel
    def raises(out):
        if cuda.threadIdx.x == 3:
            raise raised
        cuda.syncthreads()

    fault = raises.run(block=8, args=(OUT,)).fault
    assert (fault.kind, fault.thread, fault.line) == ("python_error", "thread 3", line_of(raises, 3))
