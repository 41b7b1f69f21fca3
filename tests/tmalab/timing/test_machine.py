"""The pipes that all SMs share: who waits for whom."""

from __future__ import annotations

import pytest
from known_constants import KNOWN

from tmalab.timing.constants import Constants
from tmalab.timing.machine import Machine
from tmalab.timing.measured import Measured
from tmalab.timing.micro import BENCHMARKS
from tmalab.timing.self_measured import sample

WEIGHT = 100  # SMs that do the same
SLOW = KNOWN.changed(l2_rate=1000, common_rate=1000, device_rate=1000)
BYTES = 10_000
BURST = BYTES * WEIGHT / 1000  # ns until L2 has served them all


def fetched(machine, at):
    return machine.fetch([machine.sm(0)], at, BYTES, "load_latency", 0.0, 1.0)


def test_an_sm_that_waits_for_nothing_else_does_not_wait_for_the_others():
    machine = Machine(SLOW, WEIGHT)
    first = fetched(machine, 0.0)
    assert first == BYTES / KNOWN["load_rate"] + KNOWN["load_latency_l2"] < BURST
    assert fetched(machine, 2 * BURST) - 2 * BURST == first


def test_loads_that_are_under_way_together_queue_behind_those_of_all():
    machine = Machine(SLOW, WEIGHT)
    fetched(machine, 0.0)
    assert fetched(machine, 1.0) == 2 * BURST + KNOWN["load_latency_l2"]


def test_writes_of_threads_take_the_time_of_reads_at_a_rate_of_their_own():
    slow = KNOWN.changed(word_beside_rate=10, l2_beside_rate=20)
    lines, stored = Machine(slow), Machine(slow)
    assert lines.put(lines.sm(0), 0.0, 6400, 0.0, lines=50)[1] == 640
    assert stored.put(stored.sm(0), 0.0, 6400, 0.0)[1] == 320


@pytest.mark.parametrize("name", ["load_one_l2", "load_one_device"])
def test_loads_of_all_sms_one_by_one_take_what_was_measured_which_no_constant_was_fitted_to(name):
    (measured, _) = Measured.read().middles()[name]
    assert sample(BENCHMARKS[name], Constants.read()) == pytest.approx(measured, rel=0.2)
