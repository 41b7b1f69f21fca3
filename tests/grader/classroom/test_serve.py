"""Learners' notebooks come by HTTP, wait in one queue, and come back as reports; nothing else can be had there."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from grader import trusted
from grader.classroom import serve, work
from grader.classroom.serve import Server, ask
from grader.cli import main
from grader.limits import HostFault
from grader.sandbox.host import Sandbox
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, LESSON, SETUP, notebook

HONEST = notebook(SETUP, COUNTS, CHECK_COUNTS)


@pytest.fixture
def started():
    """Starts servers that check in a given way; their addresses."""
    servers: list[Server] = []

    def start(check, **how) -> str:
        server = Server(("127.0.0.1", 0), check, **how)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def run(*arguments: str):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_a_notebook_is_checked_there_as_here_with_the_servers_seed(started, tmp_path):
    (tmp_path / "mine.ipynb").write_text(json.dumps(HONEST), "utf-8")
    with Sandbox() as sandbox:
        jobs = []

        def check(job):
            jobs.append(job)
            return work.grade(job, sandbox)

        address = started(check, seed=7, live=True)
        there = run("check", tmp_path / "mine.ipynb", "--server", address, "--json")
        own = trusted.regrade(tmp_path / "mine.ipynb", LESSON, seed=7, sandbox=sandbox).as_dict()
    told = json.loads(there.stdout)
    assert (there.exit_code, told["seed"]) == (1, 7)
    assert told["points"] == own["points"] < 3.0  # its numbers are right for the public course, which has seed 0
    assert [each["report"] for each in told["exercises"]] == [each["report"] for each in own["exercises"]]
    assert [(job.seed, job.live, job.assignment) for job in jobs] == [(7, True, None)]


def test_what_is_no_notebook_and_what_fails_there_is_told_as_here(started, tmp_path):
    (tmp_path / "torn.ipynb").write_text("torn", "utf-8")
    address = started(lambda job: work.grade(job, None))
    done = run("check", tmp_path / "torn.ipynb", "--server", address)
    assert (done.exit_code, "no notebook" in done.output) == (2, True)

    def lost(job):
        raise HostFault("all workers are gone")

    done = run("check", tmp_path / "torn.ipynb", "--server", started(lost))
    assert done.exit_code == 3
    assert "all workers are gone" in done.output
    for nowhere in ("http://127.0.0.1:9", "file:///etc/passwd", "127.0.0.1"):
        done = run("check", tmp_path / "torn.ipynb", "--server", nowhere)
        assert (done.exit_code, len(done.output.splitlines())) == (3, 1)


def test_one_address_fills_its_own_places_and_no_others(started, monkeypatch):
    monkeypatch.setattr(serve, "EACH", 2)
    going, enough = threading.Semaphore(0), threading.Event()

    def check(job):
        going.release()
        enough.wait(30)
        return {"error": "checked"}

    address = started(check)
    answers: list[dict] = []
    waiting = [threading.Thread(target=lambda: answers.append(ask(address, b"{}"))) for _ in range(2)]
    for each in waiting:
        each.start()
        assert going.acquire(timeout=30)
    assert "too many wait" in ask(address, b"{}")["not_graded"]
    enough.set()
    for each in waiting:
        each.join(30)
    assert answers == [{"error": "checked"}] * 2
    assert ask(address, b"{}") == {"error": "checked"}  # the places are free again


@pytest.mark.parametrize(
    ("length", "status"), [("-1", 413), ("many", 413), (str(1 << 40), 413), ("²", 413)], ids=lambda value: str(value)
)
def test_only_a_notebooks_size_is_read(length, status, started):
    address = started(lambda job: {"error": "checked"})
    request = urllib.request.Request(address, b"{}", {"Content-Length": length.encode("utf-8").decode("latin-1")})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == status


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_nothing_else_can_be_asked(method, started):
    address = started(lambda job: {"error": "checked"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(address, method=method), timeout=30)
    assert refused.value.code == 501
