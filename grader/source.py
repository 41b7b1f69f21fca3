"""A kernel's source, taken out by its syntax tree: what is judged is what was written, not the object that it became.

Decorators, defaults and annotations are left behind, unevaluated. What comes along is plain data: the text of the
function and of the `@device` helpers that it calls, the numbers that they name, and the names of what they import.

>>> take_source(len)                        # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
grader.source.NoSource: the answer is a builtin_function_or_method ...
"""

from __future__ import annotations

import ast
import builtins
import inspect
import symtable
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from types import FunctionType

import numpy as np

from grader.texts import text
from tmalab.launch import Device, Kernel

MODULES = {  # what a kernel may use, whole or by a name out of it
    "numba.cuda": "cuda",
    "tmalab.ptx": "ptx",
    "numpy": "np",
    "math": "math",
    "numba.core.types": "types",
    "numba": "numba",
    "tmalab": "tmalab",
    "builtins": "builtins",
}
NUMBERS = {int, bool, float, *(kind for kind in np.sctypeDict.values() if issubclass(kind, (np.number, np.bool_)))}
Constant = int | float | np.generic | tuple["Constant", ...]


class NoSource(Exception):
    """There is no kernel to judge; the message says why, in one sentence."""


@dataclass
class KernelSource:
    """A kernel as plain data: all that a check needs to build it again, here or in another process."""

    name: str
    parameters: list[str] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)  # name: text, lines counted as in the file or cell
    files: dict[str, str] = field(default_factory=dict)  # name: the file that the function stands in
    helpers: dict[str, str] = field(default_factory=dict)  # a @device helper as the kernel calls it: its own name
    modules: dict[str, str] = field(default_factory=dict)  # the learner's name: "np", or a name out of it, "np.float16"
    constants: dict[str, Constant] = field(default_factory=dict)


def take_source(answer: object) -> KernelSource:
    """The source of a kernel, or of a kernel's plain function. Raises NoSource with one sentence for anything else."""
    function = _plain_function(answer)
    if function is None:
        raise NoSource(text("source.not-a-kernel", type=type(answer).__name__))
    source = KernelSource(function.__name__)
    source.parameters = [argument.arg for argument in _add(function, source).args.args]
    return source


def stripped(source_text: str) -> ast.Module:
    """The syntax tree of one function without decorators, defaults and annotations; line numbers as they were."""
    try:
        module = ast.parse(source_text)
    except SyntaxError:  # a lambda's text is the line that it stands in
        raise NoSource(text("source.no-def")) from None
    if len(module.body) != 1 or not isinstance(module.body[0], ast.FunctionDef):  # what stands beside it would be run
        raise NoSource(text("source.no-def"))
    definition = module.body[0]
    arguments = definition.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
        raise NoSource(text("source.plain-parameters", name=definition.name))
    definition.decorator_list, definition.returns, arguments.defaults = [], None, []
    if sys.version_info >= (3, 12):
        definition.type_params = []
    for argument in arguments.args:
        argument.annotation = None
    return module


def _plain_function(answer: object) -> FunctionType | None:
    inner = answer.function if isinstance(answer, (Kernel, Device)) else answer
    return inner if isinstance(inner, FunctionType) else None


def _add(function: FunctionType, source: KernelSource) -> ast.FunctionDef:
    """Add a function and everything that it names to what was taken."""
    written = _text_of(function)
    definition = stripped(written).body[0]
    assert isinstance(definition, ast.FunctionDef)
    scope = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    source.functions[definition.name] = written
    source.files[definition.name] = function.__code__.co_filename
    for name in sorted(names_from_outside(definition)):
        if name != definition.name and name not in source.functions:
            _take_along(name, scope, source)
    return definition


def _text_of(function: FunctionType) -> str:
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError):
        raise NoSource(text("source.no-text", name=function.__name__)) from None
    return "\n" * (max(first, 1) - 1) + textwrap.dedent("".join(lines))


def names_from_outside(definition: ast.FunctionDef) -> Iterator[str]:
    """The names that a function reads from its module, nested functions included."""
    tables = [symtable.symtable(ast.unparse(definition), "<kernel>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        if isinstance(table, symtable.Function):
            yield from table.get_globals()


def _take_along(name: str, scope: dict[str, object], source: KernelSource) -> None:
    """One name that the kernel uses: a module or a name out of one, a number, a helper, a builtin; nothing else."""
    if name not in scope:
        if not hasattr(builtins, name):
            raise NoSource(text("source.unknown-name", name=name, kernel=source.name))
        return
    value = scope[name]
    known = _known(value)
    if known:
        source.modules[name] = known
    elif _is_constant(value):
        source.constants[name] = value  # type: ignore[assignment]
    elif isinstance(value, IntEnum):
        source.constants[name] = int(value)
    elif isinstance(value, Device):
        helper = _plain_function(value)
        assert helper is not None
        _add(helper, source)
        source.helpers[name] = helper.__name__
    else:
        raise NoSource(text("source.foreign-name", name=name, kernel=source.name, type=type(value).__name__))


def _known(value: object) -> str | None:
    """The usual name of a module or of something out of one, found by what it is: "np", "np.float16"; else None."""
    if isinstance(value, np.dtype):
        return _known(value.type)
    modules = [(short, sys.modules[long]) for long, short in MODULES.items() if long in sys.modules]
    whole = (short for short, module in modules if module is value)
    parts = (f"{short}.{name}" for short, module in modules for name, part in vars(module).items() if part is value)
    return next(whole, None) or (None if _is_constant(value) else next(parts, None))


def _is_constant(value: object) -> bool:
    """Whether it is a number, Python's or NumPy's own and no subclass, or a tuple of them."""
    return type(value) in NUMBERS or (type(value) is tuple and all(map(_is_constant, value)))
