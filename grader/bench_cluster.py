"""How much faster two workers of a Dask cluster are than one, with the same submissions; both on this computer.

One, two, two, one, each with half of them: a computer that gets slower or faster meanwhile does so for both.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from distributed import LocalCluster

from grader.bench import write_submissions
from grader.classroom.cluster import Cluster
from grader.classroom.grading import grade_folder


def measure(submissions: int) -> dict[str, Any]:
    """Seconds with one worker and with two, without their start, and the ratio."""
    seconds, half = {1: 0.0, 2: 0.0}, max(submissions // 2, 1)
    for workers in (1, 2, 2, 1):
        seconds[workers] += _seconds(half, workers)
    return {
        "cluster_submissions": 2 * half,
        "cluster_seconds_1_worker": round(seconds[1], 1),
        "cluster_seconds_2_workers": round(seconds[2], 1),
        "cluster_ratio": round(seconds[1] / seconds[2], 2),
    }


def _seconds(submissions: int, workers: int) -> float:
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, local_directory=folder) as local,
        Cluster(local.scheduler_address) as cluster,
    ):
        write_submissions(Path(folder), submissions)
        cluster.ready(workers)
        began = time.monotonic()
        grade_folder(Path(folder) / "submitted", cluster.outcomes, journal=Path(folder) / "journal.jsonl")
        return time.monotonic() - began
