"""A real Dask scheduler and two worker processes grade a class as one process here does."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner
from distributed import Client

from grader.classroom import cluster
from grader.classroom.grading import JOURNAL, grade_folder
from grader.classroom.serve import Server
from grader.cli import main
from tests.grader.classroom.cluster import local_cluster, points, write_class
from tmalab.bootstrap import ROOT


def has_graded(client: Client) -> list[bool]:
    """Of each worker, in the order of their addresses, whether it has begun to grade."""

    def began() -> bool:
        from grader.classroom import work

        return work._sandbox is not None

    return [answer for _, answer in sorted(client.run(began).items())]


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """A cluster of two workers, of which one says that it has a GPU, and a client to look at them."""
    with local_cluster(tmp_path_factory.mktemp("cluster")) as started:
        started.worker("--resources", "GPU=1")
        started.worker()
        with Client(started.address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=120)
            yield started, client


def grade(folder, *arguments: str):
    return CliRunner().invoke(main, ["grade", str(folder), *arguments])


def test_what_needs_a_gpu_goes_to_the_worker_that_has_one_and_the_rest_to_all(workers, tmp_path):
    started, client = workers
    gpus = [bool(each["resources"]) for _, each in sorted(client.scheduler_info(-1)["workers"].items())]
    assert sorted(gpus) == [False, True]
    write_class(tmp_path / "gpu", 4)
    done = grade(tmp_path / "gpu", "--scheduler", started.address, "--gpu")
    assert done.exit_code == 0, done.output
    assert has_graded(client) == gpus

    write_class(tmp_path / "class", 8)
    (tmp_path / "class" / "torn.ipynb").write_text("torn", "utf-8")
    done = grade(tmp_path / "class", "--scheduler", started.address)
    assert done.exit_code == 0, done.output
    *graded, torn = done.stdout.splitlines()
    assert graded == [points(number) for number in range(8)]
    assert torn.startswith("torn.ipynb       no notebook")
    assert has_graded(client) == [True, True]
    assert len((tmp_path / "class" / JOURNAL).read_bytes().splitlines()) == 1 + 9  # whose it is, and each


def test_a_learners_notebook_is_checked_by_a_worker_that_declares_a_gpu(workers, tmp_path):
    started, _ = workers
    write_class(tmp_path, 3)
    with (
        cluster.Cluster(started.address, gpu=True) as graders,
        Server(("127.0.0.1", 0), graders.outcome) as server,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        done = CliRunner().invoke(main, ["check", str(tmp_path / "student-2.ipynb"), "--server", address, "--json"])
        server.shutdown()
    assert (done.exit_code, json.loads(done.stdout)["points"]) == (1, 2.0)


@pytest.mark.slow  # by the command; CI has the server and its cluster in one process, above
def test_learners_are_served_by_the_cluster(workers, tmp_path):
    started, _ = workers
    write_class(tmp_path / "class", 4)
    command = [sys.executable, "-m", "grader", "serve", "--gpu", "--host", "127.0.0.1", "--port", "0"]
    serving = subprocess.Popen([*command, "--scheduler", started.address], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        (address,) = re.findall(r"http://\S+:\d+", serving.stdout.readline())
        done = CliRunner().invoke(main, ["check", str(tmp_path / "class/student-3.ipynb"), "--server", address])
    finally:
        serving.send_signal(signal.SIGINT)
        serving.wait(60)
        serving.stdout.close()
    assert "3 of 25 points in all" in done.output


def test_a_worker_with_other_versions_is_refused(workers, tmp_path, monkeypatch):
    started, _ = workers
    write_class(tmp_path / "class", 1)
    monkeypatch.setattr(cluster, "versions", lambda: {"tmalab": "0.0.0"})
    done = grade(tmp_path / "class", "--scheduler", started.address)
    assert done.exit_code == 3
    assert "has other versions" in done.output
    assert "here are tmalab 0.0.0" in done.output


def test_a_cluster_that_there_is_not_and_a_gpu_without_a_cluster_are_refused_in_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT", 0.5)
    write_class(tmp_path / "class", 1)
    done = grade(tmp_path / "class", "--scheduler", "tcp://127.0.0.1:1")
    assert (done.exit_code, len(done.output.splitlines())) == (3, 1)
    assert "no Dask cluster at tcp://127.0.0.1:1" in done.output
    done = grade(tmp_path / "class", "--gpu")
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)


@pytest.mark.slow
def test_what_a_lost_worker_had_goes_to_another_and_counts_once(tmp_path, monkeypatch):
    with local_cluster(tmp_path) as started:
        first, _ = started.worker("--no-nanny"), started.worker()
        write_class(tmp_path / "class", 12)
        with cluster.Cluster(started.address) as graders:
            graders._client.wait_for_workers(2, timeout=120)
            seen: list[int] = []

            def progress(done: int, count: int) -> None:
                seen.append(done)
                if done == 2:
                    threading.Thread(target=os.killpg, args=(first.pid, signal.SIGKILL)).start()

            found = grade_folder(tmp_path / "class", graders.outcomes, progress=progress)
        assert [outcome["report"]["points"] for outcome in found.values()] == [
            float(points(int(name[8:-6])).split()[1].split("/")[0]) for name in found
        ]
        assert seen == list(range(13))
        assert len((tmp_path / "class" / JOURNAL).read_bytes().splitlines()) == 12
        monkeypatch.setattr(cluster, "CONNECT", 1.0)
        done = grade(tmp_path / "class", "--scheduler", started.address, "--gpu")
        assert done.exit_code == 3
        assert "declares a GPU" in done.output
