"""What hardware said of the mutants: all of it is there, and the documentation's page tells it as it is."""

from __future__ import annotations

import re

import pytest

from tests.mutants import hardware, hardware_page
from tests.mutants.runs import kernels
from tests.mutants.wrong import MUTANTS
from tmalab.bootstrap import ROOT

SAID = hardware_page.recorded()
MUTANTS_SAID = SAID["mutants"]


@pytest.fixture(scope="module")
def page():
    return (ROOT / "docs" / "mutants.md").read_text("utf-8")


def test_every_mutant_of_the_record_was_launched_100_times_and_looked_at_by_racecheck():
    assert SAID["launches"] == 100
    assert set(MUTANTS_SAID) <= set(hardware.listed())
    assert "H200" in SAID["provenance"]["gpu"]
    for name, run in MUTANTS_SAID.items():
        assert 0 <= run["wrong"] <= 100, name
        assert run["stopped"] == 0, name
        assert run["racecheck"] == hardware.ENDED or run["racecheck"] >= 0, name


def test_every_right_kernel_gave_the_right_result_each_time_and_was_looked_at_by_racecheck():
    assert set(SAID["right"]) <= set(kernels())
    for name, run in SAID["right"].items():
        assert run["wrong"] == run["stopped"] == 0, name
        assert run["racecheck"] is not None, name


def test_shared_memory_was_full_of_poison_and_would_have_been_full_of_what_others_left():
    assert SAID["poison"]["bytes"] == 227 * 1024
    assert SAID["poison"]["found"] == 1
    assert SAID["poison"]["without"] > 0.9


def test_most_kernels_of_the_record_are_those_of_now():
    """Else the page shows nothing about them: `--hardware` runs them anew."""
    notes = {**MUTANTS_SAID, **SAID["right"]}
    assert 10 * sum(note["source"] == hardware.fingerprint(name) for name, note in notes.items()) > 9 * len(notes)


def test_racecheck_reported_the_controls():
    assert all(MUTANTS_SAID[name]["racecheck"] > 0 for name in hardware.CONTROLS)


def test_hardware_hides_most_of_what_is_found_here():
    """A right result in all of 100 launches, and not a word by racecheck: half of the mutants and more."""
    hidden = [name for name, run in MUTANTS_SAID.items() if run["wrong"] == 0 and run["racecheck"] == 0]
    assert 2 * len(hidden) > len(MUTANTS_SAID)


def test_racecheck_says_nothing_about_a_wait_that_was_removed():
    assert MUTANTS_SAID["wait removed"]["racecheck"] == 0


def test_the_page_shows_both_numbers_for_each_of_them(page):
    table = page.split("## Wrong kernels")[1].split("##")[0]
    rows = {line[2:-2].split(" | ")[0]: line[2:-2].split(" | ")[-2:] for line in table.splitlines() if line}
    for name in MUTANTS:
        run = MUTANTS_SAID.get(name)
        run = run if run and run["source"] == hardware.fingerprint(name) else None
        assert rows[name] == (["", ""] if run is None else [str(run["wrong"]), str(run["racecheck"] or "silent")]), name


def test_the_page_counts_them_by_hazard(page):
    table = page.split("## What hardware says")[1].split("##")[0]
    rows = [[int(n) for n in row] for row in re.findall(r"(?m)^\| `.*` \| (\d+) \| (\d+) \| (\d+) \|$", table)]
    wrong = [run for run in MUTANTS_SAID.values() if run["wrong"]]
    reported = [run for run in MUTANTS_SAID.values() if run["racecheck"] not in (0, hardware.ENDED)]
    assert [sum(column) for column in zip(*rows)] == [len(MUTANTS_SAID), len(wrong), len(reported)]


def test_what_was_not_run_is_neither_counted_nor_shown():
    not_run = {"source": "", "wrong": None, "stopped": None, "racecheck": None}
    said = {
        **SAID,
        "mutants": {**MUTANTS_SAID, "wait removed": not_run},
        "right": {**SAID["right"], "x": {"racecheck": None}},
    }
    assert hardware_page.cells(said, "wait removed") == ("", "")
    assert f"The {len(MUTANTS_SAID) - 1} wrong kernels" in hardware_page.note(said)[0]
    assert f"of the {len(SAID['right'])} right kernels" in "\n".join(hardware_page.note(said))
    before, after = (sum(row[1] for row in hardware_page.by_hazard(made)) for made in (SAID, said))
    assert before - after == 1
