"""The figure of a run that went wrong, for feedback: drawn where the kernel runs, looked through before it is shown.

What draws is told nothing but the kernel and a public input. What comes back is a drawing or it is dropped: known
elements and attributes of SVG, no script, no address, nothing that a browser would fetch or follow.

>>> safe('<svg xmlns="http://www.w3.org/2000/svg"><a href="https://x.org"><text>hello</text></a></svg>')
''
>>> safe('<svg xmlns="http://www.w3.org/2000/svg"><text x="1">hello</text></svg>')
'<svg xmlns="http://www.w3.org/2000/svg"><text x="1">hello</text></svg>'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree import ElementTree

from grader.alone import Argument, Shape, _own, build
from grader.limits import Failed
from grader.source import KernelSource
from tmalab import kernel

LARGEST = 1 << 20  # characters
SVG = "{http://www.w3.org/2000/svg}"
ELEMENTS = re.compile("svg|style|defs|pattern|g|rect|circle|path|line|polyline|polygon|text|tspan|title|desc|marker")
ATTRIBUTES = re.compile(
    "id|class|x|y|dx|dy|x1|x2|y1|y2|cx|cy|r|rx|ry|d|points|width|height|viewBox|transform|role|tabindex|aria-label|"
    "fill|stroke|stroke-width|stroke-dasharray|text-anchor|patternUnits|patternTransform|pathLength|marker-end|orient|"
    "refX|refY|markerWidth|markerHeight|font-size|font-weight|opacity"
)
STYLE = re.compile("text-anchor: (start|middle|end)")  # on an element: what must overrule the drawing's own rules
FETCHES = re.compile(r"url\((?!#[\w-]+\))|@import|expression|[\\<]|/\*", re.IGNORECASE)


@dataclass(frozen=True)
class WrongRun:
    """A run that can be shown: the kernel, an input that the notebook shows too, the order in which things happened."""

    source: KernelSource
    arguments: Sequence[Argument]
    shape: Shape
    seed: int


def drawn(run: WrongRun, sandbox: Any, limits: tuple[float, float]) -> str:
    """The figure of a run, drawn in a sandbox; empty where nothing can be shown."""
    request = {"source": asdict(run.source), "shape": asdict(run.shape), "arguments": list(run.arguments)}
    try:
        found = sandbox.ask("figure", **request, seed=run.seed, patience=limits)
    except Failed:
        return ""
    return safe(found) if type(found) is str else ""


def draw_alone(run: WrongRun, limits: tuple[float, float]) -> str:
    """The figure that tells most about a run; empty where there is none. Runs the kernel."""
    from tmalab.figures.of_run import figure_of
    from tmalab.simulator.watchdog import patience

    with patience(*limits):
        args, shape = tuple(_own(run.arguments)), run.shape
        done = kernel(build(run.source)).run(shape.grid, shape.block, args, shape.cluster, seed=run.seed)
        try:
            return figure_of(done).svg()
        except ValueError:  # nothing of the run can be shown
            return ""


def safe(svg: str) -> str:
    """A drawing as it is, if it is a drawing and no more; else nothing."""
    if len(svg) > LARGEST or "<!" in svg or "<?" in svg:
        return ""
    try:
        root = ElementTree.fromstring(svg)
    except (ElementTree.ParseError, RecursionError, ValueError):
        return ""
    if root.tag != f"{SVG}svg" or not all(map(_harmless, root.iter())):
        return ""
    return svg if all(_styles_only(root, style.text or "") for style in root.iter(f"{SVG}style")) else ""


def _harmless(element: ElementTree.Element) -> bool:
    known: Any = element.tag.startswith(SVG) and ELEMENTS.fullmatch(element.tag.removeprefix(SVG))
    own = element.attrib.get("style")
    known = known and all(map(ATTRIBUTES.fullmatch, element.attrib.keys() - {"style"}))
    known = known and (own is None or STYLE.fullmatch(own))
    styled = element.text or "" if element.tag == f"{SVG}style" else ""
    return bool(known) and not any(FETCHES.search(written) for written in (styled, *element.attrib.values()))


def _styles_only(drawing: ElementTree.Element, style: str) -> bool:
    """Whether every rule of a style is about the drawing, and not about the page that it stands in."""
    selectors = re.findall(r"([^{};]+)\{", re.sub(r"@media[^{]*\{", "", style))
    own = f"#{drawing.get('id', '')}"
    return len(own) > 4 and all(own in each for selector in selectors for each in selector.split(","))
