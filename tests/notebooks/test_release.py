"""The generated notebooks: in step with their texts, without solutions, as nbgrader wants them."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from grader import exercises
from grader.percent import parse
from grader.release import build, lesson_texts, out_of_step, write
from tests.lessons import COURSE, LESSONS

TEXTS = [text for lesson in LESSONS for text in lesson_texts(COURSE / "source" / lesson)]


def notebook(kind: str, text: Path):
    return nbformat.read(COURSE / kind / text.parent.name / f"{text.stem}.ipynb", as_version=4)


def split(source: str) -> tuple[list[str], list[str]]:
    """The lines of a cell inside solution regions, and outside."""
    inside, outside, solution = [], [], False
    for line in source.splitlines():
        if "BEGIN SOLUTION" in line or "END SOLUTION" in line:
            solution = "BEGIN" in line
        else:
            (inside if solution else outside).append(line.strip())
    return inside, outside


def test_making_the_notebooks_again_changes_no_byte():
    assert out_of_step(COURSE) == []


def test_a_notebook_that_is_not_in_step_is_named_and_mended(tmp_path):
    for path, text in build(COURSE).items():
        there = tmp_path / path.relative_to(COURSE)
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text, "utf-8")
    for text in [*TEXTS, COURSE / "nbgrader_config.py"]:
        (tmp_path / text.relative_to(COURSE)).write_text(text.read_text("utf-8"), "utf-8")
    release = next((tmp_path / "release").rglob("*.ipynb"))
    release.write_text(release.read_text("utf-8") + " ", "utf-8")
    assert out_of_step(tmp_path) == [release]
    assert write(tmp_path) == [release]
    assert write(tmp_path) == []


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
def test_the_release_holds_no_solution(text):
    released = notebook("release", text)
    everything = "\n".join(cell.source for cell in released.cells)
    lines = {line.strip() for line in everything.splitlines()}
    assert "SOLUTION" not in everything
    for cell in parse(text.read_text("utf-8")):
        inside, _ = split(cell.source)
        assert "\n".join(inside) not in everything or not inside
    given = {line for cell in parse(text.read_text("utf-8")) for line in split(cell.source)[1]}
    only_in_solutions = {line for cell in parse(text.read_text("utf-8")) for line in split(cell.source)[0]} - given
    assert len(only_in_solutions) > 15 or (text.stem == "start" and len(only_in_solutions) == 6)  # a line or two each
    assert lines & only_in_solutions == set()


def test_the_release_folder_holds_notebooks_and_nothing_else():
    assert {path.suffix for path in (COURSE / "release").rglob("*") if path.is_file()} == {".ipynb"}


@pytest.mark.parametrize("kind", ["source", "release"])
@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
def test_cells_have_the_ids_of_their_text_and_no_outputs(text, kind):
    made = notebook(kind, text)
    assert [cell.id for cell in made.cells] == [cell.id for cell in parse(text.read_text("utf-8"))]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in made.cells)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
def test_each_exercise_has_one_answer_cell_and_one_check_worth_its_points(text):
    cells = [cell for cell in notebook("release", text).cells if "nbgrader" in cell.metadata]
    answers = [cell.metadata.tmalab.exercise for cell in cells if cell.metadata.nbgrader.solution]
    checks = {cell.metadata.tmalab.exercise: cell for cell in cells if cell.metadata.nbgrader.grade}
    assert answers == list(checks)
    assert (4 if text.stem == "start" else 6) <= len(checks) <= 10
    for exercise_id, cell in checks.items():
        assert cell.metadata.nbgrader.points == exercises.find(exercise_id).points
        assert cell.metadata.nbgrader.locked
        assert cell.metadata.nbgrader.schema_version == 3
        assert re.fullmatch(rf'grader\.check\("{re.escape(exercise_id)}", \w+\)', cell.source)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.stem)
def test_the_headings_of_exercises_say_their_points(text):
    said = [int(points) for points in re.findall(r"### Exercise \d+: .*\((\d+) points\)", text.read_text("utf-8"))]
    checks = [cell for cell in notebook("release", text).cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert said == [cell.metadata.nbgrader.points for cell in checks]
