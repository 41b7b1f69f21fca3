"""How much faster two workers of a Dask cluster are than one, with the same submissions; both on this computer."""

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
    seconds = [_seconds(submissions, workers) for workers in (1, 2)]
    return {
        "cluster_submissions": submissions,
        "cluster_seconds_1_worker": round(seconds[0], 1),
        "cluster_seconds_2_workers": round(seconds[1], 1),
        "cluster_ratio": round(seconds[0] / seconds[1], 2),
    }


def _seconds(submissions: int, workers: int) -> float:
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(workers, threads_per_worker=1, dashboard_address=None, local_directory=folder) as local,
        Cluster(local.scheduler_address) as cluster,
    ):
        write_submissions(Path(folder), submissions)
        cluster.ready(workers)
        began = time.monotonic()
        grade_folder(Path(folder) / "submitted", cluster.outcomes, journal=Path(folder) / "journal.jsonl")
        return time.monotonic() - began
