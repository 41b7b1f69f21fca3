"""Every level of isolation keeps its limits and says what it is; a task's end is the end of all that it started."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.limits import Failed
from grader.sandbox import host, landlock, level
from grader.sandbox.host import NoSandbox, Sandbox
from grader.sandbox.level import NOBODY, levels
from grader.sandbox.limits import MIB, Limits
from grader.sandbox.processes import descendants
from tests.lessons import COURSE
from tmalab.texts import text

LEVELS = ["bubblewrap", "limits"]
QUICK = Limits(wall=2, cpu=1, memory=400 * MIB)


@pytest.fixture(scope="module", params=LEVELS)
def sandbox(request):
    with Sandbox(request.param) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def walled():
    with Sandbox("bubblewrap") as sandbox:
        yield sandbox


def answer(sandbox, *cells: str, limits: Limits | None = None):
    """What the variable `answer` is after the cells have run there."""
    request = {"cells": [(f"cell {i}", cell) for i, cell in enumerate(cells)], "wanted": {"x": "answer"}}
    record = sandbox.ask("answers", limits, **request, questions={}, environment={}, whole=True)
    return record["answers"]["x"][1]


def test_the_level_is_stated_and_there_is_no_network(sandbox):
    assert sandbox.level.name in sandbox.level.statement
    assert sandbox.ask("about")["network"] is False


def test_each_task_is_a_fresh_process(sandbox):
    assert answer(sandbox, "import os\nos.kept = 1\nanswer = os.getpid()") > 0
    assert answer(sandbox, "import os\nanswer = hasattr(os, 'kept')") is False


def test_files_of_one_task_are_gone_in_the_next(walled):
    note = "import os, tempfile\nnote = tempfile.gettempdir() + '/note'\n"
    assert answer(walled, note + "open(note, 'w').write('for the next')\nanswer = os.path.exists(note)") is True
    assert answer(walled, note + "answer = os.path.exists(note)") is False


@pytest.mark.parametrize(
    ("reason", "cell"),
    [
        ("time", "import time\ntime.sleep(100)"),
        ("time", "while True:\n    pass"),
        ("memory", "import time\nheld = bytearray(os.urandom(1 << 20)) * 700\ntime.sleep(100)"),
        ("crashed", "os._exit(3)"),
        ("crashed", "os.abort()"),
        ("malformed", "os.write(3, bytes(7) + b'\\x05hello')"),
    ],
)
def test_a_task_that_goes_too_far_is_ended_for_its_reason_and_the_next_one_works(sandbox, reason, cell):
    began = time.monotonic()
    with pytest.raises(Failed) as failed:
        answer(sandbox, "import os\n" + cell, limits=QUICK)
    assert failed.value.reason == reason
    assert time.monotonic() - began < 30
    assert answer(sandbox, "answer = 7") == 7


def test_what_a_task_started_ends_with_it(sandbox):
    before = len(descendants(sandbox.pid))
    cell = "import os, time\nfor _ in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(1000)"
    assert answer(sandbox, cell, "answer = 1") == 1
    assert len(descendants(sandbox.pid)) == before


def test_no_more_processes_than_the_limit(walled):
    cell = (
        "import os, time\nanswer = 0\ntry:\n    for _ in range(60):\n        if os.fork() == 0:\n"
        "            time.sleep(100)\n        answer += 1\nexcept OSError:\n    pass"
    )
    assert 10 < answer(walled, cell) < 33


def test_no_larger_file_than_the_limit(sandbox):
    cell = (
        "try:\n    open('/tmp/grader-test-file', 'wb').write(bytes(64 << 20))\n    answer = 'written'\n"
        "except OSError:\n    answer = 'refused'"
    )
    try:
        assert answer(sandbox, "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + cell) == "refused"
    finally:
        Path("/tmp/grader-test-file").unlink(missing_ok=True)


def test_in_bubblewrap_there_are_no_files_but_pythons_and_the_courses(walled):
    cell = "import os, glob\nanswer = [os.path.exists(path) for path in %r] + [len(glob.glob(%r))]"
    hidden = ["/etc/passwd", "/etc/shadow", "/home", "/var/lib", str(COURSE), str(Path.home() / ".ssh")]
    exercises = str(COURSE.parent / "grader" / "exercises" / "*")
    tree = answer(walled, cell % (hidden, exercises))
    assert [each[1] for each in tree] == [False] * len(hidden) + [0]


def test_nobody_in_bubblewrap_is_root(walled):
    assert walled.ask("about")["user"] != 0


def test_a_sandbox_whose_warm_process_was_killed_starts_again(sandbox):
    os.kill(descendants(sandbox.pid)[-1] if descendants(sandbox.pid) else sandbox.pid, 9)
    time.sleep(0.5)
    with contextlib.suppress(Failed):  # it may be noticed only by the task that finds nobody to do it
        answer(sandbox, "answer = 1")
    assert answer(sandbox, "answer = 1") == 1


def test_where_nothing_else_works_each_task_is_a_plain_process_with_a_limit_of_time():
    with Sandbox("process") as sandbox:
        assert "no sandbox" in sandbox.level.statement
        assert answer(sandbox, "answer = [1, 2.5, 'x']") == [["plain", 1], ["plain", 2.5], ["plain", "x"]]
        for reason, cell in (("time", "import time\ntime.sleep(100)"), ("crashed", "import os\nos._exit(3)")):
            with pytest.raises(Failed) as failed:
                answer(sandbox, cell, limits=QUICK)
            assert failed.value.reason == reason


def test_where_no_gpu_is_seen_the_sandbox_for_kernels_on_it_says_so_of_each_level(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(NoSandbox) as refused:
        Sandbox(gpu=True)
    assert f"bubblewrap, process: {text('gpu.no-driver')}" in str(refused.value)


def test_the_sandbox_for_gpus_has_the_walls_of_the_others_and_starts_each_task_from_nothing(monkeypatch):
    walled = next(replace(level, gpu=False) for level in levels(gpu=True))
    monkeypatch.setattr(host, "levels", lambda gpu: [walled])
    with Sandbox() as sandbox:
        assert sandbox.ask("about")["user"] != 0
        seen = f"import os, socket\nanswer = [os.path.exists(path) for path in ('/etc/shadow', {str(COURSE)!r})]\n"
        seen += "answer += [name for _, name in socket.if_nameindex()]"
        assert [each[1] for each in answer(sandbox, seen)] == [False, False, "lo"]
        for reason, cell in (("time", "while True:\n    pass"), ("crashed", "import os\nos._exit(3)")):
            with pytest.raises(Failed) as failed:
                answer(sandbox, cell, limits=replace(QUICK, wall=20, cpu=2))
            assert failed.value.reason == reason


def test_a_sandbox_in_which_a_package_of_the_notebooks_is_out_of_reach_is_none(monkeypatch):
    """Else the cells that import it would fail, and honest answers with them."""
    place = Path(find_spec("anywidget").origin).parent
    with Sandbox("bubblewrap") as sandbox:
        hidden = [*sandbox.level.wrapper]
    at = hidden.index("--proc")
    hidden[at:at] = ["--tmpfs", str(place)]
    monkeypatch.setattr(host, "levels", lambda gpu: [replace(next(levels()), wrapper=tuple(hidden))])
    with pytest.raises(NoSandbox, match="notebooks need anywidget"):
        Sandbox()


def test_a_level_that_there_is_not_is_refused():
    with pytest.raises(NoSandbox, match="moat"):
        Sandbox("moat")


def test_an_ordinary_user_has_the_same_walls():
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    pythons = [sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"]
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(level.ROOT), *(path for path in sys.path if "site-packages" in path)]),
        "HOME": "/tmp",
    }

    def run(python: str, code: str) -> subprocess.CompletedProcess:
        command = [*become, python, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, cwd="/", timeout=200)

    works = "import sys, grader; open(sys.executable).close()"  # setpriv may start what its user may not read
    python = next((each for each in pythons if Path(each).exists() and run(each, works).returncode == 0), None)
    if python is None:
        pytest.skip("no Python with these packages can be read by another user: they lie in a closed folder")
    code = "from grader.sandbox.host import Sandbox\nwith Sandbox() as s: print(s.level.name, s.ask('about'))"
    done = run(python, code)
    assert done.stdout.startswith("bubblewrap"), done.stderr
    assert "'network': False" in done.stdout


REACHES = """
import contextlib, os, pathlib, tmalab
import numpy as np
home = pathlib.Path(tmalab.__file__).parents[1]
answer = []
def tried(action):
    try:
        action()
    except OSError:
        return
    answer.append(action.__name__)
