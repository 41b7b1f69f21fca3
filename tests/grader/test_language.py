"""The kernel language by its syntax: honest kernels keep to it, what reaches for the simulator does not."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from grader.language import NotTheLanguage, check
from grader.source import KernelSource, take_source
from tests.lessons import LESSONS, answers
from tmalab.launch import Kernel

KERNELS = [value for lesson in LESSONS for value in vars(answers(lesson)).values() if isinstance(value, Kernel)]
REACHING = [
    "tmalab.simulator.context.running()",
    "out.__class__",
    "out.log.clear()",
    "open('/etc/passwd')",
    "().__class__.__base__",
    "(x for x in out)",
    "np.load('answers.npy')",
    "np.ctypeslib",
    "numba.core.config",
    "cuda.simulator.reset()",
    "exec('out[0] = 1')",
    "getattr(out, 'log')",
    "[x for x in out]",
    "f'{out}'",
    "__builtins__",
    "type(out)",
    "types.FunctionType",
    "ptx.instruction.sys.modules",
    "cuda.names['syncthreads'] = out",
    "cuda.cta.run.hazards",
    "numba.cuda.cta.run.memory.bytes[0]",
    "cuda.enter(0)",
    "cuda.gpus.lst",
    "cuda.shared.array.cta",
    "cuda.LinkableCode.from_file('/etc/passwd')",
    "ptx.INSTRUCTIONS.clear()",
    "tmalab.ptx.INSTRUCTIONS.clear()",
    "ptx.mbarrier_init.defaults.clear()",
    "ptx.FAMILIES[0]",
    "ptx.lru_cache(None)",
    "ptx.Instruction('a', 'a', out, lambda thread: thread, 'a')",
]


def kernel_with(line: str) -> KernelSource:
    written = f"def reach(out):\n    out[0] = 1\n    {line}\n"
    usual = {"cuda": "cuda", "ptx": "ptx", "np": "np", "numba": "numba", "tmalab": "tmalab", "types": "types"}
    return KernelSource("reach", ["out"], {"reach": written}, {"reach": "cell 1"}, {}, usual, {})


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_what_lessons_take_for_kernels_is_of_the_language_or_does_not_compile(kernel):
    if kernel.__name__ == "tile_of_a_list":
        with pytest.raises(NotTheLanguage, match=r"np\.array"):
            check(take_source(kernel))
    else:
        check(take_source(kernel))


@pytest.mark.parametrize("line", REACHING)
def test_what_reaches_around_the_kernel_is_refused_in_one_sentence_with_its_line(line):
    with pytest.raises(NotTheLanguage, match=r"reach, line [13]: ") as refused:
        check(kernel_with(line))
    assert "\n" not in str(refused.value)


def uses_names_that_are_builtins_too(out, id):
    sum = np.float32(0)
    for next in range(id):
        sum += out[next]
    out[cuda.threadIdx.x] = sum


def test_a_kernels_own_variables_may_have_any_name():
    check(take_source(uses_names_that_are_builtins_too))


@pytest.mark.parametrize("path", ["np.save", "cuda.gpus", "cuda.jit", "ptx.INSTRUCTIONS", "ptx.mbarrier_init.bind"])
def test_an_import_that_is_no_kernels_is_refused(path):
    source = kernel_with("pass")
    source.modules["imported"] = path
    with pytest.raises(NotTheLanguage, match="imported"):
        check(source)


@pytest.mark.parametrize(
    "forged",
    [
        {"helpers": {"exec": "nowhere"}},
        {"functions": {"exec": "def other(out):\n    pass\n"}, "files": {"exec": "cell 1"}},
    ],
    ids=lambda forged: next(iter(forged)),
)
def test_a_name_that_nothing_stands_behind_is_not_known(forged):
    source = kernel_with("exec('out[0] = 1')")
    for table, entries in forged.items():
        getattr(source, table).update(entries)
    with pytest.raises(NotTheLanguage, match="exec"):
        check(source)


def test_an_instruction_that_there_is_not_is_left_to_the_run_which_says_what_may_be_meant():
    check(kernel_with("ptx.mbarrier_wiat_parity(out, 0)"))
