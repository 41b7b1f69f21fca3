"""How the tests treat what a machine lacks: a browser may be missing, but not in CI; GPU tests are left out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from tmalab.bootstrap import ROOT

TESTS = """
import pytest
import tmalab.gpu.device

tmalab.gpu.device.why_no_gpu = lambda: "there is none"

def test_fact():
    pass

@pytest.mark.browser
def test_in_a_browser(chromium):
    pass

@pytest.mark.gpu
def test_on_a_gpu():
    raise AssertionError("there is no GPU")
"""


@pytest.fixture
def run(tmp_path):
    """Run a file of three tests, without a browser and without a GPU: the exit status and what pytest printed."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copy(ROOT / "tests/conftest.py", tmp_path)
    (tmp_path / "test_three.py").write_text(TESTS)

    def started(**variables: str) -> tuple[int, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("CI", "PATH")}
        command = [sys.executable, "-m", "pytest", "-n", "1", "test_three.py"]
        environment = {**kept, "PATH": "", "PYTHONPATH": str(ROOT), **variables}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout

    return started


def test_without_a_browser_its_tests_are_skipped_with_a_sentence_and_gpu_tests_are_left_out(run):
    status, printed = run()
    assert status == 0, printed
    assert "1 passed, 1 skipped" in printed


def test_in_ci_a_skipped_test_is_an_error_that_is_named(run):
    status, printed = run(CI="true")
    assert status == 1, printed
    assert "skipped in CI: test_three.py::test_in_a_browser" in printed
    assert "apt install chromium" in printed
