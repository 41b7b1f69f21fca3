"""Figures 4, 5, 6 and 8 in a browser: what a step shows, the keys, what the kernel hears, and how fast."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tmalab.figures.page import is_within_a_frame, kernel, spoken
from tests.tmalab.figures.runs import TILE_BYTES, loaded, stored
from tmalab.figures import HazardFigure, MbarrierFigure, PipelineFigure, StoreFigure
from tmalab.figures.pipeline_example import example
from tmalab.figures.pipeline_words import sentence_at, state_at
from tmalab.simulator.story import Moment, State, Story
from tmalab.timing.timeline import Span, Timeline

pytestmark = pytest.mark.browser
SELECTED = "[role=option][aria-selected=true]"


def cells(page) -> list[str]:
    """The chosen line of the list."""
    return page.locator(SELECTED).locator("span").all_inner_texts()[1:]


def states(page) -> list[str]:
    return page.locator(".tma-states > div").all_inner_texts()


def test_a_dial_shows_the_state_of_each_event_of_a_run(stub):
    figure = MbarrierFigure(loaded())
    page = stub(figure)
    for number, frame in enumerate(figure.frames):
        state = frame.state
        assert spoken(page) == frame.says
        assert cells(page)[2:4] == [str(state.pending), f"{state.tx:,}"]
        label = page.locator(".tma-dial").get_attribute("aria-label")
        arrived = f"{state.expected - state.pending} of {state.expected} arrivals"
        bytes_ = f"{state.delivered:,} of {state.promised:,} bytes"
        assert label == f"Phase {state.phase}, parity {state.phase % 2}: {arrived}, {bytes_}."
        assert kernel(page, "step") == number
        page.get_by_role("listbox").press("ArrowDown")
    assert page.get_by_role("button", name="Forward").is_disabled()


def test_of_several_barriers_one_is_chosen(stub):
    story = Story.of(loaded())
    (key,) = story.barriers
    other = (0, key[1] + 8)
    story.barriers[other] = "empty"
    story.moments.append(Moment(99, "mbarrier_init", 0, 0, 4, 0, other, State(0, 4, 4, 0, 0, 0), 3))
    page = stub(MbarrierFigure(story))
    page.get_by_role("listbox").press("End")
    page.get_by_text("empty", exact=True).click()
    assert (kernel(page, "choice"), kernel(page, "step")) == (1, 0)
    assert (
        spoken(page)
        == "Thread 0 initialises it: a phase needs 4 arrivals. Phase 0 is not complete: 4 arrivals are pending."
    )
    assert page.locator(".tma-pending").count() == 4


def test_the_list_is_walked_by_keys_and_the_slider_moves_along(stub):
    page = stub(StoreFigure())
    page.get_by_role("listbox").focus()
    for key, step in (("ArrowDown", 1), ("End", 15), ("ArrowDown", 15), ("PageUp", 5), ("ArrowUp", 4), ("Home", 0)):
        page.keyboard.press(key)
        assert kernel(page, "step") == step
        assert page.get_by_role("slider").input_value() == str(step)
        active = page.get_by_role("listbox").get_attribute("aria-activedescendant")
        assert page.locator(f"#{active}").get_attribute("aria-posinset") == str(step + 1)
    page.get_by_role("slider").press("ArrowRight")
    assert kernel(page, "step") == 1


def test_plain_keys_stay_in_the_figure(stub):
    page = stub(MbarrierFigure())
    page.evaluate("globalThis.seen = []; document.addEventListener('keydown', (event) => seen.push(event.key))")
    page.get_by_role("listbox").focus()
    for key in ("d", "d", "ArrowDown", "Control+s"):
        page.keyboard.press(key)
    assert page.evaluate("seen") == ["Control", "s"]


def test_a_buffer_says_whether_it_may_be_overwritten(stub):
    figure = StoreFigure(stored())
    page = stub(figure)
    rows = page.locator(".tma-buffers tbody tr")
    may = {"never": "yes", "open": "no", "busy": "no", "read": "no", "free": "yes"}
    for frame in figure.frames:
        said = [row.locator("td").nth(1).inner_text().split(":")[0] for row in rows.all()]
        assert said == [may[state] for state in frame.buffers]
        now = [row.locator(".tma-now").get_attribute("class").split()[0] for row in rows.all()]
        assert now == [f"tma-{state}" for state in frame.buffers]
        page.get_by_role("listbox").press("ArrowDown")


@pytest.mark.parametrize("time", [0, 650, 1200, 2500])
def test_a_moment_shows_what_each_row_does(stub, time):
    figure = PipelineFigure()
    figure.time = time
    page = stub(figure)
    timeline = example(2)
    assert states(page) == [state_at(timeline, row, time) for row in timeline.rows]
    assert spoken(page) == sentence_at(timeline, time)


def test_the_arrow_keys_go_from_change_to_change(stub):
    page = stub(PipelineFigure())
    changes = sorted({time for span in example(2).spans for time in (span.start, span.end)})
    page.get_by_role("slider").focus()
    for key, time in (("ArrowRight", changes[1]), ("ArrowRight", changes[2]), ("ArrowLeft", changes[1])):
        page.keyboard.press(key)
        assert kernel(page, "time") == time
    page.keyboard.press("End")
    assert kernel(page, "time") == example(2).duration
    page.keyboard.press("PageUp")
    assert kernel(page, "time") == changes[-11]


def test_the_pointer_scrubs_and_a_click_keeps_the_moment(stub):
    page = stub(PipelineFigure())
    box = page.locator(".tma-plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    scrubbed = spoken(page)
    assert scrubbed.startswith("At 1.8")  # half of 3.65 µs
    assert kernel(page, "time") == 0
    page.mouse.move(5, 5)
    assert spoken(page).startswith("At 0 ns")
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 30)
    page.mouse.down()
    page.mouse.up()
    assert abs(kernel(page, "time") - example(2).duration / 2) < 20
    page.mouse.move(5, 5)
    assert spoken(page) == scrubbed


def test_more_stages_are_a_click_away(stub):
    page = stub(PipelineFigure())
    page.get_by_text("4", exact=True).first.click()
    assert kernel(page, "stages") == 4
    assert page.get_by_text("Tiles through 4 stages: an example").count() == 1
    assert page.locator(".tma-chart .tma-bubble").count() == 0
    assert len(states(page)) == 7


def test_a_timeline_can_be_looked_at_closely(stub):
    page = stub(PipelineFigure(example(2), example(3)))
    width = page.locator(".tma-plot svg").first.evaluate("(svg) => svg.clientWidth")
    page.get_by_role("button", name="Closer").click()
    assert page.locator(".tma-plot svg").first.evaluate("(svg) => svg.clientWidth") == pytest.approx(2 * width, abs=4)
    page.get_by_role("slider").first.press("End")
    for plot in page.locator(".tma-plot").all():
        assert plot.evaluate("(plot) => plot.scrollLeft") > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_a_hazards_edge_is_missing_and_the_fix_draws_it(stub):
    run = loaded(waits=0)
    figure = HazardFigure(run)
    page = stub(figure)
    missing, fixed = page.locator(".edge-missing"), page.locator(".edge-fixed")
    assert (missing.is_visible(), fixed.is_visible()) == (True, False)
    page.get_by_text("with the fix", exact=True).first.click()
    assert (missing.is_visible(), fixed.is_visible()) == (False, True)
    assert spoken(page).split() == f"With the fix A comes after the end of B: {run.hazards[0].fix}.".split()
    page.locator("svg .e0").click()
    assert kernel(page, "step") == 0
    assert spoken(page) == figure.scene.frames[0].says


def test_without_an_edge_there_is_no_switch(stub):
    page = stub(HazardFigure(loaded(promised=2 * TILE_BYTES)))
    assert page.locator(".edge-missing").count() == 0
    assert not page.get_by_text("with the fix", exact=True).first.is_visible()


def test_names_in_a_drawing_are_text_and_no_markup(stub):
    run = loaded(waits=0)
    hazard = run.hazards[0]
    hazard.message = hazard.message.replace("missing:", "<img src=x onerror=alert(1)>:")
    page = stub(HazardFigure(run))
    assert page.locator("img").count() == 0


def long_timeline() -> PipelineFigure:
    spans = [
        Span(row, what, 100 * at + shift, 100 * at + shift + 80, stage=stage)
        for at in range(1000)
        for row, what, shift, stage in (
            ("producer", "issue", 0, None),
            ("copy engine", "copy in flight", 5, at % 4),
            (f"stage {at % 4}", "full", 85, at % 4),
            ("tensor core", "compute", 90, at % 4),
            ("epilogue", "store", 95, None),
        )
    ]
    return PipelineFigure(Timeline.of(spans, "model"))


def long_life() -> MbarrierFigure:
    key, story = (0, 0), Story(128, names={0: "thread 0"}, barriers={(0, 0): "full"})
    states = [State(at, 1, 1, 0, 0, 0) for at in range(5000)]
    story.moments = [Moment(at, "mbarrier_arrive", 0, 0, 1, 0, key, state, 7) for at, state in enumerate(states)]
    return MbarrierFigure(story)


SCRUB = """(event) => {
  const plot = document.querySelector(".tma-plot");
  const { left, width, top } = plot.getBoundingClientRect();
  const clientX = left + (width * ((event * 37) % 200)) / 200;
  plot.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY: top + 5, bubbles: true }));
}"""
SLIDE = """(event) => {
  const slider = document.querySelector("input[type=range]");
  slider.value = (event * 937) % 5000;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""


@pytest.mark.parametrize(("made", "act"), [(long_timeline, SCRUB), (long_life, SLIDE)], ids=["timeline", "events"])
def test_a_step_through_5000_events_is_done_within_a_frame(stub, made: Callable, act: str):
    assert is_within_a_frame(stub(made()), act)


def test_what_a_deadlocked_run_waits_for_is_on_the_dial(stub):
    page = stub(loaded(promised=2 * TILE_BYTES).show())
    assert "1,024 of 2,048 promised; tx-count 1,024" in page.locator(".tma-facts").inner_text()
    assert page.locator(".tma-landed").get_attribute("stroke-dasharray") == "0.5 1"
    assert cells(page)[:2] == ["nobody", "can go on"]
