"""What hardware said of the mutants, as the documentation shows it: a few sentences, a table by hazard, two columns."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.mutants.hardware import CONTROLS, fingerprint
from tests.mutants.wrong import MUTANTS

HARDWARE = Path(__file__).with_name("hardware.json")
IN_TIME = (
    "A right result is therefore none that an earlier launch has left there. The bytes came in time, since compiled",
    "code reads later than one thinks: it computes indices for some hundred cycles first. Nothing promises that, not",
    "for the next compiler, the next chip, or a busier memory.",
)
Said = dict[str, Any]  # as tests.mutants.hardware records it


def recorded() -> Said:
    """What hardware said."""
    return json.loads(HARDWARE.read_text("utf-8"))


def columns(said: Said) -> tuple[str, str]:
    """The heads of the two columns."""
    return f"wrong on an H200, of {said['launches']}", f"racecheck, in {said['checked']}"


def cells(said: Said, name: str) -> tuple[str, str]:
    """How often the GPU's result was wrong, and how many races racecheck reported. Nothing where it might have hung,
    was not run, or was another kernel then."""
    made = _ran(said["mutants"]).get(name)
    if made is None or made["source"] != fingerprint(name):
        return "", ""
    return str(made["wrong"]), str(made["racecheck"] or "silent")


def note(said: Said) -> list[str]:
    """What came of it all, as lines of the page."""
    made, runs, launches = said["provenance"], list(_ran(said["mutants"]).values()), said["launches"]
    poison = said["poison"]
    right, always = (sum(run["wrong"] == count for run in runs) for count in (0, launches))
    ended = [run["racecheck"] for run in runs if isinstance(run["racecheck"], int)]
    right_ones = _ran(said["right"])
    never_wrong = sum(run["wrong"] == 0 for run in right_ones.values())
    flagged = [f"`{name.split(',')[0]}`" for name, run in right_ones.items() if run["racecheck"]]
    return [
        f"The {len(runs)} wrong kernels that can neither hang nor fault, and {len(right_ones)} right ones, ran on an "
        f"{made['gpu']} ({made['date']}, driver {made['driver']}) {launches} times each, and {said['checked']} times "
        f"under racecheck ({made['racecheck']}), which knows the controls: {', '.join(CONTROLS)}.",
        "",
        f"Before each of the {launches} launches another kernel fills the shared memory of all {poison['sms']} SMs, "
        f"{poison['bytes']:,} bytes of each, with poison. A kernel that looks at what it finds there found "
        f"{poison['found']:.0%} poison. Without it, {poison['without']:.0%} was what the kernel before had left.",
        *IN_TIME,
        "",
        f"- {never_wrong} of the {len(right_ones)} right kernels gave the right result every time.",
        f"- {right} of the wrong ones gave the right result every time, {always} a wrong one every time, "
        f"{len(runs) - right - always} now and then.",
        f"- racecheck was silent about {ended.count(0)} of the {len(ended)} that ended under it.",
        f"- Of the right kernels it reported {len(flagged)}: {', '.join(flagged)}.",
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
