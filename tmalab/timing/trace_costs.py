"""What looks at the clock cost, as it was measured on an H200: `tmalab record held-out` (`tmalab.gpu.trace_cost`).

>>> all(row["traced_us"] > row["plain_us"] for row in trace_costs())
True
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

from tmalab.timing.measured import RECORDED

FILE = "timing-traces.json"


def trace_costs(folder: Path = RECORDED) -> list[dict[str, Any]]:
    """A row for each kernel: its name, its `ctas`, how many of them are `looking`, the most `looks` of a thread; from
    launch to launch (µs) `plain_us` as it is written, `bounded_us` with bounded waits, `traced_us` with looks too; and
    the `share` of the plain time by which the traced one is longer."""
    found = json.loads((folder / FILE).read_text("utf-8"))["traces"]
    return [_row(name.removeprefix("traced "), kernel) for name, kernel in found.items()]


def _row(name: str, kernel: dict[str, Any]) -> dict[str, Any]:
    plain, bounded, traced = (median(kernel[kind]) for kind in ("plain", "bounded", "traced"))
    times = {"plain_us": plain / 1e3, "bounded_us": bounded / 1e3, "traced_us": traced / 1e3}
    counts = {key: kernel[key] for key in ("ctas", "looking", "looks")}
    return {"kernel": name, **counts, **times, "share": traced / plain - 1}
