"""What must not be flagged: right kernels in many styles, over many orders, with the right result in each."""

from __future__ import annotations

import pytest

from tests.mutants.right import CASES
from tests.mutants.runs import kernels, outcome
from tests.portion import portion

A_FEW, MANY = range(3), range(3, 200)  # copies land late, at once, at random


def check(name, seeds):
    for seed in seeds:
        found = outcome(CASES[name](), seed)
        assert found.clean, f"seed {seed}: {CASES[name]().run(seed)}"
        assert found.right, f"seed {seed}: wrong bytes"


@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_is_not_flagged(name):
    check(name, A_FEW)


@pytest.mark.parametrize("name", portion(kernels(), 4))
def test_a_right_kernel_compiles(name):
    assert CASES[name]().run().compile_error is None


@pytest.mark.parametrize("seed", A_FEW)
def test_the_ctas_of_a_cluster_run_together(seed):
    case = CASES["a_tile_for_each_cta"]()
    run = case.kernel.run(grid=case.grid, block=case.block, args=case.args, cluster=4, seed=seed)
    assert not run.hazards
    assert case.is_right()
    order = [event.cta // 4 for event in run.trace]
    assert order in (sorted(order), sorted(order, reverse=True))  # one cluster after the other


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", CASES)
def test_a_right_kernel_is_flagged_in_none_of_200_orders(name):
    check(name, MANY)
