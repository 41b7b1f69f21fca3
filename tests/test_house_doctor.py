"""`tmalab doctor`: what this computer has, and the command that mends what is missing."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from tmalab import doctor
from tmalab.cli import main
from tmalab.gpu import toolkit

NAMES = ["python", "packages", "figures", "compiler", "gpu", "sandbox"]


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
    assert [finding["name"] for finding in found["findings"]] == NAMES


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(doctor, "installed", lambda name: None if name == "greenlet" else "0")
    found = finding("packages")
    assert found["state"] == "wrong"
    assert "pip" in found["mend"]
    assert f"install -r {doctor.pins_file()}" in found["mend"]
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
    assert "install --force-reinstall -r" in found["mend"]


def test_without_the_toolkit_one_goes_on_in_the_simulator(monkeypatch):
    monkeypatch.setattr(toolkit, "why_no_compiler", lambda: "there is none")
    found = finding("compiler")
    assert (found["state"], found["found"]) == ("absent", "there is none")
    assert "install -r" in found["mend"]


def test_a_pin_that_only_building_needs_is_no_fault_where_it_is_missing(monkeypatch):
    real = doctor.installed
    monkeypatch.setattr(doctor, "installed", lambda name: None if name == "hatchling" else real(name))
    found = finding("packages")
    assert found["state"] == "absent"
    assert "hatchling - (==" in found["found"]


def test_what_packages_of_packages_need_counts_as_needed():
    assert {"tmalab", "jupyterlab", "jupyter-server", "greenlet"} <= doctor.needed_by("tmalab")
    assert not {"hatchling", "nbgrader", "pytest"} & doctor.needed_by("tmalab")


def test_figures_that_a_browser_would_not_show_are_wrong(monkeypatch, tmp_path):
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [str(tmp_path)])
    found = doctor.look_at_widgets()
    assert found.state == "wrong"
    assert found.mend.endswith("install --force-reinstall --no-deps anywidget")


def test_an_extension_that_is_switched_off_is_wrong(monkeypatch, tmp_path):
    (tmp_path / "labconfig").mkdir()
    (tmp_path / "labconfig/page_config.json").write_text('{"disabledExtensions": {"anywidget": true, "other": true}}')
    monkeypatch.setattr("jupyter_core.paths.jupyter_config_path", lambda: [str(tmp_path)])
    found = doctor.look_at_widgets()
    assert found.state == "wrong"
    assert found.mend.endswith("labextension enable anywidget")


@pytest.mark.parametrize(
    ("where", "bubblewrap", "said"),
    [
        ("darwin", None, None),
        ("linux", None, "apt install bubblewrap"),
        ("linux", ("false",), "allow user namespaces"),
    ],
)
def test_a_sandbox_that_does_not_work_is_no_fault_and_can_be_mended(monkeypatch, where, bubblewrap, said):
    monkeypatch.setattr(sys, "platform", where)
    monkeypatch.setattr(doctor, "CONFINED", bubblewrap or ("no-such-program",))
    found = doctor.look_at_sandbox()
    assert found.state == "absent"
    assert (found.mend or "").startswith(said or "")


def test_a_computer_without_a_gpu_can_go_on(monkeypatch):
    from tmalab.gpu import device

    monkeypatch.setattr(device, "why_no_gpu", lambda: "there is none")
    found = finding("gpu")
    assert (found["state"], found["found"]) == ("absent", "there is none")
    assert "driver 580" in found["mend"]
