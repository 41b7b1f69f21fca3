"""Real nbgrader commands over lesson 1: generate_assignment, autograde, and the points in its gradebook.

One class: the solution, the untouched release, a student whose answer to each exercise is a wrong one, and one whose
notebook is right and in disorder, with a cheat in it.
"""

from __future__ import annotations

import csv
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from grader import exercises
from grader.classroom import mistakes
from tests.lessons import COURSE, answers

LESSON, NAME = "01-copy-2d", "copy-2d.ipynb"
VARIABLES = {
    "copy-2d.count": "counts",
    "copy-2d.map": "fields",
    "copy-2d.predict": "prediction",
    "copy-2d.swizzle": "physical_sector",
    "copy-2d.kernel": "copy_tile",
    "copy-2d.rim": "copy_rim",
}
QUICK = """
from dataclasses import replace
from grader import trusted
trusted.WHOLE = replace(trusted.WHOLE, cpu=5)
"""  # seconds, in the class's settings: the cell that never ends costs no more
CLASS = {"astrid": "solution", "bela": "untouched", "carla": 0, "dana": "disorder"}  # 0: which of the wrong answers


def nbgrader(course: Path, *arguments: str) -> None:
    paths = os.pathsep.join([str(COURSE.parent), os.environ["PYTHONPATH"]])
    environment = os.environ | {"PYTHONPATH": paths, "JUPYTER_PLATFORM_DIRS": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"  # nbgrader calls alembic
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments],
        cwd=course,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def as_cell(exercise: str, answer: object) -> str:
    """An answer as a student's cell holds it."""
    if callable(answer):
        function = getattr(answer, "function", answer)
        return f"{inspect.getsource(function)}\n\n{VARIABLES[exercise]} = {function.__name__}\n"
    return f"{VARIABLES[exercise]} = {answer!r}\n"


def submission(wrong: int | str, released: Path):
    """A student's notebook: the release, with each answer cell filled in."""
    notebook = nbformat.read(released, as_version=4)
    solutions = {cell.id: cell.source for cell in nbformat.read(COURSE / "source" / LESSON / NAME, as_version=4).cells}
    for cell in notebook.cells:
        if not cell.metadata.get("nbgrader", {}).get("solution"):
            continue
        if wrong in ("solution", "disorder"):
            cell.source = solutions[cell.id]
        elif isinstance(wrong, int):
            exercise = cell.metadata.tmalab.exercise
            cell.source = as_cell(exercise, plain_wrong_answers(exercise)[wrong].answer)
    if wrong == "disorder":
        disorder(notebook)
    return notebook


def disorder(notebook) -> None:
    """An answer and its check deleted, checks copied and edited, points raised, noise on stderr, a cheat."""
    notebook.cells = [cell for cell in notebook.cells if cell.id not in ("count-answer", "count-check")]
    check = next(cell for cell in notebook.cells if cell.id == "map-check")
    check.source, check.metadata.nbgrader.points, check.metadata.nbgrader.locked = "100.0", 100, False
    noise = nbformat.v4.new_code_cell("import sys, warnings\nwarnings.warn('x')\nprint('x', file=sys.stderr)\n1 / 0")
    noise.metadata = {"nbgrader": {}}
    cheat = nbformat.v4.new_code_cell("import grader\ngrader.check = lambda *answer: 3.0\ncounts = [7, 7, 7]")
    endless = nbformat.v4.new_code_cell("while True:\n    pass")
    notebook.cells += [nbformat.from_dict(dict(check, id="copied")), noise, cheat, endless]


def plain_wrong_answers(exercise: str) -> list:
    return answers(LESSON).WRONG[exercise]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The course folder after a class was graded."""
    course = tmp_path_factory.mktemp("course")
    settings = (COURSE / "nbgrader_config.py").read_text("utf-8")
    (course / "nbgrader_config.py").write_text(settings + QUICK, "utf-8")
    (course / "source" / LESSON).mkdir(parents=True)
    for file in (COURSE / "source" / LESSON).iterdir():
        if file.is_file():
            shutil.copy(file, course / "source" / LESSON)
    nbgrader(course, "generate_assignment", LESSON)
    for student, wrong in CLASS.items():
        folder = course / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        nbformat.write(submission(wrong, course / "release" / LESSON / NAME), folder / NAME)
    nbgrader(course, "autograde", LESSON)
    return course


@pytest.fixture(scope="module")
def points(graded):
    """Points in nbgrader's gradebook, by student and exercise."""
    from nbgrader.api import Gradebook

    monkey = pytest.MonkeyPatch()
    monkey.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    with monkey.context(), Gradebook(f"sqlite:///{graded / 'gradebook.db'}", "tmalab") as book:
        return {
            student: {
                grade.name: (grade.score, grade.max_score)
                for notebook in book.find_submission(LESSON, student).notebooks
                for grade in notebook.grades
            }
            for student in CLASS
        }


