"""Figure 6: the timeline of a pipeline: producer, copy engine, stages, tensor core, and the bubbles between.

The pointer, or the arrow keys, scrub through time; beside each row stands what it does at that moment, and of a stage
the phases of its barriers. Two runs are drawn one under the other, on one scale.

>>> figure = PipelineFigure()                    # an example whose stages can be chosen
>>> figure.stages, figure.timelines[0].source
(2, 'model')
>>> figure.time = 700
>>> figure.sentence()
'At 700 ns: producer waits; copy engine copy in flight; stage 0 full, phase 1, emptied 0×; stage 1 being \
filled, phase 0, emptied 0×; tensor core computes.'
"""

from __future__ import annotations

from collections.abc import Sequence

import traitlets

from tmalab.figures.base import Figure, script, style, templates
from tmalab.figures.pipeline_example import MOST_STAGES, example
from tmalab.figures.pipeline_merge import together
from tmalab.figures.pipeline_steps import STEPS, timeline_of
from tmalab.figures.pipeline_svg import pipeline_svg, pipeline_table
from tmalab.figures.pipeline_words import WORDS, Drawn, sentence_at
from tmalab.run import Run
from tmalab.simulator.story import Story
from tmalab.texts import text
from tmalab.timing.timeline import Timeline

MOST = 5_000  # spans of a timeline that are drawn
MOST_DONE = 50_000  # things that the threads of a run do, of which a timeline is made: a few seconds' work


class PipelineFigure(Figure):
    """The timelines of one or two runs (Run, Timeline or Story), or the fixed example; of a grid, those of one CTA.

    A run that has no times is drawn in the order of its events, and says so. Traits, in both directions: `time`, the
    moment that is shown (nanoseconds, or events), and `stages` of the example. ValueError for a run in which nothing
    is asynchronous.
    """

    _esm = script("pipeline")
    _css = style("steps", "pipeline")

    data = traitlets.Dict().tag(sync=True)
    time = traitlets.Float(0.0).tag(sync=True)
    stages = traitlets.Int(2).tag(sync=True)

    def __init__(self, *runs: Run | Timeline | Story, cta: int = 0):
        if len(runs) > 2:
            raise ValueError(text("pipeline.too-many", given=len(runs)))
        self._given = [_drawn(run, cta, name) for run, name in zip(runs, _names(len(runs)))]
        choices = [self._given] if runs else [[_example(stages)] for stages in range(1, MOST_STAGES + 1)]
        self._choices = choices
        data = {"choices": [[drawn.plain() for drawn in choice] for choice in choices]}
        super().__init__(data=data, words=templates(*WORDS))

    @property
    def drawn(self) -> list[Drawn]:
        """What is shown."""
        return self._choices[0 if self._given else self.stages - 1]

    @property
    def timelines(self) -> list[Timeline]:
        """The timelines that are shown."""
        return [drawn.timeline for drawn in self.drawn]

    def sentence(self) -> str:
        """What the figure says of the moment that is shown."""
        several = len(self.drawn) > 1
        return " ".join(sentence_at(each.timeline, self.time, each.name if several else "") for each in self.drawn)

    def svg(self) -> str:
        return pipeline_svg(self.drawn)

    def table(self) -> str:
        return pipeline_table(self.drawn)

    @traitlets.validate("stages")
    def _legal_stages(self, proposal: dict) -> int:
        return min(max(proposal["value"], 1), MOST_STAGES)

    @traitlets.validate("time")
    def _legal_time(self, proposal: dict) -> float:
        return min(max(proposal["value"], 0.0), max(timeline.duration for timeline in self.timelines))


def _names(count: int) -> Sequence[str]:
    return (text("pipeline.run"),) if count == 1 else (text("pipeline.run-first"), text("pipeline.run-second"))


def _example(stages: int) -> Drawn:
    name = text("pipeline.example-one") if stages == 1 else text("pipeline.example", stages=stages)
    return Drawn(name, example(stages), [], invented=True)


def _drawn(run: Run | Timeline | Story, cta: int, name: str) -> Drawn:
    whole = _timeline(run)
    notes = list(whole.notes)
    if all((span.row, span.what) == ("consumer", "compute") for span in whole.spans):
        raise ValueError(text("pipeline.run-without"))
    if len(whole.ctas) > 1:
        cta = cta if cta in whole.ctas else whole.ctas[0]
        notes.append(text("pipeline.of-cta", cta=cta, count=len(whole.ctas)))
        whole = whole.of_cta(cta)
    whole = together(whole)
    if len(whole.spans) > MOST:
        notes.append(text("pipeline.in-part", drawn=f"{MOST:,}", count=f"{len(whole.spans):,}"))
        kept = whole.spans[:MOST]
        whole = Timeline(kept, whole.rows, max(span.end for span in kept), whole.source)
    return Drawn(name, whole, notes)


def _timeline(run: Run | Timeline | Story) -> Timeline:
    """A run's own timeline, in time; without one, the order of its events."""
    if isinstance(run, Timeline):
        return run
    notes = []
    if isinstance(run, Run):
        try:
            found = run.beginning(MOST_DONE)
            if found.spans:
                return found
        except (ValueError, RuntimeError) as error:  # not simulated, or a constant of the model was not measured
            notes.append(str(error))
    story = run if isinstance(run, Story) else Story.of(run)
    notes += [text("steps.begins-late")] if story.before else [text("steps.ends-early")] if story.cut else []
    found = timeline_of(story)
    return Timeline(found.spans, found.rows, found.duration, STEPS, tuple(notes))
