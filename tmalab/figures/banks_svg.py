"""The static forms of figure 3: an SVG with hover, and a text table.

>>> from tmalab.banks import conflicts
>>> print(access_table(conflicts([0, 16, 128], 16)))
3 lanes of 16 bytes: 2-way conflict (turns: 2)
phase 0: lanes 0 to 2
0x0000   0   1  --  --  --  --  --  --
0x0080   2  --  --  --  --  --  --  --
        S0  S1  S2  S3  S4  S5  S6  S7
turns    2   1   0   0   0   0   0   0
"""

from __future__ import annotations

from hashlib import sha1
from textwrap import wrap

from tmalab.banks import Conflicts
from tmalab.data_types import DataType, Swizzle
from tmalab.figures.banks_places import (
    COLUMNS,
    EIGHTHS,
    READ,
    ROWS,
    Drawn,
    cell_says,
    column_name,
    drawn_phases,
    lanes_named,
    lanes_short,
    phase_says,
)
from tmalab.figures.banks_words import column_says, sector_says
from tmalab.figures.svg import Drawing
from tmalab.figures.tile_words import hexadecimal, mode_name
from tmalab.swizzle import LINE, SECTOR
from tmalab.texts import text

LEFT, TOP = 16, 72  # pixels: the margin, where the grids begin
CELL, PLACE, WORD = (26, 18), (34, 14), (24, 18)  # pixels: a sector of the tile, of shared memory; a word
HEAD, HEAD_RIGHT, GAP = 34, 62, 48
LETTER = 6.6  # pixels of a letter, on the average
BAR, TALLEST = 9, 108  # pixels for each turn of a count, and for the most that are drawn


def access_table(access: Conflicts) -> str:
    """An access as text: phase by phase, the lines that it touches and who asks for what."""
    lines = [str(access)]
    for number, (phase, drawn) in enumerate(zip(access.phases, drawn_phases(access), strict=True)):
        lines.append(text("bank-figure.table-phase", phase=number, lanes=lanes_named(phase.lanes)))
        names = [column_name(column, access) for column in range(len(drawn.counts))]
        width = max(3, *map(len, names))
        for index, line in enumerate(drawn.lines):
            cells = [drawn.cells.get((index, column)) for column in range(len(names))]
            shown = [lanes_short(lanes) if lanes else "--" for lanes in cells]
            lines.append(f"{hexadecimal(line)} {' '.join(cell.rjust(width) for cell in shown)}")
        lines.append(f"       {' '.join(name.rjust(width) for name in names)}")
        lines.append(
            f"{text('bank-figure.table-turns'):6} {' '.join(str(count).rjust(width) for count in drawn.counts)}"
        )
    return "\n".join(lines)


def access_svg(access: Conflicts, phase: int) -> str:
    """One phase of an access."""
    drawn = drawn_phases(access)[phase]
    size = PLACE if access.size == SECTOR else WORD
    width = LEFT + HEAD_RIGHT + len(drawn.counts) * size[0] + LEFT
    picture = _Picture(str(access), (access, phase), width, drawn, size, LEFT, access)
    title = text("bank-figure.phase-label", phase=phase, lanes=lanes_named(access.phases[phase].lanes))
    picture.drawing.text(LEFT, 24, str(access), "t")
    picture.drawing.text(LEFT, 44, title, "m")
    for cell, lanes in drawn.cells.items():
        picture.place(cell, lanes_short(lanes), f"a{cell[0]}-{cell[1]}")
        outlines = [("o", picture.rectangle(cell))]
        picture.drawing.shown_with(
            f"a{cell[0]}-{cell[1]}", LEFT, picture.bottom, cell_says(access, drawn, cell), outlines
        )
    return picture.says(phase_says(drawn))


