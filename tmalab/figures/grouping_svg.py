"""The static forms of figure 2: an SVG with hover, and a text table.

>>> from tmalab import TensorMap
>>> from tmalab.figures.tile_places import modes_of
>>> tm = TensorMap(6, 0x1000, (64, 2, 4), (512, 128), (64, 2, 2), swizzle=3)
>>> print(grouping_table(tm, modes_of(tm)[3], Places.of(tm), (0, 1, 2)))
Tile of 2x2x64 FLOAT16 at x = 0, y = 1, z = 2 of a tensor of 4x2x64, SWIZZLE_128B
512 bytes in shared memory from 0x0000; each cell: group.row.sector of the tile, 16 bytes
0x0000    0.0.0    0.0.1    0.0.2    0.0.3    0.0.4    0.0.5    0.0.6    0.0.7
0x0080  (0.1.1)  (0.1.0)  (0.1.3)  (0.1.2)  (0.1.5)  (0.1.4)  (0.1.7)  (0.1.6)
0x0100    1.0.2    1.0.3    1.0.0    1.0.1    1.0.6    1.0.7    1.0.4    1.0.5
0x0180  (1.1.3)  (1.1.2)  (1.1.1)  (1.1.0)  (1.1.7)  (1.1.6)  (1.1.5)  (1.1.4)
(1.3.5): outside the tensor, at least in part; arrives as zeros
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha1
from textwrap import wrap

from tmalab.figures.grouping_places import groups_and_atoms, in_one_matrix, outside, position, source
from tmalab.figures.shared_svg import HEAD as HEAD_SHARED
from tmalab.figures.shared_svg import LETTERS, TOP, SharedSide
from tmalab.figures.svg import Drawing
from tmalab.figures.tile_places import Mode, Places
from tmalab.figures.tile_words import destination, fill_name, hexadecimal, mode_name, notes, places_table
from tmalab.swizzle import LINE, SECTOR
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

ROWS, SECTORS, PLANES, DOWN, LINES = 16, 16, 4, 32, 40  # drawn at most: of a group, of groups, of shared memory
LEFT, GAP = 16, 40  # pixels: the margin, between the sides
CELL, BOXED, PLACE = (16, 15), (30, 15), (34, 16)  # pixels: a sector of the tensor, of the box, of shared memory
HEAD, MARKS = 34, 140  # pixels: row headings, and the names beside shared memory
At = tuple[int, int, int]  # (group, row, sector) of the tile


def grouping_svg(
    tensor_map: TensorMap,
    mode: Mode,
    places: Places | None,
    coordinates: Sequence[int],
    selected: Sequence[int] | None = None,
) -> str:
    """A map's tile in one swizzle mode; `places` is None where the rules refuse it, and the drawing says why."""
    return _Picture(tensor_map, mode, places, coordinates).draw(selected)


def grouping_table(tensor_map: TensorMap, mode: Mode, places: Places | None, coordinates: Sequence[int]) -> str:
    """The same as text: shared memory line by line."""
    title = _title(tensor_map, mode, places, coordinates)
    if places is None:
        return f"{title}\n{mode.reason}"
    tm, names = places.tensor_map, _names(places)
    place = text("grouping.table-place", bytes=f"{tm.transaction_bytes:,}", base=hexadecimal(places.shared_address))
    filled = text("grouping.table-filled", fill=fill_name(tm))
    return places_table([title, place], filled, places, lambda at: _cell(tm, coordinates, names.get(at)), LINES)


def _title(tensor_map: TensorMap, mode: Mode, places: Places | None, coordinates: Sequence[int]) -> str:
    tm = places.tensor_map if places else tensor_map
    here = dict(zip(("columns", "rows", "groups"), tm.delivered_dim, strict=True))
    whole = dict(zip(("all_columns", "all_rows", "all_groups"), tm.global_dim, strict=True))
    at = dict(zip("xyz", coordinates, strict=True))
    return text("grouping.table-title", type=tm.data_type.name, name=mode_name(mode.swizzle), **here, **whole, **at)


def _names(places: Places) -> dict[int, At]:
    """(group, row, sector) by physical address."""
    rows = places.tensor_map.delivered_dim[1]
    return {address: (*divmod(row, rows), sector) for address, (row, sector) in places.by_address.items()}


def _cell(tm: TensorMap, coordinates: Sequence[int], at: At | None) -> str:
    if at is None:
        return "--"
    name = ".".join(map(str, at))
    return f"({name})" if outside(tm, coordinates, *at) else name


