"""What all tests share: a browser where one is needed, GPU tests only where a Hopper GPU is, and no skips in CI."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tmalab.bootstrap import ROOT

settings.register_profile("busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy machine")  # how long an example takes is the machine's business

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
IN_CI = bool(os.environ.get("CI"))
IN_CHECKOUT = (ROOT / "pyproject.toml").is_file()  # else an installed tmalab is tested, in a folder without one
OF_THE_CHECKOUT = re.compile(
    r"^from (tmalab\.bootstrap import .*\bROOT\b|tests\.pages import)|\bbootstrap\.ROOT\b", re.MULTILINE
)
collect_ignore = ["spared"]
if sys.platform != "linux":
    collect_ignore.append("test_house_binder.py")  # repo2docker and Binder's scripts are Linux's

SPARED = str(Path(__file__).with_name("spared"))  # packages that take long to import, and that nothing here needs
sys.path.insert(0, SPARED)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [SPARED, os.environ.get("PYTHONPATH")]))  # the children's


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium for Playwright's `executable_path`; tests that take it carry the mark `browser`."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("no Chromium here: install one to test the figures in a browser (on Debian: apt install chromium)")
    return path


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out what looks at the repository's files where there are none."""
    if IN_CHECKOUT or not collection_path.match("test_*.py"):
        return None
    return bool(OF_THE_CHECKOUT.search(collection_path.read_text("utf-8"))) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked `gpu` where there is no Hopper GPU: it is reported as deselected."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from tmalab.gpu.device import why_no_gpu

    if why_no_gpu():
        config.hook.pytest_deselected(items=marked)
        items[:] = [item for item in items if item not in marked]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """In CI a skipped test is an error: what could not run there would never run."""
    for report in terminalreporter.stats.get("skipped", []) if IN_CI else []:
        terminalreporter.write_line(f"skipped in CI: {report.nodeid}: {report.longrepr[-1]}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if IN_CI and reporter and reporter.stats.get("skipped") and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
