"""Every command in README and docs is run by a test, here or by the one that is named."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tmalab.cli
from tests.grader.classroom.test_guide import blocks
from tests.pages import PAGES, essence, everywhere, is_case_of, words_in
from tests.test_house_repository import PROJECT, files
from tmalab.bootstrap import ROOT

FIRST_LESSON = "notebooks/release/01-copy-2d"
STAND_INS = {  # what a page leaves to the reader: a case of it
    "FILE": "map.json",
    "NOTEBOOK.ipynb": f"{FIRST_LESSON}/copy-2d.ipynb",
    "FOLDER": "class",
    "N": "2",
    "NAME": "copy",
}
MAP = {
    "data_type": "FLOAT16",
    "global_address": 0x1000,
    "global_dim": [128, 16],
    "global_strides": [256],
    "box_dim": [64, 8],
}

QUICK = (  # run here, each in a moment
    "tmalab demo",
    "tmalab map FILE",
    "tmalab doctor",
)
LESSON = 'python3 -m tests tests/notebooks tests/grader/test_answers.py tests/grader/test_aims.py -m "" -k NAME'
SLOW = {  # run with `--all` in a copy of the checkout: seconds to minutes each; with words that keep it short
    "grader bench": "--submissions 3 --stock 3",
    "grader bench --json": "--submissions 3 --stock 3",
    "grader check NOTEBOOK.ipynb": "",
    "grader doctor": "",
    "grader grade FOLDER": "",
    "grader grade FOLDER -j N": "",
    "grader course": "",
    "grader course --language zh": "",
    "grader release notebooks": "",
    "grader release --check": "",
    "grader release --check notebooks": "",
    "grader translate zh": "",
    "grader translate zh --check": "",
    "python3 -m tests --all": "tests/test_house_conftest.py -k skipped",
    "python3 -m tests --durations=30": "tests/test_house_conftest.py -k skipped",
    LESSON: "--collect-only",
    "python3 -m tests.mutants --hazards docs/hazards.md": "",
    "python3 -m tests.mutants --table docs/mutants.md": "--seeds 1 --right-seeds 1 --edit-seeds 0",
    "python3 -m tmalab.kernels.gemm_cluster": "",
    "tmalab bench simulator": "",
}
STATUS_1 = {"grader check NOTEBOOK.ipynb", "python3 -m tests.mutants --table docs/mutants.md"}  # the release earns no
# points; too few orders to find every mutant's hazard
IN_STEP = (
    "grader release notebooks",
    "grader translate zh",
    "python3 -m tests.mutants --hazards docs/hazards.md",
)  # they write what is there already
ON_A_GPU = (  # without one: one sentence, exit status 3
    "tmalab bench copy",
    "tmalab bench gemm",
    "tmalab bench ladder",
    "tmalab bench tiles",
    "tmalab record",
    "tmalab record held-out",
    "tmalab record timing",
    "tmalab verdicts",
    "tmalab verdicts --sets 5",
    "tmalab verify",
)
BY_CI = (  # lines of .ci/run
    ".venv/bin/python -m mypy",
    ".venv/bin/python -m repo2docker --no-build --debug .",
    ".venv/bin/python -m ruff check .",
    ".venv/bin/python -m sphinx --fail-on-warning --keep-going docs docs/_build",
    "apt install bubblewrap",
    "apt install chromium",
)
GUIDE = "tests/grader/classroom/test_guide.py::"
GUIDES_BLOCKS = {  # kind of a block in the instructor's guide: the test that runs its lines
    "": f"{GUIDE}test_the_commands_run_in_the_guides_order",
    "cluster": f"{GUIDE}test_the_commands_of_a_cluster_grade_a_class",
    "hub": "tests/grader/classroom/test_hub.py::test_feedback_reaches_each_student_and_says_what_the_check_said",
}
PINNED_LAB = "tests/test_house_lab.py::test_the_printed_address_opens_the_first_lesson"
RANGES = "tests/test_house_wheel.py::test_pip_installs_the_checkout_and_finds_packages_for_every_extra"  # of any page
ELSEWHERE = {  # command: the test that runs it, whose code has the command's words
    ".ci/run": "tests/test_house_repository.py::test_a_forks_ci_runs_what_ci_runs",
    "grader check NOTEBOOK.ipynb --server http://SERVER:8790": "tests/grader/classroom/test_serve.py::"
    "test_a_notebook_is_checked_there_as_here_with_the_servers_seed",
    "grader serve --scheduler tcp://localhost:8786 --gpu --host 0.0.0.0": "tests/grader/classroom/test_cluster.py::"
    "test_learners_are_served_by_the_cluster",
    "nbgrader autograde 01-copy-2d --force": f"{GUIDE}test_the_commands_run_in_the_guides_order",
    "pip install .": RANGES,
    "pre-commit install": "tests/test_house_repository.py::test_a_commit_of_bad_style_is_refused",
    "python3 -m tests": "tests/test_house_readme.py::test_ci_takes_the_test_command_from_the_readme",
    "python3 -m tests.variants": "tests/test_house_commands.py::test_variants_are_recorded_on_a_gpu_only",
    "tmalab bench reference": "tests/test_house_bench.py::test_figures_are_a_sentence_for_people",
    "tmalab bench timing": "tests/tmalab/bench/test_timing.py::test_the_command_prints_one_json_object_and_draws",
    "tmalab lab": "tests/test_house_lab.py::test_a_browser_is_sent_to_the_workbook",
    "tmalab lab --no-browser": PINNED_LAB,
    "tmalab lab -- --ServerApp.port=9000": PINNED_LAB,
    "tmalab lab --language zh": "tests/test_house_wheel.py::test_lab_makes_it_in_another_language_there",
    "tmalab progress": "tests/tmalab/test_progress.py::"
    "test_the_command_prints_a_line_for_each_lesson_and_its_json_the_same",
}


def same(command: str) -> str:
    """A command of the guide as its block writes it; commands here lack the Python that starts grader."""
    return command.removeprefix("python3 -m ")


def in_guide(command: str) -> str | None:
    """The kind of a block in the instructor's guide that has a command, or the same one with other values."""
    for kind in GUIDES_BLOCKS:
        if any(is_case_of(command, same(line)) for lines in blocks(kind) for line in lines):
            return kind
    return None


