"""README is true: its commands, its example, and that CI runs the test command that stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tmalab import demo
from tmalab.bench import command
from tmalab.bootstrap import ROOT
from tmalab.progress import _cells, _title

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
WAIT = "    while not ptx.mbarrier_try_wait_parity(full[0], 0):\n        pass\n"


def run_example(source: str, folder) -> str:
    """The output of README's Python example, from a file, so that reports can show its lines."""
    (folder / "example.py").write_text(source)
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "example.py"]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def example() -> str:
    return next(code for language, code in BLOCKS if language == "python")


def test_the_two_commands_are_one_line_each():
    assert [code for language, code in BLOCKS if language == ""][:2] == [
        "python3 -m tmalab lab\n",
        "python3 -m tests\n",
    ]


def test_the_lessons_are_those_of_the_course():
    titles = (_title(_cells(path)) for path in sorted(ROOT.glob("notebooks/release/*/*.ipynb")))
    rows = re.findall(r"^\| (\d+, .+?) \|", README, re.MULTILINE)
    assert rows == [title.removeprefix("Lesson ").replace(":", ",", 1) for title in titles]


def test_the_picture_is_the_demos(tmp_path):
    demo.save_svg(tmp_path / "tile.svg")
    assert (ROOT / "docs/tile.svg").read_text("utf-8") == (tmp_path / "tile.svg").read_text("utf-8")


def test_the_figures_of_the_comparison_are_those_that_were_kept():
    said = dict(re.findall(r"\| ([\d.]+) times as fast \| `python3 -m (\w+ bench[ \w]*)`", README))
    ratios = {command.sentence(command.recorded("gemm")).split(": ")[1].split(",")[0]: "tmalab bench gemm"}
    ratios[str(json.loads((ROOT / "docs/throughput.json").read_text("utf-8"))["ratio"])] = "grader bench"
    assert {f"{float(ratio):.{2 if 'gemm' in run else 0}f}": run for ratio, run in ratios.items()} == said


def test_ci_takes_the_test_command_from_the_readme():
    script = (ROOT / ".ci/run").read_text("utf-8")
    pattern = re.search(r"grep -m 1 -E '(.*)' README\.md", script)[1]
    assert re.findall(pattern + ".*", README, re.MULTILINE)[0] == "python3 -m tests"
    assert 'bash -c "$tests"' in script


def test_the_example_runs_clean(example, tmp_path):
    assert run_example(example, tmp_path).startswith("ok: no hazards")


def test_the_example_without_its_wait_reads_too_early(example, tmp_path):
    assert WAIT in example
    assert "read before wait" in run_example(example.replace(WAIT, ""), tmp_path)


@pytest.mark.parametrize("command", sorted(set(re.findall(r"`python3 -m (?:tmalab|grader) (\w+)", README))))
def test_every_command_that_the_readme_names_exists(command):
    package = "grader" if f"-m grader {command}" in README else "tmalab"
    result = subprocess.run(
        [sys.executable, "-m", package, command, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
