"""The comparison with the driver, here with a driver of our own: what it counts, and how it ends."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tmalab import descriptor
from tmalab.cli import main
from tmalab.gpu import device, recorder, verdicts
from tmalab.gpu.device import DriverError, Hopper
from tmalab.recorded import verdicts as recorded
from tmalab.recorded.random_maps import random_maps


def agreeing(fields) -> bytes | None:
    """A driver that says and writes what the library does."""
    return None if verdicts.verdict(fields) else descriptor.encode(fields)


def report(driver) -> dict:
    return verdicts.compare(random_maps(7, 1000), driver)


def test_a_driver_that_agrees_leaves_nothing_to_report():
    found = report(agreeing)
    assert (found["ok"], found["maps"], found["disagreements"]) == (True, 1000, [])
    assert found["accepted_share"] == found["accepted"] / 1000 > 0.4
    assert sum(kind["maps"] for kind in found["kinds"].values()) == 1000
    assert set(found["kinds"]) == {"tiled", "tiled, interleaved", "im2col", "im2col, interleaved"}


def test_false_accepts_are_counted_where_they_are():
    """A driver that refuses 64-bit types."""
    found = report(lambda fields: None if fields.data_type in (4, 5, 8) else agreeing(fields))
    assert not found["ok"]
    assert found["false_accepts"] > 50
    assert found["false_refusals"] == found["encoded_otherwise"] == 0
    assert all(wrong["data_type"] in (4, 5, 8) for wrong in found["disagreements"])
    assert found["disagreements"][0]["wrong"] == ["false_accepts"]
    assert sum(kind["false_accepts"] for kind in found["kinds"].values()) == found["false_accepts"]


def test_false_refusals_are_counted_at_the_boundary_where_they_are():
    """A driver that knows no limit of addresses."""

    def driver(fields):
        return bytes(128) if set(verdicts.verdict(fields)) == {"address-range"} else agreeing(fields)

    found = report(driver)
    places = {(place["rule"], place["side"], place["beyond"]): place for place in found["boundaries"]}
    assert found["false_refusals"] > 5
    assert found["false_accepts"] == 0
    assert places["address-range", "high", True]["false_refusals"] > 0
    assert places["address-range", "high", False]["false_refusals"] == 0
    assert sum(place["share"] for place in found["boundaries"]) > 0.9


def test_other_bytes_are_counted_even_where_they_are_no_map():
    found = report(lambda fields: None if verdicts.verdict(fields) else b"\xff" * 128)
    assert found["encoded_otherwise"] == found["decoded_otherwise"] == found["accepted"] > 400


def test_a_driver_that_fails_for_another_reason_is_no_verdict(monkeypatch):
    monkeypatch.setattr(verdicts.maps, "ask", lambda fields, rank: (201, bytes(128)))
    with pytest.raises(DriverError, match="201"):
        verdicts.ask(next(iter(random_maps(1, 1))))


@pytest.fixture
def driver(monkeypatch):
    """This machine's driver: it agrees, unless its answer is changed."""
    answers = {"of": agreeing}

    def ask(fields, rank):
        encoded = answers["of"](fields)
        return (1, bytes(128)) if encoded is None else (0, encoded)

    gpu = Hopper("A GPU", 13010, None)
    monkeypatch.setattr(verdicts.maps, "ask", ask)
    monkeypatch.setattr(Hopper, "use", lambda self: None)
    monkeypatch.setattr(verdicts, "hopper", lambda: gpu)
    monkeypatch.setattr(recorder, "hopper", lambda: gpu)
    monkeypatch.setattr(device, "why_no_gpu", lambda: None)
    return answers


def command(*arguments: str):
    return CliRunner().invoke(main, ["verdicts", *arguments], prog_name="tmalab")


def test_the_command_prints_one_object_with_a_report_for_each_set(driver):
    result = command("--json", "--maps", "300", "--sets", "2", "--seed", "5")
    found = json.loads(result.stdout)
    assert (result.exit_code, found["ok"], found["seed"], found["maps"]) == (0, True, 5, 600)
    assert [report["seed"] for report in found["sets"]] == [5, 6]
    assert found["sets"][0]["accepted"] + found["sets"][1]["accepted"] == found["accepted"]


def test_the_command_draws_a_seed_and_prints_it(driver):
    seeds = {json.loads(command("--json", "--maps", "1").stdout)["seed"] for _ in range(3)}
    assert len(seeds) == 3
    assert "seed " in command("--maps", "1").stdout


def test_the_command_exits_with_1_where_they_differ(driver):
    driver["of"] = lambda fields: None
    result = command("--maps", "200")
    assert result.exit_code == 1
    assert "disagree" in result.stdout
    assert "'wrong': ['false_accepts']" in result.stdout


def test_the_command_exits_with_3_without_a_gpu():
    if device.why_no_gpu():
        result = command("--json")
        assert (result.exit_code, json.loads(result.stdout)["ok"]) == (3, None)
    else:
        assert command("--maps", "100").exit_code == 0


def test_the_answers_can_be_recorded(driver, tmp_path):
    assert command("--maps", "50", "--seed", "9", "--save", str(tmp_path / "answers.xz")).exit_code == 0
    written = recorded.read_file(tmp_path / "answers.xz")
    assert written.maps == list(random_maps(9, 50))
    assert written.encoded == [agreeing(fields) for fields in written.maps]
    assert (written.provenance["gpu"], written.seed) == ("A GPU", 9)
    assert written.provenance["command"] == "tmalab verdicts --seed 9 --maps 50 --save"


@pytest.mark.gpu
def test_this_machines_driver_agrees():
    assert verdicts.on_this_machine(verdicts.new_seed(), 2000)["ok"]
