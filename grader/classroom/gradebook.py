"""One writer at a time for nbgrader's gradebook, in SQLite or PostgreSQL: a second `nbgrader autograde` waits.

Many may grade at a time (`grader grade -j`, or on a cluster); the one process that holds the gradebook then writes down
what they found. Readers, such as formgrader, are not held up. The lock ends with the process, however that ends.
"""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from typing import Any

from sqlalchemy import create_engine
from sqlalchemy import text as sql
from sqlalchemy.engine import URL, make_url

LOCK = int.from_bytes(hashlib.sha256(b"tmalab gradebook").digest()[:4], "big") >> 1  # a key for PostgreSQL's own


@lru_cache(maxsize=8)
def only_writer(url: str) -> Any:
    """Wait until no other process writes to the gradebook at a database's URL; then this one may, until it ends.

    Of other databases than SQLite and PostgreSQL nothing is held.
    """
    where = make_url(url)
    if where.get_backend_name() == "postgresql":
        return _advisory_lock(url)
    return _file_lock(where) if where.get_backend_name() == "sqlite" and where.database else None


def _advisory_lock(url: str) -> Any:
    """PostgreSQL's lock of a session, which ends with its connection."""
    connection = create_engine(url, isolation_level="AUTOCOMMIT").connect()
    connection.execute(sql("SELECT pg_advisory_lock(:key)"), {"key": LOCK})
    return connection


def _file_lock(where: URL) -> Any:
    try:
        import fcntl
    except ImportError:  # Windows: SQLite's own locks keep the gradebook whole
        return None
    file = open(f"{os.path.abspath(str(where.database))}.writer", "ab")  # noqa: SIM115  open until this process ends
    fcntl.flock(file, fcntl.LOCK_EX)
    return file
