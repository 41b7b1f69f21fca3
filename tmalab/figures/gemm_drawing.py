"""How figure 9 is drawn with matplotlib, and how its SVG comes to follow the page's theme.

matplotlib knows colours and no variables, so a colour that nothing else has stands for each colour of the theme and is
exchanged in the finished SVG. Bars and marks get a <title>, which the browser shows under the pointer.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Mapping
from hashlib import sha1
from html import escape
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from tmalab.bench.plots import intensity
from tmalab.bench.results import called
from tmalab.figures.svg import SANS
from tmalab.figures.theme import LIGHT, theme_rules
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.figures.gemm import GemmFigure

Palette = Mapping[str, str]
STANDING = {name: f"#0a0b{number:02x}" for number, name in enumerate(LIGHT)}  # for var(--tma-NAME)
WIDE, BAR, MARGIN, ROOF = 8.2, 0.3, 0.9, 3.7  # inches: the width; a bar, what is around them; the roofline
MARKS = {"tmalab": "o", "cuBLAS": "s", "Triton": "^"}  # shapes, so that nothing hangs on colour
LADDER_MARK = "D"
FONT = 10  # points


def drawn(gemm: GemmFigure, palette: Palette) -> Figure:
    """The ladder above the roofline."""
    with matplotlib.rc_context(_style(palette)):
        bars = MARGIN + BAR * len(gemm.steps)
        figure = Figure(figsize=(WIDE, bars + ROOF), layout="constrained")
        ladder, roofline = figure.subplots(2, height_ratios=(bars, ROOF))
        _ladder(gemm, ladder, palette)
        _roofline(gemm, roofline, palette)
        for axes in (ladder, roofline):
            axes.spines[["top", "right"]].set_visible(False)
    return figure


def svg(gemm: GemmFigure) -> str:
    """One <svg> element that looks as its page does. Its words stay text, in the fonts of the page."""
    figure, file = drawn(gemm, STANDING), io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tmalab"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # matplotlib's own, which the page does not use
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    markup = file.getvalue()[file.getvalue().index("<svg") :]
    for name, colour in STANDING.items():
        markup = markup.replace(colour, f"var(--tma-{name})")
    return _finished(markup, gemm)


def _finished(markup: str, gemm: GemmFigure) -> str:
    """With a name, the theme, titles, and no more ids than are used."""
    identity = "tma-" + sha1(markup.encode()).hexdigest()[:8]
    used = set(re.findall(r"#([\w-]+)", markup))
    for at, words in _titles(gemm).items():
        markup = markup.replace(f'<g id="{at}">', f"<g><title>{escape(words)}</title>")
    markup = re.sub(r' id="([\w-]+)"', lambda found: found[0] if found[1] in used else "", markup)
    markup = markup.replace("*{stroke-linejoin", f"#{identity} *{{stroke-linejoin")  # of this drawing alone
    markup = re.sub(r"<metadata>.*?</metadata>", "", markup, flags=re.DOTALL)
    markup = re.sub(r"font: ([\d.]+px) [^;\"]*", rf"font: \1 {SANS}", markup)
    for one in sorted(used & set(re.findall(r' id="([\w-]+)"', markup))):
        markup = re.sub(rf'(id="|#){re.escape(one)}\b', rf"\1{identity}-{one}", markup)
    selector = f"#{identity}"
    own = f"{selector} {{ max-width: 100%; height: auto; background: var(--tma-ground); }}"
    style = f"<style>{theme_rules(selector)}\n{own}</style>"
    head = f'<svg id="{identity}" role="img" aria-label="{escape(gemm.alt())}"'
    return re.sub(r"<svg([^>]*)>", lambda found: f"{head}{found[1]}>\n{style}", markup, count=1)


def _style(palette: Palette) -> Any:
    ink = ("text.color", "axes.titlecolor")
    quiet = ("axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    colours = dict.fromkeys(ink, palette["text"]) | dict.fromkeys(quiet, palette["muted"])
    sizes = dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize", "legend.fontsize"), FONT)
    ground = {"figure.facecolor": palette["ground"], "axes.facecolor": "none", "savefig.facecolor": palette["ground"]}
    return {**colours, **sizes, **ground, "axes.titlelocation": "left", "axes.titleweight": "bold"}


def _ladder(gemm: GemmFigure, axes: Axes, palette: Palette) -> None:
    """A bar for each step, the first on top; what they are compared with is hatched."""
    case, where = gemm.ladder["cases"][0], gemm.ladder["provenance"]
    names, speeds = [name for name, _ in gemm.steps], [step["speed"] for _, step in gemm.steps]
    others = (case["reference"], "Triton")
    bars = axes.barh(names, speeds, edgecolor=palette["edge"], linewidth=1)
    for at, (bar, name) in enumerate(zip(bars, names, strict=True)):
        bar.set_facecolor("none" if name in others else palette["tint-2"])
        bar.set_hatch("///" if name in others else "")
        bar.set_gid(f"bar-{at}")
    labels = [text("roofline.bar", speed=f"{s['speed']:,.0f}", ratio=f"{s['ratio']:.2f}") for _, s in gemm.steps]
    axes.bar_label(bars, labels, padding=4)
    axes.set_xlim(0, 1.2 * max(speeds))
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0, labelcolor=palette["text"])
    axes.set_xlabel(f"{text('roofline.speed')}; {text('roofline.of-reference', reference=case['reference'])}")
    axes.set_title(text("roofline.title-ladder", case=called(case["case"]), gpu=where["gpu"], date=where["date"]))


def _roofline(gemm: GemmFigure, axes: Axes, palette: Palette) -> None:
    """Products and the ladder's steps below what memory and tensor cores allow, at the highest and the median clock."""
    cases = [*gemm.gemm["cases"], gemm.ladder["cases"][0]]
    places = [intensity(found["case"]) for found in cases]
    low, high = min(*places, _ridge(gemm, gemm.clock)) / 8, max(places) * 2.5
    for clock, line in ((gemm.clocks[-1], (0, (4, 3))), (gemm.clock, "solid")):
        ridge = _ridge(gemm, clock)
        roof = [gemm.bandwidth * low / 1e12, gemm.peak(clock), gemm.peak(clock)]
        axes.loglog([low, ridge, high], roof, color=palette["edge"], linewidth=1.5, linestyle=line)
    _roofs(gemm, axes, palette, low, high)
    for name, mark in MARKS.items():
        found = [(at, made["contenders"].get(name)) for at, made in zip(places, gemm.gemm["cases"])]
        _marks(axes, [(at, made["speed"]) for at, made in found if made], name, mark, palette, name == "tmalab")
    steps = [(places[-1], step["speed"]) for name, step in gemm.steps if name not in MARKS]
    _marks(axes, steps, text("roofline.steps"), LADDER_MARK, palette, False)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:,.0f}")
        axis.set_minor_formatter(NullFormatter())
    axes.set_xlim(low, high)
    axes.set_xlabel(text("roofline.intensity"))
    axes.set_ylabel(text("roofline.speed"))
    axes.set_title(text("roofline.title-roof"))
    axes.legend(frameon=False, loc="lower right")