def reads_the_answers():
    (home / 'grader/exercises/copy_2d.py').read_text()
def reads_the_recordings():
    np.load(home / 'tmalab/recorded/lesson-1.npz')
def reads_the_account():
    pathlib.Path(ACCOUNTS).read_bytes()
def changes_the_checks():
    (home / 'grader/checking.py').open('r+')
def adds_to_the_packages():
    (home / 'grader/zz.py').touch()
def writes_outside():
    pathlib.Path(ACCOUNTS + '.new').touch()
def cuts():
    os.truncate(ACCOUNTS, 0)
def removes():
    os.remove(ACCOUNTS)
for action in (reads_the_answers, reads_the_recordings, reads_the_account, changes_the_checks, adds_to_the_packages,
               writes_outside, cuts, removes):
    tried(action)
with contextlib.suppress(OSError):
    os.chmod(ACCOUNTS, 0)
pathlib.Path('own').mkdir()
pathlib.Path('own/note').write_text('for the next')
os.mkdir('closed', 0)
os.symlink(ACCOUNTS, 'link')
answer.append(pathlib.Path('own/note').read_text())
"""


def test_an_answer_reaches_no_files_but_pythons_and_its_own_and_leaves_none(sandbox, tmp_path):
    (tmp_path / "submissions").write_text("of others", "utf-8")
    reaches = f"ACCOUNTS = {str(tmp_path / 'submissions')!r}\n{REACHES}"
    assert answer(sandbox, reaches) == [["plain", "for the next"]]
    assert answer(sandbox, "import os\nanswer = os.listdir()") == []
    assert (tmp_path / "submissions").read_text("utf-8") == "of others"
    assert [(path.name, path.stat().st_mode & 0o777 > 0) for path in tmp_path.iterdir()] == [("submissions", True)]


def test_where_linux_has_no_landlock_the_level_says_that_files_are_in_reach(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    (level,) = (level for level in levels() if level.name == "limits")
    assert "could be read and changed" in level.statement
