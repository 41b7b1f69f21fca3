"""How many submissions a minute: this grader, each check in a process of its own, against stock `nbgrader autograde`.

Both grade the same notebooks in one run, made of the checkout's lessons: a third all right, a third half, a third as
released. Needs the checkout's `notebooks/source` and nbgrader.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import nbgrader

from grader.classroom.grading import grade_folder
from grader.lesson import lessons
from grader.sandbox.processes import descendants, proportional
from grader.trusted import versions
from tmalab.bootstrap import ROOT

ASSIGNMENTS = 3  # lessons that submissions are made of
SHARES = (1, 2, 0)  # students who answer all, every other exercise, none
STOCK = """
c = get_config()
c.CourseDirectory.course_id = "bench"
c.CourseDirectory.ignore = ["*.py", "__pycache__"]
c.Execute.timeout = 120
"""


def measure(submissions: int, jobs: int, stock: int) -> dict[str, Any]:
    """Grade `submissions` with `jobs` workers, and the first `stock` of them with stock nbgrader; figures, by name."""
    with tempfile.TemporaryDirectory() as folder:
        made = write_submissions(Path(folder), submissions)
        ours, memory, isolation = _ours(Path(folder) / "submitted", jobs)
        theirs, failed = _stock(Path(folder), made[:stock])
    return {
        "submissions": submissions,
        "assignments": len({assignment for _, assignment in made}),
        "jobs": jobs,
        "isolation": isolation,
        "seconds": round(ours, 1),
        "per_minute": round(60 * submissions / ours, 1),
        "memory_mib": memory >> 20,
        "stock_submissions": min(stock, submissions),
        "stock_failed": failed,
        "stock_seconds": round(theirs, 1),
        "stock_per_minute": round(60 * min(stock, submissions) / theirs, 1),
        "ratio": round(theirs / min(stock, submissions) / (ours / submissions), 2),
        "nbgrader": nbgrader.__version__,
        "cpus": os.cpu_count(),
        **versions(),
    }


def write_submissions(folder: Path, how_many: int) -> list[tuple[str, str]]:
    """`submitted/STUDENT/ASSIGNMENT/NAME.ipynb`, as nbgrader keeps them; the pairs of student and assignment."""
    made = list(islice(_submissions(), how_many))
    for student, assignment, name, notebook in made:
        path = folder / "submitted" / student / assignment / name
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(notebook), "utf-8")
    return [(student, assignment) for student, assignment, _, _ in made]


def with_kernels() -> list[str]:
    """The lessons whose answers are kernels, by name: all but the start."""
    return sorted(lessons())[1:]


def _submissions() -> Iterator[tuple[str, str, str, dict]]:
    """Students without end: of any three in a row one has all right, one every other answer, one none."""
    assignments = with_kernels()[:ASSIGNMENTS]
    for number in count():
        turn, place = divmod(number, len(assignments))
        share = SHARES[(turn + place) % len(SHARES)]
        released = next((ROOT / "notebooks" / "release" / assignments[place]).glob("*.ipynb"))
        answered = _answered(released, assignments[place], share)
        yield f"student-{number:04}", assignments[place], released.name, answered


def _answered(released: Path, assignment: str, share: int) -> dict:
    """The released notebook with the instructor's answers: every `share`-th of them, 0 for none."""
    notebook = json.loads(released.read_text("utf-8"))
    source = json.loads((ROOT / "notebooks" / "source" / assignment / released.name).read_text("utf-8"))
    answers = {cell["id"]: cell["source"] for cell in source["cells"]}
    open_cells = [cell for cell in notebook["cells"] if cell["metadata"].get("nbgrader", {}).get("solution")]
    for cell in open_cells[::share] if share else []:
        cell["source"] = answers[cell["id"]]
    return notebook


def _ours(folder: Path, jobs: int) -> tuple[float, int, str]:
    """Seconds, bytes at most of all processes together, and the isolation."""
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            peak[0] = max(peak[0], sum(map(proportional, [os.getpid(), *descendants(os.getpid())])))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    try:
        outcomes = grade_folder(folder, jobs, journal=folder.parent / "journal.jsonl")
    finally:
        seconds = time.monotonic() - began
        over.set()
        watcher.join()
    return seconds, peak[0], next(iter(outcomes.values()))["report"]["isolation"]


def _stock(folder: Path, made: list[tuple[str, str]]) -> tuple[float, int]:
    """Seconds that `nbgrader autograde` takes for these submissions, without what it prepares before.

    And how many it could not grade: a cell that takes too long on this computer ends a submission.
    """
    (folder / "nbgrader_config.py").write_text(STOCK, "utf-8")
    (folder / "source").symlink_to(ROOT / "notebooks" / "source", target_is_directory=True)
    students: dict[str, list[str]] = {}
    for student, assignment in made:
        students.setdefault(assignment, []).append(student)
    seconds = 0.0
    for assignment, names in students.items():
        _nbgrader(folder, "generate_assignment", assignment).check_returncode()
        began = time.monotonic()
        _nbgrader(folder, "autograde", assignment, f"--CourseDirectory.student_id_exclude={_others(folder, names)}")
        seconds += time.monotonic() - began
    failed = sum(
        not list((folder / "autograded" / student / assignment).glob("*.ipynb")) for student, assignment in made
    )
    return seconds, failed


def _others(folder: Path, names: list[str]) -> str:
    return ",".join(sorted({path.name for path in (folder / "submitted").iterdir()} - set(names)))


def _nbgrader(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # nbgrader calls alembic
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
