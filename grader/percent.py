"""Notebooks as text that reviews well: the percent format that Jupytext and most editors know, each cell with an id.

    # %% [markdown] id="aims"
    # ## A heading

    # %% id="kernel-check" check="copy-2d.kernel"
    grader.check("copy-2d.kernel", copy_tile)

An id never changes: nbgrader finds cells by it, and a translation is a file of texts by id.

>>> [cell.id for cell in parse('# %% [markdown] id="a"\\n# hello\\n\\n# %% id="b"\\nx = 1\\n')]
['a', 'b']
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

HEAD = re.compile(r"^# %%(?P<kind> \[markdown\])?(?P<options>(?: [a-z]+=\"[^\"]*\")*)\s*$")
OPTION = re.compile(r"([a-z]+)=\"([^\"]*)\"")
CELL_ID = re.compile(r"^[a-z0-9-]{1,64}$")
KNOWN = {"id", "answer", "check"}


class PercentError(ValueError):
    """A notebook text that can't be read; the message names the line."""


@dataclass
class Cell:
    """One cell: its kind, id and source; `marks` says which exercise it answers or checks."""

    id: str
    markdown: bool
    marks: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The cell's text as a notebook holds it."""
        lines = [line.removeprefix("#").removeprefix(" ") for line in self.lines] if self.markdown else self.lines
        return "\n".join(lines).strip("\n")


def parse(text: str) -> list[Cell]:
    """The cells of a notebook text. What stands before the first cell is a comment on the file."""
    cells: list[Cell] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# %%"):
            cells.append(_start(line, number, {cell.id for cell in cells}))
        elif cells:
            cells[-1].lines.append(line)
    return cells


def _start(line: str, number: int, taken: set[str]) -> Cell:
    head = HEAD.match(line)
    if head is None:
        raise PercentError(f"line {number}: {line!r} is no cell head: write '# %% [markdown] id=...' or '# %% id=...'")
    options = dict(OPTION.findall(head["options"]))
    identifier = options.pop("id", "")
    if not CELL_ID.match(identifier) or identifier in taken:
        raise PercentError(f"line {number}: the id {identifier!r} is taken, missing, or not made of a-z, 0-9 and -")
    unknown = set(options) - KNOWN
    if unknown:
        raise PercentError(f"line {number}: {sorted(unknown)} is none of {sorted(KNOWN)}")
    return Cell(identifier, bool(head["kind"]), options)
