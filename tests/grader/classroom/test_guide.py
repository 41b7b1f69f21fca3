"""The commands of the instructor's guide, run as they stand there; those of the hub are run by its own test."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader.cli import main
from tests.grader.attacks.notebooks import COUNTS
from tests.grader.classroom.hub import COMMANDS
from tests.lessons import COURSE
from tmalab.bootstrap import ROOT

GUIDE = (ROOT / "docs" / "instructor.md").read_text("utf-8")
BLOCK = re.compile(r"^```sh(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LESSON = "01-copy-2d"


def blocks(kind: str) -> list[list[str]]:
    """The lines of the guide's shell blocks of a kind; "" for those that anyone can run anywhere."""
    return [found[2].splitlines() for found in BLOCK.finditer(GUIDE) if (found[1] or "") == kind]


def grader_lines() -> list[str]:
    """Every command line of grader's in the guide, in blocks and in its sentences."""
    lines = [line for found in BLOCK.finditer(GUIDE) for line in found[2].splitlines()]
    return [line for line in [*lines, *re.findall(r"`([^`\n]+)`", GUIDE)] if line.startswith("python3 -m grader ")]


def test_every_block_is_of_a_kind_that_a_test_runs():
    assert {found[1] or "" for found in BLOCK.finditer(GUIDE)} == {"", "hub", "cluster"}
    assert GUIDE.count("```") == 2 * len(BLOCK.findall(GUIDE))
    assert [tuple(lines) for lines in blocks("hub")] == [COMMANDS]


@pytest.mark.parametrize("line", dict.fromkeys(grader_lines()))
def test_every_command_and_option_of_grader_in_the_guide_exists(line):
    command, *rest = shlex.split(line)[3:]
    said = CliRunner().invoke(main, [command, "--help"])
    assert said.exit_code == 0, said.output
    for option in (word for word in rest if word.startswith("-")):
        assert re.search(rf"(^|[\s,]){re.escape(option)}\b", said.output), f"{option} in {line}"


class Shell:
    """bash in a folder of its own, with a home, an exchange and this environment's commands."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "etc").mkdir()
        (folder / "exchange").mkdir(mode=0o777)
        settings = f'c = get_config()\nc.Exchange.root = "{folder / "exchange"}"\n'
        (folder / "etc" / "nbgrader_config.py").write_text(settings, "utf-8")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
        self.environment = kept | {
            "HOME": str(folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "JUPYTER_CONFIG_PATH": str(folder / "etc"),
        }

    def run(self, line: str, place: Path | None = None) -> str:
        command = ["bash", "-ec", line]
        done = subprocess.run(
            command,
            cwd=place or self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
        return done.stdout


@pytest.fixture
def shell(tmp_path):
    """A shell beside a class of one student and a platform's list of participants."""
    handed_in = tmp_path / "submitted" / "astrid" / LESSON
    handed_in.mkdir(parents=True)
    made = json.loads((COURSE / "release" / LESSON / "copy-2d.ipynb").read_text("utf-8"))
    (answer,) = [cell for cell in made["cells"] if cell["id"] == "count-answer"]
    answer["source"] = COUNTS
    (handed_in / "copy-2d.ipynb").write_text(json.dumps(made), "utf-8")
    (tmp_path / "participants.csv").write_text("Email address,ID number\na@example.org,astrid\n", "utf-8")
    return Shell(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_commands_run_in_the_guides_order(shell):
    for lines in blocks(""):
        place = shell.folder
        for line in lines:
            if line.startswith("cd "):
                place = place / line.removeprefix("cd ")
                continue
            if line.startswith("nbgrader collect"):  # what a student does before
                for verb in ("fetch_assignment", "submit"):
                    shell.run(f"nbgrader {verb} {LESSON} --course tmalab")
            shell.run(line, place)
    course = shell.folder / "tmalab-course"
    assert (shell.folder / "moodle.csv").read_text("utf-8").splitlines()[1] == "a@example.org,astrid,3"
    assert (shell.folder / "canvas.csv").read_text("utf-8").splitlines()[2] == "astrid,,,astrid,,3"
    assert (shell.folder / "pages" / "astrid" / LESSON / "copy-2d.html").is_file()
    assert len((course / "questions.csv").read_text("utf-8").splitlines()) == 1 + 6
    assert list(course.glob(f"feedback/*/{LESSON}/*.html"))
    assert (forced := "nbgrader autograde 01-copy-2d --force") in GUIDE
    assert "Autograding" in shell.run(f"{forced} 2>&1", course)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_commands_of_a_cluster_grade_a_class(shell):
    (lines,) = blocks("cluster")
    *servers, grade = lines
    running = [
        subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=shell.folder,
            env=shell.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for line in servers
    ]
    try:
        end = 6  # tries: the scheduler takes a while until it answers
        for attempt in range(end):
            try:
                said = shell.run(grade)
                break
            except AssertionError:
                if attempt == end - 1:
                    raise
        assert "3/25" in said
    finally:
        for process in running[::-1]:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(60)
