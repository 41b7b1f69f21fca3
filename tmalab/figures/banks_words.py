"""The sentences of figure 3's tile: of a sector, and of the column that eight lanes read.

>>> sector_says(3, 9, 0x0990, DataType.FLOAT16)
'Row 3, sector 9 of the tile, elements 72 to 79: at 0x0990, in S1, which is banks 4 to 7.'
"""

from __future__ import annotations

from tmalab.data_types import DataType
from tmalab.figures.banks_places import READ, Drawn, verdict
from tmalab.figures.tile_words import hexadecimal
from tmalab.swizzle import LINE, SECTOR
from tmalab.texts import text


def sector_says(row: int, sector: int, address: int, data_type: DataType) -> str:
    """Where a sector of the tile lies."""
    per, eighth = SECTOR // data_type.size, address % LINE // SECTOR
    elements = {"first": sector * per, "last": (sector + 1) * per - 1}
    banks = {"eighth": eighth, "low": 4 * eighth, "high": 4 * eighth + 3}
    return text("bank-figure.sector", row=row, sector=sector, address=hexadecimal(address), **elements, **banks)


def column_says(column: int, row: int, drawn: Drawn) -> str:
    """What reading a column costs."""
    if drawn.ways == 1:
        asked = text("bank-figure.asked-once")
    else:
        counts = (f"S{eighth}: {count}" for eighth, count in enumerate(drawn.counts) if count)
        asked = text("bank-figure.asked", counts=", ".join(counts))
    return f"{text('bank-figure.read', column=column, first=row, last=row + READ - 1)} {asked} {verdict(drawn.ways)}"
