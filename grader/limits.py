"""Calling a learner's function that may never return.

>>> call_within(1.0, lambda: 2 + 2)
4
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any


class TookTooLong(Exception):
    """The function was still running when its time was up, `.seconds` after it began."""

    def __init__(self, seconds: float):
        super().__init__(seconds)
        self.seconds = seconds


class Raised(Exception):
    """The function raised: `.error` is what."""

    def __init__(self, error: BaseException):
        super().__init__(type(error).__name__)
        self.error = error


class Failed(Exception):
    """A learner's code gave nothing that can be judged. `reason`: time, memory, malformed, crashed.

    `seconds` is what it was given, where time is the reason.
    """

    def __init__(self, reason: str, message: str, seconds: float = 0):
        super().__init__(message)
        self.reason, self.seconds = reason, seconds


class HostFault(Exception):
    """The computer that grades could not do its part. That says nothing of the answer, which must not lose a point."""


class FromSandbox(Exception):
    """What a learner's function raised in a sandbox: `.words`, and `.line`, 0 where the call itself failed."""

    def __init__(self, words: str, line: int):
        super().__init__(words)
        self.words, self.line = words, line


class _Stop(BaseException):
    """Raised inside a function that runs too long; a learner's `except Exception` does not catch it."""


def call_within(seconds: float, function: Callable[..., Any], *arguments: object) -> Any:
    """The function's result. Raises Raised for whatever it raises itself, TookTooLong after `seconds`.

    It runs in a thread of its own, which an asynchronous exception ends: that works on every system, signals do not.
    """
    outcome: dict[str, Any] = {}

    def work() -> None:
        try:
            outcome["result"] = function(*arguments)
        except BaseException as error:  # SystemExit too: the caller is told, whatever it is
            outcome["error"] = error

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    try:
        worker.join(seconds)
    finally:  # also when the learner interrupts the notebook
        late = worker.is_alive()
        if late:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident or 0), ctypes.py_object(_Stop))
            worker.join(0.5)
    if late:
        raise TookTooLong(seconds)
    if isinstance(outcome.get("error"), HostFault):
        raise outcome["error"]
    if isinstance(outcome.get("error"), Failed):  # in a sandbox
        failed = outcome["error"]
        raise TookTooLong(failed.seconds) if failed.reason == "time" else failed
    if "error" in outcome:
        raise Raised(outcome["error"])
    return outcome["result"]
