"""Figures that answer to the hand: each is an ipywidget, a static SVG with hover, and a text table.

>>> from tmalab.figures import TileFigure
>>> figure = TileFigure()                 # as the last line of a notebook's cell it is drawn
>>> figure.svg()[:4]                      # the same without kernel or network; .table() as text
'<svg'

Widget packages are imported with the first figure, never by `import tmalab`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["TileFigure"]

if TYPE_CHECKING:
    from tmalab.figures.tile import TileFigure


def __getattr__(name: str):
    if name != "TileFigure":
        raise AttributeError(f"module 'tmalab.figures' has no attribute {name!r}")
    from tmalab.figures.tile import TileFigure

    return TileFigure
