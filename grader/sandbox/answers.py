"""Run the cells that an answer needs, and say what the answer is in plain data; call it, if it is a function.

This runs in the task's own process, beside the learner's code: what is sent from here is an answer, never a judgement.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import linecache
import os
import random
import re
import socket
import sys
import traceback
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from grader.sandbox import wire
from grader.sandbox.exported import exported
from grader.sandbox.limits import Limits
from grader.slices import Cell, needed
from grader.texts import text

text.keys()  # read now: once a learner's cells run, the package that holds these sentences is out of reach
TIMERS = re.compile(r"^(\s*)%(?:%?(?:time|timeit|prun|capture)\b)[^\S\n]*(.*)$")


def give(
    connection: socket.socket,
    limits: Limits,
    cells: Sequence[tuple[str, str]],
    wanted: Mapping[str, str],
    questions: Mapping[str, object],
    environment: Mapping[str, str],
    whole: bool,
    known: Mapping[str, Cell] | None = None,
) -> None:
    """Send the answers to the `wanted` exercises, by id, then answer calls of those that are functions.

    `cells`      name and source of each code cell, in order
    `wanted`     exercise: the variable that its check is given, for a notebook that lost the check
    `questions`  exercise: what it asks, for `grader.questions`
    `whole`      run all cells, and take what the notebook's own checks are given; else only the needed ones
    `known`      the course's own cells by their source, read before: most of a notebook's are these
    """
    os.environ.update(environment)
    sys.path.insert(0, os.getcwd())
    random.seed(0)
    checks = _stand_in(questions)
    scope = _fresh_scope()
    parsed = [cell for cell in (_known_or_read(name, source, known or {}) for name, source in cells) if cell]
    chosen = parsed if whole else needed(parsed, set(wanted.values()))
    for cell in chosen:
        _execute(cell, scope)
    given = {id: _answer(id, variable, scope, checks if whole else {}) for id, variable in wanted.items()}
    answers = {id: exported(answer) for id, answer in given.items()}
    wire.send(connection.sendall, {"answers": answers, "ran": [cell.name for cell in chosen]})
    while True:
        try:
            call = wire.receive(connection.recv, limits.record)
        except EOFError:
            return
        wire.send(connection.sendall, list(_calls(given[call["exercise"]], call["arguments"])))


def _known_or_read(name: str, source: str, known: Mapping[str, Cell]) -> Cell | None:
    before = known.get(source.strip())
    return replace(before, name=name) if before else read(name, source)


def _answer(id: str, variable: str, scope: Mapping[str, object], checks: Mapping[str, object]) -> object:
    return checks[id] if id in checks else scope.get(variable)


def _calls(function: Any, several: Sequence[tuple]) -> Iterator[dict[str, object]]:
    """One call after the other, up to the first that raises."""
    for arguments in several:
        came_of_it = _call(function, arguments)
        yield came_of_it
        if "value" not in came_of_it:
            return


def _call(function: Any, arguments: tuple) -> dict[str, object]:
    """One call: its value as plain data, or what it raised, and in which line of the learner's."""
    try:
        return {"value": exported(function(*arguments))}
    except BaseException as error:  # SystemExit too
        frames = traceback.extract_tb(error.__traceback__)[1:]
        words = traceback.format_exception_only(error)[-1].strip().splitlines()[0][:160]
        return {"raised": type(error).__name__[:80], "words": words, "line": frames[0].lineno or 0 if frames else 0}


def _stand_in(questions: Mapping[str, object]) -> dict[str, object]:
    """Put a `grader` in place that only notes what its checks are given: the real one has no business here."""
    noted: dict[str, object] = {}
    stand_in = types.ModuleType("grader")

    def check(exercise_id: str, answer: object) -> float:
        noted[exercise_id] = answer
        return 0.0

    def ask(exercise_id: str) -> object:
        return questions[exercise_id]

    stand_in.check, stand_in.questions = check, ask  # type: ignore[attr-defined]
    for name in [name for name in sys.modules if name.partition(".")[0] == "grader"]:
        del sys.modules[name]
    sys.modules["grader"] = stand_in
    return noted


class _NoMagic:
    """Stands for IPython: its commands do nothing here, but for writing a file, which later cells may import."""

    def run_cell_magic(self, magic: str, line: str, cell: str) -> None:
        if magic in ("writefile", "file"):
            words = line.split()
            with open(words[-1], "a" if "-a" in words[:-1] else "w", encoding="utf-8") as file:
                file.write(cell)

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **named: None


def _fresh_scope() -> dict[str, object]:
    """The namespace of a notebook that has just been started."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    scope = vars(module)
    scope |= {"get_ipython": _NoMagic, "In": [], "Out": {}, "display": lambda *shown, **named: None, "exit": sys.exit}
    return scope


def read(name: str, source: str) -> Cell | None:
    """A cell as Python, or as IPython makes Python of it: commands taken out, code behind its timers kept, prompts and
    the indentation of a whole cell gone. None for what is neither."""
    plain = "\n".join(TIMERS.sub(r"\1\2", line) for line in source.splitlines()) + "\n"
    for made in (str, _by_ipython):
        with contextlib.suppress(Exception):  # SyntaxError, RecursionError, MemoryError
            return Cell.of(name, made(plain))
    return None


def _by_ipython(source: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    return TransformerManager().transform_cell(source)


def _execute(cell: Cell, scope: dict[str, object]) -> None:
    """Run one cell; one that raises does not stop the others."""
    linecache.cache[cell.name] = (len(cell.source), None, cell.source.splitlines(True), cell.name)
    with contextlib.suppress(BaseException):
        code = compile(cell.source, cell.name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        result = eval(code, scope)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(result)
