"""Static figures: one <svg> that needs no script, no kernel and no network, in which hovering still works.

What belongs together (a sector on the left, its place on the right, the sentence) carries one class; a `:has(:hover)`
rule for each such group shows it as a whole wherever the pointer meets a part of it. Colours are the widget's.

>>> drawing = Drawing("A square", "tma-1", 40, 40)
>>> drawing.sector(10, 10, 20, 20, "0·0", tint=0, group="s0")
>>> drawing.finish().startswith('<svg id="tma-1"')
True
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from textwrap import wrap

from tmalab.figures.theme import HUES, theme_rules

MONO = "var(--jp-code-font-family, ui-monospace, monospace)"
SANS = "var(--jp-ui-font-family, system-ui, sans-serif)"
Rectangle = tuple[float, float, float, float]  # x, y, width, height
HATCH = (
    '<defs><pattern id="{identity}-hatch" width="5" height="5" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><path d="M0 0V5" stroke="var(--tma-edge)" stroke-width="1.5"/></pattern></defs>'
)
RULES = (  # {id}: the drawing's own, so that two of them on a page don't meet
    "{id} {{ max-width: 100%; height: auto; background: var(--tma-ground); font-family: " + SANS + "; }}",
    "{id} text {{ fill: var(--tma-text); font-size: 13px; }}",
    "{id} .m {{ fill: var(--tma-muted); font-size: 12px; }}",
    "{id} .n {{ font: 10px " + MONO + "; text-anchor: middle; pointer-events: none; }}",
    "{id} .h {{ fill: var(--tma-muted); font: 10px " + MONO + "; text-anchor: end; }}",
    "{id} .t {{ font-size: 14px; font-weight: 600; }}",
    "{id} .c {{ stroke: var(--tma-edge); }}",
    "{id} .r {{ fill: none; stroke: var(--tma-edge); stroke-width: 2; }}",
    "{id} .v {{ fill: transparent; }}",
    "{id} .e {{ fill: none; stroke: var(--tma-line); }}",
    "{id} .b {{ fill: none; stroke: var(--tma-accent); stroke-width: 3; pointer-events: none; }}",
    "{id} .f {{ fill: url({id}-hatch); pointer-events: none; }}",
    "{id} .g {{ fill: none; stroke: var(--tma-line); stroke-dasharray: 1 2; }}",
    "{id} .w {{ fill: none; stroke: var(--tma-text); stroke-width: 2; stroke-dasharray: 4 2; pointer-events: none; }}",
    "{id} .o {{ fill: none; stroke: var(--tma-text); stroke-width: 3; pointer-events: none; }}",
    "{id} .k {{ stroke-width: 4; paint-order: stroke; }}",
    "{id} .s {{ display: none; pointer-events: none; }}",
    "{id} .l {{ fill: transparent; }}",
    "{id} g:hover > .l {{ fill: var(--tma-panel); stroke: var(--tma-text); }}",
    *(f"{{id}} .t{tint} {{{{ fill: var(--tma-tint-{tint}); }}}}" for tint in range(len(HUES))),
    *(f"{{id}} .k{tint} {{{{ stroke: var(--tma-tint-{tint}); }}}}" for tint in range(len(HUES))),
)


class Drawing:
    """An SVG in the making. Coordinates and sizes in pixels; `identity` must be unique on a page."""

    def __init__(self, title: str, identity: str, width: float, height: float):
        self.title, self.identity, self.width, self.height = title, identity, width, height
        self.parts: list[str] = []
        self.shown: dict[str, str] = {}  # by group
        self.rest: str | None = None  # the group that is shown while the pointer is on none
        self.rules: list[str] = []  # CSS of this drawing alone; {id} is its selector

    def text(self, x: float, y: float, words: str, look: str = "") -> None:
        """A line of text whose baseline begins at (x, y). Looks: t title, m muted, h heading to the left of x."""
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{_class(look)}>{escape(words)}</text>')

    def box(self, x: float, y: float, width: float, height: float, look: str) -> None:
        """An outline. Looks: b the box of a copy, r the rim of a tensor, g left unwritten."""
        self.parts.append(_rect(x, y, width, height, look))

    def lines(self, x: float, y: float, width: float, height: float, columns: int, rows: int) -> None:
        """A grid of `columns` by `rows` cells."""
        down = "".join(f"M{x + column * width:g} {y:g}v{rows * height:g}" for column in range(columns + 1))
        across = "".join(f"M{x:g} {y + row * height:g}h{columns * width:g}" for row in range(rows + 1))
        self.parts.append(f'<path class="e" d="{down}{across}"/>')

    def sector(
        self, x: float, y: float, width: float, height: float, name: str, tint: int, group: str, filled: float = 0
    ) -> None:
        """A named sector; `filled`, 0 to 1, is the hatched share at its right; `group` links it with others."""
        hatch = _rect(x + width * (1 - filled), y, width * filled, height, "f") if filled else ""
        tint %= len(HUES)
        look = f"n k k{tint}" if filled else "n"
        label = f'<text x="{x + width / 2:g}" y="{y + height / 2 + 3.5:g}" class="{look}">{escape(name)}</text>'
        inside = _rect(x, y, width, height, f"c t{tint}")
        self.parts.append(f'<g class="{group}">{inside}{hatch}{label}</g>')

    def blank(self, x: float, y: float, width: float, height: float, group: str) -> None:
        """A place without a look of its own that belongs to `group` all the same."""
        self.parts.append(f'<g class="{group}">{_rect(x, y, width, height, "v")}</g>')

    def shown_with(self, group: str, x: float, y: float, words: str, outlines: Iterable[tuple[str, Rectangle]]) -> None:
        """What appears while the pointer is on `group`: a sentence at (x, y), and outlines with their looks."""
        letters = int((self.width - 2 * x) / 6.6)
        first, *others = (escape(line) for line in wrap(words, letters))
        below = "".join(f'<tspan x="{x:g}" dy="18">{line}</tspan>' for line in others)
        drawn = "".join(_rect(*rectangle, look) for look, rectangle in outlines)
        rest = " rest" if group == self.rest else ""
        self.shown[group] = f'<g class="s {group}s{rest}">{drawn}<text x="{x:g}" y="{y:g}">{first}{below}</text></g>'

    def when(self, group: str, markup: str, at_rest: bool) -> None:
        """Markup that appears while the pointer is on `group`; `at_rest`: also while it is on no group."""
        self.shown[group] = f'<g class="s {group}s{" rest" if at_rest else ""}">{markup}</g>'

    def finish(self) -> str:
        """The whole element."""
        selector, width, height = f"#{self.identity}", self.width, self.height
        hover = [f"{selector}:has(.{group}:hover) .{group}s {{ display: inline; }}" for group in self.shown]
        hover.append(f"{selector}:has(g[class]:hover) .hint {{ display: none; }}")
        hover.append(f"{selector}:not(:has(g[class]:hover)) .rest {{ display: inline; }}")
        hover += [rule.format(id=selector) for rule in self.rules]
        css = "\n".join((theme_rules(selector), *(rule.format(id=selector) for rule in RULES), *hover))
        head = f'<svg id="{self.identity}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        label = f'width="{width:g}" role="img" aria-label="{escape(self.title)}">'
        hatch = HATCH.format(identity=self.identity)
        return "\n".join(
            (f"{head} {label}", f"<style>{css}</style>", hatch, *self.parts, *self.shown.values(), "</svg>")
        )


def _rect(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"{_class(look)}/>'


def _class(look: str) -> str:
    return f' class="{look}"' if look else ""
