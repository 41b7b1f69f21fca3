"""Figure 9: the ladder and the roofline of the matrix product, from results of the benches.

It is a drawing of matplotlib and no widget: `svg()` follows the page's theme, and pointing at a bar or a mark says what
it is; `figure("dark")` is matplotlib's own, to be saved as anything; `table()` says the same in text.

    GemmFigure()                                        # as recorded on an H200
    GemmFigure(tmalab.bench.command.run("ladder"))      # as measured here
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from tmalab.bench.command import recorded
from tmalab.bench.plots import FLOPS_PER_CYCLE, intensity
from tmalab.bench.results import called
from tmalab.figures.theme import DARK, LIGHT
from tmalab.texts import FALLBACK, speaking, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THEMES = {"light": LIGHT, "dark": DARK}
Result = Mapping[str, Any]  # see tmalab.bench.results


class GemmFigure:
    """The results of `tmalab bench ladder`, `gemm` and `copy`; those that are not given are the recorded ones.

    ValueError in one sentence where there is none, where one is of another bench, and where the clocks are not known.
    """

    def __init__(self, ladder: Result | None = None, gemm: Result | None = None, copy: Result | None = None):
        self.ladder, self.gemm, copy = (
            _result(name, given) for name, given in (("ladder", ladder), ("gemm", gemm), ("copy", copy))
        )
        self.bandwidth = 1e9 * max(found["speed"] for found in copy["cases"][0]["contenders"].values())
        self.clocks = sorted({*self.gemm["clocks_mhz"], *self.ladder["clocks_mhz"]})
        if not self.clocks:
            raise ValueError(text("roofline.no-clocks"))

    @cached_property
    def clock(self) -> float:
        """The median clock (MHz) under this load."""
        return median([*self.gemm["clocks_mhz"], *self.ladder["clocks_mhz"]])

    def peak(self, clock: float) -> float:
        """What the tensor cores do at a clock (MHz), in TFLOP/s."""
        return FLOPS_PER_CYCLE * clock * 1e6 / 1e12

    def roof(self, case: list[int]) -> float:
        """TFLOP/s that memory and, at the median clock, the tensor cores allow for a product."""
        return min(self.peak(self.clock), self.bandwidth * intensity(case) / 1e12)

    @property
    def steps(self) -> list[tuple[str, Mapping[str, Any]]]:
        """The ladder's contenders, its first step first, then those that it is compared with."""
        case = self.ladder["cases"][0]
        others = (case["reference"], "Triton")
        names = [name for name in case["contenders"] if name not in others][::-1]
        names += [name for name in others if name in case["contenders"]]
        return [(name, case["contenders"][name]) for name in names]

    def figure(self, theme: str = "light") -> Figure:
        """The drawing, in the colours of a theme, `light` or `dark`."""
        from tmalab.figures.gemm_drawing import drawn

        with speaking(FALLBACK):  # a picture has the fonts of matplotlib, which are for Latin letters
            return drawn(self, THEMES[theme])

    def svg(self) -> str:
        """The drawing as one <svg> element in the colours of its page."""
        from tmalab.figures.gemm_drawing import svg

        return svg(self)

    def alt(self) -> str:
        """The drawing in a sentence."""
        case = self.ladder["cases"][0]
        first, *_ = steps = self.steps
        ours = max(steps, key=lambda step: -1 if step[0] in (case["reference"], "Triton") else step[1]["speed"])
        values = {"slowest": first[0], "low": f"{first[1]['speed']:,.0f}", "fastest": ours[0]}
        values |= {"high": f"{ours[1]['speed']:,.0f}", "reference": case["reference"]}
        theirs = case["contenders"][case["reference"]]["speed"]
        roof = {"clock": f"{self.clock:,.0f}", "peak": f"{self.peak(self.clock):,.0f}"}
        ridge = f"{1e12 * self.peak(self.clock) / self.bandwidth:,.0f}"
        return text("roofline.alt", case=called(case["case"]), theirs=f"{theirs:,.0f}", ridge=ridge, **values, **roof)

    def table(self) -> str:
        """The drawing as text: a line for each bar, then for each mark."""
        case = self.ladder["cases"][0]
        where = {"gpu": self.ladder["provenance"]["gpu"], "date": self.ladder["provenance"]["date"]}
        width = max(len(name) for name, _ in self.steps)
        lines = [text("roofline.title-ladder", case=called(case["case"]), **where), self.alt()]
        lines += [f"{name:{width}}  {step['speed']:7,.0f} TFLOP/s  {step['ratio']:.2f}" for name, step in self.steps]
        lines += [text("roofline.of-reference", reference=case["reference"]), text("roofline.title-roof")]
        for found in self.gemm["cases"]:
            lines += [self.point(name, found["case"], made["speed"]) for name, made in found["contenders"].items()]
        return "\n".join(lines)

    def point(self, name: str, case: list[int], speed: float) -> str:
        """A mark of the roofline in words."""
        share = f"{100 * speed / self.roof(case):.0f}"
        return text("roofline.point", name=name, case=called(case), speed=f"{speed:,.0f}", share=share)

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.svg(), "text/plain": self.table()}


def _result(name: str, given: Result | None) -> Result:
    found = recorded(name) if given is None else given
    if found is None:
        raise ValueError(text("roofline.no-result", name=name))
    if found["bench"] != name:
        raise ValueError(text("roofline.other-bench", name=name, given=found["bench"]))
    return found
