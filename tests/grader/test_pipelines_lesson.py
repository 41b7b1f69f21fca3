"""What the checks of lesson 7 expect: as a clock that ticks, the figure's example, and the H200's own times have it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from grader.alone import run_alone
from grader.exercises import pipelines
from grader.exercises.pipelines_cases import tile_cases
from grader.judges.kernels import _judge_ahead
from grader.runner import current
from tests.lessons import answers
from tmalab.timing.measured import Measured
from tmalab.timing.occupancy import resident
from tmalab.timing.trials import TRIALS

ANSWERS = answers("07-pipelines")


def by_the_clock(tiles: int, stages: int, latency: int, compute: int) -> tuple[int, int]:
    """When the last tile is done, and how long nobody worked after the first had landed: moment by moment."""
    lands: dict[int, int] = {}
    free, done, idle, working, left = stages, 0, 0, False, 0
    now = issued = 0
    while True:
        if working and left == 0:
            working, done, free = False, done + 1, free + 1
        if done == tiles:
            return now, idle
        while free and issued < tiles:
            lands[issued], issued, free = now + latency, issued + 1, free - 1
        if not working and done in lands and lands[done] <= now:
            working, left = True, compute
        idle += not working and now >= latency
        left, now = left - 1, now + 1


@pytest.mark.parametrize(("latency", "compute"), [(30, 12), (12, 30), (25, 25), (24, 8), (7, 3)])
def test_a_ring_is_done_when_a_clock_says_so_and_has_no_bubble_from_its_depth_on(latency, compute):
    for tiles, stages in product((1, 2, 5, 9), range(1, 7)):
        assert pipelines.finish(tiles, stages, latency, compute) == by_the_clock(tiles, stages, latency, compute)[0]
    bubbles = [by_the_clock(40, stages, latency, compute)[1] for stages in range(1, 8)]
    assert bubbles.index(0) + 1 == pipelines.depth(latency, compute)


@pytest.mark.parametrize("mistakes", [pipelines.FINISH_MISTAKES, pipelines.DEPTH_MISTAKES])
def test_every_known_mistake_differs_from_what_is_right(mistakes):
    finish = mistakes is pipelines.FINISH_MISTAKES
    right = pipelines.finish if finish else pipelines.depth
    asked = [(8, 3, 600, 250), (5, 2, 100, 300)] if finish else [(600, 250), (500, 500)]
    assert all(any(mistake(*each) != right(*each) for each in asked) for mistake in mistakes.values())


@pytest.mark.parametrize("seed", range(6))
def test_ctas_are_those_that_the_occupancy_of_an_sm_allows(seed):
    stage_bytes, threads, registers = pipelines.fit_questions(seed)
    right = [resident(threads, stages * stage_bytes, registers) for stages in range(1, 7)]
    [finding] = pipelines.judge_fit(right, seed)
    assert finding.passed
    assert len(set(right)) > 1


def test_the_curves_are_those_of_recorded_trials_and_what_is_told_of_them_is_so():
    measured = Measured.read()
    for told, (name, reason) in pipelines.CURVES.items():
        launches = [TRIALS[f"{name} stages={stages}"] for stages in range(1, 7)]
        assert len(launches) == len(pipelines.measured_curve(name)) == 6
        assert ("copies" in told) == (reason == "a")
    stage_bytes, threads, registers = pipelines.fit_questions(0)
    name = next(name for name, reason in pipelines.CURVES.values() if reason == "c")
    ctas = [resident(threads, stages * stage_bytes, registers) for stages in range(1, 7)]
    assert measured.trials[f"{name} stages=4"]["registers"] == registers
    curve = pipelines.measured_curve(name)
    assert ctas[4] < ctas[3]
    assert curve[4] > 1.03 * curve[3]


def test_what_is_near_the_best_would_be_so_had_each_time_been_three_percent_off():
    for name, _ in pipelines.CURVES.values():
        curve = np.array(pipelines.measured_curve(name))
        limit = pipelines.NEAR * curve.min()
        near = pipelines.enough(curve)
        assert curve[near - 1] * 1.03 < limit
        assert curve[near - 2] * 0.97 > limit


def test_sums_are_exact_and_the_inputs_are_fewer_and_more_tiles_than_stages():
    for seed in range(6):
        public, few, more = tile_cases(seed)
        assert few.arguments[1] < pipelines.STAGES < more.arguments[1]
        for case in (public, few, more):
            assert np.array_equal(case.expected, case.arguments[0].array.astype(np.int64).sum(0))


@pytest.mark.parametrize(("name", "most"), [("ahead_by_nothing", 1), ("ahead_by_two", 2), ("ahead_by_a_count", 4)])
def test_loads_under_way_at_once_are_counted_and_only_running_ahead_earns_the_point(name, most):
    case = tile_cases(0)[0]
    outcome = run_alone(current().source(getattr(ANSWERS, name)), case.arguments, pipelines.AHEAD.shape)
    assert outcome.ok
    assert outcome.arrays[-1].tobytes() == case.expected.tobytes()
    assert outcome.ahead == most
    assert _judge_ahead(outcome, pipelines.AHEAD).points == (most == pipelines.STAGES)
