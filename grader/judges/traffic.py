"""The part `traffic`: how many bytes a kernel's loads read from global memory, counted from a run.

A multicast reads its box once, however many CTAs it reaches; that is what it is for, and no time is measured here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.exercise import Finding, right, wrong
from grader.runner import current
from grader.source import KernelSource
from grader.texts import text

if TYPE_CHECKING:
    from grader.judges.kernels import Case, KernelTask


def judge_traffic(source: KernelSource, case: Case, task: KernelTask, right_bytes: bool) -> Finding:
    """Count the loads of one run. Nothing is earned by a kernel whose bytes are wrong."""
    assert task.traffic is not None
    points, most = task.points["traffic"], task.traffic(case)
    if not right_bytes:
        return wrong("traffic", points, text("kernel.traffic-of-wrong-bytes"), "bytes-first")
    loads = current().loads(source, case.arguments, task.shape)
    read, landed = sum(count for count, _ in loads), sum(count * reached for count, reached in loads)
    words = {"read": read, "landed": landed, "most": most, "count": len(loads)}
    if read > most:
        return wrong("traffic", points, text("kernel.traffic-wrong", **words), "traffic")
    return right("traffic", points, text("kernel.traffic-right", **words))
