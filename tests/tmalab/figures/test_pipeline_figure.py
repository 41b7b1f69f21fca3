"""Figure 6 without a browser: the spans of a timeline, the bubbles, and a run that has no times."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.tmalab.figures.runs import loaded, stored
from tmalab.figures import PipelineFigure
from tmalab.figures.pipeline_example import COMPUTE, LATENCY, TILES, example
from tmalab.figures.pipeline_words import Drawn, sentence_at, state_at, time_of
from tmalab.run import Run
from tmalab.simulator.story import Story
from tmalab.timing.timeline import Span, Timeline


@pytest.mark.parametrize("stages", range(1, 7))
def test_the_example_never_loads_into_a_stage_that_is_full(stages):
    timeline = example(stages)
    for stage in range(min(stages, TILES)):
        loads = [span for span in timeline.spans if (span.row, span.stage) == ("copy engine", stage)]
        full = [span for span in timeline.spans if span.row == f"stage {stage}"]
        assert all(a.end <= b.start for a, b in zip(full, loads[1:]))
        assert all(load.end == hold.start for load, hold in zip(loads, full))


def test_with_one_stage_each_tile_costs_a_latency_and_with_enough_only_the_first_one_does():
    assert example(1).duration == TILES * (LATENCY + COMPUTE)
    assert example(6).duration == LATENCY + TILES * COMPUTE
    assert example(6).bubbles() == []


def test_the_caption_counts_the_bubbles_and_what_they_cost():
    drawn = Drawn("x", example(2))
    lost = sum(bubble.duration for bubble in drawn.timeline.bubbles())
    assert drawn.caption.startswith(f"{time_of(drawn.timeline.duration, 'model')} in all")
    assert f"idles 3 times between its first work and its last, {time_of(lost, 'model')} of" in drawn.caption
    assert "never idles" in Drawn("x", example(6)).caption


def test_a_moment_says_what_each_row_does():
    timeline = Timeline.of(
        [
            Span("copy engine", "copy in flight", 0, 100, stage=0),
            Span("copy engine", "copy in flight", 10, 120, stage=1),
            Span("stage 0", "full", 100, 200, stage=0),
            Span("consumer", "wait", 0, 100, line=7),
        ],
        "measured",
    )
    assert state_at(timeline, "copy engine", 50) == "2 × copy in flight"
    assert state_at(timeline, "copy engine", 150) == "idle"
    assert state_at(timeline, "consumer", 50) == "waits (line 7)"
    assert state_at(timeline, "stage 0", 50) == "being filled, phase 0, emptied 0×"
    assert state_at(timeline, "stage 0", 150) == "full, phase 1, emptied 0×"
    assert state_at(timeline, "stage 0", 200) == "empty, phase 1, emptied 1×"


@pytest.mark.parametrize(
    ("time", "words"),
    [(0, "0 ns"), (7.25, "7.25 ns"), (999, "999 ns"), (1234, "1.23 µs"), (150000, "150 µs"), (2e6, "2 ms")],
)
def test_times_have_three_digits_and_a_unit(time, words):
    assert time_of(time, "model") == words


def test_a_run_without_times_is_drawn_in_the_order_of_its_events_and_says_so():
    figure = PipelineFigure(Story.of(loaded()))
    (timeline,) = figure.timelines
    assert "the axis counts events and is no time" in figure.table()
    flights = [span for span in timeline.spans if span.row == "copy engine"]
    (full,) = [span for span in timeline.spans if span.row == "stage 0"]
    assert len(flights) == 1  # both loads of the stage
    assert full.start <= flights[0].end
    waits = [span for span in timeline.spans if span.what == "wait"]
    assert {span.row for span in waits} == {"producer", "consumer"}
    assert all(span.end > span.start for span in timeline.spans)
    assert timeline.bubbles() == [] or "bubble" not in figure.table()


def test_stores_are_in_the_epilogue():
    timeline = PipelineFigure(Story.of(stored())).timelines[0]
    assert [span.what for span in timeline.spans if span.row == "epilogue"] == ["store"] * 3


def test_a_wait_for_ever_lasts_to_the_end():
    timeline = PipelineFigure(Story.of(loaded(promised=4096))).timelines[0]
    assert {span.end for span in timeline.spans if span.what == "wait"} == {timeline.duration}


def test_two_runs_are_drawn_on_one_scale():
    figure = PipelineFigure(example(2), example(4))
    root = ElementTree.fromstring(figure.svg())
    words = ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("text")]
    assert "First run: time as the model has it" in words
    assert "Second run: time as the model has it" in words
    widths = [float(n.get("width")) for n in root.iter() if n.get("class") == "p"][:-1]  # the last one is the legend's
    assert max(widths) - min(widths) < 0.2  # a tile takes as long in both


def test_the_stages_of_the_example_are_chosen():
    figure = PipelineFigure()
    assert figure.timelines[0] == example(2)
    figure.stages = 4
    assert figure.timelines[0] == example(4)
    figure.stages, figure.time = 99, 1e9
    assert (figure.stages, figure.time) == (6, example(6).duration)


def test_of_a_grid_one_cta_is_drawn():
    spans = [Span("tensor core", "compute", 10 * cta, 10 * cta + 5, cta) for cta in range(3)]
    figure = PipelineFigure(Timeline.of(spans, "measured"), cta=2)
    assert [span.cta for span in figure.timelines[0].spans] == [2]
    assert "CTA 2 of 3 is drawn." in figure.table()


def test_a_timeline_too_long_to_draw_is_drawn_in_part(monkeypatch):
    monkeypatch.setattr("tmalab.figures.pipeline.MOST", 4)
    figure = PipelineFigure(example(2))
    assert len(figure.timelines[0].spans) == 4
    assert "Drawn in part: 4 of 38 spans." in figure.table()


def test_misuse_is_one_sentence():
    with pytest.raises(ValueError, match="one or two runs, and was given 3"):
        PipelineFigure(example(1), example(2), example(3))
    with pytest.raises(ValueError, match="only a run in the simulator"):
        PipelineFigure(Run(on="gpu"))
    with pytest.raises(ValueError, match="no pipeline to draw"):
        PipelineFigure(Story(1))


def test_pointing_at_a_span_of_the_drawing_says_what_it_is():
    root = ElementTree.fromstring(PipelineFigure().svg())
    said = ["".join(node.itertext()) for node in root.iter() if (node.get("class") or "").startswith("s g")]
    assert "copy engine: copy in flight, 0 ns to 600 ns" in said
    assert "tensor core: bubble: nothing to do, 1.1 µs to 1.45 µs" in said


def test_warps_that_do_the_same_are_drawn_once_and_every_gap_stays():
    waits = [Span("consumer", "wait", at, 90, thread=32 * at, stage=1, line=5) for at in range(4)]
    other = Span("consumer", "wait", 2, 95, thread=128, stage=2, line=5)
    computes = [Span("tensor core", "compute", at, at + 10, stage=1, line=6) for at in (100, 110, 130)]
    loads = [Span("copy engine", "copy in flight", at, 90, copy=at + 1, stage=1) for at in range(2)]
    filled = [Span("stage 1", "copy in flight", at, 90, copy=at + 1, stage=1, line=at) for at in range(2)]
    whole = Timeline.of([*waits, other, *computes, *loads, *filled], "measured")
    drawn = PipelineFigure(whole).timelines[0]
    assert [(s.start, s.end) for s in drawn.spans if s.row == "consumer"] == [(0, 90), (2, 95)]
    assert [(s.start, s.end) for s in drawn.spans if s.row == "tensor core"] == [(100, 120), (130, 140)]
    assert [(s.start, s.end) for s in drawn.spans if s.row == "stage 1"] == [(0, 90)]
    assert sum(s.row == "copy engine" for s in drawn.spans) == 2
    assert drawn.bubbles() == whole.bubbles() != []


def test_a_stage_that_is_loaded_while_it_is_full_says_both():
    spans = [Span("stage 0", "full", 0, 50, stage=0), Span("copy engine", "copy in flight", 20, 80, stage=0)]
    timeline = Timeline.of(spans, "measured")
    assert state_at(timeline, "stage 0", 30) == "full, being filled, phase 1, emptied 0×"


def test_of_two_runs_each_has_its_sentence():
    figure = PipelineFigure(example(2), example(4))
    figure.time = 700
    first, second = (sentence_at(example(stages), 700, name) for stages, name in ((2, "First run"), (4, "Second run")))
    assert figure.sentence() == f"{first} {second}"
    assert second.startswith("Second run at 700 ns: producer")
