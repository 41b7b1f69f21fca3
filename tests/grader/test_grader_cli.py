"""The command `grader`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from grader import doctor, notebook_run, trusted
from grader.cli import main
from grader.exits import SET_UP
from grader.graded import SCHEMA
from grader.release import write
from grader.sandbox import host
from grader.texts import text
from tests.lessons import COURSE

CHECK = 'import grader\ngrader.check("copy-2d.count", {answer})'


def notebook(folder, name, answer):
    cell = {"cell_type": "code", "source": CHECK.format(answer=answer), "metadata": {}, "outputs": []}
    raises = {"cell_type": "code", "source": "1 / 0", "metadata": {}, "outputs": []}
    written = {"cells": [raises, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / name).write_text(json.dumps(written), "utf-8")
    return str(folder / name)


@pytest.fixture(scope="module")
def sandbox():
    with host.Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def command(monkeypatch, sandbox):
    monkeypatch.setattr(trusted, "Sandbox", lambda: sandbox)
    monkeypatch.setattr(sandbox, "close", lambda: None)  # it goes on to the next test
    return lambda *arguments: CliRunner().invoke(main, arguments)


def test_all_points_of_an_exercise_exit_0_and_print_the_report_and_the_isolation(command, tmp_path):
    done = command("check", notebook(tmp_path, "a.ipynb", "[4096, 1024, 1]"), "--exercise", "copy-2d.count")
    assert done.exit_code == 0
    assert "all 3 right" in done.output
    assert "3 of 3 points in all" in done.output
    assert "in a process of its own" in done.output


def test_not_all_points_exit_1_and_json_is_one_object_that_says_how_it_was_graded(command, tmp_path, sandbox):
    done = command("check", notebook(tmp_path, "a.ipynb", "[4096, 1024, 64]"), "--json", "--exercise", "copy-2d.count")
    assert done.exit_code == 1
    found = json.loads(done.stdout)
    assert (found["points"], found["maximum"]) == (2.0, 3.0)
    (exercise,) = found["exercises"]
    assert exercise["exercise"] == "copy-2d.count"
    assert "TMA: not 64" in exercise["report"]
    assert [(part["part"], part["points"], part["maximum"]) for part in exercise["parts"]] == [("counts", 2.0, 3)]
    assert found["schema"] == SCHEMA
    assert found["isolation"] == sandbox.level.name
    assert found["seed"] == 0
    assert {"tmalab", "grader"} <= found["versions"].keys()
    assert len(found["notebook_hash"]) == 64


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


def test_no_sandbox_is_a_fault_of_the_setup_and_exits_3(command, tmp_path, monkeypatch):
    def refuse():
        raise host.NoSandbox("no sandbox")

    monkeypatch.setattr(trusted, "Sandbox", refuse)
    done = command("check", notebook(tmp_path, "a.ipynb", "None"))
    assert done.exit_code == 3
    assert "no sandbox" in done.output


def test_a_folder_is_graded_into_a_line_for_each_notebook(command, tmp_path):
    notebook(tmp_path, "astrid.ipynb", "[4096, 1024, 1]")
    (tmp_path / "bela.ipynb").write_text("not json", "utf-8")
    done = command("grade", str(tmp_path), "-j", "1")
    assert done.exit_code == 0
    astrid, bela = done.stdout.splitlines()
    assert astrid == "astrid.ipynb  3/25"
    assert bela.startswith("bela.ipynb    no notebook")


def test_an_assignment_that_there_is_not_is_named(command, tmp_path):
    for arguments in (("check", notebook(tmp_path, "a.ipynb", "None")), ("grade", str(tmp_path))):
        done = command(*arguments, "--assignment", "99-nope")
        assert done.exit_code == 2
        assert "99-nope" in done.output
        assert "01-copy-2d" in done.output


def test_doctor_states_the_level_of_the_sandbox(command):
    found = json.loads(command("doctor", "--json").stdout)
    assert found["sandbox"] in ("bubblewrap", "limits")
    assert found["lessons"] >= 1


def test_doctor_tells_of_a_compiler_that_the_sandbox_does_not_reach(command, monkeypatch):
    found = SimpleNamespace(level=SimpleNamespace(name="bubblewrap", statement="walls"), about={"compiles": False})
    monkeypatch.setattr(doctor, "Sandbox", lambda: nullcontext(found))
    assert "no CUDA toolkit inside the sandbox" in command("doctor").output


def test_lint_exits_1_where_it_has_something_to_say(command, tmp_path):
    assert command("lint", str(COURSE / "release" / "01-copy-2d")).exit_code == 0
    done = command("lint", notebook(tmp_path, "a.ipynb", "None"))
    assert done.exit_code == 1
    assert "the check of copy-2d.map is gone" in done.output


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


def test_an_exercise_that_the_lesson_lacks_is_named(command, tmp_path):
    done = command("check", notebook(tmp_path, "a.ipynb", "None"), "--exercise", "copy-2d.nope")
    assert done.exit_code == 2
    assert "copy-2d.nope: not in" in done.output


def test_a_folder_that_is_no_course_is_refused_in_one_sentence(command, tmp_path):
    done = command("release", str(tmp_path))
    assert done.exit_code == 2
    assert "is no course" in done.output
    assert len(done.output.splitlines()) == 1


def test_an_installed_package_says_that_the_benchmark_needs_a_checkout(monkeypatch):
    monkeypatch.setattr("grader.classroom.course.instructors", lambda: None)
    done = CliRunner().invoke(main, ["bench"])
    assert (done.exit_code, done.output.strip()) == (SET_UP, text("cli.no-answers"))
