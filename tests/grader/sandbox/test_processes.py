"""What the operating system tells of processes, whatever they call themselves."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.sandbox.processes import cpu_seconds, descendants

NAMED = """
import ctypes
ctypes.CDLL(None).prctl(15, {name!r}, 0, 0, 0)  # PR_SET_NAME
print("named", flush=True)
input()
"""


@pytest.mark.parametrize("name", [b"plain", b"\xff\xfe", b") R 1 1", b"a b\n(c"])
def test_no_name_hides_a_process(name):
    with subprocess.Popen(
        [sys.executable, "-c", NAMED.format(name=name)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"named\n"
        found, seconds = descendants(os.getpid()), cpu_seconds(child.pid)
        child.communicate(b"\n")
    assert child.pid in found
    assert seconds > 0
