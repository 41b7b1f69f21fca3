"""A launch that runs turn by turn (tmalab.simulator.turns), as a script says."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tmalab.launch import Device
from tmalab.simulator.context import now
from tmalab.simulator.rebind import names_used
from tmalab.simulator.simulation import Simulation
from tmalab.simulator.spins import element
from tmalab.simulator.turn_policy import TurnPolicy
from tmalab.simulator.turns import Turns

if TYPE_CHECKING:
    from tmalab.buffers import GlobalLayout
    from tmalab.launch import Launch
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.collector import Collector
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.hazards import Suspicion
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.polls import Sites
    from tmalab.simulator.scripts import Script
    from tmalab.simulator.threads import SimThread

LOOKS_AT_COUNTS = "mbarrier_pending_count"


class TurnByTurn(Simulation):
    """A launch that runs turn by turn, as a script says."""

    def __init__(self, launch: Launch, layout: GlobalLayout, script: Script, sites: Sites, noting: bool = False):
        if sites.together is None:
            sites.together = runs_together(launch, layout)
        super().__init__(launch, layout, noting, together=sites.together)
        self.scheduler: Turns = Turns(self, script, sites, looks_at_counts(launch.kernel.function))
        self.policy: TurnPolicy = TurnPolicy(self.scheduler)
        self.hazards = Overheard(self.hazards, self.scheduler)

    def note(
        self, thread: SimThread, what: str, barrier: Barrier | None, operand: Any = None, copy: Copy | None = None
    ) -> None:
        if self.noting:
            super().note(thread, what, barrier, operand, copy)
        self.scheduler.noted(thread, what, barrier, operand, copy)

    def updated(self, name: str, array: Array, index: Any, before: Any) -> None:
        self.scheduler.updated(name, array, index, before)
        if (found := element(now.thread, array, index)) is not None:
            self.cluster.handovers.touched(now.thread, found.place)

    def land_part(self, copy: Copy) -> None:
        """A copy makes some progress."""
        self._move(copy)


class Overheard:
    """The hazards of a run, with an ear for the use of what is not there: that is an operation, too."""

    def __init__(self, hazards: Collector | Suspicion, turns: Turns):
        self._hazards, self._turns = hazards, turns

    def tell(self, name: str, **facts: Any) -> None:
        """Something is done wrong."""
        if name == "barrier-not-initialised" and facts.get("barrier") is None:
            self._turns.absent(facts["cta"].number, facts["address"])
        self._hazards.tell(name, **facts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hazards, name)


def runs_together(launch: Launch, layout: GlobalLayout) -> bool:
    """Whether clusters of a launch wait for one another, or hand something over: then they run at the same time."""
    trial = Simulation(launch, layout, noting=False)
    if trial.others_may_help:
        trial.run()
    return trial.together


@lru_cache(maxsize=256)
def looks_at_counts(function: Callable[..., Any]) -> bool:
    """Whether a kernel, or a helper that it calls, looks at pending counts: then arrivals of one phase differ."""
    names = set(names_used(function.__code__))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    values = [function.__globals__.get(name) for name in names]
    values += [cell.cell_contents for name, cell in cells.items()]
    helpers = [value.function for value in values if isinstance(value, Device)]
    return LOOKS_AT_COUNTS in names or any(looks_at_counts(helper) for helper in helpers if helper is not function)
