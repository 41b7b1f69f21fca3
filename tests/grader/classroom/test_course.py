"""The course folder that `grader course` makes: ready for nbgrader, with or without solutions in it."""

from __future__ import annotations

from click.testing import CliRunner

from grader.cli import main
from grader.release import CONFIG, student_notebooks
from tests.lessons import COURSE, LESSONS

LESSON = LESSONS[0]


def make(folder, *options: str) -> list[str]:
    done = CliRunner().invoke(main, ["course", str(folder), *options])
    assert done.exit_code == 0, done.output
    return sorted(line.removesuffix(" written").removeprefix(f"{folder}/") for line in done.output.splitlines())


def test_a_course_holds_settings_and_all_lessons_and_what_is_there_is_kept(tmp_path):
    written = make(tmp_path)
    lessons = {f"source/{path.parent.name}/{path.name}" for path in COURSE.glob("source/*/*.ipynb")}
    assert set(written) == {CONFIG, "jupyterhub_config.py", f"everyone/{CONFIG}", *lessons}
    (tmp_path / CONFIG).write_text("mine", "utf-8")
    (tmp_path / sorted(lessons)[0]).unlink()
    assert make(tmp_path) == sorted(lessons)[:1]
    (kept,) = make(tmp_path, "--language", "zh")
    assert "another language or seed needs another folder" in kept
    assert (tmp_path / CONFIG).read_text("utf-8") == "mine"


def test_a_seed_is_written_for_grading_and_for_the_students_servers(tmp_path):
    make(tmp_path, "--seed", "7")
    assert "\nc.TrustedGrades.seed = 7 " in (tmp_path / CONFIG).read_text("utf-8")
    assert '\nSEED = "7" ' in (tmp_path / "jupyterhub_config.py").read_text("utf-8")


def test_a_course_without_solutions_releases_the_same_notebook(tmp_path):
    make(tmp_path, "--without-solutions")
    (source,) = (tmp_path / "source" / LESSON).glob("*.ipynb")
    released = (COURSE / "release" / LESSON / source.name).read_text("utf-8")
    assert source.read_text("utf-8") == released
    again = student_notebooks(tmp_path / CONFIG, LESSON, {source.name: source.read_text("utf-8")})
    assert again == {source.name: released}
