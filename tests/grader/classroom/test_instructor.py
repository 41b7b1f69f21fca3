"""What an instructor gets of a graded class: columns for gradebooks, mistakes, a regrade's changes, feedback."""

from __future__ import annotations

import csv
import inspect
import io
import json

import pytest
from click.testing import CliRunner

from grader.classroom import changes, columns, feedback, mistakes
from grader.cli import main
from grader.exercises.copy_2d import TILE_TASK
from grader.judges.kernels import judge_kernel
from grader.runner import Here, using
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, SETUP, notebook
from tests.lessons import answers

LESSON = "01-copy-2d"
HALF = "counts = [4096, 1024, 64]"
KERNEL = "TILE_BYTES = 1024\n" + inspect.getsource(answers(LESSON).tile_without_wait.function)
CHECK_KERNEL = 'grader.check("copy-2d.kernel", tile_without_wait)'


def run(*arguments: str):
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def rows(table: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A graded class in nbgrader's folders: astrid, bela who reads too early, a file that is no notebook."""
    folder = tmp_path_factory.mktemp("submitted")
    early = notebook(SETUP, HALF, CHECK_COUNTS, KERNEL, CHECK_KERNEL)
    early["cells"][1]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": "  checked with tmalab 0.0.9\n"}
    ]
    for student, content in (
        ("astrid", json.dumps(notebook(SETUP, COUNTS, CHECK_COUNTS))),
        ("bela", json.dumps(early)),
        ("<b>chiara", "torn"),
    ):
        (folder / student / LESSON).mkdir(parents=True)
        (folder / student / LESSON / "copy-2d.ipynb").write_text(content, "utf-8")
    run("grade", str(folder), "-j", "1", "--feedback", str(folder / "pages"))
    return folder


def graded(folder) -> dict:
    return mistakes.latest(folder)


def test_canvas_gets_its_five_columns_the_points_possible_and_a_row_for_each_student(folder):
    table = rows(run("grade", str(folder), "--columns", "canvas"))
    assert table[0] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", LESSON]
    assert table[1] == ["    Points Possible", "", "", "", "", "25"]
    assert table[2:] == [
        ["<b>chiara", "", "", "<b>chiara", "", ""],
        ["astrid", "", "", "astrid", "", "3"],
        ["bela", "", "", "bela", "", "3"],
    ]


def test_canvas_own_list_keeps_its_ids_and_its_order(folder, tmp_path):
    roster = tmp_path / "canvas.csv"
    roster.write_text(
        "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Old (12)\n"
        "    Points Possible,,,,,10\n"
        '"Berg, Bela",17,s17,bela,TMA,4\n"Nobody, N.",18,s18,nobody,TMA,4\n"Alm, Astrid",16,s16,astrid,TMA,9\n',
        "utf-8",
    )
    table = rows(run("grade", str(folder), "--columns", "canvas", "--roster", str(roster)))
    assert table[2] == ["Berg, Bela", "17", "s17", "bela", "TMA", "3"]
    assert table[3] == ["Alm, Astrid", "16", "s16", "astrid", "TMA", "3"]
    assert [row[0] for row in table[4:]] == ["<b>chiara"]


def test_moodle_gets_its_own_columns_back_with_the_grades_beside_them(folder, tmp_path):
    assert rows(run("grade", str(folder), "--columns", "moodle"))[0] == ["username", LESSON]
    roster = tmp_path / "moodle.csv"
    roster.write_text("First name,ID number,Email address\nBela,bela,b@example.org\nA.,astrid,a@example.org\n", "utf-8")
    table = rows(run("grade", str(folder), "--columns", "moodle", "--roster", str(roster)))
    assert table[0] == ["First name", "ID number", "Email address", LESSON]
    assert table[1] == ["Bela", "bela", "b@example.org", "3"]


def test_names_that_a_spreadsheet_would_calculate_are_written_as_text():
    table = columns.as_moodle({"=cmd()": {LESSON: 1.0}, "@x": {}})
    assert table == f"username,{LESSON}\n'=cmd(),1\n'@x,\n"


def test_of_several_notebooks_for_a_lesson_the_best_counts():
    graded = {
        f"astrid/{name}.ipynb": {"report": {"assignment": LESSON, "points": points, "maximum": 25.0}}
        for name, points in (("a", 3.0), ("b", 7.0), ("c", 5.0))
    }
    assert columns.scores_of(graded) == ({"astrid": {LESSON: 7.0}}, {LESSON: 25.0})


