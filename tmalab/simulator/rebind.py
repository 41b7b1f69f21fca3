"""A kernel's function as the simulator runs it: the same code, with `cuda` meaning the simulated GPU.

Names are looked at in globals and closures; a helper is bound when it is called. A plain function that a kernel calls
would not compile: it is replaced by the sentence that says so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tmalab.simulator.errors import KernelError
from tmalab.simulator.unfolded import NAMES
from tmalab.texts import text


def rebound(function: FunctionType, cuda: Any, code: CodeType | None = None) -> FunctionType:
    """A copy of a function that finds `cuda` where numba's own module was. `code`: that it runs, if not its own."""
    scope = dict(function.__globals__) | NAMES
    for name in set(names_used(function.__code__)) & scope.keys():
        scope[name] = _stand_in(name, scope[name], cuda)
    cells = function.__closure__ or ()
    closure = tuple(_cell(name, cell, cuda) for name, cell in zip(function.__code__.co_freevars, cells))
    copy = FunctionType(code or function.__code__, scope, function.__name__, function.__defaults__, closure or None)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def with_arguments(function: FunctionType, arguments: tuple[Any, ...]) -> Callable[[], Any]:
    """A function that has its arguments. The interpreter calls it without a level of its own, which a thread that waits
    would have to keep, and to put back: a third of what a switch of threads moves."""
    code = function.__code__
    if code.co_argcount != len(arguments) or code.co_kwonlyargcount:
        return partial(function, *arguments)
    made = FunctionType(code, function.__globals__, function.__name__, arguments, function.__closure__)
    made.__qualname__ = function.__qualname__
    return made


def names_used(code: CodeType) -> Iterator[str]:
    """The global and attribute names of a function and of those defined inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_used(constant)


class _Numba:
    """The module `numba` with its `cuda` replaced."""

    def __init__(self, numba: ModuleType, cuda: Any):
        self._numba, self.cuda = numba, cuda

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numba, name)


def _cell(name: str, cell: CellType, cuda: Any) -> CellType:
    try:
        return CellType(_stand_in(name, cell.cell_contents, cuda))
    except ValueError:  # not yet assigned
        return cell


def _stand_in(name: str, value: Any, cuda: Any) -> Any:
    """What a name means inside the simulator."""
    numba = sys.modules.get("numba")
    if numba is not None and isinstance(value, (numba.types.Integer, numba.types.Float)):
        return np.dtype(value.name).type  # numba's float32(x) is NumPy's, which it takes 1 us to find
    if isinstance(value, ModuleType):
        return {"numba.cuda": cuda, "numba": _Numba(value, cuda)}.get(value.__name__, value)
    return _refused(name) if isinstance(value, FunctionType) else value


def _refused(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **named: Any) -> None:
        raise KernelError(text("simulator.plain-function", name=name))

    return refuse