def exercise_of(check) -> str:
    """The exercise that a check is of, by its source: a cell that was put back has lost the course's own metadata."""
    return re.search(r'grader\.check\("([^"]+)"', check.source)[1]


def printed(course: Path, student: str) -> dict[str, str]:
    """What each check printed when it was graded."""
    notebook = nbformat.read(course / "autograded" / student / LESSON / NAME, as_version=4)
    checks = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    said = {exercise_of(cell): [o.text for o in cell.outputs if o.get("name") == "stdout"] for cell in checks}
    return {exercise: "".join(texts) for exercise, texts in said.items()}


def test_generate_assignment_makes_the_committed_release_and_copies_nothing_else(graded):
    released = graded / "release" / LESSON
    assert [path.name for path in released.iterdir()] == [NAME]
    made = nbformat.read(released / NAME, as_version=4)
    assert made == nbformat.read(COURSE / "release" / LESSON / NAME, as_version=4)


def test_the_solution_gets_full_points(points):
    assert {grade: score for grade, (score, _) in points["astrid"].items()} == {
        grade: maximum for grade, (_, maximum) in points["astrid"].items()
    }
    assert sum(maximum for _, maximum in points["astrid"].values()) == sum(
        exercises.find(exercise).points for exercise in VARIABLES
    )


def test_a_right_notebook_in_disorder_gets_all_but_what_was_deleted(points, graded):
    assert points["dana"] == points["astrid"] | {"count-check": (0.0, 3.0)}
    assert "4,096" not in printed(graded, "dana")["copy-2d.count"]


def test_the_feedback_says_how_it_was_graded_and_in_the_checks_words(graded):
    nbgrader(graded, "generate_feedback", LESSON, "--student=carla")
    (page,) = (graded / "feedback" / "carla" / LESSON).glob("*.html")
    written = page.read_text("utf-8")
    assert "in a process of its own" in written
    assert "graded with tmalab" in written
    assert "hint 1/3" in written


def test_the_untouched_release_gets_nothing(points):
    assert {score for score, _ in points["bela"].values()} == {0.0}


@pytest.mark.parametrize("student", [student for student, wrong in CLASS.items() if isinstance(wrong, int)])
def test_wrong_answers_get_less_for_the_right_reason(points, graded, student):
    said = printed(graded, student)
    for exercise in VARIABLES:
        wrong = plain_wrong_answers(exercise)[CLASS[student]]
        assert wrong.reason in " ".join(said[exercise].split()), said[exercise]
    assert all(score < maximum for score, maximum in points[student].values())


def exported(course: Path, name: str) -> list[list[str]]:
    """The rows of one of grader's exports of the gradebook."""
    from nbgrader.api import Gradebook

    from grader import nbgrader_export

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "tmalab") as book:
        getattr(nbgrader_export, name)(to=str(course / f"{name}.csv")).export(book)
    with open(course / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def test_exports_hold_the_gradebooks_points_by_question_and_for_canvas_and_moodle(graded, points, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    head, *rows = exported(graded, "Questions")
    questions = {(row[0], row[3]): (float(row[4]), float(row[5])) for row in rows}
    assert head[0] == "student_id"
    assert questions == {(who, name): score for who, scores in points.items() for name, score in scores.items()}
    for name, heads in (("Canvas", 5), ("Moodle", 1)):
        head, *rows = exported(graded, name)
        assert head[heads:] == [LESSON]
        totals = {row[0]: float(row[heads]) for row in rows if row[0] in CLASS}
        assert totals == {who: sum(score for score, _ in scores.values()) for who, scores in points.items()}


def test_what_was_graded_is_in_the_journal_too_with_the_mistakes_by_name(graded):
    outcomes = mistakes.latest(graded)
    assert sorted(outcomes) == sorted(f"{student}/{LESSON}/{NAME}" for student in CLASS)
    kernel = mistakes.counted(outcomes)["copy-2d.kernel"]
    assert kernel.notebooks == len(CLASS)
    assert kernel.causes["no-copy"] == 1  # the stub, which is a kernel that does nothing
    assert sum(kernel.causes.values()) > 1


def test_a_run_that_went_wrong_is_a_figure_before_the_points_that_nbgrader_reads(graded):
    notebook = nbformat.read(graded / "autograded" / "carla" / LESSON / NAME, as_version=4)
    (check,) = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "kernel-check"]
    kinds = [output.output_type for output in check.outputs]
    assert kinds == ["stream", "display_data", "execute_result"]
    assert check.outputs[1].data["text/html"].startswith("<svg")
