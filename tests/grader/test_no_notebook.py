"""Of any file that is no notebook one sentence says what it is, or what happened to it: never a parser's words."""

from __future__ import annotations

import gzip
import io
import json
import os
import socket
import zipfile

import pytest

from grader.submission import Unreadable, content_of, parse
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, SETUP, notebook

MADE = notebook(SETUP, COUNTS, CHECK_COUNTS)
WHOLE = json.dumps(MADE, indent=1)
LINES = WHOLE.count("\n") + 1


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.ipynb", WHOLE)
    return file.getvalue()


NONE = {
    "no bytes": (b"", "the file is empty"),
    "lines alone": (b" \r\n\n", "the file is empty"),
    "ZIP": (zipped(), "an archive"),
    "gzip": (gzip.compress(WHOLE.encode()), "an archive"),
    "PNG": (b"\x89PNG\r\n\x1a\n\x00", "a picture"),
    "PDF": (b"%PDF-1.7\n", "a PDF"),
    "a page": (b"\n<!DOCTYPE html><title>copy-2d</title>", "a web page"),
    "a script": (b"import grader\n", "text of another kind"),
    "a disk's zeros": (bytes(4096), "data that is no text"),
    "all bytes": (bytes(range(256)), "data that is no text"),
    "Latin-1": ('{"cells": "größe"}'.encode("latin-1"), "not UTF-8 (byte 13 is wrong)"),
    "a merge": (WHOLE.replace('\n "metadata"', '\n<<<<<<< HEAD\n "metadata"').encode(), "is a mark of git's"),
    "cut in a string": (WHOLE[: WHOLE.index("4096") + 2].encode(), "ends in the middle"),
    "cut between": (WHOLE[:-2].encode(), f"ends in the middle, in line {LINES - 1}"),
    "cut in UTF-16": (WHOLE.encode("utf-16")[:200], "ends in the middle"),
    "a comma more": (WHOLE.replace('"nbformat": 4,', '"nbformat": 4,,').encode(), f"in line {LINES - 2}, at character"),
    "two in one": ((WHOLE + WHOLE).encode(), f"in line {LINES}, at character 2"),
    "nested": (b'{"cells": ' + b"[" * 100_000, "deeper than any notebook"),
    "digits": (b'{"cells": [' + b"9" * 10_000 + b"]}", "thousands of digits"),
    "a list": (json.dumps(MADE["cells"]).encode(), "a list, where a notebook"),
    "brackets": (b"[]", "a list, where a notebook"),
    "an object": (b'{"name": "tmalab"}', "no list of cells"),
    "format 3": (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "of format 3 or older"),
}
PARSERS = ("Expecting", "column 1", "char", "codec", "decode", "delimiter", "Traceback", "Error")


@pytest.mark.parametrize("name", NONE)
def test_a_file_that_is_no_notebook_is_told_in_one_sentence(name):
    content, words = NONE[name]
    with pytest.raises(Unreadable) as told:
        parse(content)
    said = str(told.value)
    assert words in said
    assert said.startswith("no notebook")
    assert "\n" not in said
    assert not [word for word in PARSERS if f"{word} " in f"{said} ".replace("character", "")]


@pytest.mark.parametrize("value", ["17", "NaN", "null", "true", '"cells"'])
def test_a_value_that_is_no_object_is_named(value):
    with pytest.raises(Unreadable, match="where a notebook is an object"):
        parse(value.encode())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_a_notebook_is_read_in_every_encoding_that_json_may_have(encoding):
    assert parse(WHOLE.encode(encoding)).cells == MADE["cells"]


def test_what_is_no_regular_file_is_told_for_what_it_is(tmp_path):
    (tmp_path / "folder.ipynb").mkdir()
    os.mkfifo(tmp_path / "pipe.ipynb")
    (tmp_path / "nowhere.ipynb").symlink_to(tmp_path / "gone")
    (tmp_path / "round.ipynb").symlink_to(tmp_path / "round.ipynb")
    place, here = tmp_path / "socket.ipynb", os.getcwd()
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(tmp_path)  # a socket's path may not be long
        try:
            listener.bind(place.name)
        finally:
            os.chdir(here)
        said = {}
        for name in ("folder", "pipe", "nowhere", "round", "socket", "absent"):
            with pytest.raises(Unreadable) as told:
                content_of(tmp_path / f"{name}.ipynb")
            said[name] = str(told.value)
    assert said["folder"] == "a folder, no file"
    assert said["pipe"] == said["socket"] == "no file, but a pipe, a socket or a device"
    assert said["nowhere"] == said["round"] == "a link to another file; only files are graded"
    assert said["absent"] == "no such file"
