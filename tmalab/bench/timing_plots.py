"""Both curves of the time model, what was measured on an H200 and what is predicted: of all trials, and by depth.

Drawn from a comparison (`tmalab.bench.timing`): the one that is kept, where none is given. In a notebook a drawing
shows itself.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from matplotlib.axes import Axes

from tmalab.bench import timing
from tmalab.bench.drawing import Drawing
from tmalab.texts import text
from tmalab.timing.trials import HELD_OUT, TRIALS

Row = Mapping[str, Any]
DEEP = 4  # numbers of stages that a curve by depth has at least
_STAGES = re.compile(r" stages=(\d+)")
_WIDE, _HIGH, _COLUMNS = 3.6, 3.4, 3  # inches of a panel; panels in a row
_LETTERS = 34  # of a line of a title


def trials(result: Mapping[str, Any] | None = None) -> Drawing:
    """For each family of trials, in the order of what was measured, what was predicted; rings mark those that judge."""
    families: dict[str, list[Row]] = defaultdict(list)
    for row in (result or timing.kept())["configurations"]:
        families[TRIALS[row["configuration"]].family].append(row)
    figure, panels = _panels(len(families))
    for panel, (family, rows) in zip(panels, families.items(), strict=True):
        rows = sorted(rows, key=lambda row: row["measured_us"])
        _both(panel, range(len(rows)), rows)
        judging = [(place, row["predicted_us"]) for place, row in enumerate(rows) if row["use"] == HELD_OUT]
        if judging:
            panel.plot(*zip(*judging), "o", fillstyle="none", label=text("timing.plot-judged"))
        panel.set(title=family, yscale="log", xlabel=text("timing.plot-trials"), ylabel="µs")
        panel.legend()
    return figure


def curves(result: Mapping[str, Any] | None = None) -> dict[str, dict[int, Row]]:
    """By depth: of each kernel that was measured with several numbers of stages, by its name without them, the rows."""
    found: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in (result or timing.kept())["configurations"]:
        if stages := _STAGES.search(row["configuration"]):
            found[_STAGES.sub("", row["configuration"])][int(stages[1])] = row
    return {name: dict(sorted(rows.items())) for name, rows in found.items() if len(rows) >= DEEP}


def depths(kernels: Sequence[str] | None = None, result: Mapping[str, Any] | None = None) -> Drawing:
    """What one to six stages take, measured and predicted. `kernels`: names of `curves`; None: all of them.

    Raises ValueError for a name that has no curve.
    """
    found = curves(result)
    if unknown := [name for name in kernels or () if name not in found]:
        raise ValueError(text("timing.no-curve", names=", ".join(unknown), known=", ".join(found)))
    names = list(kernels or found)
    figure, panels = _panels(len(names))
    for panel, name in zip(panels, names, strict=True):
        _both(panel, list(found[name]), list(found[name].values()))
        panel.set_title(fill(name, _LETTERS), fontsize=9)
        panel.set(xlabel=text("timing.plot-stages"), ylabel="µs", xticks=list(found[name]))
        panel.set_ylim(bottom=0)
        panel.legend()
    return figure


def _panels(count: int) -> tuple[Drawing, list[Axes]]:
    columns = min(count, _COLUMNS)
    rows = -(-count // columns)
    figure = Drawing(figsize=(_WIDE * columns, _HIGH * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[count:]:
        panel.remove()
    return figure, panels[:count]


def _both(panel: Axes, places: Sequence[int], rows: Sequence[Row]) -> None:
    panel.plot(
        places,
        [row["measured_us"] for row in rows],
        "s-",
        color="black",
        markersize=3,
        label=text("timing.plot-measured"),
    )
    panel.plot(places, [row["predicted_us"] for row in rows], "x--", label=text("timing.plot-predicted"))
