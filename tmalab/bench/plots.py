"""Drawings of a bench's result: a bar for each step of the ladder, ratios over shapes, a roofline.

matplotlib writes whatever the file's name asks for: .svg, .png, .pdf.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tmalab.bench import drawing
from tmalab.bench.results import UNITS, called
from tmalab.texts import text

FLOPS_PER_CYCLE = 4096 * 132  # of bf16 on the tensor cores of all SMs of an H200
OURS, OTHERS = "#2f7d4f", "#8a8f98"  # of bars
_WIDTH, _HEIGHT, _ROW = 8.0, 4.0, 0.45  # inches


def save(found: Mapping[str, Any], path: Path, bandwidth: float | None = None) -> None:
    """Draw a result to a file. `bandwidth`: of the memory in bytes per second, for the roofline of products.

    Raises OSError where the file cannot be written, ValueError for a kind of file that matplotlib does not know.
    """
    drawing.save(lambda: figure_of(found, bandwidth), path)


def figure_of(found: Mapping[str, Any], bandwidth: float | None = None) -> Figure:
    """A result as a drawing: bars of one case, ratios of several, and a roofline where the bandwidth is known."""
    figure = bars(found) if found["bench"] == "ladder" or len(found["cases"]) == 1 else over_cases(found)
    if found["bench"] != "copy" and bandwidth and found["clocks_mhz"]:
        figure.set_size_inches(_WIDTH, figure.get_size_inches()[1] + _HEIGHT)
        figure.axes[0].set_subplotspec(figure.add_gridspec(2, 1)[0])
        roofline(found, figure.add_subplot(2, 1, 2), bandwidth)
    return figure


def bars(found: Mapping[str, Any]) -> Figure:
    """A bar for each contender of the first case, the ladder's first step on top, with its speed and ratio."""
    case = found["cases"][0]
    others = [name for name in case["contenders"] if _color(name, case) == OTHERS]
    steps = [name for name in case["contenders"] if name not in others]
    contenders = [(name, case["contenders"][name]) for name in [*reversed(steps), *others]]
    figure = Figure(figsize=(_WIDTH, 1.2 + _ROW * len(contenders)), layout="constrained")
    axes = figure.subplots()
    speeds = [contender["speed"] for _, contender in contenders]
    drawn = axes.barh([name for name, _ in contenders], speeds, color=[_color(name, case) for name, _ in contenders])
    axes.bar_label(drawn, [f"{c['speed']:,.0f}  ({c['ratio']:.2f})" for _, c in contenders], padding=4)
    axes.set_xlim(0, 1.2 * max(speeds))
    axes.invert_yaxis()
    axes.set_xlabel(UNITS[found["bench"]][1])
    axes.set_title(_title(found, called(case["case"])))
    _plain(axes)
    return figure


def over_cases(found: Mapping[str, Any]) -> Figure:
    """The ratios of each case's contenders to the reference, the rounds' spread as a line on each bar."""
    names = [name for name in found["cases"][0]["contenders"] if name != found["cases"][0]["reference"]]
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        places = [place + (number - (len(names) - 1) / 2) * width for place in range(len(found["cases"]))]
        ratios = [case["contenders"][name]["ratio"] for case in found["cases"]]
        axes.bar(places, ratios, 0.9 * width, label=name, color=OURS if number == 0 else OTHERS)
        for place, case in zip(places, found["cases"]):
            axes.plot([place, place], _quartiles(case, name), color="black", linewidth=1)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(
        range(len(found["cases"])), [called(case["case"]) for case in found["cases"]], rotation=25, ha="right"
    )
    axes.set_ylabel(text("bench.plot-ratio", reference=found["cases"][0]["reference"]))
    axes.set_title(_title(found, text("bench.plot-mean", mean=f"{found['geometric_mean']:.3f}")))
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _plain(axes)
    return figure


def roofline(found: Mapping[str, Any], axes: Axes, bandwidth: float) -> None:
    """Each case by its intensity, below what memory and tensor cores allow at the clock that was seen."""
    peak = FLOPS_PER_CYCLE * median(found["clocks_mhz"]) * 1e6
    intensities = [intensity(case["case"]) for case in found["cases"]]
    ridge = peak / bandwidth
    reach = [min(*intensities, ridge) / 4, ridge, max(*intensities, ridge) * 2]
    axes.loglog(reach, [min(peak, bandwidth * x) / 1e12 for x in reach], color="black", linewidth=1)
    for name in found["cases"][0]["contenders"]:
        speeds = [case["contenders"][name]["speed"] for case in found["cases"]]
        axes.scatter(intensities, speeds, s=18, label=name)
    axes.set_xlabel(text("bench.plot-intensity"))
    axes.set_ylabel(UNITS[found["bench"]][1])
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    _plain(axes)


def intensity(shape: list[int]) -> float:
    """Operations for each byte that a bf16 product must read or write once.

    >>> round(intensity([8192, 8192, 8192]))
    2731
    """
    m, n, k = shape
    return m * n * k / (m * k + n * k + m * n)


def _quartiles(case: Mapping[str, Any], name: str) -> tuple[float, float]:
    """Where the middle half of a contender's ratios lies."""
    seconds = case["contenders"][name]["seconds"]
    theirs = case["contenders"][case["reference"]]["seconds"]
    ratios = sorted(reference / own for own, reference in zip(seconds, theirs, strict=True))
    return ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]


def _color(name: str, case: Mapping[str, Any]) -> str:
    return OTHERS if name in (case["reference"], "Triton") else OURS


def _title(found: Mapping[str, Any], what: str) -> str:
    where = found["provenance"]
    return text("bench.plot-title", what=what, gpu=where["gpu"], date=where["date"], rounds=found["rounds"])


def _plain(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
