"""The constants of the time model, each of them measured on an H200, with its unit, its spread and where it is from.

The table lies in `tmalab/recorded/timing.json`; `tmalab record timing` measures, and the fit writes it. A constant that
was not measured is absent, and what needs it says so: nothing is guessed.

>>> Constants({"load_latency_l2": Constant(337.0)})["load_latency_l2"]
337.0
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tmalab.texts import text

TABLE = Path(__file__).parent.parent / "recorded" / "timing.json"

UNITS = {  # every constant of the model: its unit
    "sms": "SMs",
    "l2_size": "bytes",
    "clock": "cycles/ns",
    "launch": "ns",
    "cta_launch": "ns",
    "cta_start": "ns",
    "instruction": "cycles",
    "instruction_slots": "cycles",
    "access": "cycles",
    "access_slots": "cycles",
    "register_hold": "cycles",
    "arrive": "cycles",
    "wait": "cycles",
    "wait_slots": "cycles",
    "handoff": "cycles",
    "peer_arrive": "cycles",
    "fence": "cycles",
    "sync": "cycles",
    "cluster_sync": "cycles",
    "shared_latency": "cycles",
    "shared_wavefront": "cycles",
    "global_latency_l2": "cycles",
    "global_latency_device": "cycles",
    "load_issue": "cycles",
    "load_latency_l2": "cycles",
    "load_latency_device": "cycles",
    "load_rate": "bytes/cycle",
    "multicast_latency": "cycles",
    "store_issue": "cycles",
    "store_read_latency": "cycles",
    "store_latency": "cycles",
    "store_rate": "bytes/cycle",
    "line_write": "cycles",
    "line_rate": "lines/ns",
    "l2_rate": "bytes/ns",
    "common_rate": "bytes/ns",
    "l2_write_rate": "bytes/ns",
    "l2_beside_rate": "bytes/ns",
    "word_beside_rate": "bytes/ns",
    "device_rate": "bytes/ns",
    "device_write_rate": "bytes/ns",
    "device_crowding": "share",
    "wgmma_column": "cycles",
    "wgmma_latency": "cycles",
    "tensor_rate": "flop/ns",
}


class NotMeasured(RuntimeError):
    """The table lacks a constant that is needed: `.name`."""

    def __init__(self, name: str):
        super().__init__(text("timing.not-measured", name=name, meaning=meaning(name)))
        self.name = name


def meaning(name: str) -> str:
    """What a constant stands for, in words."""
    spelled = name.replace("_", "-")
    return text(f"timing.constant-{spelled}")


@dataclass(frozen=True)
class Constant:
    """A measured number. `spread`: half the range between the quartiles, in the same unit; `source`: which run or
    document has it."""

    value: float
    spread: float | None = None
    source: str = ""


class Constants(Mapping[str, float]):
    """Numbers by name. One that is asked for and absent raises NotMeasured."""

    def __init__(self, found: Mapping[str, Constant], provenance: Mapping[str, Any] | None = None):
        if unknown := sorted(set(found) - set(UNITS)):
            raise ValueError(text("timing.unknown-constants", names=", ".join(unknown)))
        self.found, self.provenance = dict(found), dict(provenance or {})

    @classmethod
    def of(cls, **values: float) -> Constants:
        """Constants from plain numbers, for tests and for what-if questions."""
        return cls({name: Constant(float(value)) for name, value in values.items()})

    @classmethod
    def read(cls, file: Path = TABLE) -> Constants:
        """The recorded table."""
        data = json.loads(file.read_text("utf-8"))
        found = {name: Constant(row["value"], row["spread"], row["source"]) for name, row in data["constants"].items()}
        return cls(found, data["provenance"])

    def write(self, file: Path) -> None:
        """Write the table; each row has its unit."""
        rows = {name: {"unit": UNITS[name], **asdict(row)} for name, row in sorted(self.found.items())}
        file.write_text(json.dumps({"provenance": self.provenance, "constants": rows}, indent=1) + "\n", "utf-8")

    def changed(self, **values: float) -> Constants:
        """The same with some numbers replaced: a what-if."""
        return Constants(self.found | Constants.of(**values).found, self.provenance)

    def __getitem__(self, name: str) -> float:
        try:
            return self.found[name].value
        except KeyError:
            raise NotMeasured(name) from None

    def __contains__(self, name: object) -> bool:
        return name in self.found

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def missing(self) -> list[str]:
        """The constants of the model that were not measured."""
        return [name for name in UNITS if name not in self.found]
