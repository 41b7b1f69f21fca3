"""What hardware said of the mutants, as the documentation shows it: a few sentences, a table by hazard, two columns."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.mutants.hardware import CONTROLS
from tests.mutants.wrong import MUTANTS

HARDWARE = Path(__file__).with_name("hardware.json")
NOT_CLEARED = (
    "Launches of a kernel follow each other with the same input, and shared memory is not cleared between them. What a",
    "kernel reads too early may therefore be the right bytes, left there by the launch before: that a count is 0 does",
    "not say that the hardware waits.",
)
Said = dict[str, Any]  # as tests.mutants.hardware records it


def recorded() -> Said:
    """What hardware said."""
    return json.loads(HARDWARE.read_text("utf-8"))


def columns(said: Said) -> tuple[str, str]:
    """The heads of the two columns."""
    return f"wrong on an H200, of {said['launches']}", f"racecheck, in {said['checked']}"


def cells(said: Said, name: str) -> tuple[str, str]:
    """How often the GPU's result was wrong, and how many races racecheck reported. Nothing where it might have hung, or
    was not run."""
    made = _ran(said["mutants"]).get(name)
    return ("", "") if made is None else (str(made["wrong"]), str(made["racecheck"] or "silent"))


def note(said: Said) -> list[str]:
    """What came of it all, as lines of the page."""
    made, runs, launches = said["provenance"], list(_ran(said["mutants"]).values()), said["launches"]
    right, always = (sum(run["wrong"] == count for run in runs) for count in (0, launches))
    ended = [run["racecheck"] for run in runs if isinstance(run["racecheck"], int)]
    right_ones = _ran(said["right"])
    flagged = [f"`{name.split(',')[0]}`" for name, run in right_ones.items() if run["racecheck"]]
    return [
        f"The {len(runs)} wrong kernels that can neither hang nor fault ran on an {made['gpu']} ({made['date']}, "
        f"driver {made['driver']}) {launches} times each, and {said['checked']} times under racecheck "
        f"({made['racecheck']}), which knows the controls: {', '.join(CONTROLS)}.",
        "",
        f"- {right} of them gave the right result every time, {always} a wrong one every time, the other "
        f"{len(runs) - right - always} now and then.",
        f"- racecheck was silent about {ended.count(0)} of the {len(ended)} that ended under it.",
        f"- Of {len(right_ones)} right kernels it reported {len(flagged)}: {', '.join(flagged)}.",
        "",
        *NOT_CLEARED,
        "",
    ]


def by_hazard(said: Said) -> list[tuple[str, int, int, int]]:
    """For each hazard, as the likeliest name of a mutant: how many there are, of how many some result was wrong, and
    about how many racecheck said something. The hazard with the most comes first."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for name, run in _ran(said["mutants"]).items():
        found[MUTANTS[name].names[0]].append(run)
    rows = [
        (hazard, len(runs), sum(run["wrong"] > 0 for run in runs), sum(_reports(run) for run in runs))
        for hazard, runs in found.items()
    ]
    return sorted(rows, key=lambda row: (-row[1], row[0]))


def _ran(runs: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {name: run for name, run in runs.items() if None not in run.values()}


def _reports(run: dict[str, Any]) -> bool:
    return isinstance(run["racecheck"], int) and run["racecheck"] > 0
