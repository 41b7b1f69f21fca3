"""The bench of the time model, on recordings that the model has made itself."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tmalab.bench import timing
from tmalab.cli import main
from tmalab.timing.constants import Constants
from tmalab.timing.measured import Measured
from tmalab.timing.trials import TRIALS

TRUE = Constants.of(
    sms=132,
    l2_size=50 << 20,
    clock=1.7,
    launch=2000,
    cta_launch=50,
    cta_start=300,
    instruction=2,
    instruction_slots=2,
    access=20,
    access_slots=8,
    register_hold=16,
    arrive=10,
    wait=20,
    wait_slots=8,
    handoff=30,
    peer_arrive=200,
    fence=30,
    sync=25,
    cluster_sync=200,
    shared_latency=29,
    shared_wavefront=1,
    global_latency_l2=270,
    global_latency_device=650,
    load_issue=30,
    load_latency_l2=337,
    load_latency_device=800,
    load_rate=100,
    multicast_latency=30,
    store_issue=30,
    store_read_latency=300,
    store_latency=600,
    store_rate=64,
    line_write=2,
    line_rate=60,
    l2_rate=5500,
    common_rate=9000,
    l2_write_rate=4000,
    l2_beside_rate=8000,
    word_beside_rate=6000,
    device_rate=4000,
    device_write_rate=3500,
    device_crowding=1,
    wgmma_column=0.5,
    wgmma_latency=60,
    tensor_rate=7e5,
)
SOME = [name for mib in (16, 14) for name in [name for name in TRIALS if name.startswith(f"ring copy mib={mib} ")][:2]]


@pytest.fixture(scope="module")
def recording():
    """What a GPU with the constants `TRUE` would take for some trials."""
    empty = Measured({"command": "a test", "gpu": "none"}, 132, 50 << 20, {}, {n: {"registers": 24} for n in SOME})
    times = {name: made.predict(TRUE).duration for name, made in timing.predictors(empty).items()}
    trials = {name: {"registers": 24, "ns": [time, time * 1.01, time * 0.99]} for name, time in times.items()}
    return Measured(empty.provenance, 132, 50 << 20, {}, trials)


@pytest.fixture(scope="module")
def compared(recording):
    return timing.compare(recording, TRUE)


def test_a_model_with_the_true_constants_makes_no_error(compared):
    assert len(compared["configurations"]) == len(SOME)
    assert compared["median_error"] == compared["max_error"] == 0
    assert compared["turned_round"] == 0


def test_errors_are_shares_of_what_was_measured_and_only_judging_trials_count(recording):
    result = timing.compare(recording, TRUE.changed(launch=2000 + 1e6))
    for row in result["configurations"]:
        assert row["error"] == pytest.approx(1e3 / row["measured_us"], rel=0.01)
        assert row["use"] == TRIALS[row["configuration"]].use
    judged = sorted(row["error"] for row in result["configurations"] if row["use"] == "held out")
    assert result["judged"] == len(judged)
    assert result["max_error"] == judged[-1]


def test_a_pair_that_is_predicted_the_other_way_round_is_found_only_where_it_is_far_apart():
    def row(measured, predicted):
        return {"measured_us": measured, "predicted_us": predicted}

    assert timing._is_turned_round(row(10, 20), row(12, 15))
    assert timing._is_turned_round(row(12, 15), row(10, 20))
    assert not timing._is_turned_round(row(10, 20), row(11, 15))
    assert not timing._is_turned_round(row(10, 14), row(12, 15))


def test_what_is_kept_is_read_as_it_was(compared, tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "COMPARED", tmp_path / "compared.json")
    timing.keep(compared)
    assert timing.kept()["median_error"] == compared["median_error"]
    assert [row["configuration"] for row in timing.kept()["configurations"]] == SOME


def test_the_kept_comparison_has_all_trials_and_holds_the_median_and_the_largest_error():
    kept = timing.kept()
    assert kept["judged"] >= 40
    assert kept["median_error"] <= 0.10
    assert kept["max_error"] <= timing.WORST
    assert kept["turned_round"] <= 4  # of more than a thousand pairs; the page on time names them
    assert {row["configuration"] for row in kept["configurations"]} == set(TRIALS)


@pytest.mark.parametrize("name", ["ring copy mib=12 rows=32 stages=4", "stores buffers=2 rows=16 turns=128"])
def test_the_kept_comparison_is_what_the_model_predicts(name):
    (row,) = (row for row in timing.kept()["configurations"] if row["configuration"] == name)
    measured = timing.recording()
    some = Measured(measured.provenance, measured.sms, measured.l2_size, {}, {name: measured.trials[name]})
    (now,) = timing.compare(some, Constants.read())["configurations"]
    assert now["predicted_us"] == pytest.approx(row["predicted_us"], rel=1e-3)
    assert now["measured_us"] == row["measured_us"]


def test_a_recording_is_read_as_it_was_written(recording, tmp_path):
    recording.write(tmp_path / "measured.json")
    assert Measured.read(tmp_path / "measured.json") == recording


def test_middles_are_the_median_and_half_the_range_between_the_quartiles():
    samples = {"arrive": [1.0, 2.0, 3.0, 4.0, 100.0]}
    assert Measured({}, 132, 1, samples, {}).middles() == {"arrive": (3.0, 1.0)}


def test_without_a_recording_one_sentence_says_how_to_make_one(monkeypatch, tmp_path):
    def nothing():
        raise timing.NoRecording("nothing here")

    monkeypatch.setattr(timing, "recording", nothing)
    done = CliRunner().invoke(main, ["bench", "timing", "--json"])
    assert done.exit_code == 2
    assert json.loads(done.stdout)["error"] == "nothing here"


def test_the_command_prints_one_json_object_and_draws(monkeypatch, recording, tmp_path):
    monkeypatch.setattr(timing, "recording", lambda: recording)
    monkeypatch.setattr(Constants, "read", classmethod(lambda cls: TRUE))
    done = CliRunner().invoke(main, ["bench", "timing", "--json", "--plot", str(tmp_path / "plot.svg")])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["judged"] > 0
    assert (tmp_path / "plot.svg").stat().st_size > 1000
    spoken = CliRunner().invoke(main, ["bench", "timing"])
    assert "median error is 0.0%" in spoken.stdout


def test_recording_the_times_needs_a_gpu(monkeypatch):
    monkeypatch.setattr("tmalab.gpu.device.why_no_gpu", lambda: "no GPU here")
    done = CliRunner().invoke(main, ["record", "timing", "--json"])
    assert done.exit_code == 3
    assert json.loads(done.stdout) == {"folder": None, "error": "no GPU here"}
