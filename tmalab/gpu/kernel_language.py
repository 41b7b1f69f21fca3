"""What Python can say and a kernel cannot, found in the bytecode before numba sees it.

numba refuses most of it with internals of its own, or without the line, and silently drops two: without debug mode
`raise` and `assert` do nothing on the GPU, so they would not mean the same in both worlds.

>>> def kernel(out):
...     assert out[0] == 1
>>> from tmalab.gpu.kernel_language import check_language
>>> check_language(kernel)
Traceback (most recent call last):
tmalab.gpu.errors.CompileError: cell:2: a kernel cannot raise or assert: the GPU would not notice; write to an array
"""

from __future__ import annotations

import builtins
import dis
import types
from typing import Any

from tmalab.gpu.errors import CompileError
from tmalab.texts import text

# Opcodes of Python 3.11 to 3.13, and the key of the sentence that refuses them.
_REFUSED = {
    "RAISE_VARARGS": "gpu.no-raise",
    "LOAD_ASSERTION_ERROR": "gpu.no-raise",
    "BEFORE_WITH": "gpu.no-try",
    "PUSH_EXC_INFO": "gpu.no-try",
    "IMPORT_NAME": "gpu.no-import",
    "STORE_GLOBAL": "gpu.no-global",
    "RETURN_GENERATOR": "gpu.no-generator",
    "YIELD_VALUE": "gpu.no-generator",
    "BUILD_LIST": "gpu.no-container",
    "BUILD_MAP": "gpu.no-container",
    "BUILD_SET": "gpu.no-container",
    "BUILD_CONST_KEY_MAP": "gpu.no-container",
    "FORMAT_VALUE": "gpu.no-format",
    "FORMAT_SIMPLE": "gpu.no-format",
    "FORMAT_WITH_SPEC": "gpu.no-format",
}


def check_language(function: types.FunctionType) -> None:
    """Raise CompileError at the first line that is not in the kernel language. Helpers are checked on their own."""
    _check(function.__code__, {**vars(builtins), **function.__globals__})


def _check(code: types.CodeType, names: dict[str, Any]) -> None:
    line = code.co_firstlineno
    for operation in dis.get_instructions(code):
        line = getattr(operation.positions, "lineno", None) or line
        if operation.opname in _REFUSED:
            raise CompileError(text(_REFUSED[operation.opname]), code.co_filename, line)
        if operation.opname == "LOAD_GLOBAL" and operation.argval not in names:
            raise CompileError(text("gpu.unknown-name", name=operation.argval), code.co_filename, line)
        if isinstance(operation.argval, types.CodeType):
            _check(operation.argval, names)
