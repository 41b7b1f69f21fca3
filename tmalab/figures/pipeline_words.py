"""The sentences of figure 6: what each row of a timeline does at a moment, and what the timeline as a whole says.

>>> from tmalab.figures.pipeline_example import example
>>> time_of(1234.5, "model"), time_of(12, "steps")
('1.23 µs', 'event 12')
>>> state_at(example(2), "copy engine", 100)
'2 × copy in flight'
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tmalab.texts import text
from tmalab.timing.timeline import WHATS, Span, Timeline, lanes

STEPS = "steps"
STAGE = "stage "
ROWS = {
    "producer": "pipeline.row-producer",
    "copy engine": "pipeline.row-copy-engine",
    "tensor core": "pipeline.row-tensor-core",
    "consumer": "pipeline.row-consumer",
    "epilogue": "pipeline.row-epilogue",
}
MOST_LANES = 6  # that a row is high; more share them


@dataclass
class Drawn:
    """A timeline as it is drawn: its name, and what is to be said of it."""

    name: str
    timeline: Timeline
    notes: list[str] = field(default_factory=list)
    invented: bool = False  # an example

    @property
    def title(self) -> str:
        """The name, and what its times are."""
        return text(f"pipeline.title-{'example' if self.invented else self.timeline.source}", name=self.name)

    @property
    def caption(self) -> str:
        """How long, and how much of it was lost."""
        timeline = self.timeline
        if timeline.source == STEPS:
            return text("pipeline.caption-steps", count=f"{timeline.duration:,.0f}")
        bubbles, working = bubbles_of(timeline), timeline.working()
        values = {"duration": time_of(timeline.duration, timeline.source)}
        if not working:
            return values["duration"]
        values["row"] = row_name(working[0].row)
        if not bubbles:
            return text("pipeline.caption-none", **values)
        lost = sum(bubble.duration for bubble in bubbles)
        span = max(s.end for s in working) - min(s.start for s in working)
        times = {"lost": time_of(lost, timeline.source), "span": time_of(span, timeline.source)}
        return text("pipeline.caption", count=len(bubbles), **times, **values)

    def rows(self) -> list[tuple[str, list[tuple[int, Span]]]]:
        """Of each row its name, and its spans with the lane that each lies in."""
        every = [*self.timeline.spans, *bubbles_of(self.timeline)]
        found = []
        for row in self.timeline.rows:
            mine = lanes(span for span in every if span.row == row)
            placed = [(number % MOST_LANES, span) for number, lane in enumerate(mine) for span in lane]
            found.append((row, sorted(placed, key=lambda pair: pair[1].start)))
        return found

    def plain(self) -> dict[str, object]:
        """What the browser needs, as plain data."""
        rows = [
            {
                "name": row_name(row),
                "stage": row.startswith(STAGE),
                "number": int(row.removeprefix(STAGE)) if row.startswith(STAGE) else None,
                "lanes": 1 + max((lane for lane, _ in spans), default=0),
                "spans": [[lane, WHATS.index(s.what), s.start, s.end, s.stage, s.line] for lane, s in spans],
            }
            for row, spans in self.rows()
        ]
        timeline = self.timeline
        head = {"name": self.name, "title": self.title, "caption": self.caption, "notes": self.notes}
        return {**head, "source": timeline.source, "duration": timeline.duration, "rows": rows}


def bubbles_of(timeline: Timeline) -> list[Span]:
    """The gaps that are drawn: not those that the timeline has itself, and none where the axis is no time."""
    has = any(span.what == "bubble" for span in timeline.spans)
    return [] if has or timeline.source == STEPS else timeline.bubbles()


def time_of(time: float, source: str) -> str:
    """A moment or a duration, as it is read."""
    if source == STEPS:
        return text("pipeline.time-steps", value=f"{time:,.0f}")
    for size, unit in ((1e6, "ms"), (1e3, "us")):
        if time >= size:
            return text(f"pipeline.time-{unit}", value=_short(time / size))
    return text("pipeline.time-ns", value=_short(time))


def _short(value: float) -> str:
    """Three significant digits, or all before the point."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    short = f"{value:.{digits}f}"
    return short.rstrip("0").rstrip(".") if "." in short else short


def row_name(row: str) -> str:
    """What a row is called."""
    if row.startswith(STAGE):
        return text("pipeline.row-stage", number=row.removeprefix(STAGE))
    return text(ROWS[row]) if row in ROWS else row


def what_name(what: str) -> str:
    """What a span is."""
    return text(f"pipeline.what-{what.replace(' ', '-')}")


def span_words(span: Span, source: str) -> str:
    """A span in words."""
    times = {"start": time_of(span.start, source), "end": time_of(span.end, source)}
    values = {"row": row_name(span.row), "what": what_name(span.what), **times}
    return (
        text("pipeline.span", **values) if span.line is None else text("pipeline.span-line", line=span.line, **values)
    )


def state_at(timeline: Timeline, row: str, time: float) -> str:
    """What a row does at a moment."""
    mine = [span for span in (*timeline.spans, *bubbles_of(timeline)) if span.row == row]
    now = [span for span in mine if span.start <= time < span.end]
    parts, stage = [], row.startswith(STAGE)
    for what in WHATS:
        some = [span for span in now if span.what == what and not (stage and what == "copy in flight")]
        if len(some) == 1 and some[0].line is not None:
            parts.append(text("pipeline.with-line", what=what_name(what), line=some[0].line))
        elif some:
            name = what_name(what)
            parts.append(name if len(some) == 1 else text("pipeline.several", count=len(some), what=name))
    if not stage:
        return ", ".join(parts) or text("pipeline.idle")
    number = int(row.removeprefix(STAGE))
    coming = any(s.what == "copy in flight" and s.stage == number and s.start <= time < s.end for s in timeline.spans)
    parts += [text("pipeline.filling")] if coming else []
    state = ", ".join(parts) or text("pipeline.empty")
    full = [span for span in mine if span.what == "full"]
    phases = {"full": sum(s.start <= time for s in full), "empty": sum(s.end <= time for s in full)}
    return text("pipeline.full-phases", state=state, **phases)


def sentence_at(timeline: Timeline, time: float, name: str = "") -> str:
    """What all rows do at a moment; `name`: of which of several runs."""
    states = (f"{row_name(row)} {state_at(timeline, row, time)}" for row in timeline.rows)
    values = {"time": time_of(time, timeline.source), "states": "; ".join(states)}
    return text("pipeline.at-run", name=name, **values) if name else text("pipeline.at", **values)


WORDS = (  # the sentences that the browser fills in
    "pipeline.figure",
    "pipeline.stages",
    "pipeline.slider",
    "pipeline.at",
    "pipeline.at-run",
    "pipeline.several",
    "pipeline.with-line",
    "pipeline.idle",
    "pipeline.empty",
    "pipeline.filling",
    "pipeline.full-phases",
    "pipeline.time-ns",
    "pipeline.time-us",
    "pipeline.time-ms",
    "pipeline.time-steps",
    "pipeline.closer",
    "pipeline.wider",
    "pipeline.back",
    "pipeline.forward",
    "pipeline.hint",
    "pipeline.what-issue",
    "pipeline.what-wait",
    "pipeline.what-copy-in-flight",
    "pipeline.what-full",
    "pipeline.what-compute",
    "pipeline.what-store",
    "pipeline.what-bubble",
)
