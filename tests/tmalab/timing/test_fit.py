"""The fit finds the constants again with which the model has run the micro-benchmarks itself."""

from __future__ import annotations

import pytest
from known_constants import KNOWN

from tmalab.timing.fit import ACCESS_LOOP, MANY, fit, solved
from tmalab.timing.machine import FLOP_OF_COLUMN
from tmalab.timing.micro import BENCHMARKS
from tmalab.timing.self_measured import sample

CHIP = "wgmma_fed"  # whole tiles of a product: the model takes long for it, and power is not a matter of one SM
# On one SM of four, what all SMs share must not be the limit.
RATES = {
    "l2_rate": 128,
    "common_rate": 200,
    "l2_write_rate": 90,
    "l2_beside_rate": 100,
    "word_beside_rate": 80,
    "device_rate": 100,
    "device_write_rate": 60,
}
HOLD = 4 * KNOWN["access"] - ACCESS_LOOP  # the price of an access without machine code
TRUE = KNOWN.changed(sms=4, line_rate=1, tensor_rate=8192, register_hold=HOLD, **RATES)


@pytest.fixture(scope="module")
def samples():
    """What a GPU with the constants `TRUE` measures: cycles or ns a turn."""
    alone = TRUE.changed(line_rate=1e6, **dict.fromkeys(RATES, 1e6))
    found = {}
    for name, benchmark in BENCHMARKS.items():
        if name != CHIP:
            found[name] = sample(benchmark, TRUE if benchmark.grid == 0 else alone)
    return found | {CHIP: TRUE["sms"] * MANY * FLOP_OF_COLUMN / TRUE["tensor_rate"]}


@pytest.fixture(scope="module")
def found_again(samples):
    return solved(samples, TRUE["sms"])


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in ("sms", "l2_size")])
def test_a_constant_is_found_again(found_again, name):
    assert found_again[name] == pytest.approx(TRUE[name], rel=0.02, abs=1.1)


def test_a_fit_has_every_constant_with_its_spread_and_source(samples):
    constants = fit({name: (value, value * 0.01) for name, value in samples.items()}, 4, 1 << 20, "a run", {})
    assert constants.missing() == []
    assert constants.found["arrive"].spread == pytest.approx(0.1, rel=0.01)
    assert all(row.source == "a run" for row in constants.found.values())


def test_a_constant_is_never_negative(samples):
    assert solved({**samples, "handoff": 1.0}, 4)["handoff"] == 0
