"""The fifteen kernels of lesson 10: each is wrong as its name says, in a line that may be named, and nowhere else."""

from __future__ import annotations

import inspect
from difflib import SequenceMatcher

import numpy as np
import pytest

from grader.exercises.hunt import BUGS, NAMES, OWN_NAMES, names
from grader.exercises.hunt_cases import TASKS
from tests.lessons import COURSE, answers
from tmalab.simulator.hazards import CATALOGUE

ANSWERS = answers("10-bug-hunt")
EVERY = [(group, name) for group, bugs in BUGS.items() for name in bugs]


def written(kernel) -> list[str]:
    """The lines of a kernel, from its def."""
    lines = inspect.getsource(kernel.function).splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith("def ")) :][1:]


def tried(group: str, name: str, seed: int = 0):
    """A run of a wrong kernel on the notebook's own input, and how many of the elements are right."""
    task = TASKS[group][name]
    case = task.cases(0)[0]
    run = ANSWERS.KERNELS[name].run(task.grid, task.block, case.arguments, task.cluster, seed=seed)
    last = case.arguments[-1]
    return run, np.mean((last if isinstance(last, np.ndarray) else last.array) == case.expected)


@pytest.mark.parametrize(("group", "name"), EVERY)
def test_each_is_wrong_as_its_name_says(group, name):
    cause = BUGS[group][name].cause
    run, right = tried(group, name)
    reported = [hazard.name for hazard in run.hazards]
    if cause in OWN_NAMES:
        assert reported == []
        assert right < 1
    else:
        assert cause in reported


@pytest.mark.parametrize(("group", "name"), EVERY)
def test_the_change_that_mends_it_is_in_a_line_that_may_be_named(group, name):
    (edits,) = [ANSWERS.MENDED[name]]
    wrong = written(ANSWERS.KERNELS[name])
    right = written(ANSWERS.edited(ANSWERS.KERNELS[name], *edits, name=f"{name}_right"))
    lines = BUGS[group][name].lines
    for what, start, stop, *_ in SequenceMatcher(None, wrong, right, autojunk=False).get_opcodes():
        if what != "equal":
            touched = {start + 2} if what == "insert" else {number + 2 for number in range(start, stop)}
            assert touched & set(lines), (what, touched)


@pytest.mark.parametrize(("group", "name"), EVERY)
def test_the_notebook_launches_it_as_the_check_does(group, name):
    given, wanted = ANSWERS.KERNELS["arguments"](name)
    case = TASKS[group][name].cases(0)[0]
    assert [type(value) for value in given] == [type(value) for value in case.arguments]
    assert given[0].box_dim == case.arguments[0].box_dim if hasattr(given[0], "box_dim") else True
    assert wanted.tobytes() == case.expected[: len(wanted)].tobytes()


def test_every_name_is_used_once_and_explained_and_there_are_more():
    used = [bug.cause for bugs in BUGS.values() for bug in bugs.values()]
    assert len(used) == len(set(used)) == 15
    assert set(NAMES) - set(OWN_NAMES) <= set(CATALOGUE)
    assert len(NAMES) > len(used) + 3
    assert all(names().values())


def test_one_of_them_is_right_in_every_order_and_reported_in_every_order():
    for seed in range(4):
        run, right = tried("stores", "stores_1", seed)
        assert right == 1
        assert [hazard.name for hazard in run.hazards] == ["missing-proxy-fence"]


def test_the_lesson_shows_fifteen_kernels():
    text = (COURSE / "source" / "10-bug-hunt" / "hunt.py").read_text("utf-8")
    assert sum(f"\ndef {name}(" in text for _, name in EVERY) == 15
