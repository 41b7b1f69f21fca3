"""Helpers and constants of a kernel: what it finds in its globals and closure when it is compiled.

A helper is a `tmalab.device` object. numba inlines only its own functions, so a kernel is compiled from a copy in which
each helper is `cuda.jit(device=True, inline="always")` of the helper's own copy. The kernel itself stays as it is.
"""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np
from numba import cuda

from tmalab.gpu.errors import CompileError
from tmalab.gpu.kernel_language import check_language
from tmalab.launch import Device
from tmalab.texts import text


def for_numba(function: types.FunctionType) -> types.FunctionType:
    """A copy of a function for numba, with every helper that it names, or reaches as `module.name`, replaced.

    Raises CompileError where it, or a helper, is not in the kernel language.
    """
    check_language(function)
    names = set(_names(function.__code__))
    scope = {
        name: _value_for_numba(value, names) if name in names else value for name, value in function.__globals__.items()
    }
    closure = tuple(types.CellType(_value_for_numba(cell.cell_contents, names)) for cell in function.__closure__ or ())
    copy = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, closure or None)
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    return copy


def refuse_recursion(function: types.FunctionType, callers: tuple[types.FunctionType, ...] = ()) -> None:
    """Raise CompileError where a helper calls itself, at once or through others: helpers are inlined."""
    if function in callers:
        code = callers[-1].__code__
        reason = text("gpu.recursion", name=function.__name__, caller=code.co_name)
        raise CompileError(reason, code.co_filename, code.co_firstlineno)
    for helper in _helpers(function):
        refuse_recursion(helper.function, (*callers, function))


def _helpers(function: types.FunctionType) -> Iterator[Device]:
    """The helpers that a function names, or reaches as `module.name`."""
    names = set(_names(function.__code__))
    scope = [function.__globals__[name] for name in sorted(names) if name in function.__globals__]
    for value in (*scope, *(cell.cell_contents for cell in function.__closure__ or ())):
        yield from (value,) if isinstance(value, Device) else _module_helpers(value, names).values()


def fingerprint(function: types.FunctionType) -> tuple:
    """What a compiled kernel depends on beside its signature: the code and the values of the names that it uses.

    Not on where it stands: a check's copy of a learner's kernel, or a cell that has moved, is not compiled again.
    """
    names = sorted(set(_names(function.__code__)))
    found = [(name, _value(function.__globals__[name], names)) for name in names if name in function.__globals__]
    cells = [_value(cell.cell_contents, names) for cell in function.__closure__ or ()]
    return _anywhere(function.__code__), tuple(found), tuple(cells)


def _anywhere(code: types.CodeType) -> types.CodeType:
    """The code without the file and the lines that it stands in."""
    inner = tuple(_anywhere(each) if isinstance(each, types.CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=inner, co_filename="", co_firstlineno=1, co_linetable=b"", co_qualname=code.co_name)


def _names(code: types.CodeType) -> Iterator[str]:
    """The global and attribute names of a function and of those defined inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _value_for_numba(value: Any, names: set[str]) -> Any:
    if isinstance(value, Device):
        return cuda.jit(device=True, inline="always")(for_numba(value.function))
    helpers = _module_helpers(value, names)
    if not helpers:
        return value
    module = types.ModuleType(value.__name__)
    vars(module).update(vars(value))
    vars(module).update({name: _value_for_numba(helper, names) for name, helper in helpers.items()})
    return module


def _module_helpers(value: Any, names: Any) -> dict[str, Device]:
    if not isinstance(value, types.ModuleType):
        return {}
    return {name: vars(value)[name] for name in names if isinstance(vars(value).get(name), Device)}


def _value(value: Any, names: Any) -> Any:
    if isinstance(value, Device):
        return fingerprint(value.function)
    if isinstance(value, (int, float, complex, str, bytes, bool, type(None))):
        return type(value), value
    if isinstance(value, np.ndarray):
        return value.shape, str(value.dtype), value.tobytes()
    if isinstance(value, tuple):
        return tuple(_value(part, names) for part in value)
    identity = value if isinstance(value, Hashable) else id(value)
    helpers = _module_helpers(value, names)
    return identity, tuple(sorted((name, fingerprint(helper.function)) for name, helper in helpers.items()))
