"""`tmalab demo`: one tile, simulated, against what the hardware wrote; it says so when a byte differs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from tmalab import Swizzle, demo, recorded
from tmalab.cli import main

PLACES = [(row, place) for row in range(8) for place in range(8)]


def demonstrated(*options: str):
    result = CliRunner().invoke(main, ["demo", *options])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def without_gpu(monkeypatch):
    monkeypatch.setattr(demo, "why_no_gpu", lambda: "there is none")


@pytest.fixture
def recording_with_one_wrong_byte(monkeypatch, without_gpu):
    recording = recorded.read(demo.RECORDING)
    wrong = [result.copy() for result in recording.results]
    for result in wrong:
        result[100] ^= 1
    monkeypatch.setattr(demo.recorded, "read", lambda name: replace(recording, results=tuple(wrong)))


def test_every_byte_is_as_the_h200_wrote_it(without_gpu):
    status, stdout, _ = demonstrated("--json")
    found = json.loads(stdout)
    assert (status, found["ok"]) == (0, True)
    assert [(case["mismatches"], case["bytes"], case["hardware"]) for case in found["cases"]] == [
        (0, 1024, "recorded")
    ] * 2
    assert all("H200" in case["source"] for case in found["cases"])


def test_a_byte_that_differs_is_counted_and_exits_with_1(recording_with_one_wrong_byte):
    status, stdout, _ = demonstrated("--json")
    found = json.loads(stdout)
    assert (status, found["ok"]) == (1, False)
    assert [case["mismatches"] for case in found["cases"]] == [1, 1]
    assert "1 of 1,024 bytes differ" in demonstrated()[1]


def test_without_gpu_and_recording_it_fails_and_says_why(monkeypatch, without_gpu):
    monkeypatch.setattr(demo, "RECORDING", "no-such-recording")
    status, stdout, _ = demonstrated("--json")
    found = json.loads(stdout)
    assert (status, found["ok"], found["cases"]) == (1, False, [])
    assert "no-such-recording" in found["message"]
    status, _, stderr = demonstrated()
    assert status == 1
    assert "no-such-recording" in stderr


@pytest.mark.gpu
def test_with_a_hopper_gpu_the_comparison_is_live():
    found = json.loads(demonstrated("--json")[1])
    assert [case["hardware"] for case in found["cases"]] == ["live", "live"]
    assert found["ok"]


def test_without_a_swizzle_each_sector_lies_in_its_own_place():
    case = demo.simulate(Swizzle.NONE)
    assert [case.sector_at(*place) for place in PLACES] == PLACES


def test_with_the_128_byte_swizzle_a_sector_lies_at_its_column_xor_its_row():
    case = demo.simulate(Swizzle.B128)
    assert [case.sector_at(row, place) for row, place in PLACES] == [(row, place ^ row) for row, place in PLACES]


def test_the_picture_is_drawn_from_the_bytes_that_were_found():
    case = demo.simulate(Swizzle.NONE)
    spoilt = replace(case, shared=np.roll(case.shared, 1))
    assert {spoilt.sector_at(*place) for place in PLACES} == {None}


def test_the_picture_names_all_64_sectors(without_gpu):
    stdout = demonstrated()[1]
    assert all(stdout.count(f"{row}·{place}") == 2 for row, place in PLACES)


def test_the_picture_is_saved_as_svg(tmp_path, without_gpu):
    path = tmp_path / "tile.svg"
    assert demonstrated("--svg", str(path))[0] == 0
    assert path.read_text("utf-8").lstrip().startswith("<svg")


def test_a_picture_that_cannot_be_saved_is_one_sentence(tmp_path):
    status, _, stderr = demonstrated("--svg", str(tmp_path / "no" / "tile.svg"))
    assert status == 2
    assert len(stderr.splitlines()) == 1


def test_record_needs_a_hopper_gpu_and_says_so(monkeypatch):
    from tmalab.gpu import device

    monkeypatch.setattr(device, "why_no_gpu", lambda: "there is none")
    result = CliRunner().invoke(main, ["record"])
    assert (result.exit_code, result.stdout, result.stderr) == (3, "", "tmalab: there is none\n")


def test_record_names_the_groups_of_cases_that_there_are():
    result = CliRunner().invoke(main, ["record", "nothing-like-it"])
    assert result.exit_code == 2
    assert "lesson-1" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "key"),
    [(["demo", "--svg", "/no/such/folder/x.svg"], 2, "message"), (["record", "nothing-like-it"], 2, "error")],
)
def test_with_json_a_failure_is_one_object_on_stdout(arguments, status, key):
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert (result.exit_code, result.stderr) == (status, "")
    assert json.loads(result.stdout)[key]


def test_a_recording_that_can_not_be_written_ends_in_one_sentence(monkeypatch):
    def refuse(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tmalab.gpu.device.why_no_gpu", lambda: None)
    monkeypatch.setattr("tmalab.gpu.recorder.record", refuse)
    result = CliRunner().invoke(main, ["record", "--folder", "there"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "tmalab: the recordings cannot be written to there (Permission denied)\n"
