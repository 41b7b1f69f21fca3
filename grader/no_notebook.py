"""What a file is that is no notebook, said in one sentence to whoever handed it in.

Where a notebook was meant, the sentence says what happened to it: cut off, left unmerged, in another encoding than
notebooks have. Else it says what the file seems to be instead.

>>> why_none(b"")
'no notebook: the file is empty'
"""

from __future__ import annotations

import json

from grader.texts import text

ARCHIVES = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!", b"BZh", b"\xfd7zXZ")
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF")
BEGINNINGS = ((ARCHIVES, "archive"), (PICTURES, "picture"), ((b"%PDF",), "pdf"))
PAGES = ("<!doctype", "<html", "<?xml")
MERGE = "<<<<<<<"  # where git leaves two versions of a piece
KINDS = {list: "list", str: "string", bool: "true-or-false", int: "number", float: "number", type(None): "null"}


def decoded(content: bytes) -> str:
    """A notebook's text: UTF-8, or what an editor makes of it: with a mark, UTF-16, UTF-32. Raises UnicodeError."""
    return content.decode(json.detect_encoding(content))


def why_none(content: bytes) -> str:
    """Why a file's bytes, which are no JSON, are no notebook."""
    if not content.strip():
        return text("submission.empty")
    for beginnings, kind in BEGINNINGS:
        if content.startswith(beginnings):
            return text(f"submission.{kind}")
    try:
        written = decoded(content)
    except UnicodeError as error:
        place = getattr(error, "start", 0)
        return text("submission.encoding", place=place) if _is_text(content) else text("submission.binary")
    return text("submission.binary") if "\0" in written else _of_text(written)


def of_another_kind(written: object) -> str:
    """Why JSON is no notebook."""
    if not isinstance(written, dict):
        return text("submission.other-json", kind=text(f"submission.{KINDS[type(written)]}"))
    if isinstance(written.get("worksheets"), list):
        return text("submission.old-format")
    return text("submission.no-cells")


def _of_text(written: str) -> str:
    first, lines = written.lstrip("\ufeff \t\r\n"), written.splitlines()
    if first.lower().startswith(PAGES):
        return text("submission.page")
    if not first.startswith(("{", "[")):
        return text("submission.words")
    marked = next((number for number, line in enumerate(lines, 1) if line.startswith(MERGE)), 0)
    if marked:
        return text("submission.merge", line=marked)
    try:
        json.loads(written)
    except json.JSONDecodeError as error:
        if error.pos >= len(written.rstrip()) or error.msg.startswith("Unterminated string"):
            return text("submission.cut", line=len(lines))
        return text("submission.broken", line=error.lineno, column=error.colno)
    except RecursionError:
        return text("submission.deep")
    except ValueError:
        return text("submission.digits")
    return text("submission.words")


def _is_text(content: bytes) -> bool:
    """Whether bytes that are no UTF-8 are at least letters, of an encoding of eight bits."""
    return not any(byte < 9 for byte in content[:4096])
