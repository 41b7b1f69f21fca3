"""Figure 4: an mbarrier as a clock of arrivals and bytes, through all that happened to it.

A step is one event: somebody arrives, promises bytes, waits; a load lands. The dial shows the current phase: the inner
ring its arrivals, the outer one its bytes. Beside it stand the numbers, and who waits and why.

>>> figure = MbarrierFigure()                    # a promise of 4,096 bytes, two loads of 2,048
>>> figure.step = 5
>>> figure.sentence()
'The load of a lands 2,048 bytes. Phase 0 is not complete: 2,048 promised bytes have not landed. Waiting: threads \
0 to 127, for phase 0.'
>>> figure.frames[figure.step].state.tx
2048
"""

from __future__ import annotations

from functools import partial

from tmalab.figures.base import script, style
from tmalab.figures.events import EventsFigure, drawn
from tmalab.figures.mbarrier_frames import Frame, frames_in, lives_of, two_loads
from tmalab.figures.mbarrier_svg import mbarrier_svg, mbarrier_table
from tmalab.run import Run
from tmalab.simulator.story import Story
from tmalab.texts import text


class MbarrierFigure(EventsFigure):
    """The mbarriers of a run, or of the fixed example. `name`: the one that is shown first, as the source calls it.

    Traits, in both directions: `choice`, the barrier's place among `names`, and `step`, the number of the event; of a
    run in which somebody waits for ever the last one is shown first. ValueError for a run without mbarriers, or without
    this one.
    """

    _esm = script("mbarrier")
    _css = style("steps", "mbarrier")

    def __init__(self, run: Run | Story | None = None, name: str | None = None):
        story = two_loads()[0] if run is None else run if isinstance(run, Story) else Story.of(run)
        lives = lives_of(story)
        named = ((story.barriers[key], len(life), partial(frames_in, story, life)) for key, life in lives)
        every, notes = drawn(named, story)
        names = [each for each, _ in every]
        if not names:
            raise ValueError(text("clock.run-without"))
        if name is not None and name not in names:
            raise ValueError(text("clock.run-has-none", name=name, names=", ".join(names)))
        choice = names.index(name) if name is not None else 0
        frames = every[choice][1]
        super().__init__(every, notes, WORDS, choice=choice, step=len(frames) - 1 if frames[-1].waits else 0)

    def plain(self, frame: Frame) -> dict[str, object]:
        waits = [[wait.who, wait.phase, wait.line] for wait in frame.waits]
        return {**vars(frame), **frame.state._asdict(), "state": None, "waits": waits}

    def svg(self) -> str:
        return mbarrier_svg(self.name, self.frames, self.step, self.notes)

    def table(self) -> str:
        return mbarrier_table(self.name, self.frames, self.notes)


WORDS = (  # the sentences that the browser fills in
    "clock.figure",
    "clock.title",
    "clock.which",
    "clock.dial",
    "clock.phase",
    "clock.parity",
    "clock.arrivals",
    "clock.arrived",
    "clock.bytes",
    "clock.landed",
    "clock.no-bytes",
    "clock.waits-head",
    "clock.nobody-waits",
    "clock.waits-row",
    "clock.waits-row-line",
    "clock.complete",
    "clock.head-who",
    "clock.head-does",
    "clock.head-pending",
    "clock.head-tx",
    "clock.head-line",
    "clock.legend-arrivals",
    "clock.legend-bytes",
    "clock.hint",
)
