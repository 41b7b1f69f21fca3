"""Timeline: when each part of a kernel was busy, predicted by the model or measured on a GPU, as plain data.

A row is a part of the machine or a role of threads; a span is something that it did for a while. Where data are late
the row that computes has nothing to do: that gap is a bubble.

>>> spans = [Span("tensor core", "compute", 0, 100), Span("tensor core", "compute", 160, 260)]
>>> [(bubble.start, bubble.end) for bubble in Timeline.of(spans, "model").bubbles()]
[(100, 160)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from tmalab.texts import text

SOURCES = ("model", "measured")
WHATS = ("issue", "wait", "copy in flight", "full", "compute", "store", "bubble")
WORKING = (("tensor core", "compute"), ("consumer", "compute"), ("copy engine", "copy in flight"))  # by what is scarce
FIRST, LAST = ("producer", "copy engine"), ("tensor core", "consumer", "epilogue")  # rows around those of the stages
SLACK = 1e-6  # ns: what two sums of the same times may differ by


@dataclass(frozen=True)
class Span:
    """Something that a row did for a while.

    row         "producer", "copy engine", "stage 0" and so on, "tensor core", "consumer" or "epilogue"
    what        "issue", "wait", "copy in flight", "full" (a stage holds data), "compute", "store" or "bubble"
    start, end  nanoseconds since the launch
    cta         number of the CTA in the grid
    thread      number of the thread in the CTA, or None
    copy        number of the copy in the run, or 0
    stage       number of the stage, or None
    line        the learner's line, or None
    """

    row: str
    what: str
    start: float
    end: float
    cta: int = 0
    thread: int | None = None
    copy: int = 0
    stage: int | None = None
    line: int | None = None

    @property
    def duration(self) -> float:
        """Nanoseconds."""
        return self.end - self.start


@dataclass(frozen=True)
class Timeline:
    """Spans of a run.

    spans     in the order of their start
    rows      the rows' names, from top to bottom
    duration  of the run, in nanoseconds
    source    "model" or "measured"
    notes     sentences that have to be read with it: what was left out, or is not known
    """

    spans: tuple[Span, ...]
    rows: tuple[str, ...]
    duration: float
    source: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, spans: Iterable[Span], source: str, duration: float | None = None, notes: Iterable[str] = ()
    ) -> Timeline:
        """A timeline of spans in any order; it ends with the last of them unless `duration` (ns) is given."""
        ordered = tuple(sorted(spans, key=lambda span: (span.start, span.end)))
        end = max((span.end for span in ordered), default=0.0)
        return cls(ordered, rows_of(ordered), end if duration is None else duration, source, tuple(notes))

    def of_cta(self, cta: int) -> Timeline:
        """What one CTA did."""
        spans = tuple(span for span in self.spans if span.cta == cta)
        return Timeline(spans, rows_of(spans), self.duration, self.source, self.notes)

    @property
    def ctas(self) -> tuple[int, ...]:
        """The numbers of the CTAs that it shows."""
        return tuple(sorted({span.cta for span in self.spans}))

    def working(self) -> list[Span]:
        """The spans of useful work: the tensor core's; where there is none, of threads; else copies."""
        for row, what in WORKING:
            if found := [span for span in self.spans if (span.row, span.what) == (row, what)]:
                return found
        return []

    def bubbles(self) -> list[Span]:
        """The gaps in each CTA's useful work, from its first span to its last."""
        working = self.working()
        found = []
        for cta in sorted({span.cta for span in working}):
            found += _gaps([span for span in working if span.cta == cta])
        return sorted(found, key=lambda span: span.start)

    def busy(self, row: str, cta: int | None = None) -> float:
        """For how long (ns) a row did anything but wait; of one CTA, or of all together."""
        ctas = self.ctas if cta is None else (cta,)
        spans = [span for span in self.spans if span.row == row and span.what not in ("wait", "bubble")]
        return sum(_covered([span for span in spans if span.cta == number]) for number in ctas)

    def summary(self) -> str:
        """In words: how long it took, for which share of that each row was busy, and what was lost in bubbles."""
        lines = [text(f"timing.took-{self.source}", duration=nanoseconds(self.duration))]
        of_all = self.duration * max(1, len(self.ctas))
        for row in self.rows if of_all else ():
            lines.append(text("timing.busy", row=row, share=round(100 * self.busy(row) / of_all)))
        if bubbles := self.bubbles():
            lost = sum(bubble.duration for bubble in bubbles)
            longest = max(bubble.duration for bubble in bubbles)
            times = {"lost": nanoseconds(lost), "longest": nanoseconds(longest)}
            lines.append(text("timing.bubbles", count=len(bubbles), row=bubbles[0].row, **times))
        return "\n".join([*lines, *self.notes])

    # As data.

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; `from_dict` is the inverse."""
        spans = [asdict(span) for span in self.spans]
        lists = {"rows": list(self.rows), "notes": list(self.notes), "spans": spans}
        return {"source": self.source, "duration": self.duration, **lists}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Timeline:
        """The timeline of such data; ValueError in one sentence where it is none."""
        if missing := [field.name for field in fields(cls) if field.name not in data and field.name != "notes"]:
            raise ValueError(text("timing.not-a-timeline", missing=", ".join(missing)))
        if data["source"] not in SOURCES:
            raise ValueError(text("timing.source", given=data["source"], known=", ".join(SOURCES)))
        try:
            spans = tuple(Span(**span) for span in data["spans"])
        except TypeError as error:
            raise ValueError(text("timing.not-a-span", reason=error)) from None
        for span in spans:
            if span.what not in WHATS or span.end < span.start:
                raise ValueError(text("timing.odd-span", span=span, known=", ".join(WHATS)))
        return cls(spans, tuple(data["rows"]), data["duration"], data["source"], tuple(data.get("notes", ())))

    def to_perfetto(self) -> dict[str, Any]:
        """The trace event format that ui.perfetto.dev and chrome://tracing open: `json.dump` it to a file.

        A process is a CTA, a thread a row; times are microseconds. Spans of a row that overlap, as copies in flight
        do, are spread over several threads of that name.
        """
        events: list[dict[str, Any]] = []
        for cta in self.ctas:
            events.append(_named("process_name", f"CTA {cta}", cta, 0))
            number = 0
            for row in self.rows:
                for lane in lanes(span for span in self.spans if (span.cta, span.row) == (cta, row)):
                    number += 1
                    events.append(_named("thread_name", row, cta, number))
                    events.append(_named("thread_sort_index", number, cta, number))
                    events += [_event(span, number) for span in lane]
        other = {"source": self.source, "notes": list(self.notes)}
        return {"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}


def rows_of(spans: Iterable[Span]) -> tuple[str, ...]:
    """The rows that spans name, from top to bottom: who loads, the stages by their number, who computes and stores."""

    def place(row: str) -> tuple[int, int, str]:
        if row in FIRST:
            return 0, FIRST.index(row), row
        if row in LAST:
            return 2, LAST.index(row), row
        digits = "".join(filter(str.isdigit, row))
        return 1, int(digits) if digits else 0, row

    return tuple(sorted({span.row for span in spans}, key=place))


def lanes(spans: Iterable[Span]) -> list[list[Span]]:
    """Spans in as few lists as they take so that in none of them two overlap; in the order of their start."""
    made: list[list[Span]] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        lane = next((lane for lane in made if lane[-1].end <= span.start + SLACK), None)
        if lane is None:
            made.append([span])
        else:
            lane.append(span)
    return made


def nanoseconds(duration: float) -> str:
    """A duration for people: `840 ns`, `12.3 µs`, `1.52 ms`."""
    for size, unit in ((1e6, "ms"), (1e3, "µs")):
        if duration >= size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration:.3g} ns"


def _gaps(spans: list[Span]) -> list[Span]:
    """Bubbles between spans of one CTA, which are in the order of their start."""
    found, reached = [], spans[0].end
    for span in spans[1:]:
        if span.start > reached + SLACK:
            found.append(Span(span.row, "bubble", reached, span.start, span.cta, stage=span.stage, line=span.line))
        reached = max(reached, span.end)
    return found


def _covered(spans: list[Span]) -> float:
    """For how long at least one of the spans, which are in the order of their start, is under way."""
    covered, reached = 0.0, float("-inf")
    for span in spans:
        covered += max(0.0, span.end - max(span.start, reached))
        reached = max(reached, span.end)
    return covered


def _named(kind: str, value: str | int, cta: int, number: int) -> dict[str, Any]:
    key = "sort_index" if kind == "thread_sort_index" else "name"
    return {"name": kind, "ph": "M", "pid": cta, "tid": number, "args": {key: value}}


def _event(span: Span, number: int) -> dict[str, Any]:
    found = {"thread": span.thread, "copy": span.copy or None, "stage": span.stage, "line": span.line}
    args = {name: value for name, value in found.items() if value is not None}
    name = span.what if span.stage is None else f"{span.what} {span.stage}"
    times = {"ts": span.start / 1e3, "dur": span.duration / 1e3}
    return {"name": name, "cat": span.row, "ph": "X", **times, "pid": span.cta, "tid": number, "args": args}
