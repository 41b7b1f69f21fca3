"""A submission has a limit of time, which costs what sleeps or never ends, and nothing and nobody else."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from grader.classroom.grading import grade_folder
from grader.cli import main
from grader.sandbox.allowance import LEAST, Allowance
from grader.sandbox.limits import Limits
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, SECTOR, SETUP, notebook

SECONDS = 6.0
SLEEPS = "import time\nfields = time.sleep(1000)", "prediction = [time.sleep(1000)]"
CHECK_SECTOR = 'grader.check("copy-2d.swizzle", physical_sector)'


@pytest.mark.parametrize("exercises", [1, 4, 10])
def test_exercises_that_never_end_have_equal_shares_and_together_the_whole(exercises):
    allowance, given = Allowance(100.0), []
    for left in range(exercises, 0, -1):
        allowance.share(left)
        given.append(allowance.cut(Limits(wall=1000)).wall)
        allowance.spend(given[-1])
    assert given == pytest.approx([100.0 / exercises] * exercises)


def test_what_an_exercise_leaves_the_next_ones_have_and_several_tasks_of_one_share_its_part():
    allowance = Allowance(90.0)
    allowance.share(3)
    allowance.spend(20.0)
    assert allowance.cut(Limits(wall=80)).wall == pytest.approx(10.0)
    allowance.spend(40.0)  # a task may end late
    assert allowance.cut(Limits(wall=80)).wall == LEAST
    allowance.share(2)
    assert allowance.cut(Limits(wall=80)).wall == pytest.approx(15.0)


def test_a_tasks_own_limit_stays_where_it_is_the_smaller_one():
    assert Allowance(1000.0).cut(Limits(wall=80)) == Limits(wall=80)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A class of two, graded with a limit: one whose cells sleep, and who has other answers before and after them."""
    folder = tmp_path_factory.mktemp("class")
    for name, cells in (
        ("astrid", (SETUP, COUNTS, *SLEEPS, SECTOR, CHECK_COUNTS)),
        ("bela", (SETUP, COUNTS, CHECK_COUNTS)),
    ):
        (folder / f"{name}.ipynb").write_text(json.dumps(notebook(*cells, CHECK_SECTOR)), "utf-8")
    grade = ["grade", str(folder), "--limit", str(SECONDS), "-j", "1"]
    table = CliRunner().invoke(main, [*grade, "--feedback", str(folder / "pages")], catch_exceptions=False)
    assert table.exit_code == 0
    told = CliRunner().invoke(main, [*grade, "--json"]).stdout  # from the journal
    return folder, table.stdout, json.loads(told)["submissions"]


def test_what_sleeps_costs_its_own_points_and_no_other_exercise_or_submission(graded):
    _, _, found = graded
    points = {
        name: {each["exercise"]: each["points"] for each in outcome["report"]["exercises"] if each["points"]}
        for name, outcome in found.items()
    }
    assert points == {
        "astrid.ipynb": {"copy-2d.count": 3.0, "copy-2d.swizzle": 4.0},
        "bela.ipynb": {"copy-2d.count": 3.0},
    }
    cut = [each["exercise"] for each in found["astrid.ipynb"]["report"]["exercises"] if each["cut_short"]]
    assert cut == ["copy-2d.map", "copy-2d.predict"]
    assert not any(each["cut_short"] for each in found["bela.ipynb"]["report"]["exercises"])
    assert sum(each["time_s"] for each in found["astrid.ipynb"]["report"]["exercises"]) < 10 * SECONDS


def test_the_instructor_and_the_learner_are_told_in_a_sentence(graded):
    folder, table, _ = graded
    astrid, bela = table.splitlines()
    assert astrid.startswith(
        "astrid.ipynb  7/25  (out of time, with 6 seconds for all that it runs: copy-2d.map, copy-2d.p"
    )
    assert bela == "bela.ipynb    3/25"
    page = " ".join((folder / "pages" / "astrid.html").read_text("utf-8").split())
    assert page.count("out of time: a notebook has 6 seconds for all that it runs") == 2
    assert "out of time" not in (folder / "pages" / "bela.html").read_text("utf-8")
    csv = CliRunner().invoke(main, ["grade", str(folder), "--limit", str(SECONDS), "--csv"]).stdout
    assert "astrid.ipynb,copy-2d.map,0,6,out of time: not judged to the end" in csv


@pytest.mark.parametrize(("limit", "again"), [(SECONDS, []), (2 * SECONDS, ["astrid.ipynb"])])
def test_only_what_another_limit_cut_short_is_graded_again(graded, tmp_path, limit, again):
    folder, _, _ = graded
    journal, asked = tmp_path / "journal.jsonl", []
    journal.hardlink_to(folder / ".grader" / "journal.jsonl")  # the file itself

    def workers(jobs):
        for job in jobs:
            asked.append((job.name, job.limit))
            yield job.name, {"error": "asked again"}

    grade_folder(folder, workers, journal=journal, limit=limit)
    assert asked == [(name, limit) for name in again]
