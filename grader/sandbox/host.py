"""A sandbox as the grader holds it: start it, ask it for one task at a time, hear how the task ended.

>>> with Sandbox() as sandbox:
...     sandbox.ask("about")["network"]
False
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from grader.limits import Failed, HostFault
from grader.memory import pickled
from grader.sandbox import endings, wire
from grader.sandbox.allowance import Allowance
from grader.sandbox.level import Level, environment, levels, python_command
from grader.sandbox.limits import Limits
from grader.sandbox.once import Pipes
from grader.texts import text

START = 300.0  # seconds that a warm process may take to start on a busy computer; one that can not start says so soon
USUAL = Limits()
GRACE = 5.0  # seconds beyond a task's own limit until the whole sandbox is given up


class NoSandbox(RuntimeError):
    """No level of isolation works here; the message says why."""


@dataclass(frozen=True)
class Used:
    """What tasks have used: seconds, seconds of the processor, bytes at most."""

    seconds: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def __add__(self, other: Used) -> Used:
        return Used(self.seconds + other.seconds, self.cpu + other.cpu, max(self.memory, other.memory))


class Sandbox:
    """One warm process at the best level that works, or at the level that is asked for by its name.

    gpu   for kernels that run on this computer's GPU, which has to be seen inside; there is no warm process then
    """

    def __init__(self, level: str | None = None, limits: Limits = USUAL, gpu: bool = False):
        self.limits, self.used = limits, Used()
        self.allowance: Allowance | None = None  # of the submission that is graded
        self._process: subprocess.Popen | None = None
        self._folder: tempfile.TemporaryDirectory | None = None  # that tasks may write to, if not in a namespace
        self._open: Connection | None = None
        self.about: dict[str, Any] = {}  # what the level's first task told of itself
        self.level = self._find(level, gpu)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """The process that all of this sandbox's come from."""
        assert self._process is not None
        return self._process.pid

    def ask(self, task: str, limits: Limits | None = None, **request: Any) -> Any:
        """Have a fresh process do a task and give its one record. Raises Failed, or HostFault."""
        with self.talk(task, limits, **request) as connection:
            record = connection.hear()
            connection.expect_no_more()
        return record

    @contextlib.contextmanager
    def talk(self, task: str, limits: Limits | None = None, **request: Any) -> Iterator[Connection]:
        """A task that is spoken with; it ends with this block."""
        connection = self.open(task, limits, **request)
        try:
            yield connection
        finally:
            connection.close()

    def open(self, task: str, limits: Limits | None = None, **request: Any) -> Connection:
        """Start a task. Only one runs at a time: one that is still open is closed."""
        if self._open is not None:
            self._open.close()
        wanted = limits or self.limits
        held = self.allowance.cut(wanted) if self.allowance else wanted
        stream = Pipes(self.level, held) if self.level.fresh else self._stream(held)
        self._open = Connection(self, stream, held, self.allowance if held.wall < wanted.wall else None)
        self._open.say_first(task, request)
        return self._open

    @contextlib.contextmanager
    def within(self, allowance: Allowance | None) -> Iterator[None]:
        """Inside, tasks take their time from an allowance and have no more than their share of it."""
        before, self.allowance = self.allowance, allowance
        try:
            yield
        finally:
            self.allowance = before

    def _stream(self, limits: Limits) -> socket.socket:
        """Have the warm process start a task; one end of the connection with it. One that is dead is replaced."""
        message = json.dumps(asdict(limits)).encode()
        for _ in range(2):
            if self._process is None or self._process.poll() is not None:
                self._start(self.level)
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    socket.send_fds(self._control, [message], [theirs.fileno()])
                    return ours
                except OSError:  # nobody listens
                    ours.close()
                    self._kill()
        raise HostFault(text("sandbox.lost", reason=self._last_words() or "?"))

    def close(self) -> None:
        """End everything."""
        if self._open is not None:
            self._open.close()
        self._kill()

    def _find(self, wanted: str | None, gpu: bool) -> Level:
        reasons: dict[str, list[str]] = {}
        for level in levels(gpu):
            if wanted in (None, level.name):
                try:
                    self.level = level
                    self.about = self.ask("about", gpu=gpu)
                    if self.about["lacking"]:
                        raise NoSandbox(text("sandbox.lacking", names=", ".join(self.about["lacking"])))
                    if self.about["no_gpu"]:
                        raise NoSandbox(self.about["no_gpu"])
                    return level
                except (NoSandbox, Failed, HostFault, OSError) as error:
                    reasons.setdefault(str(error), []).append(level.name)
                    self._kill()
        told = "; ".join(f"{', '.join(dict.fromkeys(names))}: {reason}" for reason, names in reasons.items())
        raise NoSandbox(text("sandbox.no-gpu" if gpu else "sandbox.none", reason=told or str(wanted)))

    def _start(self, level: Level) -> None:
        self._kill()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._folder = None if level.namespaced else tempfile.TemporaryDirectory(prefix="tmalab-")
        command = [*level.wrapper, *python_command("grader.sandbox.warm", str(theirs.fileno()), str(level.namespaced))]
        with theirs:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env=environment(folder=self._folder.name if self._folder else ""),
                cwd="/",
                process_group=0,
            )
        self._control.settimeout(START)
        try:
            answer = self._control.recv(1 << 16)
        except OSError:
            answer = b""
        if not answer:
            self._kill()
            raise NoSandbox(self._last_words())

    def _last_words(self) -> str:
        assert self._process is not None
        assert self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            lines = self._process.stderr.read(4096).decode("utf-8", "replace").strip().splitlines()
            return lines[-1][:200] if lines else ""
        return ""

    def _kill(self) -> None:
        """The wrapper and, as it is set to die with its parent, all that is inside."""
        if self._process is None:
            return
        self._control.close()
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._folder:
            self._folder.cleanup()

    def _ended(self, connection: Connection) -> dict[str, Any]:
        """How a task ended; what it used is added up."""
        self._open = None
        ending = connection.own_ending() or self._told_ending(connection)
        self.used += Used(ending.get("seconds", 0), ending.get("cpu", 0), ending.get("memory", 0))
        if self.allowance:
            self.allowance.spend(ending.get("seconds", 0) - ending.get("waited", 0))
        return ending

    def _told_ending(self, connection: Connection) -> dict[str, Any]:
        """How a task ended, from the warm process, which is told to end it if it has not, or that it is ending."""
        if not select.select([self._control], [], [], 0)[0]:
            with contextlib.suppress(OSError):
                self._control.send(b'"over"' if connection.is_over else b'"stop"')
        self._control.settimeout(START)  # it was told, and has only to end the task
        try:
            return json.loads(self._control.recv(1 << 16))
        except (OSError, ValueError):
            self._kill()
            return {"reason": endings.LOST, "words": self._last_words()}


