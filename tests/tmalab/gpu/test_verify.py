"""The comparison of fresh cases, with the simulator or a spoiled copy of it in the place of a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future

import numpy as np
import pytest
from click.testing import CliRunner

from tmalab.cli import main
from tmalab.gpu import verify as comparison
from tmalab.gpu.device import Hopper
from tmalab.gpu.verify import Report, Task, difference, fresh, verify
from tmalab.recorded.by_reference import by_reference
from tmalab.recorded.cases import GROUPS

SEED = 5


class Here:
    """An executor that runs everything at once, in this process."""

    def __init__(self, *arguments):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, function: Callable, *arguments) -> Future:
        future = Future()
        future.set_result(function(*arguments))
        return future


@pytest.fixture
def gpu(monkeypatch):
    """A machine whose GPU does what the simulator does."""
    on_simulator = comparison.perform
    monkeypatch.setattr(comparison, "ProcessPoolExecutor", Here)
    monkeypatch.setattr(comparison, "hopper", lambda: Hopper("A GPU", 13010, None))
    monkeypatch.setattr(comparison, "perform", lambda case, on, seed=0: on_simulator(case, "simulator", seed))
    monkeypatch.setattr(comparison.recorder, "result", by_reference)
    monkeypatch.setattr(comparison.recorder, "how_it_ends", lambda case: (by_reference(case), ""))
    monkeypatch.setattr(comparison, "what_a_simulator_sees", lambda case, result: result)


def test_every_group_is_compared(gpu):
    groups = [name for name in GROUPS if name != "mbarrier"]  # the simulator does not see a barrier's word
    result = verify(groups, SEED, count=3)
    assert result["ok"], result["differences"]
    assert {name: counts["cases"] for name, counts in result["groups"].items()} == dict.fromkeys(groups, 3)
    assert result["gpu"] == "A GPU"
    json.dumps(result)


def test_a_seed_gives_the_same_cases_and_another_seed_others():
    assert fresh("loads", SEED, 0) == fresh("loads", SEED, 0)
    assert fresh("loads", SEED, 0) != fresh("loads", SEED + 1, 0)
    assert fresh("loads", SEED, 0) != fresh("loads", SEED, 1)


def test_no_fresh_case_is_a_recorded_one():
    for name, group in GROUPS.items():
        if name not in ("lesson-1", "faults"):
            recorded = group.fixed()
            assert not any(fresh(name, SEED, number) in recorded for number in range(20)), name


def test_fresh_faults_fault_and_no_other_fresh_case_does():
    for name in GROUPS:
        ends = {isinstance(by_reference(fresh(name, SEED, number)), str) for number in range(100)}
        assert ends == {name == "faults"}, name


def test_a_fault_that_nobody_expected_is_told_and_the_others_go_on(gpu, monkeypatch):
    calm = comparison.perform
    wild = fresh("faults", SEED, 0)

    def perform(case, on, seed=0):
        return calm(wild if case.name == "load 1" and on == "gpu" else case, on, seed)

    monkeypatch.setattr(comparison, "perform", perform)
    result = verify(["loads"], SEED, count=4)
    assert not result["ok"]
    assert result["groups"]["loads"]["cases"] == 4
    assert result["groups"]["loads"]["reference_differs"] == 1
    found = result["differences"][0]
    assert (found["group"], found["number"], found["against"]) == ("loads", 1, "reference")
    assert found["difference"] == f"{by_reference(wild)} on the GPU, bytes by the reference"


def test_a_group_that_faults_again_and_again_is_left_alone(gpu, monkeypatch):
    calm, wild = comparison.perform, fresh("faults", SEED, 0)
    monkeypatch.setattr(comparison, "perform", lambda case, on, seed=0: calm(wild if on == "gpu" else case, on, seed))
    result = verify(["loads", "stores"], SEED, count=10)
    assert {name: counts["cases"] for name, counts in result["groups"].items()} == {"loads": 3, "stores": 3}


def test_a_byte_that_differs_is_told_with_its_place():
    task = Task("loads", SEED, 0)
    right = by_reference(fresh(*task))
    wrong = right.copy()
    wrong[200] ^= 0xFF
    report = Report(["loads"])
    report.add(task, wrong, right, ("clip-overwrites",))
    assert not report.ok
    assert report.groups["loads"] == {
        "cases": 1,
        "reference_differs": 1,
        "simulator_differs": 1,
        "hazards": {"clip-overwrites": 1},
    }
    sentence = report.differences[0]["difference"]
    assert sentence.startswith(f"1 of {right.size:,} bytes, the first at 200: {wrong[200]:#04x} on the GPU")


def test_nothing_compared_is_not_agreement():
    assert not Report(["loads"]).ok


def test_bytes_of_different_lengths_are_told_as_such():
    assert "bytes" in difference(np.zeros(3, np.uint8), "deadlock", "simulator")


def test_the_command_tells_the_seed_and_that_there_is_no_gpu(monkeypatch):
    monkeypatch.setattr("tmalab.gpu.device.why_no_gpu", lambda: "no GPU")
    done = CliRunner().invoke(main, ["verify", "--json", "--seed", "7"])
    assert done.exit_code == 3
    assert json.loads(done.stdout) == {"ok": None, "seed": 7, "error": "no GPU"}


def test_the_command_names_a_group_that_there_is_not():
    done = CliRunner().invoke(main, ["verify", "lessons"])
    assert done.exit_code == 2
    assert "lessons" in done.stderr
    assert "im2col-loads" in done.stderr


@pytest.mark.parametrize("ok", [True, False])
def test_the_command_prints_counts_and_exits_by_them(monkeypatch, ok):
    counts = {"cases": 3, "reference_differs": 0, "simulator_differs": int(not ok), "hazards": {}}
    found = [] if ok else [{"group": "loads", "number": 2, "difference": "a byte", "case": {"name": "load 2"}}]
    result = {"ok": ok, "seed": 7, "gpu": "A GPU", "groups": {"loads": counts}, "differences": found}
    monkeypatch.setattr("tmalab.gpu.device.why_no_gpu", lambda: None)
    monkeypatch.setattr(comparison, "verify", lambda groups, seed, count: result)
    done = CliRunner().invoke(main, ["verify", "--seed", "7", "loads"])
    assert done.exit_code == (0 if ok else 1)
    assert "seed 7" in done.stdout
    assert "loads: 3 cases" in done.stdout
    assert ("loads 2: a byte" in done.stdout) is not ok
    as_json = CliRunner().invoke(main, ["verify", "--json", "loads"])
    assert json.loads(as_json.stdout) == result