def column_svg(
    places: list[list[int]],
    access: Conflicts,
    column: int,
    row: int,
    grouped: bool,
    swizzle: Swizzle,
    data_type: DataType,
) -> str:
    """A column of eight rows in one layout of the tile; `places`: addresses by [row][sector]."""
    drawn = drawn_phases(access)[0]
    whole = drawn._replace(lines=tuple(range(0, ROWS * COLUMNS * SECTOR, LINE)))
    right = LEFT + HEAD + COLUMNS * CELL[0] + GAP
    width = right + HEAD_RIGHT + EIGHTHS * PLACE[0] + LEFT
    title = text("bank-figure.picture-title", name=mode_name(swizzle))
    identity = (grouped, column, row, data_type)
    picture = _Picture(title, identity, width, whole, PLACE, right, access)
    draw = picture.drawing
    wide = COLUMNS * SECTOR // data_type.size
    draw.text(LEFT, 24, text("bank-figure.tile-title", rows=ROWS, columns=wide, type=data_type.name), "t")
    draw.text(LEFT, 44, text("bank-figure.tile-caption"), "m")
    draw.text(right, 24, title, "t")
    draw.text(right, 44, text("bank-figure.grouped-note") if grouped else text("bank-figure.plain-note"), "m")
    for each in range(ROWS):
        draw.text(LEFT + HEAD - 6, TOP + each * CELL[1] + 13, str(each), "h")
    chosen = {places[row + lane][column]: lane for lane in range(READ)}
    for y in range(ROWS):
        for x in range(COLUMNS):
            address, group = places[y][x], f"b{y}-{x}"
            eighth, cell = address % LINE // SECTOR, (LEFT + HEAD + x * CELL[0], TOP + y * CELL[1], *CELL)
            draw.sector(*cell, f"S{eighth}", eighth, group)
            at = (address // LINE, eighth)
            picture.place(at, str(chosen.get(address, "")), group, address in chosen)
            words = sector_says(y, x, address, data_type)
            draw.shown_with(group, LEFT, picture.bottom, words, [("o", cell), ("o", picture.rectangle(at))])
    draw.box(LEFT + HEAD + column * CELL[0], TOP + row * CELL[1], CELL[0], READ * CELL[1], "b")
    return picture.says(column_says(column, row, drawn))


class _Picture:
    """Shared memory from `x` pixels on, and under it how often each column is asked."""

    def __init__(
        self,
        title: str,
        identity: object,
        width: float,
        drawn: Drawn,
        size: tuple[int, int],
        x: float,
        access: Conflicts,
    ):
        self.size, self.x = size, x + HEAD_RIGHT
        counts = TOP + len(drawn.lines) * size[1] + 22
        bar = min(BAR, TALLEST / drawn.ways)
        self.bottom = counts + 6 + bar * drawn.ways + 34
        name = "tma-" + sha1(repr((title, identity, access)).encode()).hexdigest()[:8]
        self.drawing = draw = Drawing(title, name, max(width, 520), self.bottom + 62)
        for index, line in enumerate(drawn.lines):
            draw.text(self.x - 6, TOP + index * size[1] + size[1] - 4, hexadecimal(line), "h")
        draw.lines(self.x, TOP, *size, len(drawn.counts), len(drawn.lines))
        draw.text(self.x - 6, counts, text("bank-figure.table-turns"), "h")
        for column, count in enumerate(drawn.counts):
            left = self.x + column * size[0]
            draw.text(left + size[0] / 2, TOP - 6, column_name(column, access), "n")
            draw.text(left + size[0] / 2, counts, str(count), "n")
            if count:
                draw.box(left + 6, counts + 6, size[0] - 12, bar * count, "b" if count == drawn.ways > 1 else "r")

    def rectangle(self, cell: tuple[int, int]) -> tuple[float, float, float, float]:
        """Pixels of (line's index, column)."""
        return self.x + cell[1] * self.size[0], TOP + cell[0] * self.size[1], *self.size

    def says(self, words: str) -> str:
        """The drawing, with a sentence for as long as nothing is pointed at."""
        for at, line in enumerate(wrap(words, int((self.drawing.width - 2 * LEFT) / LETTER))):
            self.drawing.text(LEFT, self.bottom + 18 * at, line, "hint")
        return self.drawing.finish()

    def place(self, cell: tuple[int, int], name: str, group: str, asked: bool = True) -> None:
        """A cell with the lanes that ask for it; one that nobody asks for can be pointed at all the same."""
        if asked:
            self.drawing.sector(*self.rectangle(cell), name, cell[1], group)
        else:
            self.drawing.blank(*self.rectangle(cell), group)
