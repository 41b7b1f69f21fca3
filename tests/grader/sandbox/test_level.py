"""What a sandbox shows of the computer's files, wherever Python and the course are installed."""

from __future__ import annotations

import sys
from pathlib import Path

from grader.sandbox import landlock, level

HOME = Path(level.__file__).resolve().parents[2]


def shown() -> list[str]:
    """The files and folders that bubblewrap is told to show."""
    walls = level._walls()
    return [walls[i + 1] for i, word in enumerate(walls) if word in ("--ro-bind", "--ro-bind-try")]


def hidden() -> list[str]:
    walls = level._walls()
    return [walls[i + 1] for i, word in enumerate(walls) if word == "--tmpfs"]


def test_python_and_the_courses_packages_are_shown_and_the_checkout_is_not():
    assert str(HOME / "tmalab") in shown()
    assert str(HOME / "grader") in shown()
    assert str(HOME) not in shown()
    assert any(Path(sys.prefix).resolve().is_relative_to(folder) for folder in shown())
    assert str(HOME / "grader" / "exercises") in hidden()


def test_a_course_that_is_installed_among_other_packages_leaves_them_in_sight(monkeypatch):
    monkeypatch.setattr(level, "ROOT", Path(sys.prefix).resolve() / "lib" / "python3" / "site-packages")
    assert any(Path(sys.prefix).resolve().is_relative_to(folder) for folder in shown())


def test_a_checkout_inside_a_folder_that_is_shown_has_its_solutions_hidden(monkeypatch):
    monkeypatch.setattr(level, "_python_folders", lambda: [HOME.parent])
    assert {str(HOME / name) for name in level.SECRET if (HOME / name).is_dir()} <= set(hidden())


def test_the_folder_that_python_was_started_in_is_not_shown_and_one_with_packages_is(monkeypatch, tmp_path):
    here, packages = tmp_path / "course", tmp_path / "packages"
    here.mkdir()
    (packages / "a-1.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(here), str(packages), *sys.path])
    assert str(packages) in shown()
    assert str(here) not in shown()


def test_what_is_in_a_folder_without_what_is_hidden_takes_no_way_round_by_a_link(tmp_path):
    hidden, beside = tmp_path / "lib/answers", tmp_path / "lib/python"
    hidden.mkdir(parents=True)
    beside.mkdir()
    (tmp_path / "lib64").symlink_to("lib")  # as in each virtual environment
    assert [*landlock.without(tmp_path, {hidden})] == [beside]


def test_packages_that_lie_beside_the_course_in_no_environment_are_shown(monkeypatch, tmp_path):
    (tmp_path / "numpy-2.dist-info").mkdir()
    monkeypatch.setattr(level, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert str(tmp_path) in shown()


def test_a_python_that_was_named_by_a_way_through_another_folder_is_found_inside(monkeypatch, tmp_path):
    here = tmp_path.resolve()
    monkeypatch.setattr(sys, "executable", str(here / "course/../python"))
    (here / "course").mkdir()
    assert level.python_command("a.module")[0] == str(here / "python")


def test_nothing_of_the_graders_environment_comes_along(monkeypatch):
    monkeypatch.setenv("CANVAS_TOKEN", "secret")
    assert "secret" not in level.environment().values()
    assert level.environment()["HOME"] == level.scratch()


def test_the_folder_to_write_to_hides_no_code(monkeypatch):
    monkeypatch.setattr(level, "_shown", lambda: [Path("/tmp/checkout/tmalab")])
    assert level.scratch() == "/var/tmp"
    monkeypatch.setattr(level, "_shown", lambda: [Path("/srv/checkout/tmalab")])
    assert level.scratch() == "/tmp"


def test_only_a_sandbox_for_gpus_shows_their_devices_and_knows_which_to_use(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setattr(level, "DEVICES", "null")
    plain, *_ = level.levels()
    with_gpu, *_ = level.levels(gpu=True)
    assert plain.name == with_gpu.name == "bubblewrap"
    assert "--dev-bind-try" not in plain.wrapper
    place = with_gpu.wrapper.index("--dev-bind-try")
    assert with_gpu.wrapper[place : place + 3] == ("--dev-bind-try", "/dev/null", "/dev/null")
    assert place > with_gpu.wrapper.index("--dev")
    assert "CUDA_VISIBLE_DEVICES" not in level.environment()
    assert level.environment(gpu=True)["CUDA_VISIBLE_DEVICES"] == "1"
