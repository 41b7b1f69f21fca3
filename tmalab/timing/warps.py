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
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.simulator.threads import WARP
from tmalab.timing.awaited import get_stuck

if TYPE_CHECKING:
    from tmalab.timing.done import Done

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


def programs(done: Mapping[int, Sequence[Done]], threads: int, cut: Collection[int] = frozenset()) -> list[WarpProgram]:
    """The warps of a recording, by thread number in the grid, of CTAs with `threads` threads.

    `cut`: threads that would have done more. Where one of them has nothing more to do, its warp ends.
    """
    lanes: dict[tuple[int, int], list[tuple[Sequence[Done], bool]]] = defaultdict(list)
    for number in sorted(done):
        cta, index = divmod(number, threads)
        lanes[cta, index // WARP].append((done[number], number in cut))

    def made(waiting_last: bool) -> list[WarpProgram]:
        return [WarpProgram(*warp, _together(found, waiting_last)) for warp, found in sorted(lanes.items())]

    found = made(waiting_last=False)
    return made(waiting_last=True) if get_stuck(found) else found  # some lanes wait for others, which it let go first


class _Way:
    """Lanes that went the same way. `places`: where, one after the other; `at`: how far they are put together; `cut`:
    whether they went further."""

    def __init__(self, places: tuple[Place, ...], cut: bool, lanes: list[Sequence[Done]]):
        self.places, self.cut, self.lanes, self.at = places, cut, lanes, 0
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
    return _together(((lane, False) for lane in lanes), waiting_last)


def _together(lanes: Iterable[tuple[Sequence[Done], bool]], waiting_last: bool) -> list[Step]:
    """The same; with each lane, whether it was cut."""
    alike: dict[tuple, list[Sequence[Done]]] = defaultdict(list)
    for lane, cut in lanes:
        alike[tuple((done.pc, done.kind) for done in lane), cut].append(lane)
    ways = [_Way(*way, found) for way, found in alike.items() if way[0]]
    steps: list[Step] = []
    while ways and not any(way.cut and way.at == len(way.places) for way in ways):
        here = ways[0].here if len(ways) == 1 else _next_of(ways, waiting_last)
        go = [way for way in ways if way.here == here]
        data = tuple(lane[way.at].data for way in go for lane in way.lanes)
        first = go[0].lanes[0][go[0].at]
        steps.append(Step(first.pc, first.kind, first.name, data, first.line))
        for way in go:
            way.at += 1
        ways = [way for way in ways if way.cut or way.at < len(way.places)]
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
