"""Figure 7: multicast. One load lands in several CTAs of a cluster, and credits the barrier of each.

Bit i of the mask is the CTA of rank i. The bytes land at the same offset of every CTA that is named, and each CTA's own
barrier is credited with all of them, so each must have promised them itself.

>>> figure = MulticastFigure()                    # four CTAs, mask 0b1011
>>> figure.step = 7
>>> print(figure.sentence())
CTA 0, 1, 3: every promised byte has landed, its phase is complete.
>>> figure.promises = 0b1111                      # CTA 2 promises what the mask does not bring it
>>> print(figure.sentence())
CTA 0, 1, 3: every promised byte has landed, its phase is complete. CTA 2: 1,024 bytes were promised and none will \
come: it waits for ever, because the mask leaves it out.
"""

from __future__ import annotations

import traitlets

from tmalab.figures.base import script, style
from tmalab.figures.events import EventsFigure, drawn
from tmalab.figures.multicast_example import ALL, BYTES, CTAS, PIECES, STEPS, example_frames, history, values_at
from tmalab.figures.multicast_frames import Frame, multicasts_of
from tmalab.figures.multicast_svg import multicast_svg, multicast_table
from tmalab.run import Run
from tmalab.simulator.story import Story
from tmalab.texts import text

MOST_LOADS = 64  # of a run


class MulticastFigure(EventsFigure):
    """The multicast loads of a run, or the fixed example of four CTAs.

    Traits, in both directions: `step`, the number of the event; of a run `choice`, which load; of the example `mask`
    and `promises`, bit i for CTA i. ValueError for a run without a multicast.
    """

    _esm = script("multicast")
    _css = style("steps", "multicast")

    mask = traitlets.Int(0b1011, min=0, max=ALL).tag(sync=True)
    promises = traitlets.Int(0b1011, min=0, max=ALL).tag(sync=True)

    def __init__(self, run: Run | Story | None = None):
        self._run = run is not None
        if run is None:
            self.about = [(BYTES, CTAS, 0)]
            name = text("multicast.example", ctas=CTAS, bytes=f"{BYTES:,}")
            super().__init__([(name, example_frames(self.mask, self.promises))], [], WORDS)
            self.data = {**self.data, "example": _example()}
            self.words = {**self.words, "hint": text("multicast.hint-example")}
            return
        story = run if isinstance(run, Story) else Story.of(run)
        every, count = multicasts_of(story, MOST_LOADS)
        if not every:
            raise ValueError(text("multicast.run-without"))
        kept, notes = drawn(((each.name, len(each.frames), each.first) for each in every), story)
        if count > len(every):
            notes.append(text("multicast.in-part", drawn=len(every), count=f"{count:,}"))
        self.about = [(each.bytes, len(each.frames[0].ctas), each.issuer) for each in every[: len(kept)]]
        self._masks = [each.mask for each in every]
        hangs = [at for at, (_, frames) in enumerate(kept) if any(state.waiting for state in frames[-1].ctas)]
        choice, step = (
            (hangs[0], len(kept[hangs[0]][1]) - 1) if hangs else (0, 0)
        )  # nothing comes after a wait for ever
        super().__init__(kept, notes, WORDS, choice=choice, step=step)
        named = zip(self.data["every"], every)
        self.data = {
            **self.data,
            "every": [
                {**plain, "bytes": each.bytes, "mask": each.mask, "issuer": each.issuer} for plain, each in named
            ],
        }

    @property
    def frames(self) -> list[Frame]:
        """The events of the load that is shown."""
        return self.every[self.choice][1] if self._run else example_frames(self.mask, self.promises)

    def plain(self, frame: Frame) -> dict[str, object]:
        return {**vars(frame), "ctas": [list(state) for state in frame.ctas]}

    def svg(self) -> str:
        return multicast_svg(
            self.name, self.frames, self.step, self.notes, self._shown_mask(), *self.about[self.choice]
        )

    def table(self) -> str:
        return multicast_table(self.name, self.frames, self.notes)

    def _shown_mask(self) -> int:
        return self._masks[self.choice] if self._run else self.mask


def _example() -> dict[str, object]:
    """What the browser puts the example together from, for any mask and any promises."""
    return {
        "bytes": BYTES,
        "steps": STEPS,
        "pieces": PIECES,
        "values": [values_at(number, 0) for number in range(len(STEPS))],
        "histories": [
            [[list(state) for state in history(masked, promised)] for promised in (False, True)]
            for masked in (False, True)
        ],
    }


WORDS = (  # the sentences that the browser fills in
    "multicast.figure",
    "multicast.title",
    "multicast.which",
    "multicast.hint",
    "multicast.mask",
    "multicast.promises",
    "multicast.cta",
    "multicast.ctas",
    "multicast.nobody",
    "multicast.load",
    "multicast.nothing-more",
    "multicast.issuer",
    "multicast.masked",
    "multicast.unmasked",
    "multicast.source",
    "multicast.landed",
    "multicast.nothing-comes",
    "multicast.phase",
    "multicast.pending",
    "multicast.tx",
    "multicast.waiting",
    "multicast.head-who",
    "multicast.head-does",
    "multicast.head-line",
    "multicast.legend-landed",
    "multicast.legend-missing",
    "multicast.did-init",
    "multicast.did-promise",
    "multicast.did-issue",
    "multicast.did-lands",
    "multicast.did-end",
    "multicast.init",
    "multicast.promise",
    "multicast.promise-none",
    "multicast.issue",
    "multicast.issue-none",
    "multicast.lands",
    "multicast.lands-none",
    "multicast.end-complete",
    "multicast.end-hungry",
    "multicast.end-unpromised",
    "multicast.end-nothing",
)
