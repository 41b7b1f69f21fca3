"""Figures that answer to the hand: each is an ipywidget, a static SVG with hover, and a text table.

>>> from tmalab.figures import TileFigure
>>> figure = TileFigure()                 # as the last line of a notebook's cell it is drawn
>>> figure.svg()[:4]                      # the same without kernel or network; .table() as text
'<svg'

Widget packages are imported with the first figure, never by `import tmalab`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

_HOME = {  # figure: the module that defines it
    "BanksFigure": "tmalab.figures.banks",
    "GemmFigure": "tmalab.figures.gemm",
    "GroupingFigure": "tmalab.figures.grouping",
    "HazardFigure": "tmalab.figures.hazard",
    "MbarrierFigure": "tmalab.figures.mbarrier",
    "MulticastFigure": "tmalab.figures.multicast",
    "PipelineFigure": "tmalab.figures.pipeline",
    "StoreFigure": "tmalab.figures.store",
    "TileFigure": "tmalab.figures.tile",
}
__all__ = [*_HOME]

if TYPE_CHECKING:
    from tmalab.figures.banks import BanksFigure
    from tmalab.figures.gemm import GemmFigure
    from tmalab.figures.grouping import GroupingFigure
    from tmalab.figures.hazard import HazardFigure
    from tmalab.figures.mbarrier import MbarrierFigure
    from tmalab.figures.multicast import MulticastFigure
    from tmalab.figures.pipeline import PipelineFigure
    from tmalab.figures.store import StoreFigure
    from tmalab.figures.tile import TileFigure


def __getattr__(name: str):
    if name not in _HOME:
        raise AttributeError(f"module 'tmalab.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
