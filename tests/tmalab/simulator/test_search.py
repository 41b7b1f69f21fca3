"""The search takes every order once: its counts are those of all interleavings, sorted into orders by hand."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tmalab.simulator.operations import Operation, Role, Step
from tmalab.simulator.search import Search

Program = list[tuple[str, ...]]  # for each agent, the objects that it operates on, one after the other


def execute(programs: Program, search: Search) -> None:
    """Run agents that operate on objects, where no two operations on one object commute, but for those on `+`."""
    done, versions = [0] * len(programs), {}
    while True:
        possible = [agent for agent, program in enumerate(programs) if done[agent] < len(program)]
        turn = search.choose(possible) if possible else None
        if turn is None:
            return
        agent, _ = turn
        place = programs[agent][done[agent]]
        done[agent] += 1
        group = "sum" if place == "+" else None
        versions[place] = 0 if group else versions.get(place, -1) + 1
        step = Step(agent)
        step.operations.append(Operation("update", place, versions[place], Role.UPDATES, group=group))
        search.happened(step)


def orders_found(programs: Program) -> tuple[set, int]:
    """The orders that a search takes to their end, and how many executions it makes of each."""
    search, found, whole = Search(lambda search: execute(programs, search)), set(), 0
    while search.next():
        if not search.cut:
            whole += 1
            found.add(sorted_by_exchange([(step.agent, step.operations[0].place) for step in search.steps]))
    return found, whole


def sorted_by_exchange(sequence: list[tuple[int, str]]) -> tuple:
    """The one sequence that stands for an order: neighbours that commute are exchanged until the lower agent is first.

    The lexicographic normal form of a Mazurkiewicz trace, found by taking the lowest agent whose next element has to
    come after none that is left.
    """
    left, normal = list(sequence), []
    while left:
        free = [
            (element, at)
            for at, element in enumerate(left)
            if not any(before[0] == element[0] or before[1] == element[1] != "+" for before in left[:at])
        ]
        element, at = min(free)
        normal.append(element)
        del left[at]
    return tuple(normal)


def all_orders(programs: Program) -> set:
    """All interleavings, each as the sequence that stands for its order."""
    agents = [agent for agent, program in enumerate(programs) for _ in program]
    found = set()
    for order in set(permutations(agents)):
        done, sequence = [0] * len(programs), []
        for agent in order:
            sequence.append((agent, programs[agent][done[agent]]))
            done[agent] += 1
        found.add(sorted_by_exchange(sequence))
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abc+"), min_size=1, max_size=3), min_size=2, max_size=3))
def test_every_order_is_taken_exactly_once(programs):
    found, whole = orders_found(programs)
    assert found == all_orders(programs)
    assert whole == len(found)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_operations_on_one_object_have_as_many_orders_as_permutations(count):
    found, whole = orders_found([("a",)] * count)
    assert (len(found), whole) == (math.factorial(count),) * 2


def test_what_commutes_is_one_order_and_one_execution():
    search = Search(lambda search: execute([("+", "+", "+")] * 6, search))
    assert search.next()
    assert not search.next()


def test_two_pairs_that_meet_on_two_objects_are_four_orders():
    assert len(orders_found([("a",), ("a",), ("b",), ("b",)])[0]) == 4


def test_progress_ends_at_one():
    search, parts = Search(lambda search: execute([("a", "b"), ("a", "b"), ("b", "a")], search)), []
    while search.next():
        parts.append(search.done)
    assert all(0 <= part < 1 for part in parts[:-1])
    assert parts[-1] == 1
