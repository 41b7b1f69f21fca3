"""What figure 3 draws: a tile's sectors in four layouts, and the cells of shared memory that a warp asks for.

>>> from tmalab.banks import conflicts
>>> drawn = drawn_phases(conflicts([0, 128, 132], 4))[0]
>>> drawn.lines, drawn.cells[0, 0], drawn.counts[:3]
((0, 128), (0,), (2, 1, 0))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tmalab.banks import BANKS, WORD, Conflicts, Phase
from tmalab.data_types import NOMINAL_ADDRESS, DataType, Swizzle
from tmalab.figures.tile_words import hexadecimal
from tmalab.swizzle import LINE, SECTOR, shared_layout, swizzle_address
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

ROWS, COLUMNS = 16, 16  # of the tile, in 16-byte sectors
READ = 8  # rows that eight lanes read together
EIGHTHS = LINE // SECTOR  # S0 to S7
Layout = tuple[bool, Swizzle]  # grouped or not, and how swizzled


def layouts(swizzles: Iterable[Swizzle]) -> dict[Layout, list[list[int]]]:
    """Shared-memory addresses by [row][sector] of the tile: as two groups of 128-byte rows, and as 256-byte rows.

    The first are where a copy puts them, with a box of (2, 16, 64) fp16. There is no box for the second: a row of 256
    bytes is longer than any span, so its swizzle is what the hardware would do if there were one.
    """
    found = {}
    for swizzle in swizzles:
        shape = (64, ROWS, 2)
        tm = TensorMap(DataType.FLOAT16, NOMINAL_ADDRESS, shape, (256, LINE), shape, swizzle=swizzle)
        groups = shared_layout(tm).reshape(2, ROWS, EIGHTHS)
        found[True, swizzle] = [[*map(int, groups[0, row]), *map(int, groups[1, row])] for row in range(ROWS)]
        rows = [[row * COLUMNS * SECTOR + sector * SECTOR for sector in range(COLUMNS)] for row in range(ROWS)]
        found[False, swizzle] = [[swizzle_address(address, swizzle) for address in row] for row in rows]
    return found


class Drawn(NamedTuple):
    """One phase of an access. Columns are S0 to S7 where lanes take 16 bytes, else the 32 banks."""

    lines: tuple[int, ...]  # byte addresses of the 128-byte lines that the whole access touches
    cells: dict[tuple[int, int], tuple[int, ...]]  # (line's index, column): the lanes that ask for it
    counts: tuple[int, ...]  # by column: turns that it needs
    ways: int


def drawn_phases(access: Conflicts) -> list[Drawn]:
    """The phases of an access, as they are drawn."""
    width = SECTOR if access.size == SECTOR else WORD
    lines = tuple(sorted({address // LINE * LINE for address in access.addresses}))
    return [_drawn(access, phase, lines, width) for phase in access.phases]


def _drawn(access: Conflicts, phase: Phase, lines: tuple[int, ...], width: int) -> Drawn:
    cells: dict[tuple[int, int], list[int]] = {}
    for lane in phase.lanes:
        first = access.addresses[lane]
        for address in range(first // width * width, first + access.size, width):
            cells.setdefault((lines.index(address // LINE * LINE), address % LINE // width), []).append(lane)
    banks = width // WORD
    counts = tuple(len(phase.words.get(column * banks, ())) for column in range(BANKS // banks))
    return Drawn(lines, {cell: tuple(lanes) for cell, lanes in sorted(cells.items())}, counts, phase.ways)


def column_name(column: int, access: Conflicts) -> str:
    """S3 of an access of 16 bytes a lane, else the bank's number."""
    return f"S{column}" if access.size == SECTOR else str(column)


def lanes_named(lanes: tuple[int, ...]) -> str:
    """`lane 3`, `lanes 0 to 7`, `lanes 0, 4, 9`: as words."""
    if len(lanes) == 1:
        return text("bank-figure.lane", lane=lanes[0])
    if len(lanes) > 2 and lanes == tuple(range(lanes[0], lanes[-1] + 1)):
        return text("bank-figure.lanes-range", first=lanes[0], last=lanes[-1])
    return text("bank-figure.lanes-list", lanes=", ".join(map(str, lanes)))


def lanes_short(lanes: tuple[int, ...]) -> str:
    """What fits into a cell: `3`, or `4×` where four lanes share it."""
    return str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}×"


def verdict(ways: int) -> str:
    return text("bank-figure.verdict-none") if ways == 1 else text("bank-figure.verdict", ways=ways)


def cell_says(access: Conflicts, drawn: Drawn, cell: tuple[int, int]) -> str:
    """What is said of a cell that lanes ask for."""
    lanes, (line, column) = drawn.cells[cell], cell
    address = hexadecimal(drawn.lines[line] + column * LINE // len(drawn.counts))
    where = "bank-figure.sector-says" if access.size == SECTOR else "bank-figure.word-says"
    values = {"address": address, "column": column_name(column, access), "count": drawn.counts[column]}
    return f"{text(where, lanes=lanes_named(lanes), **values)} {phase_says(drawn)}"


def phase_says(drawn: Drawn) -> str:
    return verdict(drawn.ways)


def access_data(access: Conflicts) -> dict[str, object]:
    """An access as the browser draws it."""
    return {
        "head": [column_name(column, access) for column in range(len(drawn_phases(access)[0].counts))],
        "lines": [hexadecimal(line) for line in drawn_phases(access)[0].lines],
        "summary": str(access),
        "phases": [
            {
                "lanes": lanes_named(phase.lanes),
                "cells": [
                    [*cell, lanes_short(lanes), cell_says(access, drawn, cell)] for cell, lanes in drawn.cells.items()
                ],
                "counts": drawn.counts,
                "ways": drawn.ways,
                "says": phase_says(drawn),
            }
            for phase, drawn in zip(access.phases, drawn_phases(access), strict=True)
        ],
    }
