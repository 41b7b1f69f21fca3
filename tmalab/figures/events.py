"""What figures have in common that walk through events: whose events, which one, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import traitlets

from tmalab.figures.base import Figure, templates
from tmalab.simulator.story import Story
from tmalab.texts import text

MOST = 5_000  # events that are drawn of all that can be chosen
STEPS = (  # the sentences of the list and the slider
    "steps.steps-list",
    "steps.steps-slider",
    "steps.steps-back",
    "steps.steps-forward",
    "steps.steps-place",
)


class EventsFigure(Figure):
    """Frames of several things, by name: `every` is [(name, frames)], a frame has `says`, the sentence.

    Traits, in both directions: `choice`, the place among `names`, and `step`, the number of the event.
    """

    data = traitlets.Dict().tag(sync=True)
    choice = traitlets.Int(0).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    def __init__(self, every: list[tuple[str, list[Any]]], notes: list[str], words: Iterable[str], **chosen: int):
        self.every, self.notes = every, notes
        plain = [{"name": name, "frames": [self.plain(frame) for frame in frames]} for name, frames in every]
        data = {"every": plain, "notes": notes}
        super().__init__(data=data, words=templates(*words, *STEPS), **chosen)

    def plain(self, frame: Any) -> dict[str, object]:
        """What the browser needs of a frame, as plain data."""
        raise NotImplementedError

    @property
    def names(self) -> list[str]:
        """What can be chosen."""
        return [name for name, _ in self.every]

    @property
    def name(self) -> str:
        """What is chosen."""
        return self.names[self.choice]

    @property
    def frames(self) -> list[Any]:
        """The events of what is chosen."""
        return self.every[self.choice][1]

    def sentence(self) -> str:
        """What the figure says of the event that is shown."""
        return self.frames[self.step].says

    @traitlets.validate("choice")
    def _legal_choice(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), len(self.every) - 1)

    @traitlets.validate("step")
    def _legal_step(self, proposal: dict) -> int:
        return min(max(proposal["value"], 0), len(self.frames) - 1)


def drawn(
    every: Iterable[tuple[str, int, Callable[[int], list[Any]]]], story: Story
) -> tuple[list[tuple[str, list[Any]]], list[str]]:
    """As many frames as can be drawn, and what is to be said of the rest.

    `every`: of each thing its name, how many frames it has, and what makes so many of them at most.
    """
    kept, notes, count = [], [], 0
    for name, number, made in every:
        if number and count < MOST:
            kept.append((name, made(MOST - count)))
        count += number
    if count > MOST:
        notes.append(text("steps.in-part", drawn=f"{MOST:,}", count=f"{count:,}"))
    if story.before:
        notes.append(text("steps.begins-late"))
    if story.cut:
        notes.append(text("steps.ends-early"))
    return kept, notes
