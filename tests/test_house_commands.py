"""Every command in README and docs is run by a test, here or by the one that is named, and so is every example."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tmalab.cli
from tests.test_house_repository import PROJECT
from tmalab.bootstrap import ROOT
from tmalab.gpu.errors import GpuUnavailable

HISTORY = {ROOT / "docs/changelog.md", ROOT / "docs/walk-through.md"}  # what was, not what to type
PAGES = [ROOT / "README.md", *sorted(set(ROOT.glob("docs/*.md")) - HISTORY)]
FENCED = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL = ("", "sh", "console", "bash")
PROGRAMS = re.compile(
    r"(?:\.venv/bin/python|python3?|py) -m \w|\.ci/run"
    r"|(?:pip|apt|nbgrader|jupyterhub|dask|npm|uv|git|pytest|pre-commit) \w"
)
OURS = re.compile(r"(tmalab|grader) [a-z-]+")
FIRST_LESSON = "notebooks/release/01-copy-2d"
STAND_INS = {  # what a page leaves to the reader: a case of it
    "FILE": "map.json",
    "NOTEBOOK.ipynb": f"{FIRST_LESSON}/copy-2d.ipynb",
    "FOLDER": FIRST_LESSON,
    "ADDRESS": "tcp://127.0.0.1:9",
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
SLOW = (  # run here with `--all`: seconds to minutes each
    "grader check NOTEBOOK.ipynb",
    "grader doctor",
    "grader grade FOLDER",
    "grader grade FOLDER -j N",
    "grader course",
    "grader release --check",
    "grader release --check notebooks",
    "python3 -m tmalab.kernels.gemm_cluster",
    "tmalab bench simulator",
)
ON_A_GPU = (  # without one: one sentence, exit status 3
    "tmalab bench copy",
    "tmalab bench gemm",
    "tmalab bench ladder",
    "tmalab bench tiles",
    "tmalab record",
    "tmalab record timing",
    "tmalab verdicts",
    "tmalab verdicts --sets 5",
    "tmalab verify",
)
GUIDES_OWN = "tests/grader/classroom/test_guide.py::test_every_command_and_option_of_grader_in_the_guide_exists"
IN_ITS_ORDER = "tests/grader/classroom/test_guide.py::test_the_commands_run_in_the_guides_order"
CLUSTER = "tests/grader/classroom/test_guide.py::test_the_commands_of_a_cluster_grade_a_class"
WHEEL = "tests/test_house_wheel.py::test_the_tests_pass_from_a_wheel_in_a_fresh_environment"
ELSEWHERE = {  # command: the test, or the file of a test's set-up, that runs it
    "python3 -m tests": ".ci/run",
    'python3 -m tests tests/notebooks tests/grader/test_answers.py -m "" -k NAME': "tests/test_house_commands.py::"
    "test_all_takes_the_slow_tests_too",
    "python3 -m tests --durations=30": "tests/test_house_durations.py",
    "python3 -m tests --all": "tests/test_house_commands.py::test_all_takes_the_slow_tests_too",
    ".ci/run": "tests/test_house_readme.py::test_ci_takes_the_test_command_from_the_readme",
    ".venv/bin/python -m ruff check .": ".ci/run",
    ".venv/bin/python -m mypy": ".ci/run",
    "pre-commit install": "tests/test_house_repository.py::test_each_commit_is_checked_as_ci_checks_it",
    ".venv/bin/python -m sphinx --fail-on-warning --keep-going docs docs/_build": ".ci/run",
    ".venv/bin/python -m repo2docker --no-build --debug .": ".ci/run",
    "apt install chromium": ".ci/run",
    "apt install bubblewrap": ".ci/run",
    "apt install nodejs npm": "docs/contributing.md",  # what the hub's test needs; it says so where there is none
    "tmalab lab": "tests/test_house_lab.py::test_the_printed_address_opens_the_first_lesson",
    "tmalab lab --no-browser": "tests/test_house_lab.py::test_the_printed_address_opens_the_first_lesson",
    "tmalab lab -- --ServerApp.port=9000": "tests/test_house_lab.py::test_the_printed_address_opens_the_first_lesson",
    "tmalab lab --language zh": "tests/tmalab/test_lab_language.py",
    "grader translate zh": "tests/notebooks/test_translations.py",
    "grader translate zh --check": "tests/notebooks/test_translations.py",
    "grader bench": "tests/grader/test_bench.py",
    "grader release notebooks": "tests/notebooks/test_release.py::test_making_the_notebooks_again_changes_no_byte",
    "tmalab progress": "tests/tmalab/test_progress.py::"
    "test_the_command_prints_a_line_for_each_lesson_and_its_json_the_same",
    "python3 -m tmalab": "tests/test_house_bootstrap.py::"
    "test_the_first_start_makes_an_environment_and_runs_the_command_in_it",
    "tmalab map": "tests/test_house_map.py::test_a_file_is_read",
    "tmalab bench reference": "tests/test_house_bench.py::test_figures_are_a_sentence_for_people",
    "tmalab bench timing": "tests/tmalab/bench/test_timing.py",
    "python3 -m tests.mutants --table docs/mutants.md": "tests/tmalab/simulator/test_mutant_set.py::"
    "test_the_page_of_mutants_lists_those_that_there_are",
    "python3 -m tests.mutants --hazards docs/hazards.md": "tests/tmalab/simulator/test_mutant_set.py::"
    "test_the_page_of_hazards_is_in_step",
    "pip install .": WHEEL,
}


def commands_of(page: Path) -> list[str]:
    """The commands of a page, in shell blocks and in its sentences; ours without the Python that starts them."""
    content = page.read_text("utf-8")
    lines = [line for kind, block in FENCED.findall(content) if kind in SHELL for line in block.splitlines()]
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", FENCED.sub("", content))]
    found = [*lines, *(span for span in spans if PROGRAMS.match(span) or OURS.match(span))]
    plain = (re.sub(r"\s+#.*", "", line).strip() for line in found)
    ours = (re.sub(r"^(?:python3?|\.venv/bin/python) -m (tmalab|grader) ", r"\1 ", line) for line in plain)
    return [re.sub(r"^python -m ", "python3 -m ", line) for line in ours if line]


def everywhere() -> dict[str, str]:
    """Every command, with the page that it stands on."""
    return {command: page.name for page in PAGES for command in commands_of(page)}


def runs_it(command: str, page: str) -> str | None:
    """The test that runs a command, None where nobody does."""
    if command in (*QUICK, *SLOW, *ON_A_GPU):
        return "tests/test_house_commands.py"
    if command in ELSEWHERE:
        return ELSEWHERE[command]
    if re.fullmatch(r"pip install '?(tmalab|\.)\[[\w,]+\]'?", command):
        return "tests/test_house_commands.py::test_the_extras_that_a_page_installs_exist"
    if page == "instructor.md":
        return GUIDES_OWN if command.startswith("grader ") else IN_ITS_ORDER if "nbgrader" in command else CLUSTER
    return None


@pytest.mark.parametrize(("command", "page"), everywhere().items())
def test_a_test_runs_every_command(command, page):
    found = runs_it(command, page)
    assert found, f"{page} has the command `{command}`, and no test runs it: put it into a list of this file"
    path, _, test = found.partition("::")
    assert (ROOT / path).is_file(), found
    assert not test or f"\ndef {test}(" in (ROOT / path).read_text("utf-8"), found
    assert path != ".ci/run" or command.replace(".venv/bin/python", "").split()[-1] in (ROOT / path).read_text("utf-8")


def test_no_list_holds_a_command_that_no_page_has():
    assert {*QUICK, *SLOW, *ON_A_GPU, *ELSEWHERE} - everywhere().keys() == set()


@pytest.fixture
def scratch(tmp_path, monkeypatch) -> Path:
    """A folder with what the stand-ins name."""
    (tmp_path / "map.json").write_text(json.dumps(MAP))
    for name in ("notebooks", "tests", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


@pytest.mark.slow
@pytest.mark.parametrize("command", SLOW)
def test_a_slow_command_does_its_work(command, scratch):
    program, *rest = arguments(command)
    words = rest if program == "python3" else ["-m", program, *rest]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *words], cwd=scratch, env=variables, capture_output=True, text=True)
    unsolved = "check NOTEBOOK" in command  # the release earns no points, which is exit status 1
    assert done.returncode == unsolved, done.stdout + done.stderr
    assert done.stdout or "--check" in command


def test_the_extras_that_a_page_installs_exist():
    content = "\n".join(page.read_text("utf-8") for page in PAGES)
    named = {extra for extras in re.findall(r"(?:tmalab|\.)\[([\w,]+)\]", content) for extra in extras.split(",")}
    assert {"cuda", "classroom"} <= named <= PROJECT["project"]["optional-dependencies"].keys()


def test_all_takes_the_slow_tests_too():
    from tests.__main__ import pytest_arguments

    assert pytest_arguments(["--all", "-x"])[-3:] == ["-m", "", "-x"]
    assert "-m" not in pytest_arguments(["-x"])


GIVEN = """
import json
import numpy as np
import tmalab
from numba import cuda
from tmalab import Swizzle, TensorMap, ptx
from tmalab.kernels import gemm_cluster, gemm_pipelined