def _ridge(gemm: GemmFigure, clock: float) -> float:
    """Operations a byte from which on the tensor cores, and not memory, are the limit."""
    return 1e12 * gemm.peak(clock) / gemm.bandwidth


def _roofs(gemm: GemmFigure, axes: Axes, palette: Palette, low: float, high: float) -> None:
    """What each line is: above the flat ones, beside the slope."""
    for clock in sorted({gemm.clock, gemm.clocks[-1]}):
        words = text("roofline.peak", clock=f"{clock:,.0f}", peak=f"{gemm.peak(clock):,.0f}")
        axes.text(high / 1.05, gemm.peak(clock) * 1.02, words, va="bottom", ha="right", color=palette["muted"])
    bandwidth, at = gemm.bandwidth / 1e12, low * 1.6
    words = text("roofline.memory", bandwidth=f"{bandwidth:.1f}")
    axes.text(at * 1.1, bandwidth * at, words, va="top", color=palette["muted"])
    axes.set_ylim(bandwidth * low, gemm.peak(gemm.clocks[-1]) * 1.4)


def _marks(axes: Axes, points: list[tuple[float, float]], name: str, mark: str, palette: Palette, filled: bool) -> None:
    """Marks of one contender, each an artist of its own, so that it can have a title."""
    kind: dict[str, Any] = {"marker": mark, "markersize": 6, "linestyle": "none", "markeredgecolor": palette["text"]}
    kind["markerfacecolor"] = palette["accent"] if filled else "none"
    for number, (x, y) in enumerate(points):
        (made,) = axes.plot(x, y, **kind, label=name if number == 0 else None)
        made.set_gid(f"mark-{mark}-{number}")


def _titles(gemm: GemmFigure) -> dict[str, str]:
    """What is said of each bar and mark, by its id."""
    case = gemm.ladder["cases"][0]["case"]
    said = {f"bar-{at}": gemm.point(name, case, step["speed"]) for at, (name, step) in enumerate(gemm.steps)}
    for name, mark in MARKS.items():
        made = [found for found in gemm.gemm["cases"] if name in found["contenders"]]
        for number, found in enumerate(made):
            said[f"mark-{mark}-{number}"] = gemm.point(name, found["case"], found["contenders"][name]["speed"])
    steps = [(name, step) for name, step in gemm.steps if name not in MARKS]
    for number, (name, step) in enumerate(steps):
        said[f"mark-{LADDER_MARK}-{number}"] = gemm.point(name, case, step["speed"])
    return said
