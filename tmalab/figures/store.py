"""Figure 5: stores from shared memory, and what may be overwritten when.

A step is one event of the thread that stores: a store, a commit, a wait; or of the copy engine: it has read the source,
it has written. Each buffer has a band, an event a cell: hatched while it must not be overwritten.

>>> figure = StoreFigure()                       # three tiles through two buffers
>>> figure.step = 6
>>> figure.sentence()
'wait_group.read(1) returns to thread 0: all but the newest group have been read. So ring[0] may be overwritten.'
"""

from __future__ import annotations

from functools import partial

from tmalab.figures.base import script, style
from tmalab.figures.events import EventsFigure, drawn
from tmalab.figures.store_frames import Frame, buffers_of, frames_in, happened, ring_of_two, storing_threads
from tmalab.figures.store_svg import store_svg, store_table
from tmalab.run import Run
from tmalab.simulator.story import Story
from tmalab.texts import text

MOST_BUFFERS = 12  # that are drawn
MOST_THREADS = 64


class StoreFigure(EventsFigure):
    """The stores of a run, or of the fixed example. `name`: the thread whose stores are shown first, as in reports.

    Traits, in both directions: `choice`, the thread's place among `names`, and `step`, the number of the event.
    ValueError for a run without stores.
    """

    _esm = script("store")
    _css = style("steps", "store")

    def __init__(self, run: Run | Story | None = None, name: str | None = None):
        story = ring_of_two()[0] if run is None else run if isinstance(run, Story) else Story.of(run)
        threads, done = storing_threads(story)[:MOST_THREADS], happened(story)
        told = ((story.names[each], len(done[each]), partial(frames_in, story, each, done[each])) for each in threads)
        every, notes = drawn(told, story)
        names = [each for each, _ in every]
        if not names:
            raise ValueError(text("stores.run-without"))
        if name is not None and name not in names:
            raise ValueError(text("stores.run-has-none", name=name, names=", ".join(names)))
        self.buffers = [[each for _, each in buffers_of(story, thread)] for thread in threads]
        most = max(map(len, self.buffers))
        if most > MOST_BUFFERS:
            notes.append(text("stores.too-many", drawn=MOST_BUFFERS, count=most))
        super().__init__(every, notes, WORDS, choice=names.index(name) if name is not None else 0)
        self.data = {**self.data, "buffers": [buffers[:MOST_BUFFERS] for buffers in self.buffers]}

    def plain(self, frame: Frame) -> dict[str, object]:
        return {**vars(frame), "buffers": frame.buffers[:MOST_BUFFERS], "arrived": frame.arrived[:MOST_BUFFERS]}

    def svg(self) -> str:
        buffers = self.buffers[self.choice][:MOST_BUFFERS]
        return store_svg(self.name, buffers, self.frames, self.step, self.notes)

    def table(self) -> str:
        return store_table(self.name, self.buffers[self.choice], self.frames, self.notes)


WORDS = (  # the sentences that the browser fills in
    "stores.figure",
    "stores.title",
    "stores.which",
    "stores.head-who",
    "stores.head-does",
    "stores.head-line",
    "stores.head-buffer",
    "stores.head-band",
    "stores.head-overwrite",
    "stores.head-arrived",
    "stores.groups",
    "stores.no-groups",
    "stores.hint",
    "stores.legend-no",
    "stores.legend-read",
    "stores.legend-yes",
    "stores.never",
    "stores.open",
    "stores.busy",
    "stores.read",
    "stores.free",
    "stores.arrived",
    "stores.arrived-done",
    "stores.arrived-known",
)
