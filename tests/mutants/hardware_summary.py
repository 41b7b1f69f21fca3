"""What hardware said of the mutants, counted by hazard: the recording `wrong-kernels` that the library keeps.

python -m tests.mutants --summary tmalab/recorded/wrong-kernels.json       anywhere; the mutants ran long before
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tmalab.recorded
from tests.mutants.hardware_page import recorded
from tests.mutants.wrong import MUTANTS

FILE = Path(tmalab.recorded.__file__).with_name(
    "wrong-kernels.json"
)  # of the tmalab that is tested, which may be installed


def summary() -> dict[str, Any]:
    """For each hazard, by the likeliest name of a mutant: how many mutants ran, in how many all launches gave the right
    numbers or none did, and about how many racecheck was silent."""
    said = recorded()
    hazards: dict[str, dict[str, int]] = {}
    for name, run in said["mutants"].items():
        if run is None or not isinstance(run["racecheck"], int):
            continue
        counts = hazards.setdefault(MUTANTS[name].names[0], dict.fromkeys(("kernels", "right", "wrong", "silent"), 0))
        counts["kernels"] += 1
        counts["right"] += run["wrong"] == 0
        counts["wrong"] += run["wrong"] == said["launches"]
        counts["silent"] += run["racecheck"] == 0
    made = {"provenance": said["provenance"], "launches": said["launches"], "checked": said["checked"]}
    return {**made, "hazards": dict(sorted(hazards.items()))}


def write(file: Path) -> None:
    """Write the recording."""
    file.write_text(json.dumps(summary(), indent=1) + "\n", "utf-8")
