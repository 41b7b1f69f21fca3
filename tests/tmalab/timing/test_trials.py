"""The trials: how many, which judge the model, and that their kernels are right."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from tmalab.kernels.gemm import float32
from tmalab.timing.trials import FIT, HELD_OUT, SEEN, TRIALS
from tmalab.timing.trials.columns import launch_columns
from tmalab.timing.trials.moves import launch_ring, launch_threads
from tmalab.timing.trials.products import launch_product
from tmalab.timing.trials.stores import launch_stores

# The names of the trials that judge, in the order of the table, as they were committed before they were recorded.
JUDGES = "fe06a65b3b1c31081ea007f8bfd8d756e813c00bab9d769c1a64cbf08e863de0"


def names(use):
    return [name for name, trial in TRIALS.items() if trial.use == use]


def test_there_are_enough_trials_that_judge_the_model_and_some_to_fit_it():
    assert len(names(HELD_OUT)) >= 40
    assert len(names(FIT)) >= 20
    assert len(names(FIT) + names(SEEN) + names(HELD_OUT)) == len(TRIALS)


def test_those_that_judge_are_the_ones_that_were_committed_before_the_recording():
    assert hashlib.sha256("\n".join(names(HELD_OUT)).encode()).hexdigest() == JUDGES


def test_the_use_of_a_trial_follows_from_a_hash_of_its_configuration_and_from_when_it_was_chosen():
    for name, trial in TRIALS.items():
        number = int(hashlib.sha256(name.encode()).hexdigest(), 16)
        assert trial.use == ((HELD_OUT if number % 3 else SEEN) if trial.fresh else (SEEN if number % 4 else FIT))


@pytest.mark.parametrize("family", ["product", "ring copy", "thread copy", "columns", "stores"])
def test_every_family_has_trials_that_judge(family):
    assert sum(TRIALS[name].family == family for name in names(HELD_OUT)) >= 5


def run(launching, grid):
    found = launching.kernel.run(grid, launching.block, launching.args, launching.cluster)
    assert not found.hazards
    assert found.fault is None


@pytest.mark.parametrize(("shares", "consumers", "bn"), [(0, 1, 64), (1, 1, 128)])
def test_products_are_right_and_without_a_hazard(shares, consumers, bn):
    found = launch_product(128, 128, 192, consumers, bn, 2, shares)
    run(found, found.grid)
    a_map, b_map, c, _ = found.args
    assert np.allclose(c, float32(a_map.array) @ float32(b_map.array).T, atol=1e-3)


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_a_ring_copies_all_its_tiles_without_a_hazard(stages):
    found = launch_ring(6, 64, stages)
    source, target, turns = found.args
    source.array[:] = np.arange(source.array.size).reshape(source.array.shape)
    run(found, (2, 1, 1))
    rows = np.concatenate([np.arange(128) + 128 * turn for turn in range(turns)])
    assert np.array_equal(target.array[rows], source.array[rows])
    assert turns > stages


def test_threads_copy_all_their_words_without_a_hazard():
    found = launch_threads(1, 128, 1)
    source, target, turns = found.args
    source[:] = np.arange(len(source))
    run(found, (2, 1, 1))
    assert np.array_equal(target[: 256 * turns], source[: 256 * turns])


@pytest.mark.parametrize("swizzled", [0, 1])
def test_columns_are_summed_without_a_hazard_and_only_without_a_swizzle_in_conflict(swizzled):
    found = launch_columns(swizzled, 2, 3, 2, 64)
    run(found, (1, 1, 1))
    assert np.array_equal(found.args[1][:64], np.full(64, 6))
    conflicts = found.kernel.run(1, 64, found.args).bank_conflicts
    assert conflicts.ways == (4 if swizzled else 32)


@pytest.mark.parametrize("buffers", [1, 2])
def test_stores_arrive_without_a_hazard(buffers):
    found = launch_stores(32, buffers, 3)
    run(found, (1, 1, 1))
    assert [int(value) for value in found.args[0].array[:96:32, 0]] == [0, 1, 2]


def compiled(trial):
    from tmalab.gpu.compile import compile_kernel

    found = trial.launching()
    return compile_kernel(found.kernel.function, found.args, found.block)


@pytest.mark.parametrize("name", ["ring copy mib=16 rows=64 stages=3", "stores buffers=2 rows=32 turns=64"])
def test_trials_compile_for_a_hopper_gpu(name):
    usage = compiled(TRIALS[name]).usage
    assert usage.spilled == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIALS)
def test_every_trial_compiles_for_a_hopper_gpu_and_loses_nothing(name):
    usage = compiled(TRIALS[name]).usage
    assert usage.spilled == 0
    assert usage.losses == ()
