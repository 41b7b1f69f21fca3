"""Answers that are a plain Python function of whole numbers, tried on many arguments.

>>> double = Table("doubles", 2, {(1,): 2, (5,): 10})
>>> [finding.points for finding in judge_function(lambda n: 2 * n, [double])]
[2]
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader import runner
from grader.exercise import Finding, right, wrong
from grader.judges.numbers import as_whole, shown
from grader.limits import FromSandbox, Raised, TookTooLong, call_within
from grader.sandbox.exported import Remote
from grader.texts import text

SECONDS = 2.0  # for all calls of all tables; after one that never ends no other is tried
LEAST = 0.5  # seconds that a table has, however long the others took

Arguments = tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """One part of the check: arguments and the number that each must give, and what known mistakes give instead."""

    part: str
    points: float
    expected: Mapping[Any, int]  # by arguments, a tuple
    mistakes: Mapping[str, Callable[..., int]] | None = None


def judge_function(answer: object, tables: Sequence[Table]) -> list[Finding]:
    """A finding for each table. A function that raises, never ends or returns no number fails with one sentence."""
    if not callable(answer) or isinstance(answer, type):
        message = text("function.not-a-function", type=type(answer).__name__)
        first, *others = tables
        return [wrong(first.part, first.points, message, "form"), *(_not_tried(table, "form") for table in others)]
    findings: list[Finding] = []
    known = list(tables[0].mistakes or {})  # that explain all that the function has given so far
    deadline = time.monotonic() + SECONDS * runner.current().patience
    for table in tables:
        endless = any(finding.cause == "endless" for finding in findings)
        left = max(deadline - time.monotonic(), LEAST)
        finding, values = (_not_tried(table, "endless"), []) if endless else _judge_table(answer, table, left)
        findings.append(finding)
        known = [cause for cause in known if not values or _explains(table, cause, values)]
    return [
        replace(finding, cause=known[0]) if known and finding.cause in (tables[0].mistakes or {}) else finding
        for finding in findings
    ]


def _not_tried(table: Table, cause: str) -> Finding:
    return wrong(table.part, table.points, text("report.not-looked-at"), cause)


def _judge_table(function: Callable[..., object], table: Table, seconds: float) -> tuple[Finding, list[int | None]]:
    """The finding, and what the function gave; nothing where it gave no numbers."""
    current: list[Arguments] = []

    def begins(arguments: Arguments) -> None:
        current[:] = [arguments]

    def call_all() -> list[object]:
        if isinstance(function, Remote):
            return list(function.values(list(table.expected), begins))
        return [_call(function, arguments, begins) for arguments in table.expected]

    try:
        seen = call_within(seconds, call_all)
    except TookTooLong as late:
        call = text("function.hidden-call") if runner.current().discreet else _call_text(current)
        message = text("function.endless", call=call, seconds=round(late.seconds, 1))
        return wrong(table.part, table.points, message, "endless"), []
    except Raised as raised:
        if runner.current().discreet:
            return wrong(table.part, table.points, text("function.raises-hidden"), "raises"), []
        line = _line_of(raised.error)
        key = "function.raises" if line else "function.not-callable"
        message = text(key, call=_call_text(current), error=_one_line(raised.error), line=line)
        return wrong(table.part, table.points, message, "raises"), []
    return _compare(table, seen), [as_whole(value) for value in seen]


def _call(function: Callable[..., object], arguments: Arguments, begins: Callable[[Arguments], None]) -> object:
    begins(arguments)
    return function(*arguments)


def _compare(table: Table, seen: list[object]) -> Finding:
    values = [as_whole(value) for value in seen]
    pairs = zip(values, table.expected.values(), strict=True)
    misses = [i for i, (value, wanted) in enumerate(pairs) if value != wanted]
    if not misses:
        return right(table.part, table.points, text("function.all-right", count=len(seen)))
    first = misses[0]
    arguments, wanted = list(table.expected.items())[first]
    if runner.current().discreet:
        message = text("function.wrong-hidden", right=len(seen) - len(misses), count=len(seen))
        return wrong(table.part, table.points, message, _mistake(table, values))
    if seen[first] is None:
        message = text("function.nothing", call=_call_text([arguments]))
        return wrong(table.part, table.points, message, "returns-nothing")
    message = text(
        "function.wrong",
        right=len(seen) - len(misses),
        count=len(seen),
        call=_call_text([arguments]),
        expected=wanted,
        seen=shown(seen[first]),
    )
    if values[first] is None:
        return wrong(table.part, table.points, message, "type")
    return wrong(table.part, table.points, message, _mistake(table, values))


def _mistake(table: Table, values: list[int | None]) -> str:
    return next((cause for cause in table.mistakes or {} if _explains(table, cause, values)), "values")


def _explains(table: Table, cause: str, values: list[int | None]) -> bool:
    """Whether a known mistake gives all that a function gave."""
    function = (table.mistakes or {})[cause]
    return all(value == function(*arguments) for value, arguments in zip(values, table.expected, strict=True))


def _call_text(current: list[Arguments]) -> str:
    return f"({', '.join(map(str, current[0]))})" if current else "()"


def _one_line(error: BaseException) -> str:
    if isinstance(error, FromSandbox):
        return error.words
    return traceback.format_exception_only(error)[-1].strip().splitlines()[0][:160]


def _line_of(error: BaseException) -> int:
    """The line of the learner's function that raised, or called what raised; 0 where the call itself failed."""
    if isinstance(error, FromSandbox):
        return error.line
    frames = traceback.extract_tb(error.__traceback__)
    ours = next((i for i, frame in enumerate(frames) if frame.name == "_call"), len(frames))
    return (frames[ours + 1].lineno or 0) if ours + 1 < len(frames) else 0
