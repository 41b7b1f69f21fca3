"""Grade a folder of submissions: every notebook in it, each in a worker that has a sandbox of its own.

What a worker gives for a notebook is an outcome: plain data, either a report or the reason why there is none. They are
noted in a journal as they come, by the one process that this is.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from grader import submission, trusted
from grader.classroom.journal import Journal
from grader.limits import Failed
from grader.sandbox.host import NoSandbox, Sandbox
from grader.texts import text

JOURNAL = ".grader/journal.jsonl"  # in the folder that is graded
LEFT_OUT = {".ipynb_checkpoints", ".grader"}

_sandbox: Sandbox | None = None  # a worker's own


def notebooks(folder: Path) -> list[Path]:
    """The notebooks in a folder, sorted; links to folders are not followed."""
    found = []
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        found += [Path(place) / name for name in (*files, *folders) if name.lower().endswith(".ipynb")]
    return sorted(found)


def grade_folder(
    folder: Path,
    workers: int = 1,
    seed: int = 0,
    assignment: str | None = None,
    journal: Path | None = None,
    progress: Callable[[int, int], object] = lambda done, count: None,
) -> dict[str, dict[str, Any]]:
    """The outcomes of all notebooks in a folder, by their path in it, sorted. What the journal holds is not done again.

    Raises NoSandbox, or journal.InUse where another run grades this folder.
    """
    files = {path.relative_to(folder).as_posix(): path for path in notebooks(folder)}
    keys = {name: _key(name, path, seed, assignment) for name, path in files.items()}
    with Journal(journal or folder / JOURNAL) as noted:
        left = [name for name in files if keys[name] not in noted.entries]
        progress(len(files) - len(left), len(files))
        jobs = [(name, str(files[name]), assignment, seed) for name in left]
        for done, (name, outcome) in enumerate(_outcomes(jobs, workers), len(files) - len(left) + 1):
            noted.note(keys[name], outcome)
            progress(done, len(files))
        return {name: noted.entries[keys[name]] for name in files}


def grade_one(path: str, assignment: str | None, seed: int, sandbox: Sandbox) -> dict[str, Any]:
    """The outcome of one notebook; nothing in it, nor its being no notebook, stops the caller."""
    try:
        return {"report": trusted.regrade(path, assignment, seed, sandbox).as_dict()}
    except submission.Unreadable as reason:
        return {"error": str(reason)}
    except (Failed, RecursionError, MemoryError) as error:
        return {"error": text("classroom.broken", reason=str(error) or type(error).__name__)}


def _key(name: str, path: Path, seed: int, assignment: str | None) -> str:
    """What an outcome depends on."""
    try:
        content = submission.read(path).digest
    except submission.Unreadable as reason:
        content = str(reason)
    versions = " ".join(trusted.versions().values())
    return f"{name}\n{content}\n{seed}\n{assignment or ''}\n{trusted.SCHEMA} {versions}"


Job = tuple[str, str, str | None, int]


def _outcomes(jobs: Sequence[Job], workers: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Outcomes as they come. A submission at which a worker dies is tried alone once more, then told."""
    waiting, doubtful = list(jobs)[::-1], list[Job]()
    while waiting:
        yield from _by_pool(waiting, min(workers, len(waiting)), doubtful)
    for job in doubtful:
        again: list[Job] = []
        yield from _by_pool([job], 1, again)
        for name, *_ in again:
            yield name, {"error": text("classroom.worker-died")}


def _by_pool(waiting: list[Job], workers: int, doubtful: list[Job]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Take jobs from the end of a list until it is empty, or a worker dies: then those that ran are doubtful."""
    running: dict[Future, Job] = {}
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (os.getpid(),)) as pool:
        try:
            while waiting or running:
                while waiting and len(running) < 2 * workers:
                    job = waiting.pop()
                    running[pool.submit(_work, *job)] = job
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    job = running.pop(future)
                    name, outcome = job[0], future.result()
                    if "set-up" in outcome:
                        raise NoSandbox(outcome["set-up"])
                    yield name, outcome
        except BrokenProcessPool:
            doubtful += [job, *running.values()]


def _begin(parent: int) -> None:
    """A worker ends with the process that started it, even where that was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(name: str, path: str, assignment: str | None, seed: int) -> dict[str, Any]:
    global _sandbox
    try:
        _sandbox = _sandbox or Sandbox()
    except NoSandbox as error:
        return {"set-up": str(error)}
    return grade_one(path, assignment, seed, _sandbox)
