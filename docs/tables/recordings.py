"""What was recorded: cases and mismatches, counted anew, and what is commonly said."""

from __future__ import annotations

from collections import defaultdict

from docs.tables.markdown import table
from tmalab import recorded
from tmalab.commonly_said import commonly_said as made_of_recordings
from tmalab.data_types import DataType, Swizzle
from tmalab.recorded.tally import Count, Kind, tally


def recordings() -> str:
    """What was recorded, where, and with what."""
    rows = []
    for name in recorded.names():
        made, counts = recorded.read(name).provenance, tally(name).values()
        totals = (sum(count.cases for count in counts), sum(count.mismatches for count in counts))
        rows.append((f"`{name}`", *map(str, totals), *(made[field] for field in ("gpu", "driver", "date"))))
    return table(("recording", "cases", "mismatches", "GPU", "driver", "date"), rows)


def coverage() -> str:
    """Mode by type, swizzle and rank: cases, and mismatches between the reference and the hardware."""
    modes = defaultdict(lambda: defaultdict(Count))
    for name in recorded.names():
        for kind, count in tally(name).items():
            total = modes[kind.mode][kind]
            total.cases, total.mismatches = total.cases + count.cases, total.mismatches + count.mismatches
    with_maps = [mode for mode, kinds in modes.items() if any(kind.rank and "," not in mode for kind in kinds)]
    parts = [_by_type(mode, modes[mode]) for mode in with_maps]
    reductions = {mode: kinds for mode, kinds in modes.items() if "reduction" in mode and "," not in mode}
    parts.append(_by_operation(reductions))
    parts.append(_in_all({mode: kinds for mode, kinds in modes.items() if mode not in with_maps}))
    return "\n\n".join(parts)


def _by_type(mode: str, kinds: dict[Kind, Count]) -> str:
    """One mode: a row for each type, a cell for each swizzle with the cases of rank 1 to 5."""

    def cell(data_type: str, swizzle: str) -> str:
        cases = [0] * 5
        for kind, count in kinds.items():
            if (kind.data_type, kind.swizzle) == (data_type, swizzle):
                cases[kind.rank - 1] += count.cases
        return " ".join(str(number or "–") for number in cases)

    swizzles, rows = [swizzle.name for swizzle in Swizzle], []
    for data_type in (data_type.name for data_type in DataType):
        mine = [count for kind, count in kinds.items() if kind.data_type == data_type]
        if mine:
            mismatches = str(sum(count.mismatches for count in mine))
            rows.append((data_type, *(cell(data_type, swizzle) for swizzle in swizzles), mismatches))
    head = ("type", *(f"swizzle {swizzle}" for swizzle in swizzles), "mismatches")
    return f"**{mode}**: cases of rank 1, 2, 3, 4 and 5\n\n{table(head, rows)}"


def _by_operation(modes: dict[str, dict[Kind, Count]]) -> str:
    """Reductions: cases for each operation and type."""
    totals = defaultdict(lambda: defaultdict(Count))
    for mode, kinds in modes.items():
        for kind, count in kinds.items():
            total = totals[mode, kind.operation][kind.data_type]
            total.cases, total.mismatches = total.cases + count.cases, total.mismatches + count.mismatches
    rows = (
        (
            mode,
            operation,
            ", ".join(f"{data_type} {count.cases}" for data_type, count in types.items()),
            str(sum(count.mismatches for count in types.values())),
        )
        for (mode, operation), types in totals.items()
    )
    head = ("mode", "operation", "types", "mismatches")
    return f"**reductions**: cases of each operation and type\n\n{table(head, rows)}"


def _in_all(modes: dict[str, dict[Kind, Count]]) -> str:
    """Modes without a map, and faults by their kind: cases and mismatches in all."""
    rows = (
        (
            mode.replace("_", " "),
            str(sum(count.cases for count in kinds.values())),
            str(sum(count.mismatches for count in kinds.values())),
        )
        for mode, kinds in modes.items()
    )
    return f"**without a map, and copies that fault, by the fault**\n\n{table(('mode', 'cases', 'mismatches'), rows)}"


def commonly_said() -> str:
    """What is commonly said, and what the recordings have."""
    return table(("commonly said", "what the H200 did", "recording"), made_of_recordings())


TABLES = (recordings, coverage, commonly_said)
