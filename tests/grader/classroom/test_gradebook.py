"""nbgrader's gradebook in a real PostgreSQL: one process writes at a time, and what was graded before is taken over."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from nbgrader.api import Gradebook

from grader.classroom.gradebook import only_writer
from grader.classroom.grading import grade_folder
from grader.classroom.work import grade
from grader.sandbox.host import Sandbox
from tests.grader.attacks.notebooks import LESSON, cell
from tests.lessons import COURSE
from tests.postgresql import USER, database, temporary_cluster

POINTS = {"astrid": 3.0, "bela": 1.0}  # for the counts; nothing else is answered
NOTED = ("astrid",)  # graded before nbgrader is asked
RIGHT = [4096, 1024, 1]
NAME = "copy-2d.ipynb"
ALONE = "an autograded cell of the instructor's own"


@pytest.fixture(scope="module")
def server():
    with temporary_cluster() as folder:
        yield folder


@pytest.fixture
def course(server, tmp_path):
    """A course whose gradebook is in PostgreSQL, with its URL, and what two students handed in."""
    url = database(server, "gradebook")
    config = (COURSE / "nbgrader_config.py").read_text("utf-8")
    (tmp_path / "nbgrader_config.py").write_text(f"{config}\nc.CourseDirectory.db_url = {url!r}\n", "utf-8")
    (tmp_path / "source" / LESSON).mkdir(parents=True)
    source = json.loads((COURSE / "source" / LESSON / NAME).read_text("utf-8"))
    own = json.loads(json.dumps(cell(source, "count-check")))
    own |= {"id": "own-test", "source": f"assert True  # {ALONE}"}
    own["metadata"]["nbgrader"] |= {"grade_id": "own-test", "points": 5}
    source["cells"].append(own)
    (tmp_path / "source" / LESSON / NAME).write_text(json.dumps(source), "utf-8")
    nbgrader(tmp_path, "generate_assignment", LESSON).wait()
    for student, points in POINTS.items():
        handed_in = json.loads((tmp_path / "release" / LESSON / NAME).read_text("utf-8"))
        answer = [value if i < points else 7 for i, value in enumerate(RIGHT)]
        cell(handed_in, "count-answer")["source"] = f"counts = {answer}"
        folder = tmp_path / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        (folder / NAME).write_text(json.dumps(handed_in), "utf-8")
    return tmp_path, url


def nbgrader(course: Path, *arguments: str) -> subprocess.Popen:
    paths = [str(COURSE.parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "JUPYTER_PLATFORM_DIRS": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # nbgrader calls alembic
    command = [sys.executable, "-m", "nbgrader", *arguments]
    with open(course / "log.txt", "ab") as log:
        return subprocess.Popen(command, cwd=course, env=environment, stdout=log, stderr=log)


def waiting(server: str) -> int:
    """How many processes wait for the gradebook's lock."""
    with psycopg.connect(host=server, user=USER, dbname="gradebook") as connection:
        row = connection.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").fetchone()
        return row[0]


def grade_before(course: Path) -> None:
    """As `grader grade submitted` does, for some of the students; reports say that it was here."""
    elsewhere = course / "not yet"
    left = [student for student in POINTS if student not in NOTED]
    for student in left:
        shutil.move(course / "submitted" / student, elsewhere / student)
    with Sandbox() as sandbox:

        def workers(jobs):
            for job in jobs:
                outcome = grade(job, sandbox)
                outcome["report"]["statement"] = "graded before"
                yield job.name, outcome

        grade_folder(course / "submitted", workers)
    for student in left:
        shutil.move(elsewhere / student, course / "submitted" / student)


def test_a_gradebook_in_postgresql_has_one_writer_and_takes_over_what_was_graded_before(course, server, monkeypatch):
    folder, url = course
    grade_before(folder)
    writer = only_writer(url)
    runs = [nbgrader(folder, "autograde", LESSON, f"--student={student}") for student in POINTS]
    deadline = time.monotonic() + 120
    while waiting(server) < len(runs) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert waiting(server) == len(runs)
    assert not list((folder / "autograded").rglob("*.ipynb"))
    writer.close()
    writer.engine.dispose()
    assert [run.wait(timeout=200) for run in runs] == [0] * len(runs), (folder / "log.txt").read_text("utf-8")[-3000:]

    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with Gradebook(url, "tmalab") as book:
        for student, points in POINTS.items():
            (notebook,) = book.find_submission(LESSON, student).notebooks
            earned = {grade.name: grade.score for grade in notebook.grades}
            assert earned.pop("count-check") == points
            assert set(earned.values()) == {0.0}
            assert "own-test" in earned  # nbgrader alone would give all points for a cell that was not run
    for student in POINTS:
        written = (folder / "autograded" / student / LESSON / NAME).read_text("utf-8")
        assert ("graded before" in written) == (student in NOTED)
        assert "set its points by hand" in written


def test_a_gradebook_in_sqlite_has_one_writer(tmp_path):
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    code = f"from grader.classroom.gradebook import only_writer\nonly_writer({url!r})\nprint('writes', flush=True)"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(COURSE.parent), os.environ["PYTHONPATH"]])}
    held = only_writer(url)
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    with pytest.raises(subprocess.TimeoutExpired):
        other.wait(1.5)
    held.close()
    assert other.communicate(timeout=60)[0] == "writes\n"
