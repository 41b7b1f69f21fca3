"""The released notebooks run through as shipped and score nothing, each within a minute, and say what is to be done.

CI runs some: of the others it runs the same cells in the instructor's notebooks, which have answers in place of stubs.
"""

from __future__ import annotations

import re

import pytest

from grader.notebook_run import scores
from tests.notebooks.lesson_runs import NOTEBOOKS, SECONDS, run, trouble
from tests.pace import within
from tests.portion import portion

HELPFUL = re.compile("Fill in|Write|returns nothing|no bulk tensor copy")


@pytest.mark.parametrize("name", portion(NOTEBOOKS, 3), ids=str)
def test_the_release_runs_through_as_shipped_and_scores_nothing_with_a_helpful_word(name):
    notebook, taken = run("release", name)
    assert trouble(notebook) == []
    found = scores(notebook)
    assert [score.points for score in found] == [0.0] * len(found)
    for score in found:
        assert HELPFUL.search(score.report), score.report
    assert within(taken, SECONDS)
