"""A kernel's source is taken out by syntax: nothing of the notebook's objects comes along but plain data."""

from __future__ import annotations

import linecache
import math

import numba
import numpy as np
import pytest
from numba import cuda

from grader.alone import Shape, build, compile_alone, run_alone
from grader.source import NoSource, take_source
from tmalab import Swizzle, device, kernel
from tmalab.ptx import mbarrier_init

SIZE = 32
TABLE = np.arange(4)
evaluated = []


def note(value):
    evaluated.append(value)
    return value


@device
def twice(value):
    return 2 * value


@kernel
def fill(out: note("annotation"), value: int = note("default")) -> note("returned"):
    for i in range(cuda.threadIdx.x, SIZE, cuda.blockDim.x):
        out[i] = twice(value)


@kernel
def uses_an_array(out, value):
    out[0] = TABLE[value]


@kernel
def uses_nothing_known(out, value):
    out[0] = nowhere  # noqa: F821


@kernel
def takes_anything(*arguments):
    arguments[0][0] = 1


def test_decorators_defaults_and_annotations_are_not_evaluated_again():
    evaluated.clear()
    source = take_source(fill)
    build(source)
    assert evaluated == []
    assert source.parameters == ["out", "value"]
    assert source.constants == {"SIZE": 32}
    assert list(source.modules.values()) == ["cuda"]
    assert source.helpers == {"twice": "twice"}


def test_a_kernel_built_from_its_source_runs_alone():
    outcome = run_alone(take_source(fill), [np.zeros(SIZE, np.int32), 21], Shape(32))
    assert outcome.ok
    assert outcome.arrays[0].tolist() == [42] * SIZE


def test_the_arguments_of_a_run_are_copies():
    out = np.zeros(SIZE, np.int32)
    run_alone(take_source(fill), [out, 21], Shape(32))
    assert not out.any()


def test_a_namespace_that_was_patched_after_the_kernel_was_written_does_not_matter(monkeypatch):
    source = take_source(fill)
    monkeypatch.setitem(globals(), "twice", lambda value: 0)
    monkeypatch.setitem(globals(), "SIZE", 1)
    assert run_alone(source, [np.zeros(32, np.int32), 21], Shape(32)).arrays[0].tolist() == [42] * 32


def test_an_object_that_only_pretends_to_be_a_kernel_has_no_source():
    class Pretender:
        __wrapped__ = fill.function

        def run(self, *arguments, **named):
            raise AssertionError("never asked")

    with pytest.raises(NoSource, match="Pretender"):
        take_source(Pretender())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (uses_an_array, "TABLE, which is of type ndarray"),
        (uses_nothing_known, "nowhere, which is defined nowhere"),
        (takes_anything, "plain parameters only"),
        (lambda out: None, "def"),
        (None, "NoneType"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_can_not_come_along_is_named_in_one_sentence(answer, reason):
    with pytest.raises(NoSource, match=reason) as refused:
        take_source(answer)
    assert "\n" not in str(refused.value)


def test_a_function_without_text_is_refused_in_one_sentence():
    scope = {"kernel": kernel}
    exec(compile("@kernel\ndef typed_in(out):\n    out[0] = 1\n", "<nowhere>", "exec"), scope)
    with pytest.raises(NoSource, match="typed_in can't be found"):
        take_source(scope["typed_in"])


def test_lines_are_counted_as_in_the_learners_cell():
    cell = "import tmalab\n\n\n@tmalab.kernel\ndef broken(out):\n    # a comment\n\n    out[0] = [1, 2]\n"
    scope: dict = {}
    linecache.cache["<cell>"] = (len(cell), None, cell.splitlines(True), "<cell>")
    exec(compile(cell, "<cell>", "exec"), scope)
    compilation = compile_alone(take_source(scope["broken"]), [np.zeros(1, np.int32)])
    assert compilation.error.startswith("cell:8:")


def test_an_alias_of_ptx_or_numpy_is_known_by_its_name():
    def aliased(out):
        out[0] = numbers.float32(1)

    numbers = np
    assert take_source(aliased).modules == {"numbers": "np"}
    assert build(take_source(aliased)).__globals__["numbers"] is np


SHAPE, STEP, HALF, KIND = (4, 8), np.int64(3), 0.5, np.float16
FLOAT, DTYPE, ONE = numba.types.float16, np.dtype(np.int16), Swizzle.B32
count, root = range, math.sqrt


@kernel
def uses_much(out):
    shared = cuda.shared.array(SHAPE, KIND)
    numba.cuda.syncthreads()
    for i in count(4):
        shared[i, 0] = ONE + STEP
        out[i] = shared[i, 0] * HALF + root(4.0) + FLOAT(0) + DTYPE.type(0) if i else mbarrier_init is None


def test_all_that_a_kernel_may_name_comes_along_numbers_as_they_are_and_imports_by_their_name():
    source = take_source(uses_much)
    assert source.constants == {"SHAPE": (4, 8), "STEP": 3, "HALF": 0.5, "ONE": 1}
    assert {type(value) for value in source.constants.values()} == {tuple, np.int64, float, int}
    assert source.modules == {
        "cuda": "cuda",
        "numba": "numba",
        "KIND": "np.float16",
        "FLOAT": "types.float16",
        "DTYPE": "np.int16",
        "count": "builtins.range",
        "root": "math.sqrt",
        "mbarrier_init": "ptx.mbarrier_init",
    }
    scope = build(source).__globals__
    assert scope["KIND"] is np.float16
    assert scope["root"] is math.sqrt


@kernel
def names_its_numbers(out):
    tile = cuda.shared.array(SHAPE, KIND)
    for i in count(STEP):
        tile[i, 0] = i + ONE
        out[i] = tile[i, 0]


def test_a_kernel_that_names_numbers_types_and_imports_compiles_and_runs_alone():
    out = np.zeros(3, np.float32)
    compilation = compile_alone(take_source(names_its_numbers), [out])
    assert not compilation.checked or compilation.error == ""
    assert run_alone(take_source(names_its_numbers), [out], Shape(1)).arrays[0].tolist() == [1, 2, 3]


class Sly(float):
    """A number that is a learner's own."""


SLY = Sly(1)


@kernel
def uses_a_sly_number(out):
    out[0] = SLY


def test_a_subclass_of_a_number_does_not_come_along():
    with pytest.raises(NoSource, match="SLY, which is of type Sly"):
        take_source(uses_a_sly_number)
