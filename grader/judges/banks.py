"""The part `banks`: how many turns shared memory takes for what a kernel's warps ask of it, counted from a run.

Speed is judged by structure that any machine can count: no GPU is timed, and points do not depend on the computer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from grader.alone import Argument
from grader.exercise import Finding, right, wrong
from grader.runner import current
from grader.source import KernelSource
from grader.texts import text

if TYPE_CHECKING:
    from grader.judges.kernels import KernelTask


KINDS = {"read": "kernel.banks-read", "write": "kernel.banks-write", "atomic": "kernel.banks-atomic"}  # as said


class Line(NamedTuple):
    """What one line of a kernel asks of memory: the fields of LineUse (shared) or LineTraffic (global)."""

    space: str
    place: str
    kind: str
    times: int
    most: int  # ways, or sectors, of one access
    total: int
    least: int


@dataclass(frozen=True)
class BankTask:
    """Points by the worst conflict of any access to shared memory: `earns[ways]` for at most so many ways.

    `sectors` of global memory are what one access of a warp may write: a kernel that reads shared memory along its
    rows has no conflict, and pays for it there. `turns` are what all accesses together may take if they have no
    conflict: a thread that does everything alone has none, and pays in turns.
    """

    earns: Mapping[int, float]  # from the fewest ways on; more than the last earn nothing
    sectors: int
    turns: int

    def points_for(self, ways: int) -> float:
        """What so many ways earn."""
        return next((points for most, points in self.earns.items() if ways <= most), 0)


def judge_banks(source: KernelSource, arguments: Sequence[Argument], task: KernelTask, right_bytes: bool) -> Finding:
    """Count the conflicts of one run. Nothing is earned by a kernel whose bytes are wrong."""
    assert task.banks is not None
    points = task.points["banks"]
    if not right_bytes:
        return wrong("banks", points, text("kernel.banks-of-wrong-bytes"), "bytes-first")
    lines = [Line(*line) for line in current().accesses(source, arguments, task.shape)]
    shared = [line for line in lines if line.space == "shared"]
    written = [line for line in lines if line.space == "global" and line.kind == "write"]
    if not shared or not written:
        return wrong("banks", points, text("kernel.banks-unused"), "unused")
    scattered = max(written, key=lambda line: line.most)
    if scattered.most > task.banks.sectors:
        words = {"place": scattered.place, "most": scattered.most, "limit": task.banks.sectors}
        return wrong("banks", points, text("kernel.banks-scattered", **words), "scattered")
    worst = max(shared, key=lambda line: line.most)
    turns, least = sum(line.total for line in shared), sum(line.least for line in shared)
    if least > task.banks.turns:
        return wrong("banks", points, text("kernel.banks-repeated", turns=least, limit=task.banks.turns), "repeated")
    if worst.most <= min(task.banks.earns):
        return right("banks", points, text("kernel.banks-right", turns=turns, sectors=scattered.most))
    words = {"place": worst.place, "kind": text(KINDS[worst.kind]), "ways": worst.most}
    message = text("kernel.banks-wrong", turns=turns, best=least, **words)
    return wrong("banks", points, message, "banks", points=task.banks.points_for(worst.most))
