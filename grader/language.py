"""The kernel language by its syntax: what a kernel may say where a judgement rests on running it.

A process that runs a kernel reports hazards and bytes itself. Those reports are true only if the kernel can't reach
the simulator around it, so everything is refused that is not plainly a kernel's: imports, attributes of Python's
machinery, functions that are no instruction, number or formula. Where a compiler is at hand it says no first, and in
better words; this is for what the compiler leaves out as unreachable, and for computers without one.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from enum import IntEnum
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numba.core.types import Type

from grader.source import MODULES, KernelSource, names_from_outside, stripped
from grader.texts import text
from tmalab.ptx.instruction import Instruction

SYNTAX: tuple[type[ast.AST], ...] = (
    ast.Module,
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Return,
    ast.Assign,
    ast.AugAssign,
    ast.AnnAssign,
)
SYNTAX += (ast.For, ast.While, ast.If, ast.Pass, ast.Break, ast.Continue, ast.Expr, ast.Assert, ast.NamedExpr)
SYNTAX += (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.keyword, ast.Constant, ast.IfExp)
SYNTAX += (ast.Attribute, ast.Subscript, ast.Slice, ast.Name, ast.Tuple, ast.Lambda, ast.Raise)
SYNTAX += (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)

BUILTINS = {"range", "len", "min", "max", "abs", "int", "float", "bool", "round", "pow", "divmod", "print", "enumerate"}
BUILTINS |= {"zip", "sum", "tuple", "ValueError", "RuntimeError", "AssertionError", "Exception"}
OF_VALUES = {"shape", "size", "ndim", "itemsize", "nbytes", "strides", "dtype", "x", "y", "z", "real", "imag", "T"}
SHORT = {("numba", "cuda"): "cuda", ("tmalab", "ptx"): "ptx"}
KERNELS_OWN = (
    ".stubs",
    ".intrinsics",
)  # the modules of numba.cuda that hold what kernels use, and nothing of its hosts


class NotTheLanguage(Exception):
    """The kernel says something that no kernel may; the message is one sentence with the line."""


def check(source: KernelSource) -> None:
    """Raise NotTheLanguage unless all of a kernel's functions keep to the kernel language."""
    helpers = {name for name, own in source.helpers.items() if own in source.functions}
    known = source.modules.keys() | source.constants.keys() | source.functions.keys() | helpers
    for name, written in source.functions.items():
        tree = stripped(written)
        if tree.body[0].name != name:  # type: ignore[attr-defined]
            raise NotTheLanguage(text("language.refused", kernel=source.name, line=0, what=name))
        for node in ast.walk(tree):
            reason = _reason(node, source)
            if reason:
                line = getattr(node, "lineno", 0)
                raise NotTheLanguage(text("language.refused", kernel=name, line=line, what=reason))
        for outer in sorted(set(names_from_outside(tree.body[0])) - known - BUILTINS):  # type: ignore[arg-type]
            raise NotTheLanguage(text("language.refused", kernel=name, line=tree.body[0].lineno, what=outer))
    for name, path in source.modules.items():
        module, _, part = path.partition(".")
        if part and not _is_known(module, part.split(".")):
            raise NotTheLanguage(text("language.refused", kernel=source.name, line=0, what=name))


def _reason(node: ast.AST, source: KernelSource) -> str:
    """What is wrong with one node of a kernel's syntax; nothing where it is allowed."""
    if not isinstance(node, SYNTAX):
        return type(node).__name__
    if isinstance(node, ast.FunctionDef) and node.decorator_list:
        return "@"
    if isinstance(node, (ast.Name, ast.arg)):
        name = node.id if isinstance(node, ast.Name) else node.arg
        return name if name.startswith("__") else ""
    if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
        return f"{ast.unparse(node)[-80:]} ="
    if isinstance(node, ast.Attribute):
        return "" if _is_known_attribute(node, source) else ast.unparse(node)[-80:]
    return ""


def _is_known_attribute(node: ast.Attribute, source: KernelSource) -> bool:
    *_, root = chain = list(_parts(node))
    names = chain[-2::-1]
    if any(name.startswith("_") for name in names):
        return False
    known = source.modules.get(root)
    if known is None:
        return names[-1] in OF_VALUES
    module, _, part = known.partition(".")
    return _is_known(module, [*filter(None, part.split(".")), *names])


def _is_known(module: str, path: list[str]) -> bool:
    """Whether a kernel may name what a chain of attributes from a module means.

    In the simulator `cuda` and `ptx` are its own objects, which hold more than their namesakes: only what these have
    is known. Of an instruction that there is not the run says which one may be meant.
    """
    if len(path) > 1 and (module, path[0]) in SHORT:
        module, path = SHORT[module, path[0]], path[1:]
    if module == "ptx":
        return len(path) == 1 and isinstance(_resolved(module, path), Instruction | None)
    if module == "cuda":
        return _is_a_kernels(_resolved(module, path[:1])) and _resolved(module, path) is not None
    while len(path) > 1 and path[-1] in OF_VALUES:
        path = path[:-1]
    return _may_end_in(module, _resolved(module, path))


def _parts(node: ast.expr) -> Iterator[str]:
    """The names of a chain of attributes, the last one first; the root is empty where it is no name."""
    while isinstance(node, ast.Attribute):
        yield node.attr
        node = node.value
    yield node.id if isinstance(node, ast.Name) else ""


def _resolved(module: str, path: list[str]) -> Any:
    """What a chain of attributes means outside the simulator; None where it means nothing."""
    try:
        value: Any = import_module({short: long for long, short in MODULES.items()}[module])
    except ImportError:
        return None
    for name in path:
        value = getattr(value, name, None)
    return value


def _is_a_kernels(value: Any) -> bool:
    """Whether this value of numba.cuda is for kernels: an index, a function of the GPU's, a type of numbers."""
    modules = (str(getattr(of, "__module__", "")) for of in (value, type(value)))
    return isinstance(value, Type) or any(module.endswith(KERNELS_OWN) for module in modules)


def _may_end_in(module: str, value: Any) -> bool:
    """Whether a kernel may name this value of a module, which is not one of the GPU's."""
    if module == "builtins":
        return getattr(value, "__name__", "") in BUILTINS
    if isinstance(value, ModuleType):
        return value.__name__ in MODULES
    if module == "math":
        return isinstance(value, float) or value in vars(math).values()
    if isinstance(value, type):
        return issubclass(value, (np.generic, IntEnum))
    return isinstance(value, (bool, int, float, np.generic, np.ufunc, np.dtype, Type))
