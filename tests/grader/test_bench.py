"""The benchmark grades what it says: balanced submissions of all lessons, the same ones for both graders."""

from __future__ import annotations

import json

import pytest

from grader import bench, bench_cluster
from grader.classroom.cluster import Cluster
from tmalab.bootstrap import ROOT


def test_any_three_submissions_in_a_row_are_all_right_half_and_empty_and_lessons_take_turns(tmp_path):
    made = bench.write_submissions(tmp_path, 9)
    assert len(set(made)) == 9
    assert {assignment for _, assignment in made} == set(bench.with_kernels()[: bench.ASSIGNMENTS])
    answered = []
    for student, assignment in made:
        (path,) = (tmp_path / "submitted" / student / assignment).glob("*.ipynb")
        cells = json.loads(path.read_text("utf-8"))["cells"]
        released = json.loads(next((ROOT / "notebooks/release" / assignment).glob("*.ipynb")).read_text("utf-8"))
        changed = sum(cell["source"] != old["source"] for cell, old in zip(cells, released["cells"], strict=True))
        solutions = sum(bool(cell["metadata"].get("nbgrader", {}).get("solution")) for cell in cells)
        answered.append({0: "none", solutions: "all"}.get(changed, "half"))
    for start in range(0, 9, 3):
        assert sorted(answered[start : start + 3]) == ["all", "half", "none"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_grading_in_sandboxes_is_three_times_as_fast_as_stock_nbgrader_in_less_than_two_gigabytes():
    found = bench.measure(18, 2, 6)
    assert found["isolation"] == "bubblewrap"
    assert found["ratio"] >= 3
    assert found["memory_mib"] < 2048


def test_one_worker_and_two_take_turns_with_the_same_class_once_each_has_graded_every_lesson(monkeypatch):
    seen = []

    def ready(cluster, workers, first):
        seen.append(("ready", workers, cluster._threads(), sorted(job.name for job in first)))

    def grade(folder, workers, journal):
        seen.append(("graded", sorted(path.relative_to(folder).parts for path in folder.rglob("*.ipynb"))))

    monkeypatch.setattr(Cluster, "ready", ready)
    monkeypatch.setattr(bench_cluster, "grade_folder", grade)
    assert bench_cluster.measure(13)["cluster_submissions"] == 12
    assert [each[:3] for each in seen[::2]] == [("ready", count, count) for count in (1, 2, 2, 1)]
    lessons = bench.with_kernels()[: bench.ASSIGNMENTS]
    assert seen[0][3] == sorted(next((ROOT / "notebooks/release" / each).glob("*.ipynb")).name for each in lessons)
    assert all(each[3] == seen[0][3] for each in seen[::2])
    assert len(seen[1][1]) == 6
    assert all(each == seen[1] for each in seen[1::2])
