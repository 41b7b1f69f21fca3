"""A run that is killed at any moment goes on where it stopped: the same final table, nothing lost, nothing twice."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.classroom.grading import JOURNAL
from grader.classroom.journal import InUse, Journal, add, entries_of, history
from tests.grader.attacks.notebooks import CHECK_COUNTS, SETUP, notebook
from tests.lessons import COURSE

CLASS = 12


def answers(number: int) -> str:
    """Counts of which as many are right as the number says."""
    right = [4096, 1024, 1]
    return f"counts = {[value if i < number % 4 else 7 for i, value in enumerate(right)]}"


def write_class(folder: Path) -> None:
    for number in range(CLASS):
        made = notebook(SETUP, answers(number), CHECK_COUNTS)
        (folder / f"student-{number}.ipynb").write_text(json.dumps(made), "utf-8")
    (folder / "torn.ipynb").write_text("torn", "utf-8")


def start(folder: Path, workers: int = 1) -> subprocess.Popen:
    command = [sys.executable, "-m", "grader", "grade", str(folder), "-j", str(workers), "--csv"]
    environment = os.environ | {"PYTHONPATH": str(COURSE.parent)}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )


def lines(folder: Path) -> list[bytes]:
    """The whole lines of the journal."""
    written = (folder / JOURNAL).read_bytes() if (folder / JOURNAL).exists() else b""
    return [line for line in written.splitlines(True) if line.endswith(b"\n")]


def noted(folder: Path) -> list[str]:
    """The keys in the journal."""
    return [entry["key"] for entry in map(json.loads, lines(folder)) if "key" in entry]


def killed(folder: Path, moments: int, draw: random.Random) -> int:
    """How often a run was killed, all its processes at once, at random moments, until one came to its end."""
    before = list[bytes]()
    for moment in range(moments):
        run = start(folder, workers=2)
        if moment % 2:  # while it starts, or anywhere; else just around a further note
            time.sleep(draw.random() * 4)
        else:
            deadline = time.monotonic() + 60
            while run.poll() is None and lines(folder) == before and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(draw.random() * 0.1)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        run.communicate()
        assert lines(folder)[: len(before)] == before  # what was noted stays as it was
        before = lines(folder)
        if run.returncode != -signal.SIGKILL:
            return moment
    return moments


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "moments", [pytest.param(2, id="2 moments"), pytest.param(20, id="20 moments", marks=pytest.mark.slow)]
)
def test_a_run_killed_at_random_moments_ends_with_the_same_table(moments, tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    write_class(whole)
    expected, draw, left = start(whole).communicate(timeout=120)[0], random.Random(moments), moments
    assert expected.count("copy-2d.count") == CLASS
    while left:
        shutil.rmtree(broken, ignore_errors=True)
        broken.mkdir()
        write_class(broken)
        kills = killed(broken, left, draw)
        assert kills > 0
        left -= kills
        assert start(broken).communicate(timeout=240)[0] == expected
        assert len(noted(broken)) == len(set(noted(broken))) == CLASS + 1

    # what was graded is not graded again, unless it changed
    (broken / "student-0.ipynb").write_text(json.dumps(notebook(SETUP, answers(3), CHECK_COUNTS)), "utf-8")
    table = start(broken).communicate(timeout=120)[0]
    assert len(noted(broken)) == CLASS + 2
    assert table == expected.replace("student-0.ipynb,copy-2d.count,0,3", "student-0.ipynb,copy-2d.count,3,3")


def test_a_torn_line_at_the_end_of_the_journal_is_dropped(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.note("a", 1)
    path.write_bytes(path.read_bytes() + b'{"key": "b", "fou')
    with Journal(path) as journal:
        assert journal.entries == {"a": 1}
        journal.note("b", 2)
    with Journal(path) as journal:
        assert journal.entries == {"a": 1, "b": 2}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no two writers apart")
def test_two_runs_do_not_write_to_one_journal(tmp_path):
    with Journal(tmp_path / "journal.jsonl"), pytest.raises(InUse, match="another run"):
        Journal(tmp_path / "journal.jsonl").__enter__()


def test_a_journal_that_names_many_files_has_guessed_none_of_them(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.touch()
    number = path.stat().st_ino
    lines = [{"journal": number}, {"key": "a", "found": "all points"}, {"journal": number + 1}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    with Journal(path) as journal:
        assert journal.entries == {}
    with Journal(path) as journal:
        assert journal.entries == {}


def test_entries_of_a_journal_that_was_written_elsewhere_are_history_and_no_grades(tmp_path):
    students, own = tmp_path / "forged.jsonl", tmp_path / "journal.jsonl"
    with Journal(students) as journal:
        journal.note("a", "all points")
    own.write_bytes(students.read_bytes())
    with Journal(own) as journal:
        assert journal.entries == {}
        journal.note("b", "graded here")
    assert entries_of(own) == {"b": "graded here"}
    own.write_bytes(own.read_bytes() + students.read_bytes())
    assert entries_of(own) == {}
    add(own, "c", "graded here")
    with Journal(own) as journal:
        assert journal.entries == {"c": "graded here"}
    assert [key for key, _ in history(own)] == ["a", "b", "a", "c"]


def test_entries_that_are_added_one_by_one_survive_a_torn_line(tmp_path):
    path = tmp_path / "journal.jsonl"
    add(path, "a", 1)
    path.write_bytes(path.read_bytes() + b'{"key": "b", "fou')
    add(path, "c", 3)
    add(path, "a", 4)
    assert history(path) == [("a", 1), ("c", 3), ("a", 4)]
    with Journal(path) as journal:
        assert journal.entries == {"a": 4, "c": 3}
