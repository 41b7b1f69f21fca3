"""A workbook in another language: what is copied, what is kept, what a kernel in it speaks."""

from __future__ import annotations

import json
import sys

import pytest
from click.testing import CliRunner

from grader.lesson import lessons
from tmalab import texts
from tmalab.cli import main
from tmalab.lab import fill
from tmalab.lab_language import language_in, turn
from tmalab.progress import progress
from tmalab.translation import source_of

LESSON = "00-start/start.ipynb"


def cells(folder, lesson: str = LESSON) -> dict[str, dict]:
    return {cell["id"]: cell for cell in json.loads((folder / lesson).read_text("utf-8"))["cells"]}


def edited(folder, cell_id: str, source: str) -> None:
    """Change a cell as a learner does in JupyterLab, and give it an output."""
    notebook = json.loads((folder / LESSON).read_text("utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] == cell_id:
            cell["source"] = source.splitlines(keepends=True)
            if cell["cell_type"] == "code":
                cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "seen\n"}]
    (folder / LESSON).write_text(json.dumps(notebook), "utf-8")


@pytest.fixture
def chinese(tmp_path):
    fill(tmp_path, "zh")
    return tmp_path


def test_a_workbook_is_copied_in_its_language_and_says_so(chinese):
    assert language_in(chinese) == "zh"
    assert source_of(cells(chinese)["aims"]).startswith("# 第 0 课")
    assert {path.relative_to(chinese).parts[0] for path in chinese.glob("*/*.ipynb")} == set(lessons())


def test_a_workbook_without_lessons_has_no_language(tmp_path):
    assert language_in(tmp_path) is None


def test_another_language_changes_what_is_as_released_and_keeps_what_was_written(chinese):
    answer = "numbers = [1, 2, 3]  # 我的答案"
    guess = source_of(cells(chinese)["sources"]).replace("*我的猜测：*", "*我的猜测：会*")
    edited(chinese, "numbers-answer", answer)
    edited(chinese, "sources", guess)
    assert len(turn(chinese, "en")) == len(lessons())
    now = cells(chinese)
    assert source_of(now["numbers-answer"]) == answer
    assert now["numbers-answer"]["outputs"][0]["text"] == "seen\n"
    assert source_of(now["sources"]) == guess
    assert source_of(now["aims"]).startswith("# Lesson 0: start")
    assert language_in(chinese) == "en"
    assert turn(chinese, "en") == []


def test_turning_there_and_back_gives_the_same_file(chinese):
    before = (chinese / LESSON).read_bytes()
    turn(chinese, "en")
    turn(chinese, "zh")
    assert (chinese / LESSON).read_bytes() == before


@pytest.mark.parametrize("content", ["no notebook", "[]", '{"metadata": {"tmalab": {"language": "zh"}}}'])
def test_what_is_no_notebook_is_left_alone(content, chinese):
    (chinese / LESSON).write_text(content, "utf-8")
    turn(chinese, "en")
    assert (chinese / LESSON).read_text("utf-8") == content


def test_progress_counts_no_untouched_answer_as_written_in_any_language(chinese):
    found = progress(chinese)
    assert found.lessons[0].title == "第 0 课：开始"
    assert sum(lesson.written for lesson in found.lessons) == 0
    edited(chinese, "numbers-answer", "numbers = [1, 2, 3]")
    assert [lesson.written for lesson in progress(chinese).lessons][:2] == [1, 0]


def test_the_command_tells_the_progress_in_the_workbooks_language(chinese, monkeypatch):
    monkeypatch.delenv("TMALAB_LANGUAGE", raising=False)
    said = CliRunner().invoke(main, ["progress", "--folder", str(chinese)]).output.splitlines()
    assert not [line for line in said if "points" in line]
    assert texts.language() == "en"
    monkeypatch.setenv("TMALAB_LANGUAGE", "en")
    assert "points" in CliRunner().invoke(main, ["progress", "--folder", str(chinese)]).output


def test_a_kernel_speaks_the_language_of_its_notebook_unless_it_is_told_another(chinese, monkeypatch):
    monkeypatch.delenv("TMALAB_LANGUAGE", raising=False)
    monkeypatch.chdir(chinese / "00-start")
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    texts._of_notebooks.cache_clear()
    assert texts.language() == "zh"
    assert texts.text("clock.once") == "一次"
    monkeypatch.setenv("TMALAB_LANGUAGE", "en")
    assert texts.text("clock.once") == "once"


def test_outside_of_kernels_notebooks_choose_no_language(chinese, monkeypatch):
    monkeypatch.delenv("TMALAB_LANGUAGE", raising=False)
    monkeypatch.chdir(chinese / "00-start")
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert texts.language() == "en"


@pytest.mark.parametrize("unknown", ["xx", "../en", ""])
def test_a_language_that_there_is_not_is_read_in_english(unknown, monkeypatch):
    monkeypatch.setenv("TMALAB_LANGUAGE", unknown)
    assert texts.text("clock.once") == "once"
