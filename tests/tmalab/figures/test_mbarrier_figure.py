"""Figure 4 without a browser: an mbarrier's life, its sentences, its static forms."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.tmalab.figures.runs import TILE_BYTES, loaded, stored
from tmalab import MBarrier
from tmalab.figures import MbarrierFigure
from tmalab.figures.mbarrier_frames import frames_of
from tmalab.figures.mbarrier_svg import mbarrier_table
from tmalab.simulator.story import Story


def counts(figure: MbarrierFigure) -> list[tuple[int, int, int]]:
    return [(frame.state.phase, frame.state.pending, frame.state.tx) for frame in figure.frames]


def test_the_example_is_two_loads_of_2048_bytes_for_one_promise():
    bar = MBarrier(1)
    expected = [(bar.phase, bar.pending_count, bar.tx_count)]
    bar.arrive_expect_tx(4096)
    expected += [(bar.phase, bar.pending_count, bar.tx_count)] * 4  # two issues and the waits change nothing
    for _ in range(2):
        bar.complete_tx(2048)
        expected.append((bar.phase, bar.pending_count, bar.tx_count))
    assert counts(MbarrierFigure()) == [*expected, expected[-1]]


@pytest.mark.parametrize("seed", range(3))
def test_a_runs_barrier_has_the_states_of_its_trace(seed):
    run = loaded(seed=seed)
    figure = MbarrierFigure(run)
    told = [frame for frame in figure.frames if not frame.did.startswith(("wait", "know"))]
    traced = [event for event in run.trace if event.barrier is not None and event.what != "mbarrier_wait"]
    assert [(f.state.phase, f.state.pending, f.state.tx) for f in told] == [(e.phase, e.pending, e.tx) for e in traced]


def test_who_waits_is_named_with_the_line_and_the_phase():
    figure = MbarrierFigure(loaded())
    (frame,) = [frame for frame in figure.frames if frame.did == "wait for phase 0"]
    assert frame.who == "threads 0 to 31"
    assert [(wait.who, wait.phase, wait.line) for wait in frame.waits] == [("threads 0 to 31", 0, frame.line)]
    assert frame.says.endswith(f"Waiting: threads 0 to 31 at line {frame.line}, for phase 0.")


def test_the_last_byte_completes_the_phase_and_nobody_waits_then():
    figure = MbarrierFigure(loaded())
    (frame,) = [frame for frame in figure.frames if frame.completes]
    assert frame.who == "the load of tile[1]"
    assert "phase 0 is complete, phase 1 begins" in frame.says
    assert frame.waits == ()


def test_a_deadlock_ends_with_who_waits_for_what():
    figure = loaded(promised=2 * TILE_BYTES).show()
    assert isinstance(figure, MbarrierFigure)
    assert figure.step == len(figure.frames) - 1
    assert figure.frames[-1].state.tx == TILE_BYTES
    assert figure.sentence().startswith("The run is over, and they wait for ever. Phase 0 is not complete: 1,024 ")


def test_bytes_ahead_of_the_promise_are_said_to_be():
    frames = MbarrierFigure(loaded(promised=0)).frames
    assert any("bytes have landed that nobody has promised yet" in frame.says for frame in frames)
    assert any(frame.state.tx < 0 for frame in frames)


def test_a_barrier_is_chosen_by_its_name():
    assert MbarrierFigure(loaded(), "full").name == "full"
    with pytest.raises(ValueError, match="no mbarrier empty: it has full"):
        MbarrierFigure(loaded(), "empty")
    with pytest.raises(ValueError, match="this run has no mbarrier"):
        MbarrierFigure(stored())


def test_a_life_too_long_to_draw_is_drawn_in_part(monkeypatch):
    monkeypatch.setattr("tmalab.figures.events.MOST", 3)
    figure = MbarrierFigure()
    assert len(figure.frames) == 3
    assert "Drawn in part: 3 of 8 events." in figure.table()
    assert "Drawn in part: 3 of 8 events." in figure.svg()


def test_traits_stay_within_the_events():
    figure = MbarrierFigure()
    figure.step, figure.choice = 100, 5
    assert (figure.step, figure.choice) == (7, 0)


def test_the_table_has_a_line_for_each_event():
    figure = MbarrierFigure(loaded())
    lines = figure.table().splitlines()
    assert lines[0] == f"mbarrier full: {len(figure.frames)} events"
    assert len(lines) == 1 + len(figure.frames)
    assert f"(line {figure.frames[0].line})" in lines[1]


def test_a_long_life_is_told_in_part_and_says_so():
    frames = MbarrierFigure().frames * 60
    lines = mbarrier_table("full", frames, []).splitlines()
    assert len(lines) == 1 + 400 + 1
    assert lines[-1].startswith("Drawn in part: 400 of 480")


def test_the_drawing_is_one_well_formed_svg_with_a_dial_for_each_event():
    root = ElementTree.fromstring(MbarrierFigure().svg())
    assert root.get("role") == "img"
    assert sum(" rest" in (node.get("class") or "") for node in root.iter()) == 1
    assert sum((node.get("class") or "").startswith("s e") for node in root.iter()) == 8


def test_of_a_long_life_that_ends_in_a_hang_the_end_is_drawn(monkeypatch):
    monkeypatch.setattr("tmalab.figures.events.MOST", 3)
    figure = MbarrierFigure(loaded(promised=2 * TILE_BYTES))
    assert [frame.who for frame in figure.frames][-1] == "nobody"
    assert len(figure.frames) == 4  # three events, and that nothing happens any more
    assert figure.step == 3
    assert "Drawn in part: 3 of" in figure.table()
    story = Story.of(loaded(promised=2 * TILE_BYTES))
    assert figure.frames == frames_of(story, next(iter(story.barriers)))[-4:]
