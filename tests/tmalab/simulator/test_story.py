"""A run told again: the same order, on the arguments as they were, with the moments of every access of a hazard."""

from __future__ import annotations

import numpy as np
import pytest

import tmalab
from tests.tmalab.figures.runs import TILE_BYTES, loaded, stored, take_a_ticket, two_loads
from tmalab import TensorMap
from tmalab.run import Run
from tmalab.simulator.story import Story
from tmalab.simulator.trace import TRACES

WAITS = ("waits_mbarrier", "waits_group", "waits_wgmma")


@pytest.mark.parametrize("seed", range(4))
def test_a_story_has_the_events_of_the_trace_and_the_waits_besides(seed):
    run = loaded(seed=seed)
    told = [moment for moment in Story.of(run).moments if moment.what not in WAITS]
    assert [(m.step, m.what, m.thread, m.copy) for m in told] == [(e.step, e.what, e.thread, e.copy) for e in run.trace]


def test_the_state_of_a_barrier_adds_up_to_what_was_promised():
    told = Story.of(loaded())
    assert list(told.barriers.values()) == ["full"]
    for moment in told.moments:
        if moment.barrier is not None and moment.state.phase == 0:
            assert moment.state.tx == moment.state.promised - moment.state.delivered
    assert told.moments[-1].state.phase == 1


def test_copies_are_called_as_in_reports_and_have_their_line():
    told = Story.of(loaded())
    assert [(c.role, c.name, c.bytes, c.thread) for c in told.copies.values()] == [
        ("load", "tile[0]", TILE_BYTES // 2, 0),
        ("load", "tile[1]", TILE_BYTES // 2, 0),
    ]
    lines = two_loads.function.__code__.co_firstlineno
    assert all(copy.line > lines for copy in told.copies.values())


def test_a_replay_finds_the_arguments_as_they_were_and_leaves_them_as_they_are():
    tickets, order = np.zeros(1, np.int32), np.full(8, -1, np.int32)
    run = take_a_ticket.run(block=8, args=(tickets, order))
    after = tickets.copy(), order.copy()
    assert Story.of(run, to_the_end=True).moments == []
    assert (tickets == after[0]).all()
    assert (order == after[1]).all()
    again = run.replaying(Quiet)
    assert again.hazards.reports() == []  # with 8 tickets gone it would have left the array
    assert again.fault is None


class Quiet:
    """Watches nothing."""


def test_a_hazards_accesses_have_their_moments():
    run = loaded(waits=0)
    (hazard,) = [hazard for hazard in run.hazards if hazard.name == "read-before-wait"]
    told = Story.of(hazard)
    (at,) = [at for found, at in told.found if found == hazard]
    read, load = at
    issued = [number for number, moment in enumerate(told.moments) if moment.what == "load"]
    landed = [number for number, moment in enumerate(told.moments) if moment.what == "load_lands"]
    assert load in issued
    assert issued[-1] < read <= landed[0]  # seed 0 lands late: all threads have read by then


def test_a_refilled_buffer_names_the_store_that_still_reads_it():
    run = stored(pending=2)
    (hazard,) = run.hazards
    write, store = hazard.accesses
    told = Story.of(hazard)
    assert told.copies[store.copy].name == "stages[0]"
    assert (store.copy, write.copy) == (1, 0)


def test_an_order_of_an_exploration_is_told_again():
    tensor, out = np.zeros((8, 64), np.float16), np.zeros((8, 64), np.float16)
    args = (TensorMap.from_array(tensor, (4, 64)), out, TILE_BYTES, 0)
    found = tmalab.explore(two_loads, block=2, args=args, exhaustive=True, limit=20)
    assert "load_lands" in {moment.what for moment in Story.of(found.failing.run).moments}
    assert Story.of(found.replay()).found


def test_a_run_that_was_not_simulated_has_no_story():
    with pytest.raises(ValueError, match="only a run in the simulator"):
        Story.of(Run(on="gpu"))


def test_a_long_clean_run_is_told_from_its_beginning(monkeypatch):
    monkeypatch.setattr("tmalab.simulator.story.MOST", 5)
    told = Story.of(loaded())
    assert (len(told.moments), told.cut, told.before) == (5, True, 0)
    assert told.moments[0].what == "mbarrier_init"
    hangs = Story.of(loaded(promised=2 * TILE_BYTES))
    assert (len(hangs.moments), hangs.cut) == (5, False)
    assert hangs.before > 0


def test_the_whole_trace_is_kept_where_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(TRACES, "last", 3)
    last, whole = loaded(), loaded(trace="whole")
    assert len(last.trace) == 3
    assert [event.what for event in whole.trace][:2] == ["mbarrier_init", "mbarrier_arrive_expect_tx"]
    assert whole.trace[-3:] == last.trace[:]
    with pytest.raises(ValueError, match="trace is 'all'"):
        loaded(trace="all")
