"""`tmalab doctor`: what this computer has, and the command that mends what is missing."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from tmalab import doctor
from tmalab.cli import main


def examined(*options: str):
    result = CliRunner().invoke(main, ["doctor", *options])
    return result.exit_code, result.stdout


def finding(name: str) -> dict:
    """A finding of `tmalab doctor --json`."""
    _, stdout = examined("--json")
    return next(finding for finding in json.loads(stdout)["findings"] if finding["name"] == name)


def test_the_environment_of_the_tests_is_sound():
    status, stdout = examined("--json")
    found = json.loads(stdout)
    assert (status, found["ok"]) == (0, True)
    assert [finding["name"] for finding in found["findings"]] == ["python", "packages", "compiler", "gpu"]


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(doctor, "installed", lambda name: None if name == "greenlet" else "0")
    found = finding("packages")
    assert found["state"] == "wrong"
    assert f"{sys.executable} -m pip install -r" in found["mend"]
    assert examined()[0] == 1


def test_another_version_than_the_pinned_one_is_shown_and_is_no_fault(monkeypatch):
    real = doctor.installed
    monkeypatch.setattr(doctor, "installed", lambda name: "0.1" if name == "greenlet" else real(name))
    found = finding("packages")
    assert found["state"] == "absent"
    assert "greenlet 0.1 (==" in found["found"]


@pytest.mark.parametrize("version", [(3, 10, 1), (3, 14, 0)])
def test_a_python_that_the_course_is_not_tested_with_is_wrong(monkeypatch, version):
    monkeypatch.setattr(sys, "version_info", version)
    found = doctor.look_at_python()
    assert found.state == "wrong"
    assert "3.11 to 3.13" in found.mend


def test_a_compiler_that_fails_is_one_line_and_no_traceback(monkeypatch):
    monkeypatch.setitem(sys.modules, "tmalab.gpu.compile", None)
    found = finding("compiler")
    assert found["state"] == "wrong"
    assert len(found["found"].splitlines()) == 1


def test_a_computer_without_a_gpu_can_go_on(monkeypatch):
    from tmalab.gpu import device

    monkeypatch.setattr(device, "why_no_gpu", lambda: "there is none")
    found = finding("gpu")
    assert (found["state"], found["found"]) == ("absent", "there is none")
