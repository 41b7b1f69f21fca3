"""The static form of figures that walk through events: a list on the right, and what each event leaves on the left.

The pointer on a line of the list shows that event's picture and sentence; without a pointer it is the chosen one's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha1
from html import escape
from textwrap import wrap
from typing import Any

from tmalab.figures.svg import Drawing
from tmalab.figures.words import at_line
from tmalab.texts import text

LINES, LINE = 16, 22  # lines of the list, and the height of one in pixels
TOP, LEFT = 72, 16  # pixels
LETTER = 6.4  # pixels of a letter, on the average
TABLE_LINES = 400  # of the text table


def events_svg(
    title: str,
    notes: Sequence[str],
    heads: Sequence[tuple[str, int]],
    rows: Sequence[Sequence[str]],
    says: Sequence[str],
    shown: int,
    picture: Callable[[Drawing, int], str],
    size: tuple[int, int],
) -> str:
    """`heads`: words and width (pixels) of each column; `picture` gives the markup for an event, of `size` (pixels)."""
    width, height = size
    first = min(max(0, shown - LINES // 2), max(0, len(rows) - LINES))
    window = range(first, min(first + LINES, len(rows)))
    whole = LEFT + width + sum(each for _, each in heads) + LEFT
    bottom = TOP + max(len(window) * LINE, height) + 26
    identity = "tma-" + sha1(repr((title, rows, shown)).encode()).hexdigest()[:8]
    drawing = Drawing(title, identity, whole, bottom + 76)
    drawing.text(LEFT, 24, title, "t")
    said = [*notes]
    if len(window) < len(rows):
        said.append(text("steps.in-part", drawn=len(window), count=f"{len(rows):,}"))
    drawing.text(LEFT, 44, " ".join(said) or text("steps.static-hint"), "m")
    x = LEFT + width
    for words, each in heads:
        drawing.text(x, TOP - 8, words, "m")
        x += each
    for number in window:
        _line(drawing, number, [each for _, each in heads], rows[number], TOP + (number - first) * LINE, LEFT + width)
    for number in window:
        lines = wrap(says[number], int((whole - 2 * LEFT) / LETTER))
        sentence = "".join(
            f'<text x="{LEFT}" y="{bottom + 18 * at}">{escape(line)}</text>' for at, line in enumerate(lines)
        )
        mark = f'<text x="{LEFT + width - 20}" y="{TOP + (number - first) * LINE + 15}">▶</text>'
        drawn = f"{picture(drawing, number)}{mark}{sentence}"
        drawing.when(f"e{number}", drawn, at_rest=number == shown)
    return drawing.finish()


def events_table(title: str, states: Sequence[str], frames: Sequence[Any], notes: Sequence[str]) -> str:
    """The same as text, an event a line. `states`: in words what each of the first TABLE_LINES frames leaves."""
    lines = [title]
    number, width = len(str(len(states))), max(map(len, states))
    for at, (frame, state) in enumerate(zip(frames, states)):
        lines.append(f"{at + 1:{number}}  {state:{width}}  {frame.who} {at_line(frame.did, frame.line)}")
    if len(frames) > TABLE_LINES:
        lines.append(text("steps.in-part", drawn=TABLE_LINES, count=f"{len(frames):,}"))
    return "\n".join([*lines, *notes])


def _line(drawing: Drawing, number: int, widths: Sequence[int], cells: Sequence[str], y: float, x: float) -> None:
    inside = f'<rect x="{x - 6:g}" y="{y:g}" width="{sum(widths)}" height="{LINE}" class="l"/>'
    for width, cell in zip(widths, cells, strict=True):
        most = max(1, int((width - 8) / LETTER))
        words = cell if len(cell) <= most else f"{cell[: most - 1]}…"
        inside += f'<text x="{x:g}" y="{y + 15:g}">{escape(words)}</text>'
        x += width
    drawing.parts.append(f'<g class="e{number}">{inside}</g>')
