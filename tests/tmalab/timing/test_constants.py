"""The table of constants: units, sources, and what is missing."""

from __future__ import annotations

import json

import pytest

from tmalab.timing.constants import TABLE, UNITS, Constant, Constants, NotMeasured, meaning


def test_every_constant_of_the_recorded_table_has_its_unit_and_says_where_it_is_from():
    recorded = json.loads(TABLE.read_text("utf-8"))
    for name, row in recorded["constants"].items():
        assert row["unit"] == UNITS[name]
        assert row["source"]
        assert row["value"] >= 0
    assert "H200" in recorded["provenance"]["gpu"]


def test_every_constant_has_a_meaning():
    assert all(meaning(name) for name in UNITS)


def test_a_constant_that_was_not_measured_is_said_with_its_meaning_and_what_measures_it():
    with pytest.raises(NotMeasured, match=r"`fence` \(a proxy fence\).*tmalab record timing") as caught:
        Constants.of(clock=1)["fence"]
    assert caught.value.name == "fence"


def test_missing_constants_are_listed():
    assert Constants.of(**dict.fromkeys(UNITS, 1.0)).missing() == []
    assert "clock" in Constants({}).missing()


def test_a_table_is_read_as_it_was_written(tmp_path):
    constants = Constants({"clock": Constant(1.7, 0.01, "a run")}, {"gpu": "NVIDIA H200"})
    constants.write(tmp_path / "table.json")
    again = Constants.read(tmp_path / "table.json")
    assert (again.found, again.provenance) == (constants.found, constants.provenance)


def test_a_constant_that_the_model_does_not_know_is_refused():
    with pytest.raises(ValueError, match="warp_speed"):
        Constants.of(warp_speed=9)


def test_a_what_if_changes_no_other_constant():
    constants = Constants.of(clock=1.7, fence=30)
    assert dict(constants.changed(fence=10)) == {"clock": 1.7, "fence": 10.0}
    assert constants["fence"] == 30
