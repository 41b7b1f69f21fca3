"""How many submissions a minute: this grader, each check in a process of its own, against stock `nbgrader autograde`.

Both grade notebooks made of the checkout's lessons: a third all right, a third half, a third as released. They take
turns, a third of ours and one lesson of stock nbgrader's, so that a computer that is slower for a while slows both.
Needs the checkout's `notebooks/source` and nbgrader.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

import nbgrader

from grader.classroom.grading import grade_folder
from grader.lesson import lessons
from grader.sandbox.processes import cpu_seconds, descendants, proportional
from grader.trusted import versions
from tmalab.bootstrap import ROOT

ASSIGNMENTS = TURNS = 3  # lessons that submissions are made of
LOOK = 1.0  # seconds between looks at memory; each costs some milliseconds for every process
SHARES = (1, 2, 0)  # students who answer all, every other exercise, none
STOCK = """
c = get_config()
c.CourseDirectory.course_id = "bench"
c.CourseDirectory.ignore = ["*.py", "__pycache__"]
c.Execute.timeout = 120
"""


def measure(submissions: int, jobs: int, stock: int) -> dict[str, Any]:
    """Grade `submissions` with `jobs` workers, and the first `stock` of them with stock nbgrader; figures, by name.

    Seconds are the clock's, and of the processor those of all processes; the start of workers and of nbgrader's
    commands is in them. Stock nbgrader's rate is that of its sample: a multiple of 9 is as mixed as all of them are.
    `load` is how many processes of others wanted a processor when it began (the average of a minute): a busy computer
    slows both ways, and not by the same.
    """
    load = round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else 0.0
    stock = min(stock, submissions)
    with tempfile.TemporaryDirectory() as folder:
        sample = write_submissions(Path(folder) / "stock", stock)
        _prepare(Path(folder) / "stock")
        turns = []
        for turn in range(TURNS):
            mine = Path(folder) / f"turn-{turn}"
            write_submissions(mine, submissions, turn)
            turns.append((*_ours(mine / "submitted", jobs), *_stock(Path(folder) / "stock", sample, turn)))
        failed = sum(
            not list((Path(folder) / "stock/autograded" / student / name).glob("*")) for student, name in sample
        )
    counted = {"submissions": submissions, "jobs": jobs, "stock_submissions": stock, "stock_failed": failed}
    assignments = len({assignment for _, assignment in sample})
    return {**counted, "assignments": assignments, **_rates(turns, submissions, stock), **_computer(), "load": load}


def _rates(turns: Sequence[tuple], submissions: int, stock: int) -> dict[str, Any]:
    """What all turns took together, and how both ways compare."""
    all_ours, memories, cpus, levels, all_theirs, stock_cpus = zip(*turns, strict=True)
    ours, theirs, cpu, stock_cpu = map(sum, (all_ours, all_theirs, cpus, stock_cpus))
    return {
        "turns": len(turns),
        "isolation": " ".join(sorted(set(levels))),
        "seconds": round(ours, 1),
        "cpu_seconds": round(cpu, 1),
        "per_minute": round(60 * submissions / ours, 1),
        "memory_mib": max(memories) >> 20,
        "stock_seconds": round(theirs, 1),
        "stock_cpu_seconds": round(stock_cpu, 1),
        "stock_per_minute": round(60 * stock / theirs, 1),
        "ratio": round(theirs / stock / (ours / submissions), 2),
        "cpu_ratio": round(stock_cpu / stock / (cpu / submissions), 2),
    }


def _computer() -> dict[str, Any]:
    """What the figures depend on beside the code."""
    return {
        "cpus": os.cpu_count(),
        "processor": _processor(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "date": datetime.date.today().isoformat(),
        "nbgrader": nbgrader.__version__,
        **versions(),
    }


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def write_submissions(folder: Path, how_many: int, turn: int | None = None) -> list[tuple[str, str]]:
    """`submitted/STUDENT/ASSIGNMENT/NAME.ipynb`, as nbgrader keeps them; the pairs of student and assignment.

    `turn`: only that third of them.
    """
    made = list(islice(_submissions(), how_many))
    if turn is not None:
        made = made[turn * how_many // TURNS : (turn + 1) * how_many // TURNS]
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


def _ours(folder: Path, jobs: int) -> tuple[float, int, float, str]:
    """Seconds, bytes at most of all processes together, seconds of the processor, and the isolation."""
    peak, cpu, over = [0], [0.0], threading.Event()
    before = time.process_time()

    def watch() -> None:
        while not over.wait(LOOK):
            others = descendants(os.getpid())
            peak[0] = max(peak[0], sum(map(proportional, [os.getpid(), *others])))
            cpu[0] = max(cpu[0], sum(map(cpu_seconds, others)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.monotonic()
    try:
        outcomes = grade_folder(folder, jobs, journal=folder.parent / "journal.jsonl")
    finally:
        seconds = time.monotonic() - began
        over.set()
        watcher.join()
    own = time.process_time() - before
    return seconds, peak[0], cpu[0] + own, next(iter(outcomes.values()))["report"]["isolation"]


def _prepare(folder: Path) -> None:
    """A course of stock nbgrader's, its assignments released."""
    (folder / "nbgrader_config.py").write_text(STOCK, "utf-8")
    (folder / "source").symlink_to(ROOT / "notebooks" / "source", target_is_directory=True)
    for assignment in with_kernels()[:ASSIGNMENTS]:
        _nbgrader(folder, "generate_assignment", assignment).check_returncode()


def _stock(folder: Path, sample: list[tuple[str, str]], turn: int) -> tuple[float, float]:
    """Seconds, and those of the processor, that `nbgrader autograde` takes for one assignment's submissions.

    A cell that takes too long on this computer ends a submission, which then has no file among the autograded ones.
    """
    assignment = with_kernels()[turn]
    if assignment not in {name for _, name in sample}:
        return 0.0, 0.0
    began, before = time.monotonic(), os.times()
    _nbgrader(folder, "autograde", assignment)
    seconds, after = time.monotonic() - began, os.times()
    return seconds, sum(after[2:4]) - sum(before[2:4])  # of children


def _nbgrader(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # nbgrader calls alembic
    command = [sys.executable, "-m", "nbgrader", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True)
