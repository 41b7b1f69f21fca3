"""The static forms of figure 7: the cluster and a list of events, and a text table.

>>> from tmalab.figures.multicast_example import example_frames
>>> print(multicast_table("example", example_frames(0b0011, 0b0011)[:3], []))
example: 3 events; a CTA's phase, pending, tx and landed bytes
1  0 1 0 0     | 0 1 0 0     | 0 1 0 0 | 0 1 0 0  CTA 0, 1, 2, 3 initialise a barrier for one arrival each
2  0 0 1,024 0 | 0 0 1,024 0 | 0 1 0 0 | 0 1 0 0  CTA 0, 1 arrive and promise 1,024 bytes each
3  0 0 1,024 0 | 0 0 1,024 0 | 0 1 0 0 | 0 1 0 0  CTA 0 issues one load with mask 0b0011
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tmalab.figures.events_svg import LEFT, TABLE_LINES, TOP, events_svg, events_table
from tmalab.figures.multicast_frames import CtaState, Frame
from tmalab.figures.svg import Drawing
from tmalab.texts import text

CARD, GAP, ROOT, BAR = 104, 10, 44, 8  # pixels: a CTA's width, between two, the height above them; lines of a tile


def multicast_svg(
    name: str, frames: Sequence[Frame], step: int, notes: Sequence[str], mask: int, bytes: int, ctas: int, issuer: int
) -> str:
    """The events around `step`; pointing at one shows the cluster after it."""
    heads = [("multicast.head-who", 150), ("multicast.head-does", 400)]
    return events_svg(
        name,
        notes,
        [(text(key), width) for key, width in heads],
        [(frame.who, frame.did) for frame in frames],
        [frame.says for frame in frames],
        step,
        lambda drawing, number: _cluster(drawing, frames[number], mask, bytes, issuer),
        (ctas * (CARD + GAP) + 24, ROOT + 200),
    )


def multicast_table(name: str, frames: Sequence[Frame], notes: Sequence[str]) -> str:
    """The same as text, an event a line."""
    title = text("multicast.table", name=name, count=f"{len(frames):,}")
    columns = [[_numbers(state) for state in frame.ctas] for frame in frames[:TABLE_LINES]]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    rows = [" | ".join(state.ljust(width) for state, width in zip(row, widths, strict=True)) for row in columns]
    return events_table(title, rows, frames, notes)


def _numbers(state: CtaState) -> str:
    return f"{state.phase} {state.pending} {state.tx:,} {state.landed:,}"


def _cluster(drawing: Drawing, frame: Frame, mask: int, bytes: int, issuer: int) -> str:
    if not drawing.rules:
        drawing.rules += RULES
    count = len(frame.ctas)
    middle = LEFT + (count * (CARD + GAP) - GAP) / 2
    parts = [f'<text x="{middle:g}" y="{TOP + 4}" class="mid">{escape(text("multicast.source"))}</text>']
    for rank, state in enumerate(frame.ctas):
        x, y = LEFT + rank * (CARD + GAP), TOP + ROOT
        if mask >> rank & 1:
            parts.append(f'<path class="way" d="M{middle:g} {TOP + 10}V{TOP + 22}H{x + CARD / 2:g}V{y}"/>')
        parts.append(_card(x, y, rank, state, mask, bytes, rank == issuer))
    return "".join(parts)


def _card(x: float, y: float, rank: int, state: CtaState, mask: int, bytes: int, issues: bool) -> str:
    masked = mask >> rank & 1
    filled = round(BAR * state.landed / bytes)
    title = text("multicast.issuer" if issues else "multicast.cta", rank=rank)
    below = text("multicast.landed", landed=f"{state.landed:,}")
    words = [
        text("multicast.masked" if masked else "multicast.unmasked", rank=rank),
        below if masked else text("multicast.nothing-comes"),
        text("multicast.phase", phase=state.phase),
        text("multicast.pending", pending=state.pending),
        text("multicast.tx", tx=f"{state.tx:,}"),
    ]
    if state.waiting:
        words.append(text("multicast.waiting", count=state.waiting))
    rows = "".join(
        _rect(x + 8, y + 44 + 7 * row, CARD - 16, 6, "came" if row < filled else "gone")
        for row in range(BAR if masked else 0)
    )
    lines = [(y + 18, title, "bold"), (y + 34, words[0], "m")]
    lines += [(y + 46 + 7 * BAR + 16 * (at + 1), line, "m") for at, line in enumerate(words[1:])]
    said = "".join(f'<text x="{x + 8:g}" y="{at:g}" class="{look}">{escape(line)}</text>' for at, line, look in lines)
    return f"{_rect(x, y, CARD, 190, 'card' if masked else 'card out')}{rows}{said}"


def _rect(x: float, y: float, width: float, height: float, look: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{look}"/>'


RULES = (
    "{id} .card {{ fill: none; stroke: var(--tma-edge); }}",
    "{id} .out {{ stroke-dasharray: 3 3; }}",
    "{id} .way {{ fill: none; stroke: var(--tma-accent); stroke-width: 2; }}",
    "{id} .came {{ fill: var(--tma-accent); stroke: var(--tma-accent); }}",
    "{id} .gone {{ fill: none; stroke: var(--tma-line); }}",
    "{id} .mid {{ text-anchor: middle; }}",
    "{id} .bold {{ font-weight: 600; }}",
)
