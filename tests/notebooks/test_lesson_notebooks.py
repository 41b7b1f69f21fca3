"""The instructor's notebooks run through and score everything, each within a minute."""

from __future__ import annotations

import pytest

from grader.notebook_run import scores
from tests.notebooks.lesson_runs import NOTEBOOKS, SECONDS, run, trouble
from tests.pace import within


@pytest.mark.parametrize("name", NOTEBOOKS, ids=str)
def test_the_instructors_notebook_runs_through_and_scores_everything(name):
    notebook, taken = run("source", name)
    assert trouble(notebook) == []
    found = scores(notebook)
    assert [score.points for score in found] == [score.maximum for score in found]
    assert len(found) >= 4
    assert within(taken, SECONDS)
