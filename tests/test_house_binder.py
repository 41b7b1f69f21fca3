"""binder/: repo2docker accepts it, and its steps make an environment in which the first lesson runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tmalab.bootstrap import LEARNERS, ROOT

RUN_LESSON = """
import json, nbformat, nbclient, pathlib
path = pathlib.Path("notebooks/release/01-copy-2d/copy-2d.ipynb")
nbclient.NotebookClient(nbformat.read(path, 4), timeout=120, kernel_name="python3").execute()
print("ran")
"""
INSTALLED = "TMALAB_IMAGE"  # names an environment in which the requirements were installed before, as .ci/run does
SHOW = "import os, tmalab; print(tmalab.__file__); print(os.environ['JUPYTER_CONFIG_PATH'])"


class Image:
    """What a Binder image has after a build: a copy of the repository, and an environment of its own."""

    def __init__(self, folder: Path, environment: str | None = None):
        self.home, self.venv = folder / "home", Path(environment or folder / "environment")
        caches = (".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "__pycache__", "_build")
        ignore = shutil.ignore_patterns(".git", ".venv", "tmalab-workbook", *caches)  # others may write there meanwhile
        shutil.copytree(ROOT, self.home, ignore=ignore)
        if environment is None:
            self.run(sys.executable, "-m", "venv", str(self.venv))

    def run(self, *command: str) -> str:
        """Run a step in the image's environment, from the repository, as repo2docker does."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "REQUESTS_"))}
        variables = {**kept, "PATH": f"{self.venv / 'bin'}:/usr/bin:/bin", "HOME": str(self.home)}
        done = subprocess.run(command, cwd=self.home, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_repo2docker_accepts_the_folder():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", str(ROOT)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "binder/postBuild" in done.stdout + done.stderr
    assert "binder/start" in done.stdout + done.stderr


def test_the_steps_install_the_package_and_start_with_the_courses_settings(tmp_path):
    image = Image(tmp_path)
    site = image.run("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    pinned = sysconfig.get_path("purelib")  # stands for requirements.txt, which the slow test installs
    Path(site, "pinned.pth").write_text(pinned, "utf-8")
    image.run("./binder/postBuild")
    shutil.rmtree(image.home / "tmalab")
    package, settings = image.run("./binder/start", "python", "-c", SHOW).split()
    assert package == f"{site}/tmalab/__init__.py"
    assert (Path(settings) / "labconfig/default_setting_overrides.json").is_file()


@pytest.mark.slow
@pytest.mark.timeout(900)  # it installs all that a learner's environment has
def test_the_first_lesson_runs_in_an_environment_made_by_binders_steps(tmp_path):
    image = Image(tmp_path, os.environ.get(INSTALLED))
    image.run("python", "-m", "pip", "install", "--quiet", "-r", LEARNERS)  # where they are, it finds that it is so
    image.run("./binder/postBuild")
    assert image.run("./binder/start", "python", "-c", RUN_LESSON) == "ran\n"
