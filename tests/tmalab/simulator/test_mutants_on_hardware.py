"""The script that asks a GPU: which mutants it may be given, how racecheck is read, what an end before time costs."""

from __future__ import annotations

import json
import sys
import textwrap
import time

import numpy as np
import pytest

from tests.mutants import hardware, poison
from tests.mutants.processes import Went, deal_out, in_batches, run
from tests.mutants.right import CASES
from tests.mutants.runs import kernels, outcome
from tests.mutants.wrong import MUTANTS

# As compute-sanitizer 2025.3 prints it, for two kernels under the names that the script gives them.
OUTPUT = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at _ZN5tests6{first}B3v1E+0x2a0
=========     and Read access at _ZN5tests6{first}B3v1E+0x350 [1984 hazards]
=========
========= Warning: Race reported between Read access at _ZN5tests6{first}B3v1E+0x2b0
=========     and Write access at _ZN5tests6{first}B3v1E+0x3c0 [64 hazards]
=========
========= Error: Race reported between Write access at _ZN5tests6{second}B3v1E+0x1b0
=========     and Write access at _ZN5tests6{second}B3v1E+0x1b0 [4 hazards]
=========
========= RACECHECK SUMMARY: 3 hazards displayed (2 errors, 1 warning)
"""


def test_races_are_counted_by_kernel():
    first, second, third = list(MUTANTS)[:3]
    output = OUTPUT.format(first=hardware.called(first), second=hardware.called(second))
    assert hardware.races_in(output, [first, second, third]) == {first: 2, second: 1, third: 0}


def test_each_kernel_has_a_name_of_its_own_and_does_the_same_under_it():
    names = [hardware.called(name) for name in (*MUTANTS, *CASES)]
    assert len(set(names)) == len(names)
    renamed = hardware._renamed("wait removed")
    assert renamed.kernel.__name__ == hardware.called("wait removed")
    assert [hazard.name for hazard in renamed.run().hazards] == ["read-before-wait"]


@pytest.mark.parametrize("name", hardware.CONTROLS)
def test_the_controls_are_plain_races_that_a_gpu_may_be_given(name):
    assert name in hardware.listed()
    for seed in range(hardware.LOOKED_AT):
        assert outcome(MUTANTS[name].fresh(), seed).names == {"data-race"}


@pytest.mark.parametrize("name", ["count one too large", "row too far", "syncthreads in a role", "over-arrival"])
def test_what_may_hang_or_fault_is_kept_from_the_gpu(name):
    found = [mutant for mutant in MUTANTS if mutant == name or MUTANTS[mutant].names[0] == name]
    assert found
    for mutant in found:
        assert not hardware.is_harmless(mutant), mutant
        assert mutant not in hardware.listed()


def test_the_list_holds_mutants_that_by_their_names_only_compute_something_wrong():
    names = hardware.listed()
    assert len(names) == len(set(names)) > 100
    assert all(set(MUTANTS[name].names) <= hardware.HARMLESS for name in names)


@pytest.mark.slow
def test_the_list_is_what_the_simulator_says():
    assert hardware.listed() == hardware.harmless()


@pytest.mark.parametrize("name", hardware.listed()[::20])
def test_what_is_listed_only_computes_something_wrong(name):
    assert hardware.is_harmless(name, seeds=2)


# Processes.

CHILD = """
import json, os, sys, time
for name in sys.argv[1:]:
    if name == "ends":
        os._exit(1)
    if name == "hangs":
        time.sleep(60)
    print("about", name)
    print(json.dumps([name, len(name)]), flush=True)
