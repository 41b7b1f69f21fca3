"""Which figure shows a run: the one that is asked for, or the one that tells most."""

from __future__ import annotations

from collections.abc import Callable

from tmalab.figures.base import Figure
from tmalab.figures.hazard import HazardFigure
from tmalab.figures.hazard_frames import EDGED
from tmalab.figures.mbarrier import MbarrierFigure
from tmalab.figures.multicast import MulticastFigure
from tmalab.figures.pipeline import PipelineFigure
from tmalab.figures.store import StoreFigure
from tmalab.run import Run
from tmalab.simulator.hazards import Hazard
from tmalab.simulator.story import Story
from tmalab.texts import text

FIGURES: dict[str, Callable[[Run], Figure]] = {
    "hazards": HazardFigure,
    "barriers": MbarrierFigure,
    "timeline": PipelineFigure,
    "stores": StoreFigure,
    "multicast": MulticastFigure,
    "banks": lambda run: run.bank_conflicts.show(),
}


def figure_of(run: Run, what: str | None = None) -> Figure:
    """The figure of a run. ValueError in one sentence where there is nothing of the kind to show."""
    if what is not None:
        if what not in FIGURES:
            raise ValueError(text("kernel.show", given=repr(what), known=", ".join(FIGURES)))
        return FIGURES[what](run)
    edged = any(hazard.name in EDGED for hazard in run.hazards)
    if edged or (run.deadlock is None and any(hazard.accesses for hazard in run.hazards)):
        return HazardFigure(run)
    shown = ("barriers", "timeline", "stores") if run.deadlock is not None else ("timeline", "barriers", "stores")
    for name in shown:
        try:
            return FIGURES[name](run)
        except ValueError:
            continue
    if run.replaying is None:
        raise ValueError(text("kernel.shows-simulated"))
    raise ValueError(text("kernel.shows-nothing"))


def figure_of_hazard(hazard: Hazard) -> Figure:
    """The figure of a hazard: its accesses; of one that has none, a deadlock, the mbarriers."""
    return HazardFigure(hazard) if hazard.accesses else MbarrierFigure(Story.of(hazard, to_the_end=True))
