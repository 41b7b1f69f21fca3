"""Spans of a timeline that are drawn as one: what several warps do alike, and what one does in several steps.

Four warps that wait for the same stage are one wait, from the first that begins to the last that goes on; the wgmmas
of a stage are one computation; the copies into a stage fill it together. Gaps stay gaps, and each copy of the copy
engine and each store of a tile stays one.

>>> spans = [Span("tensor core", "compute", start, start + 30, stage=0, line=9) for start in (0, 30, 60, 120)]
>>> [(span.start, span.end) for span in together(Timeline.of(spans, "model")).spans]
[(0, 90), (120, 150)]
"""

from __future__ import annotations

from dataclasses import replace

from tmalab.timing.timeline import SLACK, Span, Timeline

APART = ("copy engine", "producer")  # rows whose spans stay as they are


def together(timeline: Timeline) -> Timeline:
    """The timeline with the spans of a row, a stage and a line as one where they overlap or touch."""
    last: dict[tuple, int] = {}  # the place of the newest such span
    made: list[Span] = []
    for span in timeline.spans:
        alike = None if span.what == "copy in flight" else span.line, span.copy if span.what == "store" else None
        key = span.row, span.what, span.cta, span.stage, *alike
        at = last.get(key)
        if span.row not in APART and at is not None and span.start <= made[at].end + SLACK:
            made[at] = replace(made[at], end=max(made[at].end, span.end))
        else:
            last[key] = len(made)
            made.append(span)
    return replace(timeline, spans=tuple(made))
