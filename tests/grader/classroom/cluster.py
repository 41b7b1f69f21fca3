"""A Dask cluster for tests: a scheduler and workers as processes of this computer, and a class to grade."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.grader.attacks.notebooks import CHECK_COUNTS, SETUP, notebook
from tests.lessons import COURSE

RIGHT = [4096, 1024, 1]


def write_class(folder: Path, size: int) -> None:
    """Students of whom every fourth has 0, 1, 2 or 3 counts right."""
    folder.mkdir(exist_ok=True)
    for number in range(size):
        counts = [value if i < number % 4 else 7 for i, value in enumerate(RIGHT)]
        made = notebook(SETUP, f"counts = {counts}", CHECK_COUNTS)
        (folder / f"student-{number}.ipynb").write_text(json.dumps(made), "utf-8")


def points(number: int) -> str:
    """What `grader grade` says of a student of this class."""
    return f"student-{number}.ipynb  {number % 4}/25"


class LocalCluster:
    """Processes that end with the `with` block."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._started: list[subprocess.Popen] = []
        self._start("dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not self._file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address: str = json.loads(self._file.read_text())["address"]

    def worker(self, *arguments: str) -> subprocess.Popen:
        """Start a worker of one thread."""
        local = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--local-directory", str(self._folder))
        return self._start("dask_worker", *local, *arguments)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen:
        paths = [str(COURSE.parent), os.environ.get("PYTHONPATH", "")]
        process = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.{module}", "--scheduler-file", str(self._file), *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
            start_new_session=True,
        )
        self._started.append(process)
        return process

    def close(self) -> None:
        for process in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def local_cluster(folder: Path) -> Iterator[LocalCluster]:
    cluster = LocalCluster(folder)
    try:
        yield cluster
    finally:
        cluster.close()