def runs_it(command: str) -> str | None:
    """The test that runs a command, None where nobody does."""
    if command in (*QUICK, *SLOW, *ON_A_GPU):
        return "tests/test_house_commands.py"
    if command in BY_CI:
        return ".ci/run"
    if re.fullmatch(r"pip install '(tmalab|\.)\[[\w,]+\]'", command):
        return RANGES
    kind = in_guide(command)
    return ELSEWHERE.get(command) or (None if kind is None else GUIDES_BLOCKS[kind])


def is_a_name(command: str) -> bool:
    """Whether it only names a program with its verb, which another command of the pages has with arguments."""
    words = command.split()
    return len(words) < 4 and any(other.split()[: len(words)] == words for other in everywhere() if other != command)


@pytest.mark.parametrize("command", everywhere())
def test_a_test_runs_every_command(command):
    found = runs_it(command)
    assert found or is_a_name(command), f"no test runs `{command}`: put it into a list of this file"


@pytest.mark.parametrize("command", ELSEWHERE)
def test_the_code_of_the_named_test_has_the_words_of_the_command(command):
    path, _, test = ELSEWHERE[command].partition("::")
    assert f"\ndef {test}(" in (ROOT / path).read_text("utf-8")
    _, *words = essence(command)
    assert set(words) - words_in(ROOT / path, test) == set()


@pytest.mark.parametrize("command", BY_CI)
def test_ci_runs_a_line_of_its_own(command):
    lines = [set(line.split()) for line in (ROOT / ".ci/run").read_text("utf-8").splitlines()]
    words = {"apt-get", *command.split()[1:]} if command.startswith("apt ") else set(command.split()[1:])
    assert [line for line in lines if words <= line]


def test_a_blocks_test_takes_its_lines_from_the_guide():
    for kind, named in GUIDES_BLOCKS.items():
        path, _, test = named.partition("::")
        assert f"\ndef {test}(" in (ROOT / path).read_text("utf-8")
        assert kind == "hub" or f'blocks("{kind}")' in (ROOT / path).read_text("utf-8")


def test_no_list_holds_a_command_that_no_page_has():
    assert {*QUICK, *SLOW, *ON_A_GPU, *BY_CI, *ELSEWHERE} - set(everywhere()) == set()


@pytest.fixture
def scratch(tmp_path, monkeypatch) -> Path:
    """A folder with what the stand-ins name."""
    (tmp_path / "map.json").write_text(json.dumps(MAP))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A copy of the checkout: a command that writes there writes into nobody's work."""
    copy = tmp_path_factory.mktemp("checkout")
    for path in files():
        there = copy / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, there)
    shutil.copytree(copy / FIRST_LESSON, copy / STAND_INS["FOLDER"])
    return copy


def arguments(command: str) -> list[str]:
    """The words of a command, a stand-in for each word that is left to the reader."""
    return [STAND_INS.get(word, word) for word in shlex.split(command)]


@pytest.mark.parametrize("command", QUICK)
def test_a_quick_command_does_its_work(command, scratch):
    _, *rest = arguments(command)
    result = CliRunner().invoke(tmalab.cli.main, rest)
    assert result.exit_code == 0, result.output
    assert result.stdout


@pytest.mark.parametrize("command", ON_A_GPU)
def test_a_command_for_a_gpu_reads_its_options_and_says_that_there_is_none(command, monkeypatch, scratch):
    from tmalab.gpu import device

    monkeypatch.setattr(device, "why_no_gpu", lambda: "there is none")
    _, *rest = arguments(command)
    result = CliRunner().invoke(tmalab.cli.main, rest)
    assert (result.exit_code, result.stderr) == (3, "tmalab: there is none\n")


def test_variants_are_recorded_on_a_gpu_only(scratch):
    command = [sys.executable, "-m", "tests.variants", "--file", "recorded", "copy-2d.kernel"]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=scratch, env=variables, capture_output=True, text=True)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (3, "", 1), done.stderr


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("command", SLOW)
def test_a_slow_command_does_its_work(command, checkout):
    program, *rest = arguments(command)
    words = rest if program == "python3" else ["-m", program, *rest]
    before = {path: path.read_bytes() for path in checkout.rglob("*") if path.is_file()} if command in IN_STEP else {}
    done = subprocess.run(
        [sys.executable, *words, *shlex.split(SLOW[command])],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == (command in STATUS_1), done.stdout + done.stderr
    assert done.stdout or "--check" in command or command in IN_STEP
    assert [path for path, content in before.items() if path.read_bytes() != content] == []


def test_all_takes_the_slow_tests_too():
    from tests.__main__ import pytest_arguments

    assert pytest_arguments(["--all", "-x"])[-3:] == ["-m", "", "-x"]
    assert "-m" not in pytest_arguments(["-x"])


def test_the_extras_that_a_page_installs_exist():
    content = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = {extra for extras in re.findall(r"(?:tmalab|\.)\[([\w,]+)\]", content) for extra in extras.split(",")}
    assert {"classroom", "cluster", "hub", "postgresql"} <= named <= PROJECT["project"]["optional-dependencies"].keys()
