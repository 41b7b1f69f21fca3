"""Figure 7 without a browser: the example against a barrier of its own, and runs against their memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.mutants.case import NARROW, tile_map
from tests.tmalab.simulator.test_multicast import launched, plain_arrive
from tmalab import MBarrier
from tmalab.figures import MulticastFigure
from tmalab.figures.multicast_example import example_frames
from tmalab.figures.multicast_frames import multicasts_of
from tmalab.simulator.story import Story


@pytest.mark.parametrize(("mask", "promises"), [(0b1011, 0b1011), (0b1011, 0b1111), (0b1111, 0b0001), (0, 0b0010)])
def test_each_ctas_barrier_is_credited_with_what_the_mask_brings_it(mask, promises):
    frames = example_frames(mask, promises)
    for rank in range(4):
        barrier = MBarrier(1)
        if promises >> rank & 1:
            barrier.arrive_expect_tx(1024)
        if mask >> rank & 1:
            barrier.complete_tx(1024)
        last = frames[-1].ctas[rank]
        assert (last.phase, last.pending, last.tx) == (barrier.phase, barrier.pending_count, barrier.tx_count)
        assert last.landed == (1024 if mask >> rank & 1 else 0)


def test_a_cta_that_the_mask_leaves_out_waits_for_ever_and_one_that_promised_nothing_never_ends_its_phase():
    says = example_frames(mask=0b0011, promises=0b0110)[-1].says
    assert "CTA 1: every promised byte has landed" in says
    assert "CTA 2: 1,024 bytes were promised and none will come: it waits for ever" in says
    assert "CTA 0: the bytes came though nobody promised them: tx is -1,024" in says


def test_a_run_is_drawn_with_the_bytes_that_land_in_every_cta_of_its_mask():
    run, _ = launched(0b1010, 1, promises=0b1010, seed=2)
    figure = run.show("multicast")
    assert figure.names == ["1: tiles[1], mask 0b1010"]
    last = figure.frames[-1].ctas
    assert [state.landed for state in last] == [0, 1024, 0, 1024]
    assert [state.phase for state in last] == [0, 1, 0, 1]
    landed = [[frame.ctas[rank].landed for frame in figure.frames] for rank in range(4)]
    assert all(counts == sorted(counts) for counts in landed)
    credits = [(frame.ctas[1].tx, frame.ctas[1].landed) for frame in figure.frames if 0 < frame.ctas[1].landed < 1024]
    assert all(tx + bytes == 1024 for tx, bytes in credits)
    issue = next(frame for frame in figure.frames if "issues the load" in frame.did)
    assert issue.who == "thread 0 of CTA 1"


def test_a_run_that_hangs_begins_at_its_end_and_says_who_waits():
    """Case B20: CTA 1 arrives without a promise."""
    args = tile_map(NARROW), np.zeros((2, 32), np.float16)
    runs = (plain_arrive.run(grid=2, block=32, args=args, cluster=2, seed=seed) for seed in range(18))
    figure = MulticastFigure(next(run for run in runs if run.deadlock is not None))
    assert figure.step == len(figure.frames) - 1
    assert "CTA 1: 32 threads wait for ever." in figure.sentence()
    assert figure.frames[-1].ctas[1].tx == -1024


def test_a_run_without_a_multicast_is_refused_in_one_sentence():
    run, _ = launched(0, 0, promises=0)
    with pytest.raises(ValueError, match="no load into several CTAs"):
        MulticastFigure(run)


def test_of_many_loads_some_are_drawn_and_it_says_so(monkeypatch):
    monkeypatch.setattr("tmalab.figures.multicast.MOST_LOADS", 1)
    run, _ = launched(0b1010, 1, promises=0b1010, seed=2)
    story = Story.of(run)
    first, count = multicasts_of(story, 1)
    assert (len(first), count) == (1, 1)
    again = replace(story, moments=[*story.moments, *(replace(m, step=m.step + 1) for m in issues(story))])
    figure = MulticastFigure(again)
    assert "Drawn in part: 1 of 2 loads." in figure.notes
    assert figure.names == ["2: tiles[1], mask 0b1010"]  # told to its end, so the last
    assert MulticastFigure(replace(again, cut=True)).names == ["1: tiles[1], mask 0b1010"]


def issues(story):
    return [moment for moment in story.moments if moment.what == "load"]
