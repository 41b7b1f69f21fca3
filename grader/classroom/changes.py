"""What a regrade changed: for each notebook the last two outcomes, where they differ, and what had changed before.

Reasons are facts about both grades: the notebook, the seed, the versions, the isolation; where none of them differs,
only the checks' own code can.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.classroom.grading import JOURNAL, name_in
from grader.classroom.journal import history
from grader.report import number
from grader.texts import text


def changes(folder: Path) -> dict[str, dict[str, Any]]:
    """By notebook: reasons, and by exercise the points before and after with the parts that differ."""
    outcomes: dict[str, list[Mapping[str, Any]]] = {}
    for key, found in history(folder / JOURNAL):
        outcomes.setdefault(name_in(key), []).append(found)
    pairs = {name: between(*found[-2:]) for name, found in sorted(outcomes.items()) if len(found) > 1}
    return {name: found for name, found in pairs.items() if found["exercises"] or found["error"]}


def between(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The difference of two outcomes of one notebook."""
    before, after = old.get("report"), new.get("report")
    if before is None or after is None:
        said = [outcome.get("error", "") for outcome in (old, new)]
        return {"reasons": [], "exercises": {}, "error": said if said[0] != said[1] else []}
    olds = {graded["exercise"]: graded for graded in before["exercises"]}
    differing = {
        graded["exercise"]: _exercise(olds.get(graded["exercise"]), graded)
        for graded in after["exercises"]
        if graded["points"] != olds.get(graded["exercise"], {"points": None})["points"]
    }
    return {"reasons": _reasons(before, after), "exercises": differing, "error": []}


def _exercise(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> dict[str, Any]:
    """Points before and after, and the parts whose points differ, with what was said of them."""
    olds = {part["part"]: part for part in old["parts"]} if old else {}
    parts = {
        part["part"]: {"before": _part(olds.get(part["part"])), "after": _part(part)}
        for part in new["parts"]
        if _part(part) != _part(olds.get(part["part"]))
    }
    return {"before": old["points"] if old else None, "after": new["points"], "parts": parts}


def _part(part: Mapping[str, Any] | None) -> list[Any]:
    return [part["points"], part["message"].splitlines()[0] if part["message"] else ""] if part else [None, ""]


def _reasons(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What differs between two grades of one notebook, each in a few words."""
    found = []
    if old["notebook_hash"] != new["notebook_hash"]:
        found.append(text("classroom.other-notebook"))
    pairs = {name: (old[name], new[name]) for name in ("seed", "isolation")}
    if "limit_s" in old and "limit_s" in new:  # since schema 3
        pairs["limit"] = old["limit_s"], new["limit_s"]
    pairs |= {name: (old["versions"].get(name), version) for name, version in new["versions"].items()}
    for name, (one, other) in pairs.items():
        if one != other and name != "student":
            found.append(text("classroom.other", name=name, old=one, new=other))
    return found or [text("classroom.other-checks")]


def as_lines(found: Mapping[str, Mapping[str, Any]]) -> str:
    """For people."""
    lines = []
    for name, change in found.items():
        lines.append(f"{name}: {'; '.join(change['reasons']) or ' → '.join(said or '–' for said in change['error'])}")
        for id, exercise in change["exercises"].items():
            lines.append(f"  {id:<24} {_points(exercise['before'])} → {_points(exercise['after'])}")
            for part, sides in exercise["parts"].items():
                lines += [f"    {part:<10} {_points(points)}  {said}" for points, said in sides.values()]
    return "\n".join(lines) or text("classroom.no-changes")


def _points(points: float | None) -> str:
    return "–" if points is None else number(points)
