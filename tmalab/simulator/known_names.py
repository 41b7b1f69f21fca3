"""What a function's source says of its local names: which are arrays of how many dimensions, which are never negative.

All assignments of a function are looked at together, whatever their order: a name is known where each of them, and
there is no other, says the same.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from tmalab.simulator.quick_arrays import SMALL

INDICES = {"threadIdx", "blockIdx", "blockDim", "gridDim"}  # of numba.cuda: from 0 up, or from 1
COUNTS = {"laneid", "warpsize"}
GRID = {"grid", "gridsize"}
GROWING = (ast.Add, ast.Mult, ast.FloorDiv, ast.BitOr, ast.BitXor, ast.RShift, ast.LShift)  # of what is not negative
PURE = {min, max, abs, int, float, bool, round, len}  # calls that change nothing
Binding = ast.expr | None  # what is assigned to a name; None: nobody knows


class Outer:
    """The names that a function finds outside, and what it was told of them: `asked`, by dotted name."""

    def __init__(self, function: FunctionType):
        self._scopes = [_cells(function), function.__globals__, vars(builtins)]
        self.asked: dict[str, Any] = {}

    def __getitem__(self, dotted: str) -> Any:
        name, *parts = dotted.split(".")
        value = next((scope[name] for scope in self._scopes if name in scope), None)
        for part in parts:
            value = vars(value).get(part) if isinstance(value, ModuleType) else None
        self.asked[dotted] = value
        return value

    def still_says(self, asked: dict[str, Any]) -> bool:
        """Whether names mean the same as when they were asked."""
        return all(_is_same(self[name], value) for name, value in asked.items())


class Known:
    """The local names of a function.

    arrays   the names of small arrays, and their numbers of dimensions; at first those of the parameters
    """

    def __init__(self, tree: ast.FunctionDef, outer: Outer, arrays: dict[str, int]):
        self._outer = outer
        self._bound: dict[str, list[Binding]] = defaultdict(list)
        for name, value in _bindings(tree):
            self._bound[name].append(value)
        self._parameters = {node.arg for node in ast.walk(tree.args) if isinstance(node, ast.arg)}
        self.arrays = {name: ndim for name, ndim in arrays.items() if name not in self._bound}
        self._find_arrays()
        self._never_negative = set(self._bound) - self._parameters
        while left_out := {
            name for name in self._never_negative if not all(map(self.never_negative, self._bound[name]))
        }:
            self._never_negative -= left_out

    def never_negative(self, node: Binding) -> bool:
        """Whether an expression is a number that is not below zero."""
        match node:
            case ast.Constant(value=int() | float() as number):
                return number >= 0
            case ast.Name():
                return self._name_never_negative(node.id)
            case ast.Attribute() | ast.Call():
                return self._cuda_gives(node)
            case ast.BinOp(op=ast.Mod()):
                return self.never_negative(node.right)
            case ast.BinOp(op=ast.BitAnd()):
                return self.never_negative(node.left) or self.never_negative(node.right)
            case ast.BinOp() if isinstance(node.op, GROWING):
                return self.never_negative(node.left) and self.never_negative(node.right)
        return False

    def is_pure(self, function: ast.expr) -> bool:
        """Whether a call of it changes nothing and waits for nothing: a type of numbers, `min`, `math.sqrt`, ..."""
        name = _dotted(function)
        value = self._outside(name) if name is not None else None
        return _is_number_type(value) or _is_in(value, PURE) or _is_in(value, vars(math).values())

    def _all_never_negative(self, name: str) -> bool:
        return all(map(self.never_negative, self._bound[name]))

    def _name_never_negative(self, name: str) -> bool:
        if self._is_local(name):
            return name in self._never_negative
        value = self._outer[name]
        return isinstance(value, int) and value >= 0

    def _cuda_gives(self, node: ast.Attribute | ast.Call) -> bool:
        """Whether it is a number that `cuda` gives: an index, or a size; or those of a range."""
        parts = self._of_cuda(node.func if isinstance(node, ast.Call) else node)
        if isinstance(node, ast.Attribute):
            return parts is not None and (parts[0] in INDICES or parts[0] in COUNTS)
        if parts is not None:
            return parts[0] in GRID
        if _dotted(node.func) != "range" or self._outside("range") is not range or node.keywords:
            return False
        start, step = node.args[:1] if len(node.args) > 1 else [], node.args[2:]
        return all(map(self.never_negative, [*start, *step]))

    def _find_arrays(self) -> None:
        """Names that are bound once: to an array that the kernel asks for, or a part of one that is known."""
        once = {name: values[0] for name, values in self._bound.items() if len(values) == 1}
        once = {name: value for name, value in once.items() if name not in self._parameters}
        count = -1
        while len(self.arrays) > count:  # a part may be found after its whole
            count = len(self.arrays)
            for name, value in once.items():
                ndim = self._dimensions(value)
                if ndim in (1, 2, 3):
                    self.arrays[name] = ndim

    def _dimensions(self, node: Binding) -> int | None:
        match node:
            case ast.Call(args=[shape, *_]) if self._of_cuda(node.func) in (["shared", "array"], ["local", "array"]):
                lengths = self._value(shape)
                lengths = lengths if isinstance(lengths, tuple) else (lengths,)
                small = all(isinstance(n, int) for n in lengths) and 0 < math.prod(lengths) <= SMALL
                return len(lengths) if small else None
            case ast.Subscript(value=ast.Name(id=name)) if name in self.arrays:
                indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if not any(isinstance(index, ast.Slice | ast.Starred) for index in indices):
                    return self.arrays[name] - len(indices)
        return None

    def _value(self, node: ast.expr) -> Any:
        """What an expression of constants and names from outside comes to; None where that is not known."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Tuple():
                return tuple(map(self._value, node.elts))
            case ast.Name() | ast.Attribute() if (name := _dotted(node)) is not None:
                return self._outside(name)
            case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv()):
                left, right = self._value(node.left), self._value(node.right)
                if not (isinstance(left, int) and isinstance(right, int)):
                    return None
                counted = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__}
                return counted.get(type(node.op), lambda a, b: a // b if b else None)(left, right)
        return None

    def _of_cuda(self, node: ast.expr) -> list[str] | None:
        """`["threadIdx", "x"]` of cuda.threadIdx.x; None where it is not of numba.cuda."""
        name = _dotted(node)
        if name is None:
            return None
        root, *parts = name.split(".")
        module = self._outside(root)
        return parts if parts and isinstance(module, ModuleType) and module.__name__ == "numba.cuda" else None

    def _outside(self, dotted: str) -> Any:
        return None if self._is_local(dotted.split(".")[0]) else self._outer[dotted]

    def _is_local(self, name: str) -> bool:
        return name in self._bound or name in self._parameters


def _bindings(tree: ast.FunctionDef) -> Iterator[tuple[str, Binding]]:
    """Each name that a function assigns to, and what."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign():
                for target in node.targets:
                    yield from _assigned(target, node.value)
            case ast.AnnAssign(value=ast.expr()):
                yield from _assigned(node.target, node.value)
            case ast.AugAssign(target=ast.Name(id=name)):
                yield name, ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value)
            case ast.For():
                yield from _assigned(node.target, node.iter if _is_range(node.iter) else None)


def _assigned(target: ast.expr, value: Binding) -> Iterator[tuple[str, Binding]]:
    match target, value:
        case ast.Name(), _:
            yield target.id, value
        case ast.Tuple(), ast.Tuple() if len(target.elts) == len(value.elts):
            for each, part in zip(target.elts, value.elts):
                yield from _assigned(each, part)
        case ast.Tuple(), ast.Call():  # x, y = cuda.grid(2): what holds for the call holds for each
            for each in target.elts:
                yield from _assigned(each, value)
        case _:
            for node in ast.walk(target):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node.id, None


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _dotted(node: ast.expr) -> str | None:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            root = _dotted(node.value)
            return root and f"{root}.{node.attr}"
    return None


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (type(one) is type(other) is int and one == other)


def _is_in(value: Any, those: Any) -> bool:
    return callable(value) and any(value is each for each in those)


def _is_number_type(value: Any) -> bool:
    """numba's float32, or NumPy's."""
    import numba
    import numpy as np

    return isinstance(value, numba.types.Number) or (isinstance(value, type) and issubclass(value, np.number))


def _cells(function: Callable[..., Any]) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not yet assigned
            found[name] = None
    return found
