"""What must be flagged: right kernels with one mistake, under a right name in every order, with the kernel's line."""

from __future__ import annotations

import linecache

import pytest
from wrong_kernels import MUTANTS, mutated

from tmalab.simulator.hazards import NAMES

SEEDS = range(3)  # copies land late, at once, at random


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mistake_is_reported_in_every_order(name):
    mutant = MUTANTS[name]
    for seed in SEEDS:
        case = mutated(mutant)
        run = case.kernel.run(grid=case.grid, block=case.block, args=case.args, seed=seed)
        found = {hazard.name for hazard in run.hazards}
        assert found <= NAMES
        assert found & mutant.names, f"seed {seed}: {run}"
        assert not run.ok
        for hazard in run.hazards:
            assert hazard.name == "deadlock" or hazard.accesses, str(hazard)
            for access in hazard.accesses:
                assert linecache.getline(access.file, access.line).strip(), str(hazard)
