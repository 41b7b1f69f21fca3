"""Shared memory as figures 1 and 2 draw it: its heads and addresses, and what a copy leaves unwritten."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from tmalab.figures.svg import Drawing
from tmalab.figures.tile_places import Mode, Places
from tmalab.figures.tile_words import hexadecimal, mode_name
from tmalab.swizzle import LINE, SECTOR
from tmalab.texts import text

TOP, HEAD, LETTERS = 72, 62, 62  # pixels: where the grid begins, of its row headings; letters of a sentence's line


class SharedSide(NamedTuple):
    """`left`: where it begins; `cell`: width and height of a sector; both in pixels. `lines`: that are drawn."""

    left: float
    cell: tuple[float, float]
    lines: int

    def place(self, places: Places, address: int) -> tuple[float, float]:
        """Pixels of a sector."""
        line, sector = divmod((address - places.shared_address) // SECTOR, 8)
        return self.left + HEAD + sector * self.cell[0], TOP + line * self.cell[1]

    def draw(self, drawing: Drawing, mode: Mode, places: Places | None, notes: Sequence[str]) -> None:
        """All but the tile's sectors; where there are no places, why the rules refuse the mode."""
        if places is None:
            drawing.text(self.left, 24, text("figures.refused-title", name=mode_name(mode.swizzle)), "t")
            for at, words in enumerate(wrap(mode.reason, LETTERS)):
                drawing.text(self.left, TOP + 18 * at, words)
            return
        title = text("figures.shared-title", base=hexadecimal(places.shared_address))
        drawing.text(self.left, 24, f"{title}, SWIZZLE_{mode_name(mode.swizzle)}", "t")
        tm, (wide, high) = places.tensor_map, self.cell
        values = {"bytes": f"{tm.transaction_bytes:,}", "lines": places.lines, "pitch": tm.pitch}
        drawing.text(self.left, 44, text("figures.shared-caption", **values), "m")
        written = places.by_address.keys()
        for line in range(self.lines):
            addresses = places.addresses(line)
            drawing.text(self.left + HEAD - 6, TOP + (line + 0.5) * high + 4, hexadecimal(addresses.start), "h")
            for address in addresses:
                if address not in written:
                    drawing.box(*self.place(places, address), *self.cell, "g")
        for at, words in enumerate(notes):
            drawing.text(self.left, TOP + self.lines * high + 20 + 18 * at, words, "m")
        for sector in range(LINE // SECTOR):
            drawing.text(self.left + HEAD + (sector + 0.5) * wide + 3, TOP - 6, str(sector), "h")
