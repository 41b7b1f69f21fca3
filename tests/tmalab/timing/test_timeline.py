"""Timelines as data: bubbles, words, JSON, and trace files."""

from __future__ import annotations

import itertools
import json

import pytest

from tmalab.timing import Span, Timeline
from tmalab.timing.timeline import lanes, nanoseconds


def compute(start, end, **more):
    return Span("tensor core", "compute", start, end, **more)


def flight(start, end, **more):
    return Span("copy engine", "copy in flight", start, end, **more)


PIPELINE = Timeline.of(
    [
        Span("stage 10", "full", 50, 90, stage=10),
        compute(100, 150, stage=0),
        flight(0, 40, copy=1, stage=0),
        flight(10, 95, copy=2, stage=1),
        Span("stage 2", "full", 40, 100, stage=2),
        compute(210, 260, stage=1, line=7),
        Span("producer", "issue", 0, 5, thread=256),
        Span("epilogue", "store", 260, 300),
    ],
    "model",
)


def test_spans_are_in_the_order_of_their_start_and_the_last_end_is_the_duration():
    starts = [span.start for span in PIPELINE.spans]
    assert starts == sorted(starts)
    assert PIPELINE.duration == 300


def test_rows_go_from_the_producer_over_the_stages_by_number_to_the_epilogue():
    assert PIPELINE.rows == ("producer", "copy engine", "stage 2", "stage 10", "tensor core", "epilogue")


def test_a_bubble_is_a_gap_of_the_tensor_core_and_names_the_stage_it_waited_for():
    (bubble,) = PIPELINE.bubbles()
    assert (bubble.row, bubble.what, bubble.start, bubble.end) == ("tensor core", "bubble", 150, 210)
    assert (bubble.stage, bubble.line) == (1, 7)


def test_two_warpgroups_that_take_turns_on_the_tensor_core_leave_no_bubble():
    spans = [compute(0, 100, thread=0), compute(60, 140, thread=128), compute(140, 200, thread=0)]
    assert Timeline.of(spans, "model").bubbles() == []


def test_each_cta_has_its_own_bubbles():
    spans = [compute(0, 10, cta=0), compute(5, 20, cta=1), compute(30, 40, cta=0), compute(20, 30, cta=1)]
    assert [(bubble.cta, bubble.start, bubble.end) for bubble in Timeline.of(spans, "model").bubbles()] == [(0, 10, 30)]


def test_without_a_tensor_core_the_gaps_are_those_of_computing_threads_and_else_of_the_copies():
    consumer = Span("consumer", "compute", 0, 10), Span("consumer", "compute", 12, 20)
    assert [bubble.row for bubble in Timeline.of([*consumer, flight(0, 1)], "model").bubbles()] == ["consumer"]
    assert [bubble.row for bubble in Timeline.of([flight(0, 1), flight(2, 3)], "model").bubbles()] == ["copy engine"]


def test_busy_time_counts_overlapping_spans_once_and_waits_not_at_all():
    timeline = Timeline.of([flight(0, 40), flight(10, 30), flight(35, 60), flight(100, 110)], "model")
    assert timeline.busy("copy engine") == 70
    assert Timeline.of([Span("consumer", "wait", 0, 50), compute(50, 60)], "model").busy("consumer") == 0


def test_the_summary_says_the_duration_the_shares_and_the_bubbles():
    summary = PIPELINE.summary()
    assert "300 ns" in summary
    assert "60 ns" in summary
    assert "tensor core: busy 33 %" in summary


def test_the_summary_says_the_notes():
    assert Timeline.of([compute(0, 1)], "model", notes=["not everything"]).summary().endswith("not everything")


def test_an_empty_timeline_has_no_bubbles_and_says_so():
    empty = Timeline.of([], "measured")
    assert empty.bubbles() == []
    assert empty.duration == 0
    assert "measured" in empty.summary()


def test_a_timeline_survives_json():
    noted = Timeline.of(PIPELINE.spans, "measured", duration=400, notes=["a note"])
    assert Timeline.from_dict(json.loads(json.dumps(noted.to_dict()))) == noted


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"source": "guessed"}, "guessed"),
        ({"spans": [{"row": "producer"}]}, "no span"),
        ({"spans": [{"row": "producer", "what": "issue", "start": 2, "end": 1}]}, "must not end before"),
        ({"spans": [{"row": "producer", "what": "sleep", "start": 0, "end": 1}]}, "sleep"),
    ],
)
def test_data_that_are_no_timeline_are_refused_in_one_sentence(change, sentence):
    with pytest.raises(ValueError, match=sentence):
        Timeline.from_dict({**PIPELINE.to_dict(), **change})


def test_data_without_spans_are_refused():
    with pytest.raises(ValueError, match="spans"):
        Timeline.from_dict({"source": "model", "rows": [], "duration": 0})


def test_one_cta_can_be_taken_out():
    both = Timeline.of([compute(0, 10, cta=3), flight(0, 20, cta=4)], "model")
    assert both.ctas == (3, 4)
    assert both.of_cta(4).rows == ("copy engine",)
    assert both.of_cta(4).duration == 20


def test_a_trace_file_has_one_complete_event_a_span_in_microseconds():
    trace = json.loads(json.dumps(PIPELINE.to_perfetto()))
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(events) == len(PIPELINE.spans)
    stored = next(event for event in events if event["name"] == "store")
    assert (stored["ts"], stored["dur"], stored["pid"]) == (0.26, 0.04, 0)


def test_spans_that_overlap_lie_on_threads_of_their_own_in_a_trace_file():
    trace = PIPELINE.to_perfetto()["traceEvents"]
    names = {(event["pid"], event["tid"]): event["args"]["name"] for event in trace if event["name"] == "thread_name"}
    assert sorted(names.values()).count("copy engine") == 2
    for thread in names:
        ends = [
            (event["ts"], event["dur"])
            for event in trace
            if event["ph"] == "X" and (event["pid"], event["tid"]) == thread
        ]
        assert all(start + length <= later for (start, length), (later, _) in itertools.pairwise(ends))


def test_lanes_are_as_few_as_the_most_spans_at_one_time():
    spans = [flight(0, 10), flight(5, 15), flight(10, 20), flight(15, 25)]
    assert [[span.start for span in lane] for lane in lanes(spans)] == [[0, 10], [5, 15]]


@pytest.mark.parametrize(("duration", "said"), [(840, "840 ns"), (12_340, "12.3 µs"), (1_520_000, "1.52 ms")])
def test_durations_are_said_in_a_unit_that_fits(duration, said):
    assert nanoseconds(duration) == said
