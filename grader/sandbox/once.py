"""A Python process for each task, started from nothing and ended when its time is up: the last level, and for GPUs.

It needs nothing of the operating system, so it works on Windows and macOS too. It is slow, as each task imports what it
needs. What holds it back is what the level wraps around it: at the last one nothing, as its statement says.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from typing import Any

from grader.sandbox import endings
from grader.sandbox.level import Level, environment, python_command
from grader.sandbox.limits import Limits

SETTLE = 2.0  # seconds that a task may take to end once it has closed its output


class Pipes:
    """The grader's end of a task's standard input and output, with the methods of a socket that it needs."""

    def __init__(self, level: Level, limits: Limits):
        self._process = subprocess.Popen(
            [*level.wrapper, *python_command("grader.sandbox.once", "**" + repr(vars(limits)))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(level.gpu),
            bufsize=0,
        )
        self._wrapped = bool(level.wrapper)
        self._limits, self._began, self._late, self._stopped = limits, time.monotonic(), False, False
        self._timer = threading.Timer(limits.wall, self._end)
        self._timer.daemon = True
        self._timer.start()

    def _end(self) -> None:
        self._late = True
        self._process.kill()

    def settimeout(self, seconds: float) -> None:
        """The timer ends what takes too long."""

    def sendall(self, data: bytes) -> None:
        assert self._process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self._process.stdin.write(view) :]

    def recv(self, count: int) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(count) or b""

    def shutdown(self, how: int) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def close(self, is_over: bool = False) -> None:
        """End the task; one that is over ends by itself."""
        self.shutdown(0)
        assert self._process.stdout is not None
        if is_over:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(SETTLE)
        self._timer.cancel()
        self._stopped = self._process.poll() is None and not self._late
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def ending(self) -> dict[str, Any]:
        """How the task ended, after close()."""
        act = endings.STOPPED if self._stopped else endings.WALL if self._late and self._process.returncode else ""
        code = self._process.returncode
        code = 128 - code if self._wrapped and code > 128 else code  # so bubblewrap tells of a signal
        reason = endings.reason_of(act, code, self._limits)
        reason = endings.DIED if reason == endings.KILLED else reason  # here a task can do that to itself
        return {"reason": reason, "seconds": round(time.monotonic() - self._began, 4)}


class _Standard:
    """The task's end."""

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)

    def recv(self, count: int) -> bytes:
        return os.read(self._in, count)

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._out, view) :]


def main(**limits: Any) -> None:
    """Do one task."""
    connection = _Standard()
    held = Limits(**limits)
    with contextlib.suppress(ImportError):
        held.applied(but=("processes",))  # counted for the whole account, which may have many already
    from grader.sandbox import tasks

    tasks.serve(connection, held)  # type: ignore[arg-type]
