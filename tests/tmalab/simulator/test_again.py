"""A run that is looked at again: a bar says how far it is, and a look at it ends when it has seen enough."""

from __future__ import annotations

import numpy as np
import pytest
from numba import cuda

from tests.tmalab.figures.runs import loaded, stored
from tests.tmalab.test_progress_bar import Shown
from tmalab import kernel, progress_bar, ptx
from tmalab.simulator import again
from tmalab.simulator.story import Story
from tmalab.timing.model import beginning_of


@pytest.fixture
def screen(monkeypatch) -> Shown:
    """A display that every look of a replay shows something on."""
    screen = Shown()
    monkeypatch.setattr(again, "display", lambda: screen)
    monkeypatch.setattr(again, "LOOKS", 4)
    monkeypatch.setattr(progress_bar, "DELAY", 0)
    monkeypatch.setattr(progress_bar, "INTERVAL", 0)
    return screen


def test_a_bar_tells_how_much_of_the_run_was_repeated(screen):
    Story.of(stored(tiles=8))
    parts = [part for part, _ in screen.pictures]
    assert len(parts) > 5
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1, abs=0.1)
    assert screen.pictures[-1][1].startswith("the kernel runs again: ")
    assert screen.closed


def test_it_knows_how_long_a_run_was_that_went_wrong(screen):
    Story.of(stored(tiles=8, pending=2))
    assert screen.pictures[-1][0] == pytest.approx(1, abs=0.1)


def test_a_run_with_hazards_is_told_until_a_while_after_they_were_met(monkeypatch):
    monkeypatch.setattr("tmalab.simulator.story.AFTER", 10)
    run = stored(tiles=12, pending=2)
    told = Story.of(run)
    assert told.cut
    assert [hazard for hazard, _ in told.found] == run.hazards
    assert all(None not in at for _, at in told.found)
    assert max(moment.step for moment in told.moments) < run.trace[-1].step


def test_a_run_that_hangs_is_told_to_its_end(monkeypatch):
    monkeypatch.setattr("tmalab.simulator.story.AFTER", 0)
    run = loaded(promised=4096)
    told = Story.of(run)
    assert not told.cut
    assert told.moments[-1].step >= run.trace[-1].step


def test_the_timeline_of_a_beginning_is_that_of_the_whole_as_far_as_it_goes():
    run = stored(tiles=6)
    part, whole = beginning_of(run, 10**6)
    assert whole
    assert part == run.timeline
    most = 32 * 100  # of about 32 * 200
    part, whole = beginning_of(run, most)
    assert not whole
    assert part.notes == (
        "Drawn in part: the first 3,200 things that the threads did, timed as if the run ended there.",
    )
    stores = [[span.start for span in each.spans if span.what == "store"] for each in (part, run.timeline)]
    assert 0 < len(stores[0]) < len(stores[1])
    assert stores[0] == stores[1][: len(stores[0])]


def test_a_figure_asks_for_the_beginning_of_a_long_run_and_for_a_short_one_once(monkeypatch):
    run, other = stored(tiles=6), stored(tiles=6)
    monkeypatch.setattr("tmalab.figures.pipeline.MOST_DONE", 3200)
    assert "the first 3,200 things" in run.show("timeline").table()
    assert "the first" not in "".join(run.timeline.notes)
    assert "the first 3,200 things" not in run.show("timeline").table()  # the whole is known by now
    monkeypatch.setattr("tmalab.figures.pipeline.MOST_DONE", 10**6)
    other.show("timeline")
    monkeypatch.setattr(other, "replaying", None)
    assert other.timeline.spans  # made for the figure, and kept


@kernel
def reads_what_nobody_wrote(out):
    words = cuda.shared.array(32, np.float32)
    full = ptx.mbarrier_array(1)
    unused = words[cuda.threadIdx.x]
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(full[0], 1)
    cuda.syncthreads()
    out[cuda.threadIdx.x] = 0 * int(unused > 0)


def test_a_clean_run_with_a_doubt_is_looked_at_without_the_lines_of_its_accesses():
    run = reads_what_nobody_wrote.run(block=32, args=(np.zeros(32, np.int32),))
    assert not run.hazards
    assert "which nobody has written" in run.warnings[0]
    seen = run.replaying(Looking)
    assert not seen.log.shared.noting_lines
    assert loaded(waits=0).replaying(Looking).log.shared.noting_lines  # what has hazards has their lines
    assert len(Story.of(run).barriers) == 1


class Looking:
    """Looks at nothing."""
