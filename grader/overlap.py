"""What a run did at the same time, counted from its trace: copies under way, and products that follow on each other.

Both are counted in the run of seed 0, in which copies and wgmmas are done as late as they may be: what could be under
way at the same time then is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tmalab.simulator.threads import WARP

WARPGROUP = 128  # threads
ISSUES = ("load", "store")  # events of threads that ask the copy engine for something
ENDS = ("load_lands", "store_read")  # events of the copy engine in a trace


def copies_under_way(trace: Iterable[Any]) -> int:
    """The most copies that were issued and still needed their shared memory: of a kernel that waits for each, 1.

    A load needs it until it has landed, a store or reduction until it has been read.
    """
    most, under_way = 0, set()
    for event in trace:
        if event.what in ISSUES:
            under_way.add(event.copy)
            most = max(most, len(under_way))
        elif event.what in ENDS:
            under_way.discard(event.copy)
    return most


def products_followed(trace: Iterable[Any], block: int) -> int:
    """How often a warpgroup had waited for a barrier and issued a wgmma while one from before that wait was not done.

    Of a kernel that waits for the tensor core in each of its steps that is 0; of one that leaves the newest step
    running, one less than it has steps. CTAs have `block` threads.
    """
    newest: dict[tuple[int, int], int] = {}  # of each warpgroup, by the number that copies and wgmmas have in a run
    before: dict[int, int] = {}  # of each warp: the newest of its warpgroup when it was through its last barrier
    done, followed = set(), set()
    for event in trace:
        warp, group = event.thread // WARP, (event.cta, (event.thread - event.cta * block) // WARPGROUP)
        if event.what == "mbarrier_wait":
            before[warp] = newest.get(group, 0)
        elif event.what == "wgmma":
            if before.get(warp) and before[warp] not in done:
                followed.add(before[warp])
            newest[group] = event.copy
        elif event.what == "wgmma_done":
            done.add(event.copy)
    return len(followed)
