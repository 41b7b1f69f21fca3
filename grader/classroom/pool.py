"""Grade with processes of this computer."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.util import Finalize

from grader.classroom.work import Job, Outcome, close, work
from grader.sandbox.host import NoSandbox
from grader.texts import text

AHEAD = 2  # jobs for each worker that are handed over before one is done


def outcomes(jobs: Iterator[Job], workers: int) -> Iterator[tuple[str, Outcome]]:
    """Outcomes as they come, by the job's name. Where a worker dies, what it had is tried alone once more, then told.

    Raises NoSandbox.
    """
    doubtful: list[Job] = []
    left = next(jobs, None)
    while left is not None:
        yield from _by_pool(_chain(left, jobs), workers, doubtful)
        left = next(jobs, None)
    for job in doubtful:
        again: list[Job] = []
        yield from _by_pool(iter([job]), 1, again)
        for name, *_ in again:
            yield name, {"not_graded": text("classroom.worker-died")}


def _chain(first: Job, others: Iterator[Job]) -> Iterator[Job]:
    yield first
    yield from others


def _by_pool(jobs: Iterator[Job], workers: int, doubtful: list[Job]) -> Iterator[tuple[str, Outcome]]:
    """Take jobs until there are none left, or a worker dies: then those that were handed over are doubtful."""
    running: dict[Future, Job] = {}
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin, (os.getpid(),)) as pool:
        try:
            while True:
                while len(running) < AHEAD * workers and (job := next(jobs, None)) is not None:
                    running[_submitted(pool, job, doubtful)] = job
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    if isinstance(outcome, str):
                        raise NoSandbox(outcome)
                    yield running.pop(future).name, outcome
        except BrokenProcessPool:
            doubtful += running.values()


def _submitted(pool: ProcessPoolExecutor, job: Job, doubtful: list[Job]) -> Future:
    try:
        return pool.submit(_work, job)
    except BrokenProcessPool:
        doubtful.append(job)  # it has been taken from the jobs, and must not be lost
        raise


def _begin(parent: int) -> None:
    """A worker ends with the process that started it, even where that was killed; its sandbox ends with it."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    Finalize(None, close, exitpriority=1)


def _work(job: Job) -> Outcome | str:
    """An outcome, or why there is no sandbox: not every exception comes through whole."""
    try:
        return work(job)
    except NoSandbox as error:
        return str(error)
