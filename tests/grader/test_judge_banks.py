"""Conflicts as points: counted from a run, by the worst access, on either side of shared memory."""

from __future__ import annotations

import pytest

from grader.judges import banks
from grader.judges.banks import BankTask, judge_banks
from grader.judges.kernels import KernelTask

TASK = KernelTask((), 32, lambda seed: [], {"banks": 2}, BankTask({1: 2, 4: 1}, sectors=4, turns=128))
SHARED, GLOBAL = ("shared", "cell:7", "read", 32, 1, 32, 32), ("global", "cell:7", "write", 32, 4, 128, 128)


def judged(monkeypatch, *lines, right_bytes=True):
    class Runner:
        def accesses(self, source, arguments, block):
            return list(lines)

    monkeypatch.setattr(banks, "current", Runner)
    return judge_banks(None, [], TASK, right_bytes)


@pytest.mark.parametrize(("ways", "points"), [(1, 2), (2, 1), (4, 1), (8, 0), (32, 0)])
def test_points_go_by_the_worst_access(monkeypatch, ways, points):
    found = judged(monkeypatch, SHARED, ("shared", "cell:9", "write", 4, ways, 4 * ways, 4), GLOBAL)
    assert found.points == points
    assert found.passed == (ways == 1)
    if ways > 1:
        assert f"cell:9 writes in up to {ways} turns where one would do; {32 + 4 * ways} turns in all" in found.message


def test_a_conflict_that_was_moved_to_global_memory_earns_nothing(monkeypatch):
    found = judged(monkeypatch, SHARED, ("global", "cell:7", "write", 32, 32, 1024, 128))
    assert (found.points, found.cause) == (0, "scattered")
    assert "cell:7 writes to 32 sectors of global memory at a time, where 4 would do" in found.message


def test_a_thread_that_does_everything_alone_earns_nothing(monkeypatch):
    found = judged(monkeypatch, ("shared", "cell:7", "read", 1024, 1, 1024, 1024), GLOBAL)
    assert (found.points, found.cause) == (0, "repeated")
    assert "takes 1024 turns for all that the threads ask; 128 are plenty" in found.message


def test_a_kernel_whose_bytes_are_wrong_or_that_reads_nothing_earns_nothing(monkeypatch):
    assert judged(monkeypatch, SHARED, GLOBAL, right_bytes=False).cause == "bytes-first"
    assert judged(monkeypatch, GLOBAL).cause == "unused"
    assert judged(monkeypatch, SHARED).cause == "unused"
