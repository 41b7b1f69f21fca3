"""`tmalab lab`: the learner's own workbook, opened on the first lesson; what is written in it stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tmalab import lab
from tmalab.bootstrap import ROOT

START_SECONDS = 90
LESSON = "00-start/start.ipynb"


class Server:
    """`python -m tmalab lab` in a folder of its own, as a learner starts it."""

    def __init__(
        self,
        folder: Path,
        home: Path,
        tmalab: Sequence[str] = (sys.executable, "-m", "tmalab"),
        options: Sequence[str] = ("--no-browser",),
        **variables: str,
    ):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        path = os.pathsep.join([str(ROOT), os.environ["PYTHONPATH"]])
        command = [*tmalab, "lab", *options, "--", "--ServerApp.port=0"]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**kept, "HOME": str(home), "PYTHONPATH": path, **variables},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.log: list[str] = []
        while not self.log or "/lab/tree/" not in self.log[-1]:  # the address that a learner opens comes last
            line = self.process.stdout.readline()
            assert line, f"JupyterLab ended with {self.process.wait()}:\n{''.join(self.log)}"
            self.log.append(line)
        self.address = self.log[-1].split()[-1]

    def get(self, path: str) -> dict:
        """What the server answers, once it does."""
        end = time.monotonic() + START_SECONDS
        address = urlsplit(self.address)
        token = f"{'&' if '?' in path else '?'}{address.query}"
        request = f"{address.scheme}://{address.netloc}/{path}{token}"
        while True:
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:  # it is up, and says what is wrong
                raise AssertionError(error.read().decode("utf-8", "replace")) from None
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def learner(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("learner")


@pytest.fixture(scope="module")
def server(learner, tmp_path_factory):
    server = Server(learner, tmp_path_factory.mktemp("home"))
    yield server
    server.stop()


def test_the_printed_address_opens_the_first_lesson(server):
    assert urlsplit(server.address).path == f"/lab/tree/{LESSON}"
    assert server.get(f"api/contents/{LESSON}")["type"] == "notebook"


@pytest.mark.slow  # a second JupyterLab; what else it does is held by the tests beside
@pytest.mark.skipif(os.name == "nt", reason="no variable there names the browser")
def test_a_browser_is_sent_to_the_workbook(tmp_path):
    opened, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > "{opened}.part" && mv "{opened}.part" "{opened}"\n')
    browser.chmod(0o755)
    server = Server(tmp_path, tmp_path, options=(), BROWSER=f"{browser} %s")
    try:
        end = time.monotonic() + START_SECONDS
        while not opened.is_file() and time.monotonic() < end:
            time.sleep(0.1)
        page = unquote(
            urlsplit(opened.read_text().strip()).path
        )  # a file that leads there, so that no list of processes has the token
        assert f"/lab/tree/{LESSON}?token=" in Path(page).read_text("utf-8")
    finally:
        server.stop()


def test_the_workbook_is_made_in_the_current_folder(server, learner):
    assert str(learner / lab.DEFAULT_FOLDER) in server.log[0]
    assert (learner / lab.DEFAULT_FOLDER / LESSON).is_file()


def test_jupyterlab_asks_nobody_about_news_or_updates(server):
    settings = server.get("lab/api/settings/@jupyterlab/apputils-extension:notification")["schema"]["properties"]
    assert (settings["fetchNews"]["default"], settings["checkForUpdates"]["default"]) == ("false", False)
    cells = server.get("lab/api/settings/@jupyterlab/notebook-extension:tracker")["schema"]["properties"]
    assert cells["codeCellConfig"]["default"]["lineNumbers"] is True  # reports name lines of cells


@pytest.mark.browser
def test_a_browser_shows_the_lesson_and_no_popup(server, chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(server.address)
        page.get_by_role("heading", name="Lesson 0: start").wait_for(timeout=60_000)
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000)
        assert page.locator(".Toastify__toast, .jp-Dialog").count() == 0
        browser.close()


def test_a_second_start_keeps_what_was_written_and_adds_what_is_missing(tmp_path):
    assert tmp_path / LESSON in lab.fill(tmp_path)
    (tmp_path / LESSON).write_text("my answers")
    assert lab.fill(tmp_path) == []
    assert (tmp_path / LESSON).read_text() == "my answers"


def test_kernels_find_tmalab_in_a_checkout_that_is_not_installed(monkeypatch):
    def absent(name: str) -> str:
        raise lab.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(lab.metadata, "version", absent)
    variables = lab.variables({"PYTHONPATH": "before", "LANG": "C"})
    assert variables["PYTHONPATH"].split(os.pathsep) == [str(ROOT), "before"]
    assert variables["LANG"] == "C"


def test_a_browser_is_opened_unless_it_is_asked_not_to():
    assert "--no-browser" not in lab.command(Path("book"), browser=True, arguments=[])
    assert "--no-browser" in lab.command(Path("book"), browser=False, arguments=[])


def test_a_folder_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "tmalab", "lab", "--no-browser", "--folder", str(tmp_path / "file" / "book")]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1
    assert "choose another place with --folder" in result.stderr
