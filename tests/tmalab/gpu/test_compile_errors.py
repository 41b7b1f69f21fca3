"""A kernel that does not compile: one sentence with the learner's line, and nothing of the compiler's insides."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import gpu_helper_module
import numpy as np
import pytest
from numba import cuda

from tmalab import device, ptx
from tmalab.gpu.compile import compile_kernel
from tmalab.gpu.errors import CompileError, place

NUMBERS = [1, 2]


class Thing:
    """Something that no kernel knows."""


THING = Thing()


def plain(x):
    return x + 1


@device
def bad_helper(x):
    return x + undefined  # noqa: F821  here


def unknown_name(out):
    out[0] = undefined_name  # noqa: F821  here


def unknown_instruction(out):
    ptx.mbarrier_arive(out)  # here


def unknown_of_cuda(out):
    cuda.syncthread()  # here


def unknown_index(out):
    out[0] = cuda.threadIdx.q  # here


def runtime_shape(out):
    out[1] = cuda.shared.array(out[0], np.int64)[0]  # here


def odd_alignment(out):
    out[1] = cuda.shared.array(8, np.int64, alignment=100)[out[0]]  # here


def a_float_as_count(out):
    bars = ptx.mbarrier_array(2)
    ptx.mbarrier_init(bars[0], 1.5)  # here


def a_variable_as_immediate(out):
    n = out[0]
    ptx.cp_async_bulk_wait_group(n)  # here


def a_size_that_ptx_lacks(out):
    tile = cuda.shared.array(8, np.int64)
    ptx.cp_async(tile, out, 12)  # here


def missing_operand(out):
    ptx.mbarrier_init(out)  # here


def two_types(out):
    place = cuda.shared.array(4, np.int64)
    if out[0] > 2:
        place = 4096
    ptx.mbarrier_init(place, 1)


def array_as_number(out):
    out[0] = out + 1  # here


def array_into_element(out):
    out[0] = out  # here


def plain_function(out):
    out[0] = plain(out[0])  # here


def an_object(out):
    out[0] = THING  # here


def a_list(out):
    out[0] = NUMBERS[0]  # here


def own_list(out):
    x = [1, 2]  # here
    out[0] = x[0]


def returns(out):
    return out[0]  # here


def try_block(out):
    try:
        out[0] = 1  # here
    except ValueError:
        out[0] = 2


def raises(out):
    raise ValueError("no")  # here


def imports(out):
    import math  # here

    out[0] = math.pi


def assigns_global(out):
    global NUMBERS
    NUMBERS = 3  # here


def yields(out):
    yield out[0]


def formats(out):
    print(f"{out[0]:.3f}")  # here


def in_a_helper(out):
    out[0] = bad_helper(out[0])


CASES = [
    (unknown_name, "the name undefined_name is not defined"),
    (unknown_instruction, "ptx has no instruction mbarrier_arive; similar are mbarrier_arrive"),
    (unknown_of_cuda, "cuda has no syncthread that a kernel could use"),
    (unknown_index, "cuda's index has no q"),
    (runtime_shape, "cuda.shared.array wants a shape of literals or module-level integers"),
    (odd_alignment, "alignment must be a power of 2"),
    (a_float_as_count, "mbarrier_init: count is a float, but must be an integer"),
    (a_variable_as_immediate, "cp_async_bulk_wait_group: n is a variable, but must be a literal"),
    (a_size_that_ptx_lacks, "cp_async: bytes is 12, but PTX has this instruction only for 4, 8, 16"),
    (missing_operand, "mbarrier_init takes mbarrier_init(bar, count)"),
    (two_types, "place is "),
    (array_as_number, "a kernel has no element assignment of"),
    (array_into_element, "a kernel has no element assignment of"),
    (plain_function, "plain is a plain function: mark it with @tmalab.device"),
    (an_object, "THING is a Thing, which a kernel cannot use"),
    (a_list, "a kernel has no lists"),
    (own_list, "a kernel has no lists"),
    (returns, "a kernel returns nothing"),
    (try_block, "a kernel has no try"),
    (raises, "a kernel cannot raise"),
    (gpu_helper_module.asserts, "a kernel cannot raise or assert"),
    (imports, "a kernel cannot import"),
    (assigns_global, "a kernel cannot assign to a global name"),
    (yields, "a kernel cannot yield"),
    (formats, "a kernel cannot format strings"),
    (in_a_helper, "the name undefined is not defined"),
]


def refusal(function) -> CompileError:
    with pytest.raises(CompileError) as caught:
        compile_kernel(function, (np.zeros(4, np.int64),))
    return caught.value


@pytest.mark.parametrize(("function", "sentence"), CASES, ids=[function.__name__ for function, _ in CASES])
def test_what_is_wrong_is_said_in_one_sentence(function, sentence):
    message = str(refusal(function))
    assert sentence in message
    assert "\n" not in message
    assert not re.search(r"numba|Literal\[|overload|nopython|typeinfer|llvm|Overload", message)


def marked_line(function) -> int | None:
    lines, first = inspect.getsourcelines(function)
    return next((number for number, line in enumerate(lines, first) if line.rstrip().endswith(" here")), None)


@pytest.mark.parametrize("function", [function for function, _ in CASES if marked_line(function)])
def test_the_line_is_the_learners(function):
    error = refusal(function)
    assert error.line == marked_line(function)
    assert str(error).startswith(f"{Path(inspect.getfile(function)).name}:{error.line}: ")


def test_the_line_of_a_mistake_in_a_helper_is_the_helpers():
    assert refusal(in_a_helper).line == marked_line(bad_helper.function)


@device
def there(x):
    return back(x - 1)


@device
def back(x):
    return there(x)


def calls_a_recursive_helper(out):
    out[0] = there(9)


def test_a_helper_that_calls_itself_is_refused_with_its_line_at_every_look():
    line = back.function.__code__.co_firstlineno
    for _ in range(2):
        with pytest.raises(CompileError, match=rf"^{Path(__file__).name}:{line}: back calls there, .* use a loop$"):
            compile_kernel(calls_a_recursive_helper, (np.zeros(4, np.int32),))


def test_half_precision_arithmetic_is_refused_with_the_way_out():
    def half(out):
        tile = cuda.shared.array(4, np.float16)
        tile[0] = tile[1] * tile[2] + np.float16(2)
        out[0] = tile[out[1]]

    assert "compute in float32" in str(refusal(half))


def test_a_notebooks_cell_is_called_a_cell():
    assert place("/tmp/ipykernel_77/1234.py", 3) == "cell:3"
    assert place("<ipython-input-3>", 5) == "cell:5"
