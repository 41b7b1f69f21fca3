"""A compiler's complaint as one sentence with the learner's line.

numba's messages run to pages and speak of its own passes and overloads. Here the line is taken from where numba was
looking, and the reason from a table of the complaints that learners meet; any other is cut to its first sentence.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tmalab.gpu.errors import CompileError
from tmalab.ptx.instruction import UnknownInstruction
from tmalab.ptx.operands import OperandError
from tmalab.texts import text

_FILE = r"""File "([^"]+)", line (\d+)"""
_PLACES = (_FILE, r"at (\S+) \((\d+)\)", r"from (\S+) \((\d+)\)")  # as numba writes them

# A pattern in the complaint, and the key of the sentence; its named groups are the sentence's values.
_REASONS = (
    (r"NameError: name '(?P<name>\w+)' is not defined", "gpu.unknown-name"),
    (r"Variable '(?P<name>\w+)' is not defined", "gpu.unknown-name"),
    (r"Untyped global name '(?P<name>\w+)'.*<class 'function'>", "gpu.plain-function"),
    (r"Untyped global name '(?P<name>\w+)'.*<class '(?:[\w.]+\.)?(?P<given>\w+)'>", "gpu.untyped-name"),
    (r"\(List\(|'(?P<name>\w+)' = global\(", "gpu.no-container"),
    (r"module '(?:numba\.)?(?P<owner>[\w.]+)' has no attribute '(?P<name>\w+)'", "gpu.unknown-attribute"),
    (r"Unknown attribute '(?P<name>\w+)' of type (?P<owner>[^\n]+)", "gpu.unknown-attribute"),
    (r"Cannot resolve setattr: \((?P<owner>.*)\)\.(?P<name>\w+) =", "gpu.unknown-attribute"),
    (r"Cannot unify (?P<one>.+) and (?P<other>.+) for '(?P<name>\w+)", "gpu.two-types"),
    (r"Cannot unify (?P<one>.+) and (?P<other>.+) for '\$", "gpu.two-kinds"),
    (r"Function\(<function (?P<space>shared|local)\.array", "gpu.array-shape"),
    (r"Function\(<built-in function (?P<operation>\w+)>\)[\s\S]*?>>> \w+\((?P<types>.*)\)\n", "gpu.no-operation"),
    (r"Function\(<\w+ '?(?P<operation>[\w.]+)[\s\S]*?>>> \w+\((?P<types>.*)\)\n", "gpu.no-operation"),
    (r"No conversion from .* to none", "gpu.no-return"),
    (r"must have void return type", "gpu.no-return"),
    (r"Alignment must be (?P<rule>.*)", "gpu.alignment"),
    (r"array length <= 0", "gpu.array-length"),
)
_OPERATIONS = {  # numba's words for operations, where Python writes signs
    "setitem": "element assignment",
    "getitem": "indexing",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "iadd": "+=",
    "isub": "-=",
    "imul": "*=",
    "lshift": "<<",
    "rshift": ">>",
    "neg": "-",
}
_TYPES = (  # numba's words for types, and ours
    (r"Literal\[(?:int|str|bool)\]\(([^)]*)\)", r"\1"),
    (r"array\((\w+), (\d)d, \w\)", r"\2-d array of \1"),
    (r"class\((\w+)\)", r"\1"),
    (r"^Dim3$", "cuda's index"),
    (r"Module\(<module '(?:numba\.)?([\w.]+)'.*?>\)", r"\1"),
)


@contextmanager
def explained(function: types.FunctionType) -> Iterator[None]:
    """Turn whatever the compiler raises inside into CompileError."""
    try:
        yield
    except CompileError:
        raise
    except Exception as error:
        raise CompileError(_reason(error), *_place(error, function)) from None


def _place(error: Exception, function: types.FunctionType) -> tuple[str, int]:
    """File and line: what numba was looking at when it raised, else what its message names, else the kernel's first."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        if not frame.f_globals.get("__name__", "").endswith((".typeinfer", ".lowering")):
            continue
        seen: Any = getattr(frame.f_locals.get("self"), "loc", None)
        if getattr(seen, "line", None) and getattr(seen, "filename", None):
            return seen.filename, seen.line
    for pattern in _PLACES:
        found = re.findall(pattern, str(error))
        if found:
            return found[-1][0], int(found[-1][1])
    return function.__code__.co_filename, function.__code__.co_firstlineno


def _reason(error: Exception) -> str:
    message = str(error)
    if isinstance(error, (OperandError, UnknownInstruction)):
        return message
    for pattern, key in _REASONS:
        found = re.search(pattern, message)
        if found:
            values = {name: _plain(value) for name, value in found.groupdict(default="").items()}
            if key == "gpu.no-operation":
                values["operation"] = _OPERATIONS.get(values["operation"], values["operation"])
            return text(key, **values)
    if "Numba" not in "".join(kind.__name__ for kind in type(error).__mro__):  # the compiler itself stumbled
        return text("gpu.not-in-language")
    lines = [line.strip() for line in message.splitlines() if line.strip() and not line.startswith("Failed in")]
    return text("gpu.not-compiled", reason=_plain(lines[0] if lines else type(error).__name__))


def _plain(words: str) -> str:
    for pattern, replacement in _TYPES:
        words = re.sub(pattern, replacement, words)
    return words
