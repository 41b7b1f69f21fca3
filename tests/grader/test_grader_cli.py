"""The command `grader`: what it prints, and its exit codes."""

from __future__ import annotations

import json

import nbformat
import pytest
from click.testing import CliRunner

from grader import notebook_run
from grader.cli import main
from grader.release import write
from tests.lessons import COURSE

CHECK = 'import grader\ngrader.check("copy-2d.count", {answer})'


def notebook(folder, name, answer):
    made = nbformat.v4.new_notebook()
    cell = nbformat.v4.new_code_cell(CHECK.format(answer=answer), id="count-check")
    cell.metadata = {"nbgrader": {"grade": True, "points": 3}, "tmalab": {"exercise": "copy-2d.count"}}
    made.cells = [nbformat.v4.new_code_cell("1 / 0", id="raises"), cell]
    nbformat.write(made, folder / name)
    return str(folder / name)


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(COURSE.parent))
    return lambda *arguments: CliRunner().invoke(main, arguments)


def test_all_points_exit_0_and_print_the_reports(command, tmp_path):
    done = command("check", notebook(tmp_path, "a.ipynb", "[4096, 1024, 1]"))
    assert done.exit_code == 0
    assert "all 3 right" in done.output
    assert "3 of 3 points in all" in done.output


def test_not_all_points_exit_1_and_json_is_one_object(command, tmp_path):
    done = command("check", notebook(tmp_path, "a.ipynb", "[4096, 1024, 64]"), "--json", "--exercise", "copy-2d.count")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["points"], found["maximum"]) == (2.0, 3.0)
    assert found["exercises"][0]["exercise"] == "copy-2d.count"
    assert "TMA: not 64" in found["exercises"][0]["report"]


EMPTY = '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}'


@pytest.mark.parametrize("content", [None, "", "{}", "not json", EMPTY])
def test_a_file_that_is_no_notebook_of_the_course_exits_2_with_one_sentence(command, tmp_path, content):
    file = tmp_path / "a.ipynb"
    if content is not None:
        file.write_text(content, "utf-8")
    done = command("check", str(file))
    assert done.exit_code == 2
    assert len(done.output.splitlines()) == 1
    assert "a.ipynb" in done.output


def test_a_missing_kernel_is_a_fault_of_the_setup_and_exits_3(command, tmp_path, monkeypatch):
    def refuse(notebook, folder):
        raise notebook_run.NoKernel("no kernel")

    monkeypatch.setattr(notebook_run, "execute", refuse)
    assert command("check", notebook(tmp_path, "a.ipynb", "None")).exit_code == 3


def test_a_folder_is_graded_into_a_table_and_an_unreadable_file_is_marked(command, tmp_path):
    notebook(tmp_path, "astrid.ipynb", "[4096, 1024, 1]")
    (tmp_path / "bela.ipynb").write_text("not json", "utf-8")
    done = command("grade", str(tmp_path))
    assert done.exit_code == 0
    header, astrid, bela = done.output.splitlines()
    assert header == "notebook,exercise,points,maximum,remark"
    assert astrid == "astrid.ipynb,copy-2d.count,3,3,"
    assert bela.startswith("bela.ipynb,,,,")


def test_release_check_exits_1_when_a_notebook_is_out_of_step(command, tmp_path):
    text = tmp_path / "source" / "demo" / "demo.py"
    text.parent.mkdir(parents=True)
    text.write_text('\n# %% [markdown] id="aims"\n# # Hello\n', "utf-8")
    (tmp_path / "nbgrader_config.py").write_text((COURSE / "nbgrader_config.py").read_text("utf-8"), "utf-8")
    assert command("release", str(tmp_path), "--check").exit_code == 1
    assert len(write(tmp_path)) == 2
    assert command("release", str(tmp_path), "--check").exit_code == 0


@pytest.mark.parametrize("shown", ["True", "nan", "-1.0", "7.0", "'full'", "np.float64(1.0)"])
def test_what_is_no_plain_number_in_range_scores_nothing(shown):
    assert notebook_run._plain_number(shown, 3.0) == 0.0


def test_with_json_a_failure_is_one_object_too(command, tmp_path):
    done = command("check", str(tmp_path / "missing.ipynb"), "--json")
    assert done.exit_code == 2
    assert "no such file" in json.loads(done.stdout)["error"]


def test_an_exercise_that_the_notebook_lacks_is_named_before_anything_runs(command, tmp_path, monkeypatch):
    monkeypatch.setattr(notebook_run, "execute", lambda *arguments: pytest.fail("it was run"))
    done = command("check", notebook(tmp_path, "a.ipynb", "None"), "--exercise", "copy-2d.nope")
    assert done.exit_code == 2
    assert "copy-2d.nope: not in" in done.output


def test_a_folder_that_is_no_course_is_refused_in_one_sentence(command, tmp_path):
    done = command("release", str(tmp_path))
    assert done.exit_code == 2
    assert "is no course" in done.output
    assert len(done.output.splitlines()) == 1