class Connection:
    """The grader's end of what one task says."""

    def __init__(
        self, sandbox: Sandbox, stream: socket.socket | Pipes, limits: Limits, shared: Allowance | None = None
    ):
        self._sandbox, self._stream, self.limits = sandbox, stream, limits
        self._shared = shared  # the allowance of which `limits` are a share
        self._ending: dict[str, Any] | None = None
        self._left = limits.record
        self.is_over = False  # whether the task has left its end
        self._stream.settimeout(limits.longest + GRACE)

    def say_first(self, task: str, request: dict[str, Any]) -> None:
        """What the task is, pickled: this is read before anything of a learner's runs."""
        written = pickled({"task": task, **request})
        with contextlib.suppress(OSError):  # how it ended is told to who listens
            self._stream.sendall(wire.HEAD.pack(len(written), 0) + written)

    def say(self, value: object) -> None:
        """Send one plain value."""
        with contextlib.suppress(OSError):
            wire.send(self._stream.sendall, value)

    def hear(self) -> Any:
        """The next record, within the task's limits. Raises Failed, or HostFault where nobody looked after the task."""
        try:
            return wire.receive(self._read, self._left)
        except (EOFError, OSError) as error:
            late, self.is_over = isinstance(error, TimeoutError), not isinstance(error, TimeoutError)
            ending = {**self.close(), **({"reason": endings.WALL} if late else {})}
            if self._shared and ending["reason"] == endings.WALL:
                self._shared.was_short = True
            raise endings.failure(ending, self.limits) from None
        except wire.Malformed:
            self.close()
            raise Failed("malformed", text("sandbox.malformed")) from None

    def expect_no_more(self) -> None:
        """Say no more either, and wait for the end: a task that says more than its one record has said nothing.

        Raises Failed.
        """
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_WR)
        try:
            more = self._stream.recv(1)
        except OSError:
            more = b""
        if more:
            self.close()
            raise Failed("malformed", text("sandbox.malformed"))

    def close(self) -> dict[str, Any]:
        """End the task, if it has not ended; how it did."""
        if self._ending is None:
            self._stream.close(self.is_over) if isinstance(self._stream, Pipes) else self._stream.close()
            self._ending = self._sandbox._ended(self)
        return self._ending

    def own_ending(self) -> dict[str, Any] | None:
        """How a task ended that no warm process looked after."""
        return self._stream.ending() if isinstance(self._stream, Pipes) else None

    def _read(self, count: int) -> bytes:
        piece = self._stream.recv(count)
        self._left -= len(piece)
        return piece
