"""One of each figure, in a state that shows what it is for: what the documentation prints and the tests look at.

>>> sorted(GALLERY)[:2]
['banks', 'grouping']
>>> GALLERY["banks"]().access.ways
2
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tmalab.data_types import Swizzle
from tmalab.figures.banks import BanksFigure
from tmalab.figures.base import Figure
from tmalab.figures.grouping import GroupingFigure
from tmalab.figures.hazard import HazardFigure
from tmalab.figures.mbarrier import MbarrierFigure
from tmalab.figures.multicast import MulticastFigure
from tmalab.figures.pipeline import PipelineFigure
from tmalab.figures.store import StoreFigure
from tmalab.figures.tile import TileFigure
from tmalab.kernels import gemm_pipelined


def tile() -> Figure:
    """A box over the corner of its tensor."""
    figure = TileFigure(coordinates=(96, 12))
    figure.selected = (1, 3)
    return figure


def grouping() -> Figure:
    """The second half of the columns."""
    figure = GroupingFigure(coordinates=(0, 0, 2))
    figure.selected = (1, 3, 5)
    return figure


def banks() -> Figure:
    """A swizzled column of rows that are too long for the swizzle."""
    figure = BanksFigure()
    figure.swizzle, figure.grouped, figure.column = Swizzle.B128, False, 3
    return figure


def multicast() -> Figure:
    """Bytes that land in three CTAs, and a fourth that waits for them in vain."""
    figure = MulticastFigure()
    figure.promises, figure.step = 0b1111, 5
    return figure


def mbarrier() -> Figure:
    """Half of the promised bytes have landed, and all threads wait."""
    figure = MbarrierFigure()
    figure.step = 5
    return figure


def store() -> Figure:
    """A buffer that may be overwritten, and one that may not."""
    figure = StoreFigure()
    figure.step = 6
    return figure


def pipeline() -> Figure:
    """Two stages, in the middle of a bubble."""
    figure = PipelineFigure()
    figure.time = 1200
    return figure


def hazard() -> Figure:
    """A tile that is read without a wait."""
    return HazardFigure()


def two_runs() -> Figure:
    """One product of matrices, simulated with a ring of two stages and with one of four."""
    runs = []
    for stages in (2, 4):
        a, b, c = (np.zeros(shape, np.uint16) for shape in ((128, 512), (128, 512), (128, 128)))
        how = gemm_pipelined.launch_of(a, b, c, stages)
        runs.append(how.pop("kernel").run(**how))
    figure = PipelineFigure(*runs)
    figure.time = figure.timelines[1].duration / 2
    return figure


FIGURES = (tile, grouping, banks, mbarrier, store, pipeline, multicast, hazard)
GALLERY: dict[str, Callable[[], Figure]] = {made.__name__: made for made in FIGURES}
