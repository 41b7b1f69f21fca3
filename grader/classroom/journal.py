"""What has been graded so far, a line of JSON for each submission, written to the disk before the next one counts.

A run that is killed, however, leaves whole lines and perhaps a torn one at the end, which is dropped. An entry counts
for the same file, content, seed and versions only: what was changed since is graded again.

A folder that is graded may hold what students handed in, a journal of their own making as well. So entries count only
after the last line that names a file, and if it names the very one that it is in (its inode), which nobody can know who
writes it elsewhere: a journal that was copied is read by `history`, and nothing in it is a grade.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     with Journal(Path(folder) / "journal.jsonl") as journal:
...         journal.note("a.ipynb", {"points": 3})
...     with Journal(Path(folder) / "journal.jsonl") as journal:
...         journal.entries
{'a.ipynb': {'points': 3}}
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from grader.texts import text


class InUse(RuntimeError):
    """Another run writes to this journal; the message says so."""


class Journal:
    """Entries by key, kept in a file. One process writes at a time. Use it as a context."""

    def __init__(self, path: Path):
        self.path = path
        self.entries: dict[str, Any] = {}

    def __enter__(self) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = open(self.path, "a+b")
        _lock(self._file, self.path)
        self._file.seek(0)
        self.entries, whole, is_own = _read(self._file)
        self._file.truncate(whole)
        if not is_own:
            self._file.write(_own_line(self._file))
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def note(self, key: str, found: Any) -> None:
        """Keep an entry: it is on the disk when this returns."""
        self._file.write(json.dumps({"key": key, "found": found}).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.entries[key] = found


def add(path: Path, key: str, found: Any) -> None:
    """Add one entry to a journal that nobody keeps open: for processes that grade one submission each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+b") as file:
        _wait_for(file)
        file.seek(0)
        _, whole, is_own = _read(file)
        torn = file.seek(0, os.SEEK_END) > whole
        first = (b"\n" if torn else b"") + (b"" if is_own else _own_line(file))
        file.write(first + json.dumps({"key": key, "found": found}).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def history(path: Path) -> list[tuple[str, Any]]:
    """All entries of a journal, in the order in which they came: what was graded again is there more than once."""
    found = []
    for line in path.read_bytes().splitlines() if path.is_file() else []:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            entry = json.loads(line)
            found.append((entry["key"], entry["found"]))
    return found


def _wait_for(file: Any) -> None:
    with contextlib.suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def entries_of(path: Path) -> dict[str, Any]:
    """The entries in a journal's file, which another run may be writing to; none where there is no file."""
    try:
        with open(path, "rb") as file:
            return _read(file)[0]
    except OSError:
        return {}


def _own_line(file: Any) -> bytes:
    return json.dumps({"journal": os.fstat(file.fileno()).st_ino}).encode() + b"\n"


def _read(file: Any) -> tuple[dict[str, Any], int, bool]:
    """Entries that count, the bytes of whole lines, and whether what is added now counts. What no whole entry is, is
    left out."""
    entries: dict[str, Any] = {}
    whole, is_own, own = 0, False, _own_line(file)
    for line in file:
        if line.endswith(b"\n"):
            whole += len(line)
            if line.startswith(b'{"journal":'):
                is_own = line == own
                entries.clear()  # only the last such line tells: a file that names many inodes guesses once
            elif is_own:
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    entry = json.loads(line)
                    entries[entry["key"]] = entry["found"]
    return entries, whole, is_own


def _lock(file: Any, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # Windows keeps no two writers apart here
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise InUse(text("classroom.in-use", path=path)) from None
