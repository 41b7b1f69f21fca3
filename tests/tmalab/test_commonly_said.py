"""The table of what is commonly said: its numbers come from the recordings, and would change with them."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from tests.mutants import hardware_summary
from tmalab import commonly_said as table
from tmalab import recorded
from tmalab.recorded import verdicts
from tmalab.texts import text

COUNTED = {  # a count of what was seen, and what it must be a part of
    "expectation": ("same", "count"),
    "issuers": ("same", "count"),
    "host-only": ("same", "count"),
    "row-xor": ("address", "count"),
    "inside": ("same", "count"),
    "flush": ("kept", "kept"),
    "interleave": ("same", "count"),
    "tf32": ("same", "count"),
    "negative": ("faults", "count"),
    "aligned": ("faults", "count"),
}
COUNTS = {name: count for name, count, _ in table.ROWS}


def other(seen):
    """What was seen, as another hardware would have left it."""
    return "launch_failed" if isinstance(seen, str) else seen ^ 0x11


@pytest.mark.parametrize("name", COUNTED)
def test_a_recording_of_other_hardware_gives_other_numbers(name, monkeypatch):
    seen, among = COUNTED[name]
    counts = COUNTS[name]()
    assert 0 < counts[seen] <= counts[among]
    read = recorded.read

    def otherwise(group):
        return replace(read(group), results=tuple(map(other, read(group).results)))

    monkeypatch.setattr(recorded, "read", otherwise)
    assert COUNTS[name]()[seen] == 0


@pytest.mark.parametrize("name", ["box", "strides"])
def test_a_driver_that_refuses_would_be_told_of(name, monkeypatch):
    counts, asked = COUNTS[name](), verdicts.read()
    assert 0 < counts["taken"] == counts["count"]
    monkeypatch.setattr(verdicts, "read", lambda: asked._replace(encoded=[None] * len(asked.maps)))
    assert COUNTS[name]() == {"count": counts["count"], "taken": 0}


def test_what_is_told_of_wrong_kernels_is_counted_in_what_hardware_said_of_the_mutants():
    assert json.loads(hardware_summary.FILE.read_text("utf-8")) == hardware_summary.summary()
    fence, everything = COUNTS["fence"](), COUNTS["racecheck"]()
    assert 0 < fence["right"] < fence["kernels"] < everything["kernels"]
    assert everything["silent"] > everything["kernels"] / 2
    assert COUNTS["early"]()["wrong"] > 0
    assert COUNTS["reuse"]()["right"] > COUNTS["reuse"]()["wrong"]


def test_what_is_said_is_not_what_was_seen():
    assert COUNTS["row-xor"]()["row"] < COUNTS["row-xor"]()["address"] == COUNTS["row-xor"]()["count"]
    assert COUNTS["clip"]()["changed"] > COUNTS["clip"]()["beyond"] == 0
    assert COUNTS["nan"]()["pattern"] != COUNTS["nan"]()["usual"]
    assert float(COUNTS["multicast"]()["low"]) < 1.1


def test_every_row_names_its_recording_and_no_number_is_typed():
    for row, (name, _, _) in zip(table.commonly_said(), table.ROWS, strict=True):
        assert re.search(r"H\d00, \d{4}-\d\d-\d\d$", row.recorded)
        written = text(f"said.{name}-did", **dict.fromkeys(COUNTS[name](), ""))
        assert set(re.findall(r"\d+", written)) <= {"0", "16", "128", "32"}, written