def test_mistakes_are_counted_by_exercise_with_hazards_by_name(folder):
    found = json.loads(run("report", str(folder), "--json"))
    kernel = found["exercises"]["copy-2d.kernel"]
    assert kernel["causes"] == {"untouched": 1, "read-before-wait": 1}
    assert found["exercises"]["copy-2d.count"] == {
        "notebooks": 2,
        "points": 5.0,
        "maximum": 3.0,
        "solved": 1,
        "causes": {"for-each-row": 1},
        "aims": ["say what a tensor map holds and why one thread is enough"],
    }
    assert list(found["unreadable"]) == [f"<b>chiara/{LESSON}/copy-2d.ipynb"]
    assert found["versions"]["student"] == {"": 1, "0.0.9": 1}
    said = run("report", str(folder))
    assert "Who tells the threads that the tile has arrived?" in said
    assert "  for: say what a tensor map holds and why one thread is enough\n     1  for-each-row" in said
    assert "0.0.9 (1)" in said


def test_a_folder_in_which_nothing_was_graded_is_told(tmp_path):
    for command in ("report", "changes"):
        done = CliRunner().invoke(main, [command, str(tmp_path)])
        assert done.exit_code == 2
        assert "nothing was graded" in done.output


def test_a_regrade_tells_what_changed_and_why(tmp_path):
    course = tmp_path / "class"
    course.mkdir()
    file = course / "astrid.ipynb"
    file.write_text(json.dumps(notebook(SETUP, HALF, CHECK_COUNTS)), "utf-8")
    run("grade", str(course), "-j", "1")
    assert run("changes", str(course)) == "nothing that was graded twice has other points\n"
    file.write_text(json.dumps(notebook(SETUP, COUNTS, CHECK_COUNTS)), "utf-8")
    run("grade", str(course), "-j", "1")
    (change,) = json.loads(run("changes", str(course), "--json"))["notebooks"].values()
    assert change["reasons"] == ["the notebook is another one"]
    assert change["exercises"]["copy-2d.count"]["before"] == 2.0
    assert change["exercises"]["copy-2d.count"]["after"] == 3.0
    assert "copy-2d.count            2 → 3" in run("changes", str(course))

    # again, although nothing has changed
    run("grade", str(course), "-j", "1", "--again")
    assert (
        len((course / ".grader" / "journal.jsonl").read_text("utf-8").splitlines()) == 1 + 3
    )  # the first names the file
    assert run("changes", str(course)) == "nothing that was graded twice has other points\n"


def graded_as(points: float, **other) -> dict:
    part = {"part": "counts", "points": points, "maximum": 3, "passed": points == 3, "message": f"{points} right\n"}
    exercise = {"exercise": "copy-2d.count", "points": points, "maximum": 3, "parts": [part]}
    report = {"notebook_hash": "a", "seed": 0, "isolation": "limits", "versions": {"grader": "1"}}
    return {"report": {**report, "exercises": [exercise], **other}}


def test_reasons_are_what_differs_between_two_grades():
    same = changes.between(graded_as(2.0), graded_as(3.0))
    assert same["reasons"] == ["the checks themselves changed"]
    assert same["exercises"]["copy-2d.count"]["parts"]["counts"] == {
        "before": [2.0, "2.0 right"],
        "after": [3.0, "3.0 right"],
    }
    other = changes.between(graded_as(2.0), graded_as(3.0, seed=7, versions={"grader": "2", "student": "1"}))
    assert other["reasons"] == ["seed 0 → 7", "grader 1 → 2"]
    assert changes.between(graded_as(2.0), {"error": "torn"})["error"] == ["", "torn"]
    assert changes.between(graded_as(2.0), graded_as(2.0, seed=7))["exercises"] == {}


def test_a_page_of_feedback_has_words_figure_and_hint_and_fetches_nothing(folder):
    said = (folder / "pages" / "bela" / LESSON / "copy-2d.html").read_text("utf-8")
    assert "in run 1: read-before-wait" in said
    assert "hint 1/3" in said
    assert said.count("<svg") == 1
    assert "the student&#x27;s checks were tmalab 0.0.9" in said
    assert not [word for word in ("<script", 'http-equiv="refresh"', "src=", "href=") if word in said]
    torn = (folder / "pages" / "<b>chiara" / LESSON / "copy-2d.html").read_text("utf-8")
    assert "could not be graded: no notebook" in torn
    assert "<b>" not in torn


def test_a_hostile_figure_in_a_journal_is_not_put_into_a_page(folder):
    outcome = json.loads(json.dumps(graded(folder)[f"bela/{LESSON}/copy-2d.ipynb"]))
    for exercise in outcome["report"]["exercises"]:
        exercise["figure"] = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    assert "<script" not in feedback.page("bela.ipynb", outcome)


class Discreet(Here):
    """The runner of a class with a seed of its own."""

    discreet = True


@pytest.mark.parametrize(("runner", "shown"), [(Here(), True), (Discreet(), False)], ids=["seed 0", "a class's seed"])
def test_a_run_of_an_input_that_the_notebook_does_not_show_is_no_figure_of_a_class_with_a_seed(runner, shown):
    with using(runner):
        findings = judge_kernel(answers(LESSON).tile_of_the_example, TILE_TASK, 7)
    assert [finding.part for finding in findings if finding.shown] == (["bytes"] if shown else [])
