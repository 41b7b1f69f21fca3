"""Which of those who are stuck on an mbarrier only wait for what others, who are stuck elsewhere, would have done.

Threads that have not arrived again, or have not loaded again, hold up those who wait for that. Where this leads to
threads which nobody holds up in turn, only those say what is wrong: bytes that others were promised are merely late.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from tmalab.simulator.missing_arrivals import late
from tmalab.simulator.waits import MbarrierWait

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread


def held_up(groups: Sequence[Sequence[SimThread]]) -> list[bool]:
    """Of each group of threads that wait for the same, whether others who are stuck hold it up, and not it them."""
    where = {thread: number for number, group in enumerate(groups) for thread in group}
    holders = [{where[thread] for thread in _awaited(group[0]) if thread in where} for group in groups]
    reached = [_reached(holders, number) for number in range(len(groups))]
    return [any(number not in reached[other] for other in reached[number]) for number in range(len(groups))]


def _reached(holders: Sequence[set[int]], start: int) -> set[int]:
    """All that hold a group up, directly or not."""
    found: set[int] = set()
    new = set(holders[start])
    while new:
        found |= new
        new = set().union(*(holders[number] for number in new)) - found
    return found


def _awaited(thread: SimThread) -> Iterable[SimThread]:
    """Who did for the phase before what a thread waits for, and has not done it for this one. Of barriers that are no
    mbarriers it isn't known who should come."""
    if not isinstance(thread.waiting, MbarrierWait):
        return ()
    barrier = thread.waiting.barrier
    if barrier.machine.pending_count:
        return late(barrier)
    return barrier.loaded_by - {copy.thread for copy in barrier.credited}
