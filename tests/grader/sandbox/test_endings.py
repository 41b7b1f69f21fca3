"""Why a task ended is told by facts: what its watcher did, the signal it died of, what it used, whoever looks when."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from grader.limits import Failed, HostFault
from grader.sandbox import endings, warm
from grader.sandbox.host import Sandbox
from grader.sandbox.limits import MIB, Limits
from grader.sandbox.processes import descendants

LIMITS = Limits(cpu=1, memory=400 * MIB)
CELL = {"wanted": {"x": "answer"}, "questions": {}, "environment": {}, "whole": True}


@pytest.fixture(scope="module", params=["bubblewrap", "limits"])
def sandbox(request):
    with Sandbox(request.param) as sandbox:
        yield sandbox


def reason(sandbox, cell: str, limits: Limits = LIMITS) -> str:
    """Why a task that runs a cell ended without an answer."""
    with pytest.raises((Failed, HostFault)) as ended:
        sandbox.ask("answers", limits, cells=[("cell 1", cell)], **CELL)
    return getattr(ended.value, "reason", str(ended.value))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (("", 0, 0.1, 1), "exit"),
        (("", 3, 1.0, 1), "died"),  # at the very limit, but by itself
        (("", -signal.SIGSEGV, 1.0, 1), "died"),
        (("cpu", -signal.SIGKILL, 0.2, 1), "cpu"),  # what used the processor was not waited for
        (("wall", -signal.SIGKILL, 0.2, 1), "wall"),
        (("memory", -signal.SIGKILL, 0.2, 1), "memory"),
        (("", -signal.SIGXCPU, 0.7, 1), "cpu"),  # counted by ticks it was a second
        (("stopped", -signal.SIGXCPU, 0.7, 1), "cpu"),
        (("", -signal.SIGKILL, 2.6, 1), "cpu"),
        (("stopped", -signal.SIGKILL, 2.6, 1), "cpu"),
        (("stopped", -signal.SIGKILL, 0.2, 1), "stopped"),
        (("stopped", 0, 0.2, 1), "stopped"),
        (("", -signal.SIGKILL, 0.2, 390 * MIB), "memory"),
        (("", -signal.SIGKILL, 0.2, 90 * MIB), "killed"),
    ],
    ids=str,
)
def test_the_reason_for_an_end_follows_from_its_facts(facts, expected):
    act, code, cpu, memory = facts
    assert endings.reason_of(act, code, LIMITS, cpu, memory) == expected


def test_what_the_kernel_ended_within_all_limits_is_the_computers_fault():
    assert isinstance(endings.failure({"reason": "killed"}, LIMITS), HostFault)


@pytest.mark.parametrize("code", [0, 1, 3, 127, 128, 137, 152, 255, -6, -9, -11, -24, -64], ids=str)
def test_a_code_of_its_own_is_never_taken_for_a_signal(code):
    assert warm._untold(warm._told(code)) == (code if code <= 127 else 127)


@pytest.mark.parametrize("pid", [1, 43, 43 << 8, 2**22 - 1])
def test_a_task_is_known_by_its_number_whether_it_is_ready_before_its_keeper_has_told_it_or_after(pid):
    number = warm.PID.pack(pid)
    assert warm._first_of(number + warm.READY) == warm._first_of(warm.READY + number) == pid
    assert warm._first_of(number) is None
    assert warm._first_of(warm.READY) is None
    assert warm._first_of(b"") is None


def test_a_task_over_its_time_is_ended_for_its_time_while_its_watcher_sleeps(sandbox, monkeypatch):
    begin = sandbox._stream

    def stream(limits):
        connection = begin(limits)
        watcher = next(pid for pid in [sandbox.pid, *descendants(sandbox.pid)] if _is_watcher(pid))
        time.sleep(0.2)  # it has started the task, which waits to hear what it is to do
        os.kill(watcher, signal.SIGSTOP)
        threading.Timer(4 if sandbox.level.namespaced else 2, os.kill, (watcher, signal.SIGCONT)).start()
        return connection

    with monkeypatch.context() as asleep:
        asleep.setattr(sandbox, "_stream", stream)
        assert reason(sandbox, "while True:\n    pass") == "time"
    assert sandbox.ask("about")["network"] is False


def test_where_nobody_watches_the_system_says_that_time_is_up():
    with Sandbox("process") as sandbox:
        assert reason(sandbox, "while True:\n    pass") == "time"


def _is_watcher(pid: int) -> bool:
    with open(f"/proc/{pid}/cmdline", "rb") as words:
        return words.read().startswith(os.fsencode(sys.executable))


@pytest.mark.parametrize(
    "cell",
    [
        "import os\nos._exit(137)",
        "import os\nos._exit(152)",
        "import os, time\nwhile time.process_time() < 0.95:\n    pass\nos._exit(3)",
        "import os\nos.abort()",
    ],
    ids=["exit 137", "exit 152", "exit at the limit", "abort"],
)
def test_a_task_that_ends_itself_is_not_called_late_nor_the_computers_fault(sandbox, cell):
    assert reason(sandbox, cell, Limits(cpu=3)) == "crashed"


SENDS = """
import ctypes, fcntl, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
me, kill = os.getpid(), signal.SIGKILL
def tried(action):
    try:
        return action() not in (None, -1)
    except (OSError, ValueError):
        return False
reading, writing = os.pipe()
answer = [
    tried(lambda: libc.syscall(234, %(pid)s, %(pid)s, kill)),
    tried(lambda: libc.syscall(200, %(pid)s, kill)),
    tried(lambda: libc.syscall(129, %(pid)s, kill, ctypes.create_string_buffer(128))),
    tried(lambda: libc.syscall(297, %(pid)s, %(pid)s, kill, ctypes.create_string_buffer(128))),
    tried(lambda: fcntl.fcntl(writing, fcntl.F_SETOWN, %(pid)s)),
    tried(lambda: fcntl.fcntl(writing, 10, kill)),
    tried(lambda: os.kill(%(pid)s, kill)) and me != 1,
    tried(lambda: resource.setrlimit(resource.RLIMIT_CPU, (1, 1))),
    tried(lambda: resource.prlimit(0, resource.RLIMIT_CPU, (1, 1))),
    tried(lambda: libc.syscall(160, 0, ctypes.create_string_buffer(16))),
]
"""


@pytest.mark.parametrize("target", ["me", "os.getppid()"])
def test_a_task_can_send_neither_itself_nor_its_watcher_the_kernels_signal(sandbox, target):
    if os.uname().machine != "x86_64":
        pytest.fail("write down this machine's numbers of system calls")
    record = sandbox.ask("answers", cells=[("cell 1", SENDS % {"pid": target})], **CELL)
    sent = [index for index, (_, done) in enumerate(record["answers"]["x"][1]) if done]
    # process 1 of a namespace may ask for the first four: they do not reach it, nor what is outside
    assert (sandbox.level.name == "bubblewrap" and max(sent, default=0) < 4) or not sent
    assert sandbox.ask("about")["network"] is False
