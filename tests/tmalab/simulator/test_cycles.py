"""Python's collector of cycles during a launch, and after it."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from numba import cuda

from tmalab import kernel
from tmalab.simulator.cycles import OBJECTS, seldom_collected


@kernel
def looks(out):
    out[cuda.threadIdx.x] = 1


@pytest.fixture
def told():
    """The collector, told something of its own; as before afterwards."""
    before = gc.get_threshold()
    gc.set_threshold(500, 7, 5)
    yield (500, 7, 5)
    gc.set_threshold(*before)


def test_it_looks_seldom_within_and_as_it_was_told_afterwards(told):
    with seldom_collected():
        assert gc.get_threshold() == (OBJECTS, 7, 5)
    assert gc.get_threshold() == told


def test_an_error_within_changes_nothing_for_afterwards(told):
    with pytest.raises(KeyError), seldom_collected():
        raise KeyError
    assert gc.get_threshold() == told


def test_one_that_is_switched_off_stays_so(told):
    gc.set_threshold(0)
    with seldom_collected():
        assert gc.get_threshold()[0] == 0


def test_one_that_looks_more_seldom_is_left_alone(told):
    gc.set_threshold(10 * OBJECTS)
    with seldom_collected():
        assert gc.get_threshold()[0] == 10 * OBJECTS


def test_a_launch_leaves_it_as_it_was(told):
    assert looks.run(1, 32, (np.zeros(32, np.float32),)).ok
    assert gc.get_threshold() == told


def test_the_ctas_of_a_long_launch_are_collected_all_the_same():
    """Some 10 objects for each of 40,000 threads: more than are kept."""
    before = len(gc.get_objects())
    assert looks.run(40, 1024, (np.zeros(1024, np.float32),)).fault is None
    assert len(gc.get_objects()) - before < 4 * OBJECTS
