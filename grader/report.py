"""How a check reads: the exercise and its points, a line for each part, one hint.

>>> from grader.exercise import right, wrong
>>> print(render("demo", 3, [right("compiles", 1, "sm_90a"), wrong("order", 2, "a hazard\\nin line 4", "x")]))
demo                                               1 of 3 points
  compiles   ✔ 1/1  sm_90a
  order      ✘ 0/2  a hazard
                    in line 4
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.cells import cell_len

from grader.exercise import Finding
from grader.texts import text

TITLE_WIDTH = 51
INDENT = " " * 20
WIDTH = 116
MARKS = {True: "✔", False: "✘", None: "–"}


def render(exercise_id: str, maximum: float, findings: Sequence[Finding], hint: tuple[int, str] | None = None) -> str:
    """The text of a check."""
    earned = sum(finding.points for finding in findings)
    points = text("report.points", earned=number(earned), maximum=number(maximum))
    lines = [f"{exercise_id:<{TITLE_WIDTH}}{points}"]
    lines += [_part(finding) for finding in findings]
    if hint:
        lines.append(_hanging(f"  {text('report.hint', step=hint[0])}", hint[1]))
    return "\n".join(lines)


def number(points: float) -> str:
    """Points without needless digits: 3, 2.5, 0.33."""
    return f"{round(points, 2):g}"


def _part(finding: Finding) -> str:
    score = f"{number(finding.points)}/{number(finding.maximum)}" if finding.maximum else ""
    return _hanging(f"  {finding.part:<10} {MARKS[finding.passed]} {score:<4} ", finding.message)


def _hanging(head: str, message: str) -> str:
    """The message beside its head, long lines folded, all of it in one column. A learner's own layout is kept."""
    lines = []
    for line in message.splitlines() or [""]:
        indent = INDENT + " " * (len(line) - len(line.lstrip()))
        width = len(INDENT) + (WIDTH - len(INDENT)) * len(line) // max(cell_len(line), 1)  # Chinese is twice as wide
        folded = textwrap.wrap(line, width, initial_indent=INDENT, subsequent_indent=indent, drop_whitespace=True)
        lines += folded or [""]
    padding = " " * (len(INDENT) - cell_len(head))
    return f"{head}{padding}{lines[0].removeprefix(INDENT)}" + "".join(f"\n{line}" for line in lines[1:])