class _Picture:
    """The layout: the tensor above the box at the left, shared memory at the right, a sentence below."""

    def __init__(self, tensor_map: TensorMap, mode: Mode, places: Places | None, coordinates: Sequence[int]):
        self.tm = places.tensor_map if places else tensor_map
        self.mode, self.places, self.coordinates = mode, places, coordinates
        self.beside = in_one_matrix(self.tm)
        per = SECTOR // self.tm.element_size
        columns, rows, groups = self.tm.global_dim
        (x, y, z), (wide, high, deep) = coordinates, self.tm.delivered_dim
        _, row_step, group_step = self.tm.element_strides
        self.sectors = _window(-(-columns // per), x // per, wide // per, SECTORS)
        self.rows = _window(rows, y, (high - 1) * row_step + 1, ROWS)
        most = PLANES if self.beside else max(1, min(PLANES, DOWN // len(self.rows)))
        self.planes = _window(groups, z, (deep - 1) * group_step + 1, most)
        self.boxed = min(deep, PLANES), min(high, ROWS), min(wide // per, SECTORS)
        self.lines = min(places.lines, LINES) if places else 0
        self.notes = [line for note in notes(places, LINES) for line in wrap(note, LETTERS)] if places else []
        across, down = len(self.sectors), len(self.rows)
        across, down = (across * len(self.planes), down) if self.beside else (across, down * len(self.planes))
        left = max(across * CELL[0], self.boxed[0] * self.boxed[2] * BOXED[0])
        self.right = LEFT + HEAD + left + GAP
        self.shared = SharedSide(self.right, PLACE, self.lines)
        self.middle = TOP + down * CELL[1] + 76  # where the box's grid begins
        shared = self.lines * PLACE[1] + 2 + 18 * max(1, len(self.notes))
        self.bottom = max(self.middle + self.boxed[1] * BOXED[1], TOP + shared) + 34
        title = _title(tensor_map, mode, places, coordinates)
        identity = "tma-" + sha1(repr((title, self.tm, places and places.shared_address)).encode()).hexdigest()[:8]
        self.drawing = Drawing(title, identity, self.right + HEAD_SHARED + 8 * PLACE[0] + MARKS, self.bottom + 62)

    def draw(self, selected: Sequence[int] | None) -> str:
        self.drawing.rest = "s" + "-".join(map(str, selected)) if selected else None
        self._draw_tensor()
        self.shared.draw(self.drawing, self.mode, self.places, self.notes)
        if self.places is not None:
            for at in self._drawn():
                self._draw_sector(self.places, at)
        self._draw_outlines()
        if self.drawing.rest not in self.drawing.shown:
            self.drawing.text(LEFT, self.bottom, text("figures.static-hint"), "m hint")
        return self.drawing.finish()

    def _drawn(self) -> list[At]:
        """The sectors of the tile that the box's grid and shared memory show."""
        if self.places is None:
            return []
        end = self.places.shared_address + self.lines * LINE
        every = ((at, address) for address, at in _names(self.places).items())
        return [at for at, address in every if address < end and all(map(int.__lt__, at, self.boxed))]

    def _draw_tensor(self) -> None:
        draw, tm, (x, y, z) = self.drawing, self.tm, self.coordinates
        columns, rows, groups = tm.global_dim
        values = {"rows": rows, "columns": columns, "groups": groups, "all_columns": columns * groups}
        kind = "matrix" if self.beside else "planes"
        title = text(f"grouping.{kind}-title", type=tm.data_type.name, **values)
        draw.text(LEFT, 24, title, "t")
        draw.text(LEFT, 44, text(f"grouping.{kind}-caption", **values), "m")
        for plane in self.planes:
            corner = self._tensor_cell(plane, self.rows.start, self.sectors.start)
            draw.lines(*corner, *CELL, len(self.sectors), len(self.rows))
            draw.box(*corner, len(self.sectors) * CELL[0], len(self.rows) * CELL[1], "r")
            first = (plane * columns if self.beside else 0) + self.sectors.start * SECTOR // tm.element_size
            if self.beside or plane == self.planes.start:
                draw.text(corner[0] + 18, TOP - 6, str(first), "h")
            for row in self.rows if plane == self.planes.start or not self.beside else ():
                name = str(row) if self.beside else f"{plane},{row}"
                draw.text(LEFT + HEAD - 6, self._tensor_cell(plane, row, 0)[1] + 12, name, "h")
        wide, high, deep = tm.delivered_dim
        draw.text(LEFT, self.middle - 46, text("grouping.view-title", groups=deep, rows=high, columns=wide), "t")
        draw.text(LEFT, self.middle - 28, text("grouping.view-caption", x=x, y=y, z=z), "m")
        count, shown = deep * high * wide * tm.element_size // SECTOR, len(self._drawn())
        if self.places and shown < count:
            words = text("grouping.view-part", drawn=shown, count=count)
            draw.text(LEFT, self.middle + self.boxed[1] * BOXED[1] + 18, words, "m")
        for row in range(self.boxed[1]):
            draw.text(LEFT + HEAD - 6, self._box_cell(0, row, 0)[1] + 12, str(row), "h")

    def _draw_sector(self, places: Places, at: At) -> None:
        draw, (group, row, sector) = self.drawing, at
        number = group * self.tm.delivered_dim[1] + row
        link, name = f"s{group}-{row}-{sector}", f"{row}·{sector}"
        share = float(outside(self.tm, self.coordinates, *at))
        words = f"{source(self.tm, self.coordinates, *at)} {destination(places, number, sector)}"
        z, y, x = position(self.tm, self.coordinates, *at)
        column = x * self.tm.element_size // SECTOR
        shown = [(*self._box_cell(*at), *BOXED), (*self.shared.place(places, places.physical[number][sector]), *PLACE)]
        for rectangle in shown:
            draw.sector(*rectangle, name, sector, link, share)
        if z in self.planes and y in self.rows and column in self.sectors:
            shown.append((*self._tensor_cell(z, y, column), *CELL))
            draw.sector(*shown[-1], str(sector), sector, link, share)
        left, top = self.shared.place(places, places.logical[number][sector])
        before = (left + 2, top + 2, PLACE[0] - 4, PLACE[1] - 4)
        draw.shown_with(link, LEFT, self.bottom, words, [("w", before), *(("o", place) for place in shown)])

    def _draw_outlines(self) -> None:
        """Each group's outline in every view, and the names of groups and atoms."""
        draw, (groups, rows, sectors) = self.drawing, self.boxed
        for group in range(groups):
            corner = self._box_cell(group, 0, 0)
            draw.text(corner[0], self.middle - 6, text("grouping.group", group=group), "m")
            draw.box(*corner, sectors * BOXED[0], rows * BOXED[1], "b")
            z, y, x = position(self.tm, self.coordinates, group, 0, 0)
            column = x * self.tm.element_size // SECTOR
            if z in self.planes:
                down = _common(self.rows, y, (rows - 1) * self.tm.element_strides[1] + 1)
                across = _common(self.sectors, column, sectors)
                if down and across:
                    corner = self._tensor_cell(z, down.start, across.start)
                    draw.box(*corner, len(across) * CELL[0], len(down) * CELL[1], "b")
        for mark in groups_and_atoms(self.places) if self.places else ():
            top, height = TOP + mark.first * PLACE[1], min(mark.lines, self.lines - mark.first) * PLACE[1]
            if height > 0:
                x = self.right + HEAD_SHARED + 8 * PLACE[0] + (72 if mark.atom else 8)
                draw.box(x, top + 2, 3, height - 4, "b" if not mark.atom else "r")
                draw.text(x + 8, top + min(height / 2 + 5, height), mark.name, "m")

    def _tensor_cell(self, plane: int, row: int, sector: int) -> tuple[float, float]:
        """Pixels of a sector of the tensor."""
        plane, row, sector = plane - self.planes.start, row - self.rows.start, sector - self.sectors.start
        across, down = (plane * len(self.sectors), 0) if self.beside else (0, plane * len(self.rows))
        return LEFT + HEAD + (across + sector) * CELL[0], TOP + (down + row) * CELL[1]

    def _box_cell(self, group: int, row: int, sector: int) -> tuple[float, float]:
        """Pixels of a sector of the box."""
        return LEFT + HEAD + (group * self.boxed[2] + sector) * BOXED[0], self.middle + row * BOXED[1]


def _window(count: int, corner: int, size: int, most: int) -> range:
    """Which of a dimension's `count` rows, sectors or groups are drawn: the box's, as far as they are there."""
    if count <= most:
        return range(count)
    start = min(max(corner - max(0, most - size) // 2, 0), count - most)
    return range(start, start + most)


def _common(window: range, first: int, size: int) -> range:
    return range(max(window.start, first), min(window.stop, first + size))