@tmalab.kernel
def kernel(tensor_map, out):
    tile = cuda.shared.array((8, 64), np.float16, alignment=1024)
    full = ptx.mbarrier_array(1)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(full[0], 1024)
        ptx.cp_async_bulk_tensor_2d(tile, tensor_map, 0, 0, full[0])
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, 512, cuda.blockDim.x):  # without a wait
        out[i // 64, i % 64] = tile[i // 64, i % 64]

grid, block, out = 1, 128, np.zeros((8, 64), np.float16)
tensor_map = TensorMap.from_array(np.ones((16, 128), np.float16), (8, 64), Swizzle.B128)
args = (tensor_map, out)
a, b, c = (np.zeros(shape, np.uint16) for shape in ((128, 64), (128, 64), (128, 128)))
"""  # what the pages' examples take for granted
TICKETS = """
@tmalab.kernel
def kernel(out):
    out[cuda.threadIdx.x] = cuda.threadIdx.x

out = np.zeros(4, np.int32)
"""
PRODUCT = """
how = gemm_pipelined.launch_of(a, b, c)
gemm, grid, block, (a_map, b_map, c, k) = (how[name] for name in ("kernel", "grid", "block", "args"))
"""
EXAMPLES = {  # page, example: what that one takes for granted besides, and words of what it prints
    ("exploration.md", 0): ("", "read-before-wait"),
    ("exploration.md", 1): (TICKETS, ""),
    ("figures.md", 0): ("", "conflict"),
    ("timing.md", 0): ("", "copy engine: busy"),
    ("timing.md", 2): (PRODUCT, "wave"),
}
ON_HOPPER = {("ladder.md", 0), ("timing.md", 1)}
READMES = {("README.md", 0)}  # tests/test_house_readme.py runs it


def examples() -> dict[tuple[str, int], str]:
    """Every Python example of a page."""
    written = {page.name: FENCED.findall(page.read_text("utf-8")) for page in PAGES}
    return {
        (page, number): code
        for page, blocks in written.items()
        for number, code in enumerate(code for language, code in blocks if language == "python")
    }


def test_every_python_example_is_run_by_a_test():
    assert examples().keys() == EXAMPLES.keys() | ON_HOPPER | READMES


@pytest.mark.parametrize("place", EXAMPLES, ids=str)
def test_a_python_example_runs(place, scratch, capsys):
    given, said = EXAMPLES[place]
    (scratch / "example.py").write_text(GIVEN + given + examples()[place], "utf-8")
    runpy.run_path(str(scratch / "example.py"))
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("place", sorted(ON_HOPPER), ids=str)
def test_a_python_example_for_a_gpu_comes_as_far_as_it(place, scratch, monkeypatch):
    from tmalab.gpu import device

    def none() -> None:
        raise GpuUnavailable("there is none")

    monkeypatch.setattr(device, "hopper", none)
    (scratch / "example.py").write_text(GIVEN + examples()[place], "utf-8")
    with pytest.raises(GpuUnavailable, match="there is none"):
        runpy.run_path(str(scratch / "example.py"))
