"""What was measured on a GPU for the time model: samples of the micro-benchmarks, and what the trials took."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

RECORDED = Path(__file__).parent.parent / "recorded"
MEASURED, HELD_OUT = "timing-measured.json", "timing-held-out.json"
LATER = ("timing-later.json", "timing-second.json", "timing-third.json")  # trials that judged the model before


@dataclass(frozen=True)
class Measured:
    """One recording.

    sms, l2_size   of the GPU; bytes
    samples        of each micro-benchmark: what a turn took, several times
    trials         of each trial: `ns` from launch to launch, several times, and the `registers` of a thread
    """

    provenance: Mapping[str, Any]
    sms: int
    l2_size: int
    samples: Mapping[str, Sequence[float]]
    trials: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, file: Path = RECORDED / MEASURED) -> Measured:
        """The recording in a file."""
        return cls(**json.loads(file.read_text("utf-8")))

    def with_trials_of(self, other: Measured) -> Measured:
        """The same with the trials of another recording."""
        return replace(self, trials={**self.trials, **other.trials})

    def write(self, file: Path) -> None:
        """Write it, a line for each benchmark and trial."""
        head = {name: getattr(self, name) for name in ("provenance", "sms", "l2_size")}
        parts = [json.dumps(head)[1:-1]]
        for name in ("samples", "trials"):
            rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in getattr(self, name).items())
            parts.append(f'"{name}": {{\n{rows}\n}}')
        file.write_text("{" + ",\n".join(parts) + "}\n", "utf-8")

    def middles(self) -> dict[str, tuple[float, float]]:
        """Of each micro-benchmark the median, and half the range between the quartiles."""
        return {name: _middle(values) for name, values in self.samples.items()}

    def times(self) -> dict[str, float]:
        """Of each trial the median (ns)."""
        return {name: median(found["ns"]) for name, found in self.trials.items()}


def _middle(values: Sequence[float]) -> tuple[float, float]:
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return middle, (high - low) / 2
