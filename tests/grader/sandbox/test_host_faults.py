"""What goes wrong on the computer that grades is told from what an answer does, and costs nobody a point."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from click.testing import CliRunner

from grader import trusted
from grader.classroom import work
from grader.cli import main
from grader.limits import HostFault, TookTooLong, call_within
from grader.sandbox import host, warm
from grader.sandbox.limits import Limits
from grader.sandbox.processes import descendants
from tests.grader.attacks.notebooks import CHECK_COUNTS, COUNTS, LESSON, SETUP, notebook

HONEST = notebook(SETUP, COUNTS, CHECK_COUNTS)
SLEEP = {"cells": [("cell 1", "import time\ntime.sleep(100)")], "wanted": {"x": "answer"}}
SLEEP |= {"questions": {}, "environment": {}, "whole": True}


@pytest.fixture(scope="module")
def sandbox():
    with host.Sandbox() as sandbox:
        yield sandbox


def kill_the_warm_process(sandbox) -> None:
    for pid in (sandbox.pid, *descendants(sandbox.pid)):
        os.kill(pid, signal.SIGKILL)


def fails(sandbox, monkeypatch, times: int) -> list[str]:
    """Have the warm process die in the middle of the first so many tasks; the list of tasks that are begun."""
    begun, first = [], host.Connection.say_first

    def say_first(connection, task, request):
        begun.append(task)
        if len(begun) <= times:
            kill_the_warm_process(sandbox)
        first(connection, task, request)

    monkeypatch.setattr(host.Connection, "say_first", say_first)
    return begun


def test_a_warm_process_that_is_lost_in_a_task_is_the_computers_fault(sandbox, monkeypatch):
    fails(sandbox, monkeypatch, 1)
    with pytest.raises(HostFault, match="ended while it was at work"):
        sandbox.ask("about")
    assert sandbox.ask("about")["network"] is False


def test_a_process_that_can_not_be_started_is_the_computers_fault(sandbox):
    with pytest.raises(HostFault, match="no process could be started"):
        sandbox.ask("about", Limits(scratch=-1))  # no such folder can be made
    assert sandbox.ask("about")["network"] is False


@pytest.mark.parametrize("times", [1, 2])
def test_a_notebook_that_a_sandbox_is_lost_with_is_graded_once_more(times, sandbox, monkeypatch):
    begun = fails(sandbox, monkeypatch, 1 if times == 1 else 1000)
    if times == 1:
        assert trusted.regrade(HONEST, LESSON, sandbox=sandbox).points == 3.0
    else:
        with pytest.raises(HostFault):
            trusted.regrade(HONEST, LESSON, sandbox=sandbox)
        assert len(begun) == 2


def test_a_notebook_without_a_grade_is_marked_exits_3_and_is_graded_by_the_next_run(tmp_path, monkeypatch, sandbox):
    (tmp_path / "a.ipynb").write_text(json.dumps(HONEST), "utf-8")
    (tmp_path / "b.ipynb").write_text("torn", "utf-8")
    here = lambda jobs: ((job.name, work.grade(job, sandbox)) for job in jobs)  # noqa: E731
    monkeypatch.setattr("grader.classroom.pool.outcomes", lambda jobs, workers: here(jobs))
    with monkeypatch.context() as failing:
        fails(sandbox, failing, 1000)
        done = CliRunner().invoke(main, ["grade", str(tmp_path)])
    assert done.exit_code == 3
    a, b = done.stdout.splitlines()
    assert a.startswith("a.ipynb  not graded, through no fault of the submission: the sandbox ended")
    assert b.startswith("b.ipynb  no notebook")
    done = CliRunner().invoke(main, ["grade", str(tmp_path)])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "a.ipynb  3/25"


def test_check_exits_3_where_the_computer_is_at_fault(tmp_path, monkeypatch):
    (tmp_path / "a.ipynb").write_text(json.dumps(HONEST), "utf-8")

    def lost(*arguments):
        raise HostFault("the disk is full")

    monkeypatch.setattr(trusted, "_Grading", lost)
    done = CliRunner().invoke(main, ["check", str(tmp_path / "a.ipynb"), "--assignment", LESSON, "--json"])
    assert done.exit_code == 3
    assert "the disk is full" in json.loads(done.stdout)["error"]


def test_a_fault_inside_a_call_of_a_function_is_no_answer_that_raised():
    def lost():
        raise HostFault("lost")

    with pytest.raises(HostFault):
        call_within(1, lost)
    with pytest.raises(TookTooLong):
        call_within(0.01, time.sleep, 0.2)


class Waits:
    """A task that has waited in vain for `share` of the time that went by."""

    def __init__(self, share: float):
        self.share, self.began = share, time.monotonic()

    def waited(self) -> dict[int, float]:
        return {1: self.share * (time.monotonic() - self.began)}


def test_time_for_which_a_task_had_no_processor_does_not_count_against_it(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    limits = Limits(wall=10)
    for share, late_at in ((0.0, 11), (0.9, 100), (1.0, 101), (3.0, 101)):  # in any case after ten times as much
        now[0] = 0.0
        task, clock = Waits(share), warm._Clock(0.0)
        while not clock.is_late(task, limits):
            now[0] += 1
        assert now[0] in (late_at, late_at + 1), share
