"""More styles of right kernels, which must not be flagged, and wrong edits of each, which must be by a right name."""

from __future__ import annotations

import pytest

from tests.mutants.mutant import mutated, source_of
from tests.mutants.runs import outcome
from tests.portion import portion
from tests.tmalab.simulator.styles import CASES, WRONG

MANY = 20
SOMETIMES = "sometimes"  # a wrong edit that needs a certain order of the threads


def edited(name, old, new):
    """A case with other text in its kernel's source, at its first place."""
    case = CASES[name]()
    source = source_of(case.kernel)
    assert old in source, source
    return mutated(case, source.replace(old, new, 1))


def holds(name, old, new, names, seeds):
    """Whether an edit is reported by one of its names in every order, or in one where that is all that can be."""
    found = [outcome(edited(name, old, new), seed) for seed in range(seeds)]
    told = [bool({*run.names, f"fault:{run.fault}"} & set(names.split())) for run in found]
    return any(told) if SOMETIMES in names else all(told)


@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_is_not_flagged(name):
    case = CASES[name]()
    run = case.run(seed=1)
    assert [*run.hazards, run.deadlock, run.fault] == [None, None], run
    assert case.is_right()


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_nor_is_it_in_50_orders_and_it_compiles(name):
    for seed in range(50):
        case = CASES[name]()
        found = outcome(case, seed)
        assert found.clean, (seed, found)
        assert found.right, seed
    assert CASES[name]().run().compile_error is None


@pytest.mark.parametrize(("name", "old", "new", "names"), portion(WRONG, 12, kind=lambda *case: case[3].split()[0]))
def test_a_wrong_one_is_reported_by_a_right_name(name, old, new, names):
    assert holds(name, old, new, names, MANY if SOMETIMES in names else 1)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "old", "new", "names"), WRONG)
def test_it_is_so_in_20_orders(name, old, new, names):
    assert holds(name, old, new, names, MANY)
