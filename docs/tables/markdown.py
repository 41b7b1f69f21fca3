"""How a table, a drawing and a piece of HTML stand in a page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tmalab.figures.base import Figure
from tmalab.figures.gemm import GemmFigure


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def code_table(head: tuple[tuple[str, int], ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table of lines of code, as narrow as the page: they go on below. `head`: names, and of the width so many %."""
    top = "".join(f'<th style="width: {width}%">{escape(name)}</th>' for name, width in head)
    cells = ("".join(f"<td><code>{escape(cell)}</code></td>" for cell in row) for row in rows)
    lines = "".join(f"<tr>{row}</tr>\n" for row in cells)
    style = "table-layout: fixed; width: 100%; font-size: 75%; overflow-wrap: anywhere"
    return html(
        f'<table class="docutils" style="{style}"><thead><tr>{top}</tr></thead>\n<tbody>{lines}</tbody></table>'
    )


def html(code: str) -> str:
    """HTML, or a drawing as SVG, as it is."""
    return f"````{{raw}} html\n{code}\n````"


def picture(figure: Figure | GemmFigure) -> str:
    """A figure's static form."""
    return html(figure.svg())
