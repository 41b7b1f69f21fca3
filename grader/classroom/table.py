"""A class's outcomes as tables: a line for each exercise, in CSV, or for each notebook, for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from grader.report import number
from grader.sandbox.exported import printable
from grader.texts import text

HEADER = ("notebook", "exercise", "points", "maximum", "remark")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would calculate


def as_csv(outcomes: Mapping[str, Mapping[str, Any]]) -> str:
    """notebook, exercise, points, maximum, remark. Names are written so that no spreadsheet takes them for a formula.

    >>> print(as_csv({"=1.ipynb": {"error": "no notebook"}}), end="")
    notebook,exercise,points,maximum,remark
    '=1.ipynb,,,,no notebook
    """
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\n")
    table.writerow(HEADER)
    for name, outcome in outcomes.items():
        table.writerows(map(harmless, row) for row in _rows(name, outcome))
    return written.getvalue()


def as_lines(outcomes: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for each notebook: its points, or why it has none. No file's name can make up a line, or move a cursor.

    >>> print(as_lines({"a\\nb.ipynb": {"error": "no notebook"}}))
    a?b.ipynb  no notebook
    """
    shown = [(printable(name, len(name)), _verdict(outcome)) for name, outcome in outcomes.items()]
    width = max((len(name) for name, _ in shown), default=0)
    return "\n".join(f"{name:<{width}}  {verdict}" for name, verdict in shown)


def _rows(name: str, outcome: Mapping[str, Any]) -> list[list[str]]:
    if "report" not in outcome:
        return [[name, "", "", "", _verdict(outcome)]]
    graded = outcome["report"]["exercises"]
    remarks = [text("classroom.cut-short") if each.get("cut_short") else "" for each in graded]
    told = zip(graded, remarks, strict=True)
    return [[name, each["exercise"], number(each["points"]), number(each["maximum"]), remark] for each, remark in told]


def harmless(cell: str) -> str:
    """A cell that no spreadsheet calculates."""
    cell = cell.encode("utf-8", "backslashreplace").decode("utf-8")
    return f"'{cell}" if cell.startswith(FORMULA) else cell


def _verdict(outcome: Mapping[str, Any]) -> str:
    if "report" not in outcome:
        return outcome.get("error") or outcome["not_graded"]
    report = outcome["report"]
    points = f"{number(report['points'])}/{number(report['maximum'])}"
    cut = [graded["exercise"] for graded in report["exercises"] if graded.get("cut_short")]
    return f"{points}  {text('classroom.over-limit', ids=', '.join(cut), seconds=report['limit_s'])}" if cut else points
