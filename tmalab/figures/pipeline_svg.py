"""The static forms of figure 6: an SVG in which spans answer to the pointer, and a text table.

>>> from tmalab.figures.pipeline_example import example
>>> from tmalab.figures.pipeline_words import Drawn
>>> print(pipeline_table([Drawn("Two stages", example(2))]).splitlines()[1])
3.65 µs in all; tensor core idles 3 times between its first work and its last, 1.05 µs of 3.05 µs (bubbles)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha1

from tmalab.figures.pipeline_words import STAGE, WHATS, Drawn, row_name, span_words, time_of, what_name
from tmalab.figures.svg import Drawing
from tmalab.texts import text
from tmalab.timing.timeline import Span

LEFT, NAMES, PLOT = 16, 96, 760  # pixels: the margin, the rows' names, the time axis
LANE, GAP, HEAD, BETWEEN = 18, 6, 62, 34  # pixels: of a lane, between rows, above the rows, between two timelines
MOST, LINES = 400, 200  # spans of the drawing, lines of the table
TICKS = 6
LABEL = 14  # pixels from which on a span is named
LOOKS = ("i", "v", "y", "u", "p", "q", "x")  # by the place in WHATS
RULES = (
    "{id} .i {{ fill: var(--tma-text); }}",
    "{id} .v {{ fill: none; stroke: var(--tma-line); stroke-dasharray: 2 3; }}",
    "{id} .y {{ fill: url({id}-hatch); stroke: var(--tma-edge); }}",
    "{id} .u {{ fill: var(--tma-tint-0); stroke: var(--tma-edge); }}",
    "{id} .p {{ fill: var(--tma-tint-2); stroke: var(--tma-edge); stroke-width: 1.5; }}",
    "{id} .q {{ fill: var(--tma-tint-1); stroke: var(--tma-edge); }}",
    "{id} .x {{ fill: none; stroke: var(--tma-warning); stroke-width: 1.5; stroke-dasharray: 4 2; }}",
    "{id} g:hover > rect {{ stroke: var(--tma-text); stroke-width: 3; stroke-dasharray: none; }}",
    "{id} .a {{ stroke: var(--tma-faint); }}",
    "{id} .j {{ paint-order: stroke; stroke: var(--tma-ground); stroke-width: 3; }}",
    "{id} .mid {{ text-anchor: middle; }}",
    "{id} .end {{ text-anchor: end; }}",
)


def pipeline_svg(drawn: Sequence[Drawn]) -> str:
    """One or two timelines, on one scale; pointing at a span says what it is."""
    heights = [HEAD + sum(_height(spans) for _, spans in each.rows()) + BETWEEN for each in drawn]
    title = "; ".join(each.title for each in drawn)
    identity = "tma-" + sha1(repr([each.timeline for each in drawn]).encode()).hexdigest()[:8]
    drawing = Drawing(title, identity, LEFT + NAMES + PLOT + LEFT, sum(heights) + 60)
    drawing.rules += RULES
    longest = max(each.timeline.duration for each in drawn) or 1
    bottom = sum(heights) + 20
    drawing.text(LEFT, bottom, text("pipeline.static-hint"), "m hint")
    y, group = 0.0, 0
    for each, height in zip(drawn, heights):
        group = _timeline(drawing, each, y, PLOT / longest, bottom, group)
        y += height
    _legend(drawing, drawn, bottom + 26)
    return drawing.finish()


def pipeline_table(drawn: Sequence[Drawn]) -> str:
    """The same as text: the summary, then a span a line."""
    lines = []
    for each in drawn:
        timeline = each.timeline
        lines += [each.title, each.caption, *each.notes]
        spans = sorted((span for _, placed in each.rows() for _, span in placed), key=lambda span: span.start)
        lines += [span_words(span, timeline.source) for span in spans[:LINES]]
        if len(spans) > LINES:
            lines.append(text("pipeline.in-part", drawn=LINES, count=f"{len(spans):,}"))
    return "\n".join(lines)


def _height(spans: Sequence[tuple[int, object]]) -> int:
    return (1 + max((lane for lane, _ in spans), default=0)) * LANE + GAP


def _timeline(drawing: Drawing, each: Drawn, top: float, scale: float, bottom: float, group: int) -> int:
    """Draw one timeline from `top` down; returns the number of the next group."""
    source, rows = each.timeline.source, each.rows()
    count = sum(len(spans) for _, spans in rows)
    notes = [*each.notes]
    if count > MOST:
        notes.append(text("pipeline.in-part", drawn=MOST, count=f"{count:,}"))
    drawing.text(LEFT, top + 24, each.title, "t")
    drawing.text(LEFT, top + 44, ". ".join([each.caption, *notes]), "m")
    first = sorted(span.start for _, spans in rows for _, span in spans)[:MOST][-1]
    y = top + HEAD
    high = sum(_height(spans) for _, spans in rows)
    step = _nice(PLOT / scale / TICKS)
    for tick in range(int(PLOT / scale / step) + 1):
        x = LEFT + NAMES + tick * step * scale
        drawing.parts.append(f'<path class="a" d="M{x:g} {y:g}v{high:g}"/>')
        look = "m" if tick == 0 else "m mid" if x < LEFT + NAMES + PLOT - 20 else "m end"
        drawing.text(x, y + high + 14, time_of(tick * step, source), look)
    for row, spans in rows:
        drawing.text(LEFT, y + 13, row_name(row))
        for lane, span in spans:
            if span.start > first:
                continue
            x, width = LEFT + NAMES + span.start * scale, max(1.0, (span.end - span.start) * scale)
            look = LOOKS[WHATS.index(span.what)]
            place = f'x="{x:.1f}" y="{y + lane * LANE:.1f}" width="{width:.1f}" height="{LANE - 3}"'
            label = _label(span, x + width / 2, y + lane * LANE + 11.5) if width >= LABEL else ""
            drawing.parts.append(f'<g class="g{group}"><rect {place} class="{look}"/>{label}</g>')
            drawing.shown_with(f"g{group}", LEFT, bottom, span_words(span, source), ())
            group += 1
        y += _height(spans)
    return group


def _label(span: Span, x: float, y: float) -> str:
    """The number of the stage that a span has to do with, where its row does not say it."""
    if span.stage is None or span.row.startswith(STAGE) or span.what in ("bubble", "issue"):
        return ""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="n j">{span.stage}</text>'


def _nice(least: float) -> float:
    """A round number, no smaller than one."""
    power = 10 ** math.floor(math.log10(least))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= least)


def _legend(drawing: Drawing, drawn: Sequence[Drawn], y: float) -> None:
    """What the looks mean, of those that are there."""
    x = LEFT
    there = {span.what for each in drawn for _, spans in each.rows() for _, span in spans}
    for what, look in zip(WHATS, LOOKS):
        if what in there:
            drawing.box(x, y - 11, 24, 13, look)
            drawing.text(x + 30, y, what_name(what), "m")
            x += 46 + 7 * len(what_name(what))
