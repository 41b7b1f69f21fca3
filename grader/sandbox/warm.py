"""The warm process inside a sandbox: it has imported all that tasks need, and forks a fresh process for each.

It never runs or reads anything of a learner's. The grader hands it, over a control socket, the limits of a task and one
end of a connection; the task's process talks over that connection and has no other. When the task ends, by itself or
because it is too long or too large, all its processes end, and the grader is told how.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import select
import signal
import socket
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from grader.sandbox import confine, endings, landlock
from grader.sandbox.endings import reason_of
from grader.sandbox.level import files_in_reach
from grader.sandbox.limits import Limits
from grader.sandbox.processes import (
    all_processes,
    cpu_seconds,
    descendants,
    proportional,
    resident,
    threads_of_this_user,
    waited_seconds,
)

SETTLE = 2.0  # seconds that a task may take to end once it has left its connection
SIGNAL = 127  # exit codes of a keeper above it are signals
LOOK = 0.03  # seconds between looks at a task's memory
PID = struct.Struct(">i")
CONNECTION, SAYS_READY = 3, 4  # a task's end of its connection; a pipe, until it begins
READY = b"+"


@dataclass
class Task:
    """A running task: `keeper` is this process's child, `first` the one in which the task began."""

    keeper: int
    first: int
    namespaced: bool

    def members(self) -> list[int]:
        """All its processes."""
        if self.namespaced:  # whoever else is in the sandbox's process namespace
            return [pid for pid in all_processes() if pid not in (1, os.getpid(), self.keeper)]
        return descendants(os.getpid())

    def memory(self) -> int:
        """Bytes that they hold together: those of the warm process, which they share, are counted once at most."""
        held = [resident(pid) for pid in self.members()]
        return sum(held) if len(held) < 2 else sum(map(proportional, self.members()))

    def cpu(self) -> float:
        """Seconds of the processor that they have used. Of process 1 of a namespace the system's limit is not kept."""
        return sum(map(cpu_seconds, self.members()))

    def waited(self) -> dict[int, float]:
        """For each of them the seconds for which it has wanted a processor in vain."""
        return {pid: waited_seconds(pid) for pid in self.members()}

    def kill(self) -> None:
        """End all of them."""
        for pid in [self.first] if self.namespaced else [self.first, *self.members()]:
            for send in (os.killpg, os.kill) if not self.namespaced else (os.kill,):
                with contextlib.suppress(OSError):
                    send(pid, signal.SIGKILL)


def main(control_number: int, namespaced: bool) -> None:
    """Serve tasks until the grader closes the control socket."""
    control = socket.socket(fileno=control_number)
    if sys.platform.startswith("linux"):
        confine.closed_to_others(True)
        confine.adopt_orphans()
    from grader.sandbox import tasks

    tasks.warm_up()
    crowd = 0 if namespaced else threads_of_this_user()
    walls = None if namespaced else _walls()
    control.send(json.dumps({"ready": True}).encode())
    while True:
        message, handles, _, _ = socket.recv_fds(control, 1 << 16, 1)
        if not message:
            return
        given = json.loads(message)
        if type(given) is str or not handles:  # the task that it meant is over already
            continue
        limits = Limits(**given)
        control.send(json.dumps(_serve(control, handles[0], limits, namespaced, crowd, walls)).encode())


def _walls() -> int | None:
    """What tasks without namespaces are held to: a ruleset of Landlock; None where this kernel has none."""
    return files_in_reach(Path(os.environ["HOME"])) if landlock.version() else None


def _serve(
    control: socket.socket, connection: int, limits: Limits, namespaced: bool, crowd: int, walls: int | None
) -> dict:
    """Run one task to its end."""
    clock = _Clock(time.monotonic())
    try:
        task = _start(connection, limits, namespaced, crowd, walls)
    except OSError:  # no further process, or no memory for one
        task = None
    finally:
        os.close(connection)
    if task is None:
        return {"reason": endings.START}
    act = _watch(control, task, clock, limits)
    task.kill()
    _, status, usage = os.wait4(task.keeper, 0)
    if not namespaced:
        _reap()
        _empty(Path(os.environ["HOME"]))
    code = os.waitstatus_to_exitcode(status)
    cpu, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "reason": reason_of(act, _untold(code) if namespaced else code, limits, cpu, memory),
        "seconds": round(time.monotonic() - clock.began, 4),
        "waited": round(clock.lost, 4),
        "cpu": round(cpu, 4),
        "memory": memory,
    }


def _told(code: int) -> int:
    """How process 1 of a namespace ended, as an exit code of its keeper's, no code of its own taken for a signal."""
    return min(code, SIGNAL) if code >= 0 else SIGNAL - code


def _untold(code: int) -> int:
    return code if code <= SIGNAL else SIGNAL - code


