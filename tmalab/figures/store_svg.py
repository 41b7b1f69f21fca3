"""The static forms of figure 5: buffers and a list of events, and a text table.

>>> from tmalab.figures.store_frames import frames_of, ring_of_two
>>> print(store_table("thread 0", ["ring[0]", "ring[1]"], frames_of(*ring_of_two())[5:8], []))
Stores of thread 0: 3 events; buffers: ring[0], ring[1]
1  ring[0] read, ring[1] busy  the store of ring[0] has read its source
2  ring[0] free, ring[1] busy  thread 0 goes on after wait_group.read(1)
3  ring[0] open, ring[1] busy  thread 0 issues the store of ring[0], 1,024 bytes
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tmalab.figures.events_svg import LEFT, TABLE_LINES, TOP, events_svg, events_table
from tmalab.figures.store_frames import Frame
from tmalab.figures.svg import Drawing
from tmalab.texts import text

WIDTH, ROW, BOX = 400, 46, 92  # pixels: the picture, the height of a buffer's row, a buffer's box
HATCHED = ("open", "busy")


def store_svg(name: str, buffers: Sequence[str], frames: Sequence[Frame], step: int, notes: Sequence[str]) -> str:
    """The events around `step`; pointing at one shows the buffers after it."""
    return events_svg(
        text("stores.title", name=name),
        notes,
        [(text("stores.head-who"), 150), (text("stores.head-does"), 330)],
        [(frame.who, frame.did) for frame in frames],
        [frame.says for frame in frames],
        step,
        lambda drawing, number: _buffers(drawing, buffers, frames[number]),
        (WIDTH, ROW * len(buffers) + 20),
    )


def store_table(name: str, buffers: Sequence[str], frames: Sequence[Frame], notes: Sequence[str]) -> str:
    """The same as text, an event a line."""
    title = text("stores.table", name=name, count=f"{len(frames):,}", buffers=", ".join(buffers))
    states = [
        ", ".join(text("stores.table-buffer", name=each, state=state) for each, state in zip(buffers, frame.buffers))
        for frame in frames[:TABLE_LINES]
    ]
    return events_table(title, states, frames, notes)


def _buffers(drawing: Drawing, buffers: Sequence[str], frame: Frame) -> str:
    parts = []
    for at, (name, state) in enumerate(zip(buffers, frame.buffers)):
        y = TOP + at * ROW
        box = f'<rect x="{LEFT}" y="{y}" width="{BOX}" height="32" class='
        parts.append(f'{box}"r"/>')
        if state in HATCHED:
            parts.append(f'{box}"f"/>')
        if state == "read":
            parts.append(f'{box}"w"/>')
        parts.append(f'<text x="{LEFT + BOX + 10}" y="{y + 13}">{escape(name)}</text>')
        parts.append(f'<text x="{LEFT + BOX + 10}" y="{y + 29}" class="m">{text(f"stores.{state}")}</text>')
    return "".join(parts)
