"""The static forms of figure 1: an SVG with hover, and a text table.

>>> from tmalab import TensorMap
>>> from tmalab.figures.tile_places import modes_of
>>> tm = TensorMap(6, 0x1000, (128, 16), (256,), (64, 2), swizzle=3)
>>> print(tile_table(tm, modes_of(tm)[3], Places.of(tm), (64, 15)))
Tile of 2x64 FLOAT16 at x = 64, y = 15 of a tensor of 16x128, SWIZZLE_128B
256 bytes in shared memory from 0x0000; each cell: row.sector of the tile, 16 bytes
0x0000    0.0    0.1    0.2    0.3    0.4    0.5    0.6    0.7
0x0080  (1.1)  (1.0)  (1.3)  (1.2)  (1.5)  (1.4)  (1.7)  (1.6)
(3.5): outside the tensor, at least in part; arrives as zeros
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from textwrap import wrap

from tmalab.figures.shared_svg import HEAD as HEAD_SHARED
from tmalab.figures.shared_svg import LETTERS, TOP, SharedSide
from tmalab.figures.svg import Drawing
from tmalab.figures.tile_places import Mode, Places
from tmalab.figures.tile_words import (
    destination,
    fill_name,
    hexadecimal,
    mode_name,
    notes,
    outside,
    places_table,
    position,
    source,
)
from tmalab.swizzle import LINE, SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

ROWS, SECTORS, LINES = 24, 20, 32  # at most so much of the tensor and of shared memory is drawn
LEFT, GAP = 16, 40  # pixels: the margin, between the two sides
CELL, PLACE = (26, 20), (38, 26)  # pixels: a sector of the tensor, and of shared memory
HEAD = 34  # pixels: row headings


def tile_svg(
    tensor_map: TensorMap,
    mode: Mode,
    places: Places | None,
    coordinates: Sequence[int],
    selected: Sequence[int] | None = None,
) -> str:
    """A map's tile in one swizzle mode; `places` is None where the rules refuse it, and the drawing says why."""
    return _Picture(tensor_map, mode, places, coordinates).draw(selected)


def tile_table(tensor_map: TensorMap, mode: Mode, places: Places | None, coordinates: Sequence[int]) -> str:
    """The same as text: shared memory line by line."""
    title = _title(tensor_map, mode, places, coordinates)
    if places is None:
        return f"{title}\n{mode.reason}"
    tm, names = places.tensor_map, places.by_address
    place = text("figures.table-place", bytes=f"{tm.transaction_bytes:,}", base=hexadecimal(places.shared_address))
    filled = text("figures.table-filled", fill=fill_name(tm))
    return places_table([title, place], filled, places, lambda at: _cell(tm, coordinates, names.get(at)), LINES)


def _title(tensor_map: TensorMap, mode: Mode, places: Places | None, coordinates: Sequence[int]) -> str:
    tm = places.tensor_map if places else tensor_map
    (columns, rows), (all_columns, all_rows), (x, y) = tm.delivered_dim, tm.global_dim, coordinates
    values = {"rows": rows, "columns": columns, "all_rows": all_rows, "all_columns": all_columns, "x": x, "y": y}
    return text("figures.table-title", type=tm.data_type.name, name=mode_name(mode.swizzle), **values)


def _cell(tm: TensorMap, coordinates: Sequence[int], at: tuple[int, int] | None) -> str:
    if at is None:
        return "--"
    return f"({at[0]}.{at[1]})" if outside(tm, coordinates, *at) else f"{at[0]}.{at[1]}"


