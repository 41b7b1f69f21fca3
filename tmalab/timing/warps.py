"""Warps: what 32 threads did, one by one, put together into what their warp executed.

Lanes that are at the same place execute together. Where they have parted company, those go first who are at a place to
which the others never come, or come last: so a branch is over, and a loop has ended for all lanes, before the warp goes
on together. Where that does not decide, those go first who are furthest back in the program.

>>> from tmalab.timing.done import Done
>>> def lane(*places): return [Done((place,), "plain", str(place), None, 0) for place in places]
>>> [(step.name, len(step.data)) for step in together([lane(1, 2, 1, 2), lane(1, 1), lane(1, 1)])]
[('1', 3), ('2', 1), ('1', 3), ('2', 1)]
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.timing.awaited import get_stuck

if TYPE_CHECKING:
    from tmalab.timing.done import Done

WARP = 32
WAITS = ("wait", "meet", "met")  # kinds of steps that others have to let go on
Place = tuple[tuple[int, ...], str]  # places in the source, kind


class Step(NamedTuple):
    """One instruction of a warp. `data`: what each of the lanes that executed it did; `pc`, `line`: where."""

    pc: tuple[int, ...]
    kind: str
    name: str
    data: tuple[Any, ...]
    line: int


class WarpProgram(NamedTuple):
    """What one warp executed. `cta`: its number in the grid; `number`: its number in the CTA."""

    cta: int
    number: int
    steps: list[Step]


def programs(done: Mapping[int, Sequence[Done]], threads: int) -> list[WarpProgram]:
    """The warps of a recording, by thread number in the grid, of CTAs with `threads` threads."""
    lanes: dict[tuple[int, int], list[Sequence[Done]]] = defaultdict(list)
    for number in sorted(done):
        cta, index = divmod(number, threads)
        lanes[cta, index // WARP].append(done[number])
    made = [WarpProgram(*warp, together(found)) for warp, found in sorted(lanes.items())]
    if get_stuck(made):  # some lanes of a warp wait for others, which it would let go first
        made = [WarpProgram(*warp, together(found, waiting_last=True)) for warp, found in sorted(lanes.items())]
    return made


class _Way:
    """Lanes that went the same way. `places`: where, one after the other; `at`: how far they are put together."""

    def __init__(self, places: tuple[Place, ...], lanes: list[Sequence[Done]]):
        self.places, self.lanes, self.at = places, lanes, 0
        self._where: dict[Place, list[int]] = defaultdict(list)
        for number, place in enumerate(places):
            self._where[place].append(number)

    @property
    def here(self) -> Place:
        return self.places[self.at]

    def distance(self, place: Place) -> float:
        """How many steps ahead a place comes next; infinity where it does not."""
        found = self._where.get(place, ())
        number = bisect_left(found, self.at)
        return found[number] - self.at if number < len(found) else inf


def together(lanes: Iterable[Sequence[Done]], waiting_last: bool = False) -> list[Step]:
    """The steps of a warp from those of its lanes. `waiting_last`: no lane waits while others could do something."""
    alike: dict[tuple, list[Sequence[Done]]] = defaultdict(list)
    for lane in lanes:
        alike[tuple((done.pc, done.kind) for done in lane)].append(lane)
    ways = [_Way(places, found) for places, found in alike.items() if places]
    steps: list[Step] = []
    while ways:
        here = ways[0].here if len(ways) == 1 else _next_of(ways, waiting_last)
        go = [way for way in ways if way.here == here]
        data = tuple(lane[way.at].data for way in go for lane in way.lanes)
        first = go[0].lanes[0][go[0].at]
        steps.append(Step(first.pc, first.kind, first.name, data, first.line))
        for way in go:
            way.at += 1
        ways = [way for way in ways if way.at < len(way.places)]
    return steps


def _next_of(ways: list[_Way], waiting_last: bool) -> Place:
    """Where lanes go on that have parted company."""
    places = {way.here for way in ways}
    if waiting_last:
        places = {place for place in places if place[1] not in WAITS} or places
    if len(places) == 1:
        return places.pop()
    away = {place: min(way.distance(place) for way in ways if way.here != place) for place in places}
    furthest = max(away.values())
    return min(place for place in places if away[place] == furthest)
