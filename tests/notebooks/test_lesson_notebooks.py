"""The lessons as they run: the instructor's notebook scores everything, the release nothing, both within a minute."""

from __future__ import annotations

import re
import time

import nbformat
import pytest

from grader.notebook_run import execute, scores
from tests.lessons import COURSE, LESSONS

SOURCE = COURSE / "source"
NOTEBOOKS = [path.relative_to(SOURCE) for lesson in LESSONS for path in (SOURCE / lesson).glob("*.ipynb")]
HELPFUL = re.compile("Fill in|Write|returns nothing|no bulk tensor copy")


def run(kind: str, name):
    notebook = nbformat.read(COURSE / kind / name, as_version=4)
    started = time.perf_counter()
    execute(notebook, COURSE)
    return notebook, time.perf_counter() - started


def trouble(notebook) -> list[str]:
    """What a run of a notebook must not show: errors, and anything on stderr."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    errors = ["\n".join(output.traceback) for output in outputs if output.output_type == "error"]
    return errors + [output.text for output in outputs if output.get("name") == "stderr"]


@pytest.mark.parametrize("name", NOTEBOOKS, ids=str)
def test_the_instructors_notebook_runs_through_and_scores_everything(name):
    notebook, seconds = run("source", name)
    assert trouble(notebook) == []
    found = scores(notebook)
    assert [score.points for score in found] == [score.maximum for score in found]
    assert len(found) >= 4
    assert seconds < 60


@pytest.mark.parametrize("name", NOTEBOOKS, ids=str)
def test_the_release_runs_through_as_shipped_and_scores_nothing_with_a_helpful_word(name):
    notebook, seconds = run("release", name)
    assert trouble(notebook) == []
    found = scores(notebook)
    assert [score.points for score in found] == [0.0] * len(found)
    for score in found:
        assert HELPFUL.search(score.report), score.report
    assert seconds < 60
