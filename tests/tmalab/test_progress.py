"""A learner's progress: read from what is saved, believed only where a check can have shown it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tmalab.cli import main
from tmalab.lab import DEFAULT_FOLDER, fill, released
from tmalab.progress import progress, workbook

LESSON = Path("02-swizzle/swizzle.ipynb")


@pytest.fixture
def folder(tmp_path) -> Path:
    fill(tmp_path / DEFAULT_FOLDER)
    return tmp_path / DEFAULT_FOLDER


def lesson(folder: Path):
    return next(each for each in progress(folder).lessons if each.name == LESSON.parent.name)


def change(folder: Path, exercise: str, answer: str | None = None, shown: str | None = None) -> None:
    """Write an answer, or let a check's cell show something."""
    notebook = json.loads((folder / LESSON).read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["metadata"].get("tmalab", {}).get("exercise") != exercise:
            continue
        if answer is not None and cell["metadata"]["nbgrader"]["solution"]:
            cell["source"] = answer
        if shown is not None and cell["metadata"]["nbgrader"]["grade"]:
            result = {"output_type": "execute_result", "data": {"text/plain": [shown]}, "metadata": {}}
            stream = {"output_type": "stream", "name": "stdout", "text": ["a report"]}
            cell["outputs"] = [stream, {**result, "execution_count": 1}]
    (folder / LESSON).write_text(json.dumps(notebook), "utf-8")


def first(folder: Path):
    return lesson(folder).exercises[0]


def test_a_fresh_workbook_has_every_lesson_and_nothing_done(folder):
    found = progress(folder).lessons
    assert [each.name for each in found] == sorted(path.parent.name for path in released().glob("*/*.ipynb"))
    assert all(each.written == 0 and each.points == 0 and each.maximum > 0 for each in found)
    assert all(exercise.points is None for each in found for exercise in each.exercises)


def test_an_answer_and_the_points_of_its_check_are_seen(folder):
    before = first(folder)
    change(folder, before.exercise, answer="ways = [1]", shown="1.5")
    after = first(folder)
    assert (after.written, after.points, after.maximum) == (True, 1.5, before.maximum)
    assert (lesson(folder).written, lesson(folder).points) == (1, 1.5)
    assert "1.5 of" in str(progress(folder))
    assert 'value="1.5"' in progress(folder)._repr_html_()


@pytest.mark.parametrize("shown", ["nan", "True", "99.0", "-1.0", "'full'", "", "[3.0]"])
def test_what_no_check_can_have_shown_counts_nothing(folder, shown):
    change(folder, first(folder).exercise, shown=shown)
    assert first(folder).points is None


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"cells": 3}', '{"cells": ["a"]}', "no json"])
def test_a_notebook_that_cannot_be_read_is_one_that_was_not_begun(folder, content):
    (folder / LESSON).write_text(content, "utf-8")
    assert lesson(folder).written == 0
    assert lesson(folder).points == 0


def test_the_workbook_is_found_from_within_and_from_beside_it(folder, tmp_path):
    assert workbook(folder / LESSON.parent) == workbook(folder) == workbook(tmp_path) == folder


def test_the_command_prints_a_line_for_each_lesson_and_its_json_the_same(folder):
    change(folder, first(folder).exercise, shown="2.0")
    printed = CliRunner().invoke(main, ["progress", "--folder", str(folder)])
    assert printed.exit_code == 0
    assert len(printed.output.splitlines()) == len(progress(folder).lessons)
    as_json = json.loads(CliRunner().invoke(main, ["progress", "--folder", str(folder), "--json"]).output)
    assert [each["points"] for each in as_json["lessons"] if each["lesson"] == LESSON.parent.name] == [2.0]


def test_a_folder_without_lessons_is_refused_with_what_to_do(tmp_path):
    refused = CliRunner().invoke(main, ["progress", "--folder", str(tmp_path)])
    assert refused.exit_code == 2
    assert "--folder" in refused.output