def _empty(folder: Path) -> None:
    """Remove what a task has left in its folder. What it can't look into is empty, as a task changes no modes."""
    for place, folders, files in os.walk(folder, topdown=False):
        for name in (*folders, *files):
            path = os.path.join(place, name)
            with contextlib.suppress(OSError):
                os.rmdir(path) if name in folders and not os.path.islink(path) else os.unlink(path)


def _start(connection: int, limits: Limits, namespaced: bool, crowd: int, walls: int | None) -> Task | None:
    """Fork a task. In a sandbox with namespaces a keeper stays between: its child is process 1 of a new one.

    None where it could not be made ready: nothing of a learner's has run then.
    """
    reading, writing = os.pipe()
    try:
        keeper = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if keeper == 0:
        status = 1
        with contextlib.suppress(BaseException):
            if namespaced:
                confine.own_namespaces()
                begun = os.fork()
                if begun:
                    os.write(writing, PID.pack(begun))
                    os.close(writing)
                    os._exit(_told(os.waitstatus_to_exitcode(os.waitpid(begun, 0)[1])))
            else:
                os.write(writing, PID.pack(os.getpid()))
            _become_task(connection, writing, limits, namespaced, crowd, walls)
            status = 0
        os._exit(status)
    os.close(writing)
    with open(reading, "rb") as pipe:
        first = _first_of(pipe.read())
    if first is None:
        with contextlib.suppress(OSError):
            os.kill(keeper, signal.SIGKILL)
        os.waitpid(keeper, 0)
        return None
    return Task(keeper, first, namespaced)


def _first_of(told: bytes) -> int | None:
    """The process in which a task began, by what was told until it was ready; None where it never was.

    The keeper tells its number and it tells that it is ready, whichever comes first on a busy computer. No number
    begins as READY does: Linux has none from 2**22 on.
    """
    if len(told) < PID.size + len(READY):
        return None
    return PID.unpack_from(told, len(READY) if told.startswith(READY) else 0)[0]


def _become_task(
    connection: int, writing: int, limits: Limits, namespaced: bool, crowd: int, walls: int | None
) -> None:
    """Give up everything but the connection, say that this is done, then do what the connection asks for."""
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    if walls is not None:
        landlock.enter(walls)
    keep = [fcntl.fcntl(number, fcntl.F_DUPFD, SAYS_READY + 1) for number in (connection, writing)]
    for number, kept in zip((CONNECTION, SAYS_READY), keep, strict=True):
        os.dup2(kept, number)
    os.closerange(SAYS_READY + 1, 4096)
    if namespaced:
        confine.own_scratch(os.environ["HOME"], limits.scratch)
    os.chdir(os.environ["HOME"])
    Limits(**{**vars(limits), "processes": limits.processes + crowd}).applied()
    if sys.platform.startswith("linux"):
        confine.no_privileges()
        confine.fewer_calls(namespaced)
    from grader.sandbox import tasks

    os.write(SAYS_READY, READY)
    os.close(SAYS_READY)
    tasks.serve(socket.socket(fileno=CONNECTION), limits)


class _Clock:
    """The time that counts against a task: what goes by, less what it had to wait for a processor."""

    def __init__(self, began: float):
        self.began = self._seen = began
        self.lost, self._before = 0.0, dict[int, float]()

    def is_late(self, task: Task, limits: Limits) -> bool:
        """To be asked now and then."""
        now, waited = time.monotonic(), task.waited()
        lost = max((seconds - self._before.get(pid, 0.0) for pid, seconds in waited.items()), default=0.0)
        self.lost += min(max(lost, 0.0), now - self._seen)
        self._seen, self._before = now, waited
        return now - self.began - self.lost > limits.wall or now - self.began > limits.longest


def _watch(control: socket.socket, task: Task, clock: _Clock, limits: Limits) -> str:
    """Wait for a task's end; why it must end before, or nothing.

    A task that has left its connection is as good as over: how it ends is waited for, as long as that may take.
    """
    over_at = math.inf
    poll = select.poll()
    poll.register(control, select.POLLIN)
    ended = os.pidfd_open(task.keeper) if hasattr(os, "pidfd_open") else None
    if ended is not None:
        poll.register(ended, select.POLLIN)
    try:
        while True:
            ready = dict(poll.poll(LOOK * 1000))
            if ended in ready or (ended is None and _is_over(task.keeper)):
                return ""
            if control.fileno() in ready:
                if json.loads(control.recv(1 << 16) or b'"stop"') == "stop":
                    return endings.STOPPED
                over_at = time.monotonic() + SETTLE
            if time.monotonic() > over_at:
                return endings.STOPPED
            if task.cpu() > limits.cpu:
                return endings.CPU
            if clock.is_late(task, limits):
                return endings.WALL
            if task.memory() > limits.memory:
                return endings.MEMORY
    finally:
        if ended is not None:
            os.close(ended)


def _is_over(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _reap() -> None:
    """Collect orphans that were adopted, killing what is left of them."""
    while True:
        left = descendants(os.getpid())
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, os.WNOHANG if not left else 0)
        except ChildProcessError:
            return
        if not left:
            return
