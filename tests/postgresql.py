"""A PostgreSQL of a test's own: a temporary cluster of Debian's package, run as an ordinary user, on a socket alone."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

NOBODY = 65534
USER = "grader"


def programs() -> Path | None:
    """The folder of initdb and postgres, of the newest version that is installed."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(found, key=lambda path: float(path.parent.name), default=None)


@contextlib.contextmanager
def temporary_cluster() -> Iterator[str]:
    """The folder in which the server's socket lies, while it runs."""
    bin = programs()
    assert bin is not None, "no PostgreSQL here (on Debian: apt install postgresql)"
    folder = Path(tempfile.mkdtemp(prefix="tmalab-postgresql-"))
    try:
        as_nobody: list[str] = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            os.chown(folder, NOBODY, NOBODY)
            as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        data, environment = str(folder / "data"), {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}
        made = [str(bin / "initdb"), "-D", data, "-U", USER, "--auth=trust", "--no-sync", "-E", "UTF8"]
        subprocess.run([*as_nobody, *made], check=True, capture_output=True, env=environment, cwd="/")
        runs = [str(bin / "postgres"), "-D", data, "-k", str(folder), "-h", "", "-F"]
        server = subprocess.Popen(
            [*as_nobody, *runs], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, cwd="/"
        )
        try:
            _wait(bin, folder, server)
            yield str(folder)
        finally:
            server.send_signal(signal.SIGQUIT)
            server.wait()
    finally:
        shutil.rmtree(folder)


def database(folder: str, name: str) -> str:
    """Make a database; its URL, as nbgrader takes it."""
    import psycopg

    with psycopg.connect(host=folder, user=USER, dbname="postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"postgresql+psycopg://{USER}@/{name}?host={folder}"


def _wait(bin: Path, folder: Path, server: subprocess.Popen) -> None:
    deadline = time.monotonic() + 60
    while subprocess.run([str(bin / "pg_isready"), "-h", str(folder), "-q"], check=False).returncode:
        assert server.poll() is None, "PostgreSQL ended"
        assert time.monotonic() < deadline, "PostgreSQL did not answer"
        time.sleep(0.1)
