"""What looks at the clock cost, as recorded."""

from __future__ import annotations

import json

import pytest

from tmalab.timing.trace_costs import FILE, trace_costs


def test_the_cost_is_the_share_by_which_the_median_traced_launch_takes_longer(tmp_path):
    times = {"plain": [9e3, 10e3, 50e3], "bounded": [11e3] * 3, "traced": [15e3] * 3}
    kernel = {"ctas": 8, "looking": 4, "looks": 30, **times}
    (tmp_path / FILE).write_text(json.dumps({"traces": {"traced ring": kernel}}))
    (row,) = trace_costs(tmp_path)
    assert row["kernel"] == "ring"
    assert (row["plain_us"], row["bounded_us"], row["traced_us"]) == (10, 11, 15)
    assert row["share"] == pytest.approx(0.5)


def test_of_the_recorded_kernels_the_ring_that_waits_for_memory_pays_least_and_small_products_most():
    rows = trace_costs()
    assert all(row["traced_us"] > row["plain_us"] for row in rows)
    by_share = [row["kernel"] for row in sorted(rows, key=lambda row: row["share"])]
    assert by_share[0].startswith("ring copy")
    assert "m=256" in by_share[-1]
