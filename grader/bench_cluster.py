"""How much faster two workers of a Dask cluster are than one, with the same submissions; both on this computer.

One, two, two, one, each with half of them: a computer that gets slower or faster meanwhile does so for both. Before the
clock starts each worker has graded one submission to each lesson: what it does only once is no part of how it scales.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from grader.bench import ASSIGNMENTS, write_submissions
from grader.classroom.cluster import Cluster
from grader.classroom.grading import grade_folder
from grader.classroom.work import Job
from grader.sandbox.processes import cpu_seconds, descendants

ORDER = (1, 2, 2, 1)  # workers


def measure(submissions: int) -> dict[str, Any]:
    """Seconds with one worker and with two, by the clock and of the processor, and the ratio of the clock's.

    Seconds of the processor are those of all processes, the scheduler's and this one's included. Where two workers need
    about as many as one, and yet do not have nearly half its time, others used this computer's processors.
    """
    seconds, cpu, half = {1: 0.0, 2: 0.0}, {1: 0.0, 2: 0.0}, max(submissions // 2, 1)
    for workers in ORDER:
        by_clock, of_processor = _run(half, workers)
        seconds[workers] += by_clock
        cpu[workers] += of_processor
    return {
        "cluster_submissions": 2 * half,
        "cluster_seconds_1_worker": round(seconds[1], 1),
        "cluster_seconds_2_workers": round(seconds[2], 1),
        "cluster_cpu_seconds_1_worker": round(cpu[1], 1),
        "cluster_cpu_seconds_2_workers": round(cpu[2], 1),
        "cluster_ratio": round(seconds[1] / seconds[2], 2),
    }


def _run(submissions: int, workers: int) -> tuple[float, float]:
    """The time that grading takes, and that of the processor."""
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, local_directory=folder) as local,
        Cluster(local.scheduler_address) as cluster,
    ):
        cluster.ready(workers, _one_of_each_lesson(Path(folder) / "first"))
        write_submissions(Path(folder), submissions)
        before, began = _used(), time.monotonic()
        grade_folder(Path(folder) / "submitted", cluster.outcomes, journal=Path(folder) / "journal.jsonl")
        return time.monotonic() - began, _used() - before


def _one_of_each_lesson(folder: Path) -> list[Job]:
    write_submissions(folder, ASSIGNMENTS)
    return [Job(path.name, path.read_bytes(), None, 0) for path in sorted(folder.rglob("*.ipynb"))]


def _used() -> float:
    """Seconds of the processor, of this process and all that it has started."""
    return time.process_time() + sum(map(cpu_seconds, descendants(os.getpid())))
