"""Any file in place of a notebook: that submission is marked, with a reason, and the rest go on."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile

import pytest
from click.testing import CliRunner

from grader import submission, trusted
from grader.classroom.feedback import write_feedback
from grader.cli import main
from grader.lint import remarks
from grader.sandbox.host import Sandbox
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, LESSON, SETUP, notebook

GOOD = json.dumps(notebook(SETUP, COUNTS, CHECK_COUNTS))
DEEP = "[" * 200_000
BAD = {
    "empty": (b"", "no notebook"),
    "text": (b"hello", "no notebook"),
    "list": (b"[]", "a list, where a notebook"),
    "no-cells": (b'{"cells": 3}', "no list of cells"),
    "cells-of-numbers": (b'{"cells": [1, 2]}', "no list of cells"),
    "metadata-of-numbers": (b'{"cells": [{"cell_type": "code", "metadata": 3}]}', "no list of cells"),
    "deep": (DEEP.encode(), "no notebook"),
    "latin-1": (b'{"cells": ["\xe9"]}', "no notebook"),
    "digits": (b'{"cells": [' + b"9" * 10_000 + b"]}", "no notebook"),
    "of-another-course": (json.dumps(notebook("print(1)")).encode(), "no notebook of this course"),
    "many-cells": (json.dumps(notebook(*["1"] * 3000)).encode(), "3000 cells"),
    "much-code": (json.dumps(notebook("x" * (2 << 20))).encode(), "characters of code"),
}


def write_class(folder) -> None:
    for name, (content, _) in BAD.items():
        (folder / f"{name}.ipynb").write_bytes(content)
    (folder / "good.ipynb").write_text(GOOD, "utf-8")
    (folder / "=cmd()|.ipynb").write_text(GOOD, "utf-8")
    (folder / "GOOD, too\n.IPYNB").write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    (folder / "utf-16.ipynb").write_bytes(GOOD.encode("utf-16"))
    (folder / os.fsdecode(b"name-\xff.ipynb")).write_text("torn", "utf-8")
    (folder / "link.ipynb").symlink_to(folder / "good.ipynb")
    (folder / "secrets.ipynb").symlink_to("/etc/shadow")
    (folder / "folder.ipynb").mkdir()
    (folder / "elsewhere").symlink_to("/", target_is_directory=True)
    os.mkfifo(folder / "pipe.ipynb")
    with zipfile.ZipFile(folder / "zipped.ipynb", "w") as archive:
        archive.writestr("../../outside.ipynb", GOOD)
    with open(folder / "huge.ipynb", "wb") as file:
        file.truncate(submission.LARGEST + 1)


def test_a_class_of_broken_files_is_marked_and_the_good_ones_are_graded(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    write_class(folder)
    done = CliRunner().invoke(main, ["grade", str(folder), "-j", "1", "--csv"])
    assert done.exit_code == 0, done.output
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    remark = {row["notebook"]: row["remark"] for row in rows}
    for name, (_, reason) in BAD.items():
        assert reason in remark[f"{name}.ipynb"]
    for name in ("good.ipynb", "'=cmd()|.ipynb", "GOOD, too\n.IPYNB", "utf-16.ipynb"):
        points = {row["exercise"]: row["points"] for row in rows if row["notebook"] == name}
        assert points.pop("copy-2d.count") == "3"
        assert set(points.values()) == {"0"}
    assert remark["link.ipynb"] == remark["secrets.ipynb"] == "a link to another file; only files are graded"
    assert remark["folder.ipynb"] == "a folder, no file"
    assert remark["pipe.ipynb"] == "no file, but a pipe, a socket or a device"
    assert "larger than 32 MiB" in remark["huge.ipynb"]
    assert "no notebook" in remark["zipped.ipynb"]
    assert not (tmp_path / "outside.ipynb").exists()
    assert not [name for name in remark if "elsewhere" in name]


@pytest.mark.parametrize("name", BAD)
def test_lint_says_the_same_in_one_sentence(name, tmp_path):
    file = tmp_path / "a.ipynb"
    file.write_bytes(BAD[name][0])
    (remark,) = remarks(file)
    assert BAD[name][1] in remark
    assert "\n" not in remark


def test_a_folder_without_notebooks_is_told_in_a_sentence(tmp_path):
    (tmp_path / "copy-2d.py").write_text(GOOD, "utf-8")
    done = CliRunner().invoke(main, ["grade", str(tmp_path)])
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert f"no notebook in {tmp_path}" in done.output


def test_two_students_whose_files_differ_in_their_endings_case_have_a_page_each(tmp_path):
    outcomes = {name: {"error": name} for name in ("ann.ipynb", "ann.IPYNB", "bob/.ipynb")}
    pages = write_feedback(outcomes, tmp_path)
    assert len({page for page in pages if page.is_file()}) == 3
    assert all(name in page.read_text("utf-8") for name, page in zip(outcomes, pages, strict=True))


def test_lint_names_cells_that_are_copied_gone_or_no_python(tmp_path):
    check = {"cell_type": "code", "source": CHECK_COUNTS, "metadata": {"nbgrader": {"grade_id": "count-check"}}}
    made = notebook("for", "%matplotlib inline", "await x")
    made["cells"] += [check, check]
    (tmp_path / "a.ipynb").write_text(json.dumps(made), "utf-8")
    said = " ".join(remarks(tmp_path / "a.ipynb"))
    assert "count-check is there more than once" in said
    assert "the check of copy-2d.kernel is gone" in said
    assert "cell 1, line 1" in said
    assert "cell 2" not in said


def test_a_path_is_graded_like_the_notebook_in_it(tmp_path):
    file = tmp_path / "renamed by a student (1).ipynb"
    file.write_text(GOOD, "utf-8")
    with Sandbox() as sandbox:
        reports = [trusted.regrade(given, sandbox=sandbox) for given in (file, str(file), json.loads(GOOD))]
    assert {report.points for report in reports} == {3.0}
    assert {report.assignment for report in reports} == {LESSON}
    assert reports[0].notebook_hash == reports[1].notebook_hash
    assert len(reports[0].notebook_hash) == 64
