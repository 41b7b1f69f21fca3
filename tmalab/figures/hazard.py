"""Figure 8: a hazard: its accesses among what their agents did, the edge that is missing, and the bytes in memory.

>>> figure = HazardFigure()                      # the fixed example: a tile that is read without a wait
>>> print(figure.sentence())
A: thread 37 reads tile[3, 8] (line 14).
"""

from __future__ import annotations

from collections.abc import Sequence

from tmalab.figures.base import script, style
from tmalab.figures.events import EventsFigure
from tmalab.figures.hazard_frames import Frame, Scene, scene_of, without_wait
from tmalab.figures.hazard_svg import ends_of, hazard_svg, hazard_table, picture, rules, size_of
from tmalab.figures.words import at_line
from tmalab.run import Run
from tmalab.simulator.hazards import Hazard
from tmalab.simulator.story import Story
from tmalab.texts import text

MOST_HAZARDS = 24  # of a run
HATCH = "tma-view-hatch"


class HazardFigure(EventsFigure):
    """The hazards of a run, one of them, or the fixed example.

    Traits, in both directions: `choice`, the hazard's place among `names`, and `step`, the number of the event.
    ValueError for a run without hazards.
    """

    _esm = script("hazard")
    _css = style("steps", "hazard")

    def __init__(self, told: Run | Hazard | None = None):
        hazards, story = _hazards(told)
        self.scenes = [scene_of(hazard, story) for hazard in hazards[:MOST_HAZARDS]]
        every = [(_name(scene, self.scenes), scene.frames) for scene in self.scenes]
        notes = [text("view.order")]
        if len(hazards) > MOST_HAZARDS:
            notes.append(text("steps.in-part", drawn=MOST_HAZARDS, count=len(hazards)))
        first = self.scenes[0]
        super().__init__(every, notes, WORDS, step=first.spans["A"][0] if first.spans else 0)
        self.data = {**self.data, "scenes": [_plain(scene) for scene in self.scenes]}

    @property
    def scene(self) -> Scene:
        """What is drawn."""
        return self.scenes[self.choice]

    def plain(self, frame: Frame) -> dict[str, object]:
        return vars(frame)

    def svg(self) -> str:
        return hazard_svg(self.scene, self.step)

    def table(self) -> str:
        return hazard_table(self.scene)


def _hazards(told: Run | Hazard | None) -> tuple[Sequence[Hazard], Story]:
    if told is None:
        hazard, story = without_wait()
        return [hazard], story
    hazards = [told] if isinstance(told, Hazard) else told.hazards
    hazards = [hazard for hazard in hazards if hazard.accesses]
    if not hazards:
        raise ValueError(text("view.run-without"))
    return hazards, Story.of(told, to_the_end=True)


def _name(scene: Scene, scenes: Sequence[Scene]) -> str:
    """The hazard's title, with its line where several have the same."""
    title = scene.hazard.message.splitlines()[0]
    alike = [each for each in scenes if each.hazard.name == scene.hazard.name]
    line = scene.hazard.accesses[0].line
    return at_line(title, line if len(alike) > 1 else None)


def _plain(scene: Scene) -> dict[str, object]:
    wide, high = size_of(scene)
    style = "".join(rule.format(id=".tma-view") for rule in rules(HATCH))
    said = {"fix": scene.hazard.fix}
    if scene.edge:
        said["first"], said["second"] = ends_of(scene)
    edge = [text("view.edge-missing", **said), text("view.edge-fixed", **said)] if scene.edge else []
    count = text("view.count", count=f"{scene.hazard.count:,}") if scene.hazard.count > 1 else ""
    return {
        "width": wide,
        "height": high,
        "style": style,
        "hatch": HATCH,
        "picture": picture(scene, 4, 0),
        "why": ". ".join(filter(None, (scene.why, count))),
        "fix": text("view.write", fix=scene.hazard.fix) if scene.hazard.fix else "",
        "edge": edge,
    }


WORDS = (  # the sentences that the browser fills in
    "view.figure",
    "view.title",
    "view.which",
    "view.head-who",
    "view.head-does",
    "view.head-line",
    "view.edge",
    "view.as-it-is",
    "view.with-fix",
    "view.hint",
)
