"""Warps put together from what their lanes did."""

from __future__ import annotations

from tmalab.timing.awaited import get_stuck
from tmalab.timing.done import Arrival, Done, Wait
from tmalab.timing.warps import programs, together


def lane(*places, kind="plain"):
    return [Done((place,), kind, str(place), number, place) for number, place in enumerate(places)]


def names(steps):
    return [(int(step.name), len(step.data)) for step in steps]


def test_lanes_that_go_the_same_way_are_one_step_each():
    assert names(together([lane(1, 2, 3)] * 32)) == [(1, 32), (2, 32), (3, 32)]


def test_a_leader_arrives_before_its_warp_goes_round_the_loop_again():
    leader, others = lane(1, 5, 1, 5, 9), lane(1, 1, 9)
    assert names(together([leader, *[others] * 31])) == [(1, 32), (5, 1), (1, 32), (5, 1), (9, 32)]


def test_a_thread_that_loads_does_all_its_loop_before_it_meets_its_warp():
    loader, others = lane(1, 4, 4, 4, 9), lane(1, 9)
    assert names(together([loader, *[others] * 31])) == [(1, 32), (4, 1), (4, 1), (4, 1), (9, 32)]


def test_lanes_with_fewer_turns_of_a_loop_wait_for_the_others_in_each_outer_loop():
    more, fewer = lane(3, 3, 7, 3, 3, 7), lane(3, 7, 3, 7)
    assert names(together([more, fewer])) == [(3, 2), (3, 1), (7, 2), (3, 2), (3, 1), (7, 2)]


def test_of_two_branches_the_one_further_back_in_the_program_goes_first():
    assert names(together([lane(1, 2, 8), lane(1, 5, 8)])) == [(1, 2), (2, 1), (5, 1), (8, 2)]


def test_what_each_lane_did_keeps_its_order():
    assert [step.data for step in together([lane(1, 2), lane(2)])] == [(0,), (1, 0)]


def test_threads_of_a_grid_belong_to_the_warps_of_their_ctas():
    done = {number: lane(1) for number in (0, 31, 32, 64, 100)}
    assert [(made.cta, made.number, len(made.steps[0].data)) for made in programs(done, 64)] == [
        (0, 0, 2),
        (0, 1, 1),
        (1, 0, 1),
        (1, 1, 1),
    ]


def test_lanes_that_wait_for_others_of_their_warp_let_them_go_first():
    """Lane 0 makes the last arrival at a place that the others come to later, when they have waited for it."""
    barrier = (0, 1024, 1)
    arrival, wait = Arrival(barrier, 0, 1), Wait(barrier, 0)
    last = [Done((5,), "arrive", "arrive", arrival, 0), Done((9,), "plain", "end", None, 0)]
    others = [
        Done((2,), "arrive", "arrive", arrival, 0),
        Done((3,), "wait", "wait", wait, 0),
        Done((5,), "arrive", "arrive", arrival._replace(phase=1), 0),
        Done((9,), "plain", "end", None, 0),
    ]
    (warp,) = programs({0: last, 1: others}, 32)
    assert not get_stuck([warp])
    assert [(step.name, len(step.data)) for step in warp.steps].index(("arrive", 1)) == 0
