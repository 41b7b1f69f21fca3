"""Figure 1 in real JupyterLab: the cell is run, the figure appears, the kernel hears of what is chosen."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.browser
PATIENCE = 120  # seconds for anything: two slow cores, shared with other tests
CELLS = ["from tmalab.figures import TileFigure\nfigure = TileFigure()\nfigure", "print('selected', figure.selected)"]


def notebook(path: Path, cells: list[str]) -> None:
    source = [
        {"cell_type": "code", "id": f"cell-{i}", "metadata": {}, "execution_count": None, "outputs": [], "source": code}
        for i, code in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    content = {"cells": source, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), "utf-8")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def jupyterlab(browser, tmp_path_factory) -> Iterator[str]:
    """The address of a JupyterLab with an empty configuration of its own; its folder holds figure.ipynb."""
    home = tmp_path_factory.mktemp("jupyterlab")
    (home / "config").mkdir()
    settings = {
        "ServerApp": {"open_browser": False, "allow_root": True, "root_dir": str(home), "disable_check_xsrf": True},
        "IdentityProvider": {"token": ""},
    }
    quiet = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    quiet.parent.mkdir(parents=True)
    quiet.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}), "utf-8")
    (home / "config" / "jupyter_server_config.json").write_text(json.dumps(settings), "utf-8")
    notebook(home / "figure.ipynb", CELLS)
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    folders |= {
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    own = {name: str(home / folder) for name, folder in folders.items()} | {"PYTHONPATH": str(ROOT)}
    port = free_port()
    with (home / "log").open("wb") as log:
        command = [sys.executable, "-m", "jupyterlab", "--ip=127.0.0.1", f"--port={port}", "--port-retries=0"]
        server = subprocess.Popen(command, env=os.environ | own, stdout=log, stderr=subprocess.STDOUT, cwd=home)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{address}/api/status", server, home / "log")
        yield address
    finally:
        server.terminate()
        server.wait(30)


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text('utf-8', 'replace')[-3000:]}")


def run_cell(page, number: int) -> None:
    """Run a cell to its end. While JupyterLab is still connecting it forgets what was asked, so it is asked again.

    On a busy machine it may put a dialog before the cell first, about a server that is slow to answer.
    """
    answer = page.locator(".jp-Dialog button.jp-mod-accept")
    page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']").wait_for()
    cell = page.locator(".jp-Notebook .jp-Cell").nth(number)
    deadline = time.monotonic() + PATIENCE
    while not re.fullmatch(r"\[\d+\]:", prompt := cell.locator(".jp-InputPrompt").inner_text()):
        assert time.monotonic() < deadline, f"the cell was not run: its prompt is {prompt}"
        if answer.count():
            answer.last.click()
        elif prompt == "[ ]:":
            with contextlib.suppress(TimeoutError):  # a dialog came in between
                cell.locator(".jp-InputArea-editor").click(timeout=5000)
                page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1000)


def test_a_cell_draws_the_figure_and_the_kernel_hears_what_is_chosen(jupyterlab, new_page):
    page = new_page(width=1280, height=900)
    page.set_default_timeout(PATIENCE * 1000)
    page.goto(f"{jupyterlab}/lab/tree/figure.ipynb")
    run_cell(page, 0)
    figure, failure = page.locator(".tma-tile"), page.locator("[data-mime-type='application/vnd.jupyter.stderr']")
    figure.or_(failure).wait_for()
    assert not failure.count(), failure.inner_text()

    shared = figure.get_by_role("grid").nth(1)
    shared.get_by_label("0x01E0").hover()
    figure.get_by_text("Row 3, sector 5 of the tile holds row 3, elements 40 to 47").wait_for()

    shared.get_by_label("0x01E0").click()
    for key in ("ArrowLeft", "d", "d", "b"):  # to 0x01D0; in JupyterLab D D deletes a cell and B adds one
        page.keyboard.press(key)
    assert page.locator(".jp-Notebook .jp-Cell").count() == len(CELLS)
    run_cell(page, 1)
    page.get_by_text("selected (3, 6)", exact=True).wait_for()
