"""No cheat earns what it did not answer, harms the next submission, or stays behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader import trusted
from grader.sandbox.host import Sandbox
from grader.sandbox.limits import MIB, Limits
from grader.sandbox.processes import descendants
from tests.grader.attacks.cheats import BOMBS, CHEATS, RECORDS
from tests.grader.attacks.more_cheats import MORE, STUMBLES
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, LESSON, SETUP, notebook

SMALL = Limits(wall=1.5, cpu=1, memory=512 * MIB)
IN_CI = {"a fork bomb", "a memory bomb", "work that never ends inside one call", "the process crashes"}
LARGEST = 100_000  # characters of a whole report
OWN_SECONDS = 8  # of the processor, of the process that judges, where nothing has a limit of time
SECONDS = 40  # of the processor, for a cheat that goes to every limit


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as sandbox:
        assert sandbox.level.name == "bubblewrap", "install bubblewrap: these tests are about it"
        yield sandbox


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in BOMBS and name not in IN_CI)) for name in CHEATS | MORE],
)
def test_a_cheat_earns_nothing_and_the_next_submission_is_graded_as_ever(name, sandbox, monkeypatch):
    cheat, before, own = (CHEATS | MORE)[name], sandbox.used.cpu, time.process_time()
    with monkeypatch.context() as smaller:
        smaller.setattr(trusted, "CALL", SMALL)
        smaller.setattr(trusted, "WHOLE", SMALL)
        report = trusted.regrade(notebook(*cheat.cells), LESSON, sandbox=sandbox)
    earned = {graded.exercise: graded.points for graded in report.exercises if graded.points}
    assert earned == cheat.earns
    assert sandbox.used.cpu - before < SECONDS
    assert time.process_time() - own < OWN_SECONDS
    assert len(str(report)) < LARGEST
    assert "\x1b" not in "".join(graded.report for graded in report.exercises)
    if name not in BOMBS | RECORDS | STUMBLES:
        return
    honest = trusted.regrade(notebook(SETUP, COUNTS, CHECK_COUNTS), LESSON, sandbox=sandbox)
    assert honest.points == 3.0


def test_nothing_of_them_is_left_on_the_computer(sandbox):
    assert not Path("/tmp/owned").exists()
    assert not [
        entry for entry in Path("/tmp").glob("[0-9]*") if entry.name.isdigit() and entry.stat().st_size >= 1 << 24
    ]
    assert len(descendants(sandbox.pid)) <= 3  # bubblewrap's own, and the warm process