class _Picture:
    """The layout of one drawing: a window on the tensor at the left, shared memory at the right, a sentence below."""

    def __init__(self, tensor_map: TensorMap, mode: Mode, places: Places | None, coordinates: Sequence[int]):
        self.tm = places.tensor_map if places else tensor_map
        self.mode, self.places, self.coordinates = mode, places, coordinates
        self.per = SECTOR // self.tm.element_size
        columns, rows = self.tm.global_dim
        self.tensor = (rows, -(-columns // self.per))  # rows, sectors
        x, y = coordinates
        self.corner = (y, x // self.per)
        wide, high = self.tm.delivered_dim
        self.box = ((high - 1) * self.tm.element_strides[1] + 1, wide // self.per)
        axes = zip(self.tensor, self.corner, self.box, (ROWS, SECTORS), strict=True)
        self.top, self.left = (_window(*axis) for axis in axes)
        self.right = LEFT + HEAD + len(self.left) * CELL[0] + GAP
        title = _title(tensor_map, mode, places, coordinates)
        identity = "tma-" + sha1(repr((title, self.tm, places and places.shared_address)).encode()).hexdigest()[:8]
        self.lines = min(places.lines, LINES) if places else 0
        self.shared = SharedSide(self.right, PLACE, self.lines)
        self.notes = [line for note in notes(places, LINES) for line in wrap(note, LETTERS)] if places else []
        self.bottom = TOP + max(len(self.top) * CELL[1], self.lines * PLACE[1] + 18 * len(self.notes)) + 34
        self.drawing = Drawing(title, identity, self.right + HEAD_SHARED + 8 * PLACE[0] + LEFT, self.bottom + 62)

    def draw(self, selected: Sequence[int] | None) -> str:
        self.drawing.rest = "s" + "-".join(map(str, selected)) if selected else None
        self._draw_tensor()
        self.shared.draw(self.drawing, self.mode, self.places, self.notes)
        drawn = self._drawn()
        if self.places is not None:
            for row, sector in drawn:
                self._draw_sector(self.places, row, sector)
        self.drawing.box(*self._cell(*self.corner), *self._size(), "b")
        if drawn and self.drawing.rest not in self.drawing.shown:
            self.drawing.text(LEFT, self.bottom, text("figures.static-hint"), "m hint")
        return self.drawing.finish()

    def _drawn(self) -> list[tuple[int, int]]:
        """(row, sector) of each sector of the tile that both windows show."""
        places = self.places
        if places is None:
            return []
        return [
            (row, sector)
            for (row, sector) in places.by_address.values()
            if (row * self.tm.element_strides[1] + self.corner[0]) in self.top
            and sector + self.corner[1] in self.left
            and places.physical[row][sector] < places.shared_address + LINES * LINE
        ]

    def _draw_tensor(self) -> None:
        draw, (columns, rows) = self.drawing, self.tm.global_dim
        draw.text(LEFT, 24, text("figures.tensor-title", rows=rows, columns=columns, type=self.tm.data_type.name), "t")
        draw.text(LEFT, 44, self._where(), "m")
        down, across = (_inside(*axis) for axis in zip((self.top, self.left), self.tensor, strict=True))
        if down and across:
            x, y = self._cell(down.start, across.start)
            draw.lines(x, y, *CELL, len(across), len(down))
            draw.box(x, y, len(across) * CELL[0], len(down) * CELL[1], "r")
        for row in self.top:
            draw.text(LEFT + HEAD - 6, self._cell(row, 0)[1] + 14, str(row), "h")
        for sector in self.left[::2]:
            draw.text(self._cell(0, sector)[0] + 18, TOP - 6, str(sector * self.per), "h")

    def _where(self) -> str:
        columns, rows = self.tm.delivered_dim
        x, y = self.coordinates
        where = text("figures.box-caption", rows=rows, columns=columns, x=x, y=y)
        down, across = (_inside(*axis) for axis in zip((self.top, self.left), self.tensor, strict=True))
        if (len(down), len(across)) == self.tensor:
            return where
        ends = {"top": down.start, "bottom": down.stop - 1, "left": across.start * self.per}
        ends |= {"right": across.stop * self.per - 1, "rows": self.tensor[0], "columns": self.tm.global_dim[0]}
        return f"{where}. {text('figures.drawn-part', **ends)}"

    def _draw_sector(self, places: Places, row: int, sector: int) -> None:
        draw = self.drawing
        group, name = f"s{row}-{sector}", f"{row}·{sector}"
        share = float(outside(self.tm, self.coordinates, row, sector))
        words = f"{source(self.tm, self.coordinates, row, sector)} {destination(places, row, sector)}"
        y, x = position(self.tm, self.coordinates, row, sector)
        cell, place = (
            (*self._cell(y, x // self.per), *CELL),
            (*self.shared.place(places, places.physical[row][sector]), *PLACE),
        )
        for rectangle in (cell, place):
            draw.sector(*rectangle, name, sector, group, share)
        left, top = self.shared.place(places, places.logical[row][sector])
        before = (left + 3, top + 3, PLACE[0] - 6, PLACE[1] - 6)
        draw.shown_with(group, LEFT, self.bottom, words, (("w", before), ("o", cell), ("o", place)))

    def _cell(self, row: int, sector: int) -> tuple[float, float]:
        """Pixels of a sector of the tensor."""
        return LEFT + HEAD + (sector - self.left.start) * CELL[0], TOP + (row - self.top.start) * CELL[1]

    def _size(self) -> tuple[float, float]:
        """Pixels of the box, as far as it is in the window."""
        high = min(self.corner[0] + self.box[0], self.top.stop) - self.corner[0]
        wide = min(self.corner[1] + self.box[1], self.left.stop) - self.corner[1]
        return wide * CELL[0], high * CELL[1]


def _window(count: int, corner: int, size: int, most: int) -> range:
    """Which of a dimension's `count` rows or sectors, and of the box's outside it, are drawn."""
    low, high = min(0, corner), max(count, corner + size)
    if high - low <= most:
        return range(low, high)
    start = min(max(low, corner - 2), high - most)
    return range(start, start + most)


def _inside(shown: range, count: int) -> range:
    """The part of a window that lies on the tensor."""
    return range(max(0, shown.start), min(count, shown.stop))
