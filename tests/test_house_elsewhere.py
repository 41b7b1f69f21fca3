"""Windows and macOS, as far as Linux can stand for them: what they lack is lacking, and consoles know few signs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tmalab.bootstrap import ROOT

CODE = [path for folder in ("tmalab", "grader", "docs") for path in sorted((ROOT / folder).rglob("*.py"))]
FIRST_LESSON = "notebooks/release/01-copy-2d/copy-2d.ipynb"
WITHOUT = ("fcntl", "grp", "pwd", "pty", "resource", "termios", "tty")  # what Windows' Python does not have
FOR_LINUX = {"grader.sandbox.warm"}  # the sandbox's own process
IMPORT_ALL = f"""
import sys, importlib, pkgutil
def every():
    for package in map(importlib.import_module, ("tmalab", "grader")):
        for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if not found.name.endswith("__main__") and found.name not in {FOR_LINUX!r}:
                importlib.import_module(found.name)
                yield found.name
list(every())  # other packages know by themselves where they are
for name in list(sys.modules):
    if name.partition(".")[0] in ("tmalab", "grader"):
        del sys.modules[name]
sys.modules.update(dict.fromkeys({WITHOUT!r}))
print(*every())
"""


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A command as in a console without UTF-8."""
    few_signs = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env={**os.environ, **few_signs, **variables}, capture_output=True
    )


@pytest.mark.slow
def test_every_module_is_imported_without_what_windows_lacks():
    done = run("-c", IMPORT_ALL)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    assert {b"tmalab.bootstrap", b"tmalab.cli", b"grader.cli", b"grader.classroom.journal"} <= set(done.stdout.split())


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["tmalab", "demo"], 0),
        pytest.param(["tmalab.kernels.copy_2d"], 0, marks=pytest.mark.slow),
        (["grader", "check", FIRST_LESSON, "--exercise", "copy-2d.count"], 1),
    ],
    ids=["tmalab", "kernels", "grader"],
)
def test_a_console_that_knows_few_signs_gets_question_marks(command, status):
    done = run("-m", *command, TMALAB_LANGUAGE="zh")
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False), done.stderr.decode(errors="replace")
    assert b"??" in done.stdout


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _calls(path: Path) -> list[ast.Call]:
    return [node for node in ast.walk(_parsed(path)) if isinstance(node, ast.Call)]


def test_no_module_begins_with_importing_what_windows_lacks():
    found = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in CODE
        for node in _parsed(path).body
        if isinstance(node, ast.Import) and {name.name for name in node.names} & set(WITHOUT)
    }
    assert found == FOR_LINUX


def test_text_is_read_and_written_in_an_encoding_that_is_named():
    """What ruff's PLW1514 sees of it only where it knows the type."""
    positions = {"read_text": 1, "write_text": 2}  # arguments with the encoding
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in CODE
        for call in _calls(path)
        if isinstance(call.func, ast.Attribute) and call.func.attr in positions
        if len(call.args) < positions[call.func.attr] and "encoding" not in {given.arg for given in call.keywords}
    ]
    assert found == []


def test_what_another_program_says_is_read_whatever_its_encoding():
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in CODE
        for call in _calls(path)
        for given in [{keyword.arg for keyword in call.keywords}]
        if "text" in given and {"stdout", "stderr", "capture_output"} & given and "errors" not in given
    ]
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_the_library_uses_nothing_that_a_platform_lacks(platform, tmp_path):
    command = ["-m", "mypy", "--platform", platform, "--cache-dir", str(tmp_path), "--package", "tmalab"]
    done = run(*command)
    assert done.returncode == 0, done.stdout.decode(errors="replace")
