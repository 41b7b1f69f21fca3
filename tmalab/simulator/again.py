"""A run, once more: the same order on the arguments as they were, with somebody watching.

Figures and timelines need more of a run than it keeps. What a kernel did is repeated exactly, so they have it run again
when somebody looks, and the run itself pays for nothing but a copy of its arguments. Where that takes long, a bar shows
how far it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.maps_in_memory import placed
from tmalab.progress_bar import Progress, display
from tmalab.simulator.polls import Sites
from tmalab.simulator.scripts import Recited
from tmalab.simulator.simulation import ONE_AT_A_TIME, REPLAY_SECONDS, Simulation
from tmalab.simulator.turn_by_turn import TurnByTurn
from tmalab.simulator.watchdog import limits, patience
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.buffers import GlobalLayout
    from tmalab.launch import Launch
    from tmalab.run import Run
    from tmalab.simulator.scheduler import Scheduler
    from tmalab.simulator.search import Turn
    from tmalab.simulator.story import Story

MOST_BYTES = 1 << 26  # of arguments of which a copy is kept; larger ones are replayed as they are by then
LOOKS = 64  # events between two looks at the clock


class AsTheyWere:
    """A layout whose buffers hold what they held when this was made; `memory`: what was uploaded then."""

    def __init__(self, layout: GlobalLayout, memory: np.ndarray):
        self._layout, self._bytes = layout, memory[: layout.size].copy()

    def upload(self, memory: np.ndarray) -> None:
        """Copy every buffer into `memory`, as it was."""
        memory[: self._bytes.size] = self._bytes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layout, name)


class Showing:
    """Mixed into a replay: it shows how far it is. `steps`: that the run took, 0 where that is not known."""

    progress: Progress | None = None
    steps = events = 0
    scheduler: Scheduler  # the simulation's

    def note(self, *event: Any, **named: Any) -> None:
        """An event for the trace; now and then the bar hears of it."""
        super().note(*event, **named)  # type: ignore[misc]  # the simulation has it
        self.events += 1
        if self.progress is not None and not self.events % LOOKS:
            part = min(1.0, self.scheduler.steps / self.steps) if self.steps else 0.0
            self.progress.tell(part, self._words)

    def _words(self, left: str) -> str:
        events = f"{self.events:,}"
        return text("replay.progress", events=events, left=left) if left else text("replay.no-end", events=events)


class Again:
    """Runs a launch again in the order of its seed, or in that of `turns`. The arguments don't change.

    stories   what was told of it already (tmalab.simulator.story), to the end or not
    hazards   how many the run had; `broke_off`: whether it hung, or a fault ended it

        run = kernel.run(...)
        simulation = run.replaying(Watching)

    `Watching` is a class to mix in: it overrides what it wants to hear of (Simulation.note, ...). Lines are noted. The
    finished simulation is returned.
    """

    def __init__(
        self,
        launch: Launch,
        layout: GlobalLayout,
        memory: np.ndarray | None = None,
        turns: Sequence[Turn] | None = None,
    ):
        self._launch, self._turns, self._endless, self._steps = launch, turns, False, 0
        self.hazards, self.broke_off = 0, False
        self.stories: dict[bool, Story] = {}
        self._layout: Any = AsTheyWere(layout, memory) if memory is not None and layout.size <= MOST_BYTES else layout

    def __call__(self, mixin: type) -> Any:
        silent, total = limits()
        silent = min(silent, REPLAY_SECONDS) if self._endless else silent
        with ONE_AT_A_TIME, placed(self._launch.args, self._layout), patience(silent, total):
            simulation = self._made(mixin)
            with Progress(display()) as simulation.progress:
                simulation.run()
        return simulation

    def offered_by(self, run: Run, steps: int = 0) -> Run:
        """Let a run, and its hazards, be looked at again by this. `steps`: that it took, where that is known."""
        self._endless = run.fault is not None and run.fault.kind == "endless_loop"
        self._steps, self.hazards = steps, len(run.hazards)
        self.broke_off = run.deadlock is not None or run.fault is not None
        for shown in (run, *run.hazards):
            shown.replaying = self
        return run

    def _made(self, mixin: type) -> Any:
        as_it_was = isinstance(self._layout, AsTheyWere)  # so nothing else can be found than in the run
        reports = self.hazards > 0 or self.broke_off or self._launch.strict or not as_it_was
        shown = {"steps": self._steps, "notes_accesses": reports}
        if self._turns is None:
            return type(mixin.__name__, (mixin, Showing, Simulation), shown)(self._launch, self._layout, noting=True)
        made = type(mixin.__name__, (mixin, Showing, TurnByTurn), shown)
        return made(self._launch, self._layout, Recited(tuple(self._turns), False), Sites(), noting=True)
