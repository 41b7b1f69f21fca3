"""A submission as it was handed in: any file, of any size, made by anyone. What is no notebook is told in one sentence.

Only a regular file is read, never through a link, never more than `LARGEST` bytes, and only as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.lesson import source_of
from grader.no_notebook import decoded, of_another_kind, why_none
from grader.texts import text

LARGEST = 32 << 20  # bytes of a file, with its pictures
MOST_CELLS = 2000
MOST_PARTS = 1 << 20  # brackets and braces: each becomes some hundred bytes of memory
MOST_CODE = 1 << 20  # characters in all code cells
VERSION = re.compile(r"\btmalab (\d[\w.+-]{0,30})")


class Unreadable(ValueError):
    """A file that is no notebook that can be graded; the message is one sentence without the file's name."""


@dataclass(frozen=True)
class Submission:
    """A notebook's cells and metadata, checked for their types, and the SHA-256 of what was read."""

    cells: Sequence[Mapping[str, Any]]
    metadata: Mapping[str, Any]
    digest: str

    def code(self) -> list[tuple[str, str]]:
        """Name and source of each code cell: the name is what reports say, its place among all cells."""
        cells = enumerate(self.cells, 1)
        return [(f"cell {number}", source_of(cell)) for number, cell in cells if cell["cell_type"] == "code"]


def version_told(cells: Sequence[Mapping[str, Any]], metadata: Mapping[str, Any]) -> str:
    """The version of tmalab that a student's own checks said they had; empty where they said nothing.

    It is what the notebook says, and no more than that.
    """
    noted = metadata.get("tmalab")
    texts = [noted.get("checked-with")] if isinstance(noted, dict) else []
    for cell in cells:
        outputs = cell.get("outputs")
        for output in outputs if isinstance(outputs, list) else []:
            written = output.get("text") if isinstance(output, dict) else None
            texts.append("".join(filter(str.__instancecheck__, written)) if isinstance(written, list) else written)
    found = (VERSION.search(words) for words in texts if isinstance(words, str))
    return next((match[1] for match in found if match), "")


def note_version(notebook: Any) -> None:
    """Keep what `version_told` finds in a notebook's metadata, where it stays when the outputs go."""
    told = version_told(notebook.get("cells", ()), notebook.get("metadata", {}))
    if told:
        notebook["metadata"]["tmalab"] = {**_own(notebook["metadata"]), "checked-with": f"tmalab {told}"}


def _own(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return metadata["tmalab"] if isinstance(metadata.get("tmalab"), dict) else {}


def read(path: Path) -> Submission:
    """The submission in a file. Raises Unreadable."""
    return parse(content_of(path))


def parse(content: bytes) -> Submission:
    """The submission in a file's bytes. Raises Unreadable."""
    digest = digest_of(content)
    if content.count(b"[") + content.count(b"{") > MOST_PARTS:
        raise Unreadable(text("submission.too-many-parts", limit=MOST_PARTS))
    try:
        written = json.loads(decoded(content))
    except (UnicodeError, ValueError, RecursionError):
        raise Unreadable(why_none(content)) from None
    return of(written, digest)


def of(written: Any, digest: str = "") -> Submission:
    """The submission that a notebook's JSON is. Raises Unreadable."""
    if not isinstance(written, dict) or not isinstance(written.get("cells"), list):
        raise Unreadable(of_another_kind(written))
    cells = written["cells"]
    if len(cells) > MOST_CELLS:
        raise Unreadable(text("submission.too-many-cells", count=len(cells), limit=MOST_CELLS))
    if not all(isinstance(cell, dict) and isinstance(cell.get("cell_type"), str) for cell in cells):
        raise Unreadable(text("submission.no-cells"))
    if not all(isinstance(cell.get("metadata", {}), dict) for cell in cells):
        raise Unreadable(text("submission.no-cells"))
    if sum(len(source_of(cell)) for cell in cells if cell["cell_type"] == "code") > MOST_CODE:
        raise Unreadable(text("submission.too-much-code", limit=MOST_CODE))
    metadata = written.get("metadata")
    return Submission(cells, metadata if isinstance(metadata, dict) else {}, digest or _digest(written))


def _digest(written: Any) -> str:
    return hashlib.sha256(json.dumps(written, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()


def digest_of(content: bytes) -> str:
    """The SHA-256 of a file's bytes."""
    return hashlib.sha256(content).hexdigest()


def content_of(path: Path) -> bytes:
    """A submitted file's bytes. Raises Unreadable for what is no file, or too large a one."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        number = os.open(path, flags)
    except FileNotFoundError:
        raise Unreadable(text("submission.no-file")) from None
    except (OSError, ValueError):  # a link, no permission, a name that is none
        raise Unreadable(text(_why_closed(path))) from None
    kind = os.fstat(number).st_mode
    if not stat.S_ISREG(kind):
        os.close(number)
        raise Unreadable(text("submission.folder" if stat.S_ISDIR(kind) else "submission.no-file-but-a-device"))
    with os.fdopen(number, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unreadable(text("submission.too-large", limit=LARGEST >> 20))
    return content


def _why_closed(path: Path) -> str:
    """The key of the sentence about a file that can't be opened."""
    try:
        kind = os.lstat(path).st_mode
    except (OSError, ValueError):
        return "submission.no-permission"
    if stat.S_ISLNK(kind):
        return "submission.link"
    if stat.S_ISDIR(kind):  # which Windows does not open
        return "submission.folder"
    return "submission.no-permission" if stat.S_ISREG(kind) else "submission.no-file-but-a-device"
