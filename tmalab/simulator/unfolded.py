"""A kernel's code with the way to an array's element spelt out where it stands, so that a read is no call.

    total += tile[i, j] * 2

reads its element in steps that take the interpreter 45 ns, where a call of `SmallMatrix.__getitem__` takes 160:

    try:
        .entry, .place = tile._rows[i][j]
        tile._log.append(.entry)
        .0 = tile._values[.place]
        if .0 is None: .0 = tile._fetched(.place)
    except .Elsewhere:
        .0 = tile[i, j]
    total += .0 * 2

That is the body of the method, and what the method leaves to the general way goes there from here as well. No name of
the learner's begins with a dot. Lines stay where they are. A read stays as it was where something else may have to
happen before it, or where it may not happen; so does a function whose source is not the one that its code was made of.
"""

from __future__ import annotations
import __future__

import ast
import inspect
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tmalab.simulator.known_names import Known, Outer
from tmalab.simulator.quick_arrays import ELSEWHERE, SmallCube, SmallMatrix, SmallVector
from tmalab.simulator.unfolding import Unfolding

# What the code looks up.
NAMES: dict[str, Any] = {".Elsewhere": (AttributeError, *ELSEWHERE), ".Beyond": IndexError, ".type": type}
QUICK = (SmallVector, SmallMatrix, SmallCube)
FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
MOST_KEPT = 256  # functions
SCOPED = (  # what has a scope of its own, binds names in other ways, or leaves a statement in its middle
    ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.ClassDef, ast.AsyncFunctionDef, ast.Try,
    ast.TryStar, ast.With, ast.Match, ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Global, ast.Nonlocal,
    ast.Delete, ast.Import, ast.ImportFrom,
)  # fmt: skip
# By id of a code (its hash is computed anew each time), and arrays: it, what was made of it, and what that relies on.
_made: dict[tuple, tuple[CodeType, CodeType, dict[str, Any]]] = {}


def unfolded(function: FunctionType, arguments: tuple[Any, ...]) -> CodeType:
    """The code of a function for these arguments (as many as are known): its own where there is nothing to gain."""
    code, outer = function.__code__, Outer(function)
    arrays = {name: value.ndim for name, value in zip(code.co_varnames, arguments) if isinstance(value, QUICK)}
    key = (id(code), *arrays.items())
    if key not in _made or not outer.still_says(_made[key][2]):
        if len(_made) >= MOST_KEPT:
            _made.clear()
        _made[key] = code, _unfolded(function, outer, arrays), outer.asked
    return _made[key][1]


def _unfolded(function: FunctionType, outer: Outer, arrays: dict[str, int]) -> CodeType:
    code = function.__code__
    tree = _tree(function)
    if tree is None or code.co_cellvars or not _has_loops(tree):
        return code
    modules = [name for name in code.co_names if isinstance(function.__globals__.get(name), ModuleType)]
    for imported in (modules, []):  # the compiler treats names that the same file imports in another way
        if _same(_compiled(tree, function, imported), code):
            unfolding = Unfolding(Known(tree, outer, arrays))
            tree.body = unfolding.body(tree.body)
            return _compiled(tree, function, imported) if unfolding.in_loops else code
    return code


def _has_loops(tree: ast.FunctionDef) -> bool:
    nodes = [node for statement in tree.body for node in ast.walk(statement)]
    plain = not any(isinstance(node, (*SCOPED, ast.FunctionDef)) for node in nodes)
    return plain and any(isinstance(node, ast.For | ast.While) for node in nodes)


def _tree(function: FunctionType) -> ast.FunctionDef | None:
    """The source of a function, its lines numbered as in the file."""
    try:
        source = inspect.getsource(function)
        tree: Any = ast.parse(f"if True:\n{source}" if source[:1].isspace() else source).body[0]
    except (OSError, TypeError, SyntaxError):  # no source at hand
        return None
    tree = tree.body[0] if isinstance(tree, ast.If) else tree
    if not isinstance(tree, ast.FunctionDef):
        return None
    first = min([tree.lineno, *(decorator.lineno for decorator in tree.decorator_list)])
    ast.increment_lineno(tree, function.__code__.co_firstlineno - first)
    return tree


def _compiled(tree: ast.FunctionDef, function: FunctionType, imported: list[str]) -> CodeType:
    """The code of a function, made as the part of another that has its free variables, in a file that imports these."""
    code = function.__code__
    around: Any = ast.parse("def around(): pass").body[0]
    around.args.args = [ast.arg(name) for name in code.co_freevars]
    around.body = [tree]
    imports: list[ast.stmt] = [ast.Import([ast.alias(name)]) for name in imported]
    module = ast.fix_missing_locations(ast.Module([*imports, around], []))
    made = compile(module, code.co_filename, "exec", flags=code.co_flags & FUTURES, dont_inherit=True)
    (outer,) = (each for each in made.co_consts if isinstance(each, CodeType))
    found = next(each for each in outer.co_consts if isinstance(each, CodeType) and each.co_name == code.co_name)
    return found.replace(co_qualname=code.co_qualname)


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same in the same lines."""
    parts = ("co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_argcount", "co_exceptiontable")
    same = all(getattr(one, part) == getattr(other, part) for part in parts)
    return same and [line for *_, line in one.co_lines()] == [line for *_, line in other.co_lines()]
