"""The static forms of figure 4: a dial and a list of events, and a text table.

>>> from tmalab.figures.mbarrier_frames import frames_of, two_loads
>>> print(mbarrier_table("full", frames_of(*two_loads()), []))
mbarrier full: 8 events
1  phase 0, pending 1 of 1, tx 0      thread 0 initialises it: a phase needs 1 arrival
2  phase 0, pending 0 of 1, tx 4,096  thread 0 promises 4,096 bytes and arrives
3  phase 0, pending 0 of 1, tx 4,096  thread 0 issues the load of a, 2,048 bytes
4  phase 0, pending 0 of 1, tx 4,096  thread 0 issues the load of b, 2,048 bytes
5  phase 0, pending 0 of 1, tx 4,096  threads 0 to 127 wait for phase 0
6  phase 0, pending 0 of 1, tx 2,048  the load of a lands 2,048 bytes
7  phase 1, pending 1 of 1, tx 0      the load of b lands 2,048 bytes
8  phase 1, pending 1 of 1, tx 0      threads 0 to 127 know that phase 0 is complete, and go on
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab.figures.events_svg import LEFT, TABLE_LINES, TOP, events_svg, events_table
from tmalab.figures.mbarrier_frames import Frame
from tmalab.figures.svg import Drawing
from tmalab.texts import text

WIDTH = 280  # pixels of the dial and its numbers
DIAL, OUTER, INNER = 190, 84, 64  # pixels: its size, the rings' radii


def mbarrier_svg(name: str, frames: Sequence[Frame], step: int, notes: Sequence[str]) -> str:
    """The events around `step`; pointing at one shows the dial after it."""
    heads = [("clock.head-who", 210), ("clock.head-does", 290), ("clock.head-pending", 66), ("clock.head-tx", 54)]
    rows = [(frame.who, frame.did, str(frame.state.pending), f"{frame.state.tx:,}") for frame in frames]
    return events_svg(
        text("clock.title", name=name),
        notes,
        [(text(key), width) for key, width in heads],
        rows,
        [frame.says for frame in frames],
        step,
        lambda drawing, number: _dial(drawing, frames[number]),
        (WIDTH, DIAL + 50),
    )


def mbarrier_table(name: str, frames: Sequence[Frame], notes: Sequence[str]) -> str:
    """The same as text, an event a line."""
    title = text("clock.table", name=name, count=f"{len(frames):,}")
    states = [
        text(
            "clock.table-state",
            phase=frame.state.phase,
            pending=frame.state.pending,
            expected=frame.state.expected,
            tx=f"{frame.state.tx:,}",
        )
        for frame in frames[:TABLE_LINES]
    ]
    return events_table(title, states, frames, notes)


def _dial(drawing: Drawing, frame: Frame) -> str:
    if not drawing.rules:
        drawing.rules += RULES
    state = frame.state
    x, y = LEFT + WIDTH / 2 - 24, TOP + DIAL / 2
    whole = max(state.promised, state.delivered) or 1
    parts = [_ring(OUTER, "ring", 1), _ring(OUTER, "late", state.promised / whole)]
    parts += [_ring(OUTER, "came", state.delivered / whole), _ring(INNER, "ring", 1)]
    parts.append(_ring(INNER, "made", (state.expected - state.pending) / (state.expected or 1)))
    words = [text("clock.phase", phase=state.phase), text("clock.parity", parity=state.phase % 2)]
    if frame.completes:
        words.append(text("clock.complete", before=state.phase - 1))
    parts += [f'<text y="{-8 + 20 * at}" class="mid">{line}</text>' for at, line in enumerate(words)]
    numbers = [
        f"{text('clock.arrivals')}: {_arrivals(frame)}",
        f"{text('clock.bytes')}: {_bytes(frame)}",
    ]
    below = "".join(
        f'<text x="{LEFT}" y="{y + DIAL / 2 + 20 + 18 * at}">{line}</text>' for at, line in enumerate(numbers)
    )
    return f'<g transform="translate({x:g} {y:g})">{"".join(parts)}</g>{below}'


RULES = (
    "{id} circle {{ fill: none; }}",
    "{id} .ring {{ stroke: var(--tma-line); }}",
    "{id} .late {{ stroke: var(--tma-edge); stroke-width: 4; }}",
    "{id} .came {{ stroke: var(--tma-accent); stroke-width: 12; }}",
    "{id} .made {{ stroke: var(--tma-text); stroke-width: 12; }}",
    "{id} .mid {{ text-anchor: middle; }}",
)


def _arrivals(frame: Frame) -> str:
    state = frame.state
    arrived = state.expected - state.pending
    return text("clock.arrived", arrived=arrived, expected=state.expected, pending=state.pending)


def _bytes(frame: Frame) -> str:
    state = frame.state
    values = {"promised": f"{state.promised:,}", "delivered": f"{state.delivered:,}", "tx": f"{state.tx:,}"}
    return text("clock.landed" if state.promised or state.delivered else "clock.no-bytes", **values)


def _ring(radius: int, look: str, share: float) -> str:
    if share <= 0:
        return ""
    return (
        f'<circle r="{radius}" class="{look}" pathLength="1" stroke-dasharray="{share:g} 1" transform="rotate(-90)"/>'
    )