"""
COMMAND = [sys.executable, "-c", textwrap.dedent(CHILD)]


def test_what_a_process_says_is_kept_by_piece_and_its_other_lines_too():
    went = run([*COMMAND, "a", "bcd"], time.monotonic() + 30)
    assert went == Went({"a": [1], "bcd": [3]}, ["about a", "about bcd"], whole=True, late=False)


def test_a_process_that_falls_silent_is_ended_and_what_it_said_is_kept():
    begin = time.monotonic()
    went = run([*COMMAND, "a", "hangs", "b"], begin + 30, silent=1)
    assert went == Went({"a": [1]}, ["about a"], whole=False, late=False)
    assert time.monotonic() - begin < 50  # it would hang for 60


def test_at_the_deadline_nothing_more_is_begun():
    settled = []
    deal_out([["hangs"], ["a"], ["b"]], COMMAND, lambda *made: settled.append(made) or (), time.monotonic() + 1, 1)
    assert settled == [(["hangs"], Went(whole=False, late=True))]


def test_batches_hold_every_piece_once_and_keep_neighbours_apart():
    batches = in_batches(list("abcdefghij"), 4)
    assert sorted("".join(map("".join, batches))) == list("abcdefghij")
    assert max(map(len, batches)) == 4
    assert not any({"a", "b"} <= set(batch) for batch in batches)
    assert in_batches([], 4) == []


# The record.


@pytest.fixture
def log(tmp_path):
    return hardware.Log(tmp_path / "hardware.json", 60)


def read(log):
    return json.loads(log.file.read_text("utf-8"))


def told(note):
    """What is known of a kernel, without which one it is of."""
    return {key: value for key, value in note.items() if key != "source"}


def test_at_first_every_listed_mutant_and_one_case_of_each_right_kernel_are_lacking(log):
    for part in hardware.PARTS:
        assert sorted(log.lacking(part)) == sorted([*hardware.listed(), *kernels()])
    assert set(log.lacking("racecheck")[: len(hardware.CONTROLS)]) == set(hardware.CONTROLS)


def test_a_kernel_that_ends_its_process_is_noted_and_the_others_go_on(log):
    first, second, third = hardware.listed()[:3]
    went = {"wrong": 1, "stopped": 0}
    assert log.settle("launch", [first, second, third], Went({first: [went]})) == [[third]]
    assert log.settle("launch", [third], Went({third: [went]}, whole=True)) == []
    runs = read(log)["mutants"]
    assert told(runs[first]) == told(runs[third]) == {**went, "racecheck": None}
    assert told(runs[second]) == {"wrong": hardware.LAUNCHES, "stopped": hardware.LAUNCHES, "racecheck": None}
    assert not {first, second, third} & set(log.lacking("launch"))


def test_racechecks_silence_counts_only_where_its_process_ended_well(log):
    """What was reported counts anyhow; a kernel whose waits gave up is none that racecheck had nothing to say about."""
    first, second, third = hardware.listed()[:3]
    lines = OUTPUT.format(first=hardware.called(first), second=hardware.called(first)).splitlines()
    ended = Went({name: [True] for name in (first, second, third)}, lines)
    assert log.settle("racecheck", [first, second, third], ended) == [[second], [third]]
    assert log.settle("racecheck", [second], Went({second: [True]}, whole=True)) == []
    assert log.settle("racecheck", [third], Went({third: [False]}, whole=True)) == []
    runs = read(log)["mutants"]
    assert [runs[name]["racecheck"] for name in (first, second, third)] == [3, 0, hardware.ENDED]


def launched(file, poison):
    """A record of one kernel, launched with or without poison before it."""
    log = hardware.Log(file, 60)
    log.data["poison"] = poison
    first, second = hardware.listed()[:2]
    log.settle("launch", [first, second], Went({first: [{"wrong": 3, "stopped": 0}]}, late=True))
    log.settle("racecheck", [first], Went({first: [True]}, whole=True))
    return first, second


def test_what_the_time_did_not_suffice_for_is_not_run_and_run_when_asked_again(tmp_path):
    first, second = launched(tmp_path / "hardware.json", {"found": 1.0})
    again = hardware.Log(tmp_path / "hardware.json", 60)
    assert first not in again.lacking("launch")
    assert second in again.lacking("launch")
    assert told(read(again)["mutants"][second]) == {"wrong": None, "stopped": None, "racecheck": None}


def test_launches_into_what_others_left_in_shared_memory_are_made_again(tmp_path):
    first, _ = launched(tmp_path / "hardware.json", None)
    again = hardware.Log(tmp_path / "hardware.json", 60)
    assert first in again.lacking("launch")
    assert first not in again.lacking("racecheck")


def test_what_was_found_of_another_source_is_not_known_of_this_one(tmp_path, monkeypatch):
    first, _ = launched(tmp_path / "hardware.json", {"found": 1.0})
    source = hardware._source
    monkeypatch.setattr(hardware, "_source", lambda name: source(name) + "    pass\n")
    again = hardware.Log(tmp_path / "hardware.json", 60)
    assert all(first in again.lacking(part) for part in hardware.PARTS)


def test_the_poison_is_in_all_of_a_ctas_shared_memory():
    """In the simulator there is one SM, and one CTA that begins."""
    begun, met, held = np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    assert poison.fill.run(1, poison.THREADS, (begun, met, held, 1)).ok
    assert (begun[0], met[0], held[0]) == (1, 1, 227 * 1024 // 4)


def test_what_is_looked_at_before_it_is_written_is_uninitialised():
    found = np.zeros((1, poison.LOOKED_AT), np.int32)
    run = poison.look.run(1, poison.THREADS, (found, 0))
    assert [hazard.name for hazard in run.hazards] == ["uninitialised-read"]
    assert (found == poison.WORD).all()


def test_the_whole_record_with_processes_that_stand_for_the_gpu_and_for_racecheck(tmp_path, monkeypatch):
    """The result of every launch is right, and racecheck knows the controls."""
    poison = "import json, sys; print(json.dumps([*sys.argv[1:], {'found': 1.0}]))"
    launches = "import json, sys; [print(json.dumps([n, {'wrong': 0, 'stopped': 0}])) for n in sys.argv[1:]]"
    reports = [
        f"Race reported between {hardware.called(name)} and {hardware.called(name)}" for name in hardware.CONTROLS
    ]
    checks = f"import json, sys; [print(json.dumps([n, True])) for n in sys.argv[1:]]; print({chr(10).join(reports)!r})"
    scripts = {"poison": poison, "launch": launches, "racecheck": checks}
    commands = {part: [sys.executable, "-c", script] for part, script in scripts.items()}
    monkeypatch.setattr(hardware, "_COMMAND", commands)
    monkeypatch.setattr(hardware, "_version_of_sanitizer", lambda: "none")
    monkeypatch.setattr("tmalab.gpu.recorder.describe", lambda command: {"command": command})
    monkeypatch.setattr(hardware, "listed", lambda: [*hardware.CONTROLS, "wait removed"])
    file = tmp_path / "hardware.json"
    assert hardware.record(file, ["launch"]) == 1
    assert hardware.record(file, ["racecheck"]) == 0
    data = json.loads(file.read_text("utf-8"))
    assert data["poison"] == {"found": 1.0}
    assert told(data["mutants"]["wait removed"]) == {"wrong": 0, "stopped": 0, "racecheck": 0}
    assert all(data["mutants"][name]["racecheck"] for name in hardware.CONTROLS)
    assert set(data["right"]) == set(kernels())
    assert not any(note["racecheck"] or note["wrong"] for note in data["right"].values())
