"""`python -m tests.mutants`: the tables of right and wrong kernels."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tests.mutants import equivalent, hardware, hardware_summary, pages
from tests.mutants.pieces import tables
from tests.mutants.runs import as_data


def arguments(given: list[str]) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Tables of right and wrong kernels.")
    parser.add_argument("--seeds", type=int, default=20, help="orders for each wrong kernel (20)")
    parser.add_argument("--right-seeds", type=int, default=200, help="orders for each right kernel (200)")
    parser.add_argument(
        "--edit-seeds", type=int, default=6, help="orders for each mechanical edit (6); 0: leave them out"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the documentation's page of mutants")
    parser.add_argument(
        "--hazards", type=Path, metavar="FILE", help="write the documentation's page of hazards, and stop"
    )
    parser.add_argument("--harmless", type=Path, metavar="FILE", help="list what a GPU may be given, and stop")
    parser.add_argument(
        "--hardware", type=Path, metavar="FILE", help="run on a GPU what FILE lacks, write the numbers, and stop"
    )
    parser.add_argument("--summary", type=Path, metavar="FILE", help="count what a GPU said by hazard, and stop")
    parser.add_argument("--part", choices=hardware.PARTS, help="of --hardware: this part only")
    parser.add_argument("--seconds", type=float, help="what is not run by then is not (--hardware: 900)")
    return parser.parse_args(given)


def main(given: list[str]) -> int:
    """Run, show, write. 0: every target holds."""
    asked = arguments(given)
    if asked.hazards:
        asked.hazards.write_text(pages.hazards(), "utf-8")
        return 0
    if asked.hardware:
        return hardware.record(asked.hardware, [asked.part] if asked.part else hardware.PARTS, asked.seconds or 900)
    if asked.harmless:
        asked.harmless.write_text("\n".join(hardware.harmless()) + "\n", "utf-8")
        return 0
    if asked.summary:
        hardware_summary.write(asked.summary)
        return 0
    made = tables(asked.right_seeds, asked.seeds, asked.edit_seeds, asked.seconds or float("inf"))
    unexplained = equivalent.unexplained(made.edits)
    data = {part: [as_data(each) for each in getattr(made, part)] for part in ("right", "wrong", "edits")}
    data |= {"unexplained": unexplained, "not_run": made.not_run}
    if asked.table:
        asked.table.write_text(pages.mutants(data), "utf-8")
    print(json.dumps(data) if asked.json else pages.summary(data))
    return int(any(not each.holds for each in (*made.right, *made.wrong)) or bool(unexplained or made.not_run))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
