"""What can be seen of barriers in a kernel's source, before it runs.

Some checks cost time at every barrier and matter for few kernels only, such as those that have a barrier in a branch.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from tmalab.launch import Device

MEETING, NAMED = "syncthreads", "barrier_sync"


@lru_cache(maxsize=256)
def branches_at_barriers(function: Callable[..., Any]) -> bool:
    """Whether a branch of a kernel, or of a helper that it calls, has a syncthreads."""
    functions = _with_helpers(function)
    meeting = {MEETING, *(each.__name__ for each in functions if MEETING in map(_name, _calls(_tree(each))))}
    branches = (node for each in functions for node in ast.walk(_tree(each)) if isinstance(node, ast.If))
    return any(_name(call) in meeting for branch in branches for call in _calls(branch))


@lru_cache(maxsize=256)
def may_wait_in(function: Callable[..., Any], id: int) -> bool:
    """Whether a kernel, or a helper that it calls, may wait in a named barrier, for all that its source says."""
    waits = (call for each in _with_helpers(function) for call in _calls(_tree(each)) if _name(call) == NAMED)
    return any(not (call.args and isinstance(call.args[0], ast.Constant)) or call.args[0].value == id for call in waits)


def _with_helpers(function: Callable[..., Any]) -> list[Callable[..., Any]]:
    """A function and the device functions that it calls by their names, and they in turn."""
    found = [function]
    for each in found:
        variables = inspect.getclosurevars(each)
        called = (*variables.globals.values(), *variables.nonlocals.values())
        found += {it.function: None for it in called if isinstance(it, Device) and it.function not in found}
    return found


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def _name(call: ast.Call) -> str:
    """`syncthreads` of cuda.syncthreads()"""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


@lru_cache(maxsize=256)
def _tree(function: Callable[..., Any]) -> ast.AST:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # no source at hand, or a lambda in the middle of a line
        return ast.Module([], [])
