"""The cells that an answer needs: those that make its names, and what these read; no others."""

from __future__ import annotations

import pytest

from grader.slices import Cell, needed


def chosen(names: set[str], *sources: str) -> list[int]:
    cells = [Cell.of(str(number), source + "\n") for number, source in enumerate(sources)]
    return [int(cell.name) for cell in needed(cells, names)]


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        (["x = 1", "y = 2"], [0]),
        (["x = 1", "x = 2"], [1]),
        (["x = 1", "x += 2"], [0, 1]),
        (["a = 1", "b = a", "c = 3", "x = b"], [0, 1, 3]),
        (["x = {}", "x['a'] = 1", "x.update(b=2)", "print(x)"], [0, 1, 2]),
        (["import math", "def x():\n    return math.pi * R", "R = 2", "R2 = 3"], [0, 1, 2]),
        (["def x():\n    return helper()", "def helper():\n    return later", "later = 1"], [0, 1, 2]),
        (["from math import *", "x = 1", "y = pi"], [0, 1]),
        (["row = 5", "for row, at in [(1, 2)]:\n    print(row, at)\nx = 3"], [1]),
        (["row = 5", "x = [row for row in range(3)]"], [1]),
        (["n = 5", "x = [row for row in range(n)]"], [0, 1]),
        (["rows = [1]", "for rows in rows:\n    x = rows"], [0, 1]),
        (["if True:\n    x = 1", "x = 2"], [1]),
        (["x = 1", "if True:\n    x = 2"], [0, 1]),
        (["def fill():\n    global x\n    x = 1", "fill()"], [0]),
        (["x = 1", "del y[0]", "z.a = x"], [0]),
        (["import asyncio", "x = await asyncio.sleep(0)"], [0, 1]),
        (["A = 1", "class x:\n    size = A\n    def f(self):\n        return B", "B = 2"], [0, 1, 2]),
        (["grader.check('e', x)", "x = 1"], [1]),
        (["x = [0]", "fill(x)", "print(x)", "np.copyto(x, 1)", "y = f(x)", "grader.check('e', x)"], [0, 1, 3]),
        (["y = 1"], []),
    ],
    ids=str,
)
def test_which_cells_an_answer_needs(sources, expected):
    assert chosen({"x"}, *sources) == expected
