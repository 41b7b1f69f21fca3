"""Refining: a constant that is wrong in whole kernels comes nearer, and no further than it may."""

from __future__ import annotations

import pytest
from known_constants import KNOWN

from tmalab.timing.refine import RANGES, refine

SIZES = {"small": 1e4, "large": 1e6}


def trials():
    def time(size):
        return lambda constants: constants["load_latency_l2"] + size / constants["device_write_rate"]

    return {name: time(size) for name, size in SIZES.items()}


def test_refined_constants_predict_better():
    true = KNOWN.changed(device_write_rate=KNOWN["device_write_rate"] * 1.15, load_latency_l2=370)
    measured = {name: predict(true) for name, predict in trials().items()}
    refined = refine(KNOWN, trials(), measured)
    for name, predict in trials().items():
        assert predict(refined) == pytest.approx(measured[name], rel=0.05)
    assert "refined" in refined.found["device_write_rate"].source


def test_no_constant_leaves_its_range():
    measured = {name: predict(KNOWN) * 100 for name, predict in trials().items()}
    refined = refine(KNOWN, trials(), measured)
    for name, most in RANGES.items():
        assert 0.999 / most <= refined[name] / KNOWN[name] <= 1.001 * most


def test_constants_that_predict_right_stay_as_they_are():
    measured = {name: predict(KNOWN) for name, predict in trials().items()}
    assert dict(refine(KNOWN, trials(), measured)) == dict(KNOWN)


def test_refining_goes_on_from_earlier_values_where_they_are_better_and_within_their_range():
    true = KNOWN.changed(device_write_rate=KNOWN["device_write_rate"] * 1.13, load_latency_l2=341)
    measured = {name: predict(true) for name, predict in trials().items()}
    begun = refine(KNOWN, trials(), measured, begin=true)
    for name, predict in trials().items():
        assert predict(begun) == pytest.approx(measured[name], rel=1e-6)
    far = true.changed(load_latency_l2=KNOWN["load_latency_l2"] * 100)
    assert refine(KNOWN, trials(), measured, begin=far)["load_latency_l2"] <= KNOWN["load_latency_l2"] * 1.501
