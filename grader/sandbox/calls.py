"""Calls of a learner's function, as the grader makes them: in a process of the sandbox that has run its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from grader.limits import Failed, FromSandbox
from grader.sandbox.exported import printable, taken
from grader.sandbox.host import Connection
from grader.texts import text


class Calls:
    """Calls of a learner's function, in one process that has run its cells; it is started by the first call."""

    def __init__(self, begin: Callable[[], Connection], exercise: str):
        self._begin, self._exercise = begin, exercise
        self._connection: Connection | None = None

    def __call__(self, arguments: tuple) -> Any:
        return self.several([arguments])[0]()

    def several(self, arguments: Sequence[tuple]) -> list[Callable[[], Any]]:
        """For each call what gives its value, or raises FromSandbox; none comes after that. Raises Failed."""
        if self._connection is None:
            self._connection = self._begin()
            self._connection.hear()
        self._connection.say({"exercise": self._exercise, "arguments": list(map(tuple, arguments))})
        try:
            records = self._connection.hear()
        except Failed:
            self._connection = None  # it is over; another process may go on
            raise
        told = type(records) is list and 0 < len(records) <= len(arguments) and type(records[-1]) is dict
        if not told or (len(records) < len(arguments) and "value" in records[-1]):
            raise Failed("malformed", text("sandbox.malformed"))
        return [partial(self._value, record) for record in records]

    @staticmethod
    def _value(record: Any) -> Any:
        if type(record) is dict and set(record) == {"value"}:
            return taken(record["value"])
        words, line = entry(record, "words", str), entry(record, "line", int)
        raise FromSandbox(printable(words, 160), line)

    def close(self) -> None:
        """End the process, if there is one."""
        if self._connection is not None:
            self._connection.close()


def entry(record: Any, name: str, kind: type) -> Any:
    """A record's entry, which must be of exactly this type. Raises Failed."""
    if type(record) is not dict or type(record.get(name)) is not kind:
        raise Failed("malformed", text("sandbox.malformed"))
    return record[name]
