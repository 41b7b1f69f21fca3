"""What must be flagged: right kernels with one mistake, under a right name in every order, with the kernel's line."""

from __future__ import annotations

import json
import linecache

import pytest

from tests.mutants.runs import check_wrong
from tests.mutants.wrong import MUTANTS
from tests.portion import portion
from tmalab.simulator.hazards import NAMES

A_FEW, MANY = 3, 20  # copies land late, at once, at random


@pytest.mark.parametrize("name", portion(MUTANTS, 8, kind=lambda name: MUTANTS[name].names[0]))
def test_a_mistake_is_reported_in_every_order(name):
    made = check_wrong(name, max(A_FEW, MUTANTS[name].seeds))
    assert made.holds, made


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_reported_in_every_one_of_20_orders(name):
    made = check_wrong(name, MANY)
    assert made.holds, made


@pytest.mark.parametrize("name", portion(MUTANTS, 2, kind=lambda name: MUTANTS[name].names[0]))
def test_a_mistake_is_reported_by_its_name_with_lines_of_the_kernel_and_what_to_write(name):
    runs = (MUTANTS[name].fresh().run(seed) for seed in range(MUTANTS[name].seeds))
    run = next(run for run in runs if run.hazards)
    found = {hazard.name for hazard in run.hazards}
    assert found <= NAMES
    assert found & set(MUTANTS[name].names)
    for hazard in run.hazards:
        assert hazard.fix
        assert hazard.name == "deadlock" or hazard.accesses, str(hazard)
        assert json.loads(json.dumps(hazard.as_data()))["name"] == hazard.name
        for access in hazard.accesses:
            assert linecache.getline(access.file, access.line).strip(), str(hazard)
