"""The warpgroup as wgmma sees it: four warps that issue the same operations, each at its own time.

An operation is one agent. It starts for a warp when the warp issues it, is done by the tensor core once all four have,
in the order of their issue, and is known to a warp, as a whole, when that warp has waited for its group. With it the
warp knows what all four warps knew when they issued it. In the clocks, operations of a warpgroup are counted in a
dimension.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tmalab.simulator.waits import Wait

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread
    from tmalab.simulator.wgmma_operation import Wgmma

WARPS = 4  # of a warpgroup


class Warp:
    """One warp of a warpgroup.

    place      its number in the warpgroup
    fences     wgmma.fence executed so far; `issued`: operations; `groups`: commits; `known`: the last one waited for
    last       the last operation issued; `fences_at_issue`: how many fences there were then
    pending    groups that it has not waited for: their numbers, and the last operation of each
    until      the operation that it waits for, 0 if none; `covered`: the groups
    """

    def __init__(self, group: Warpgroup, place: int):
        self.group, self.place = group, place
        self.fences = self.issued = self.groups = self.known = self.until = self.fences_at_issue = 0
        self.last: Wgmma | None = None
        self.pending: deque[tuple[int, int]] = deque()
        self.covered: list[tuple[int, int]] = []

    def commit(self) -> None:
        """Close a group."""
        self.pending.append((self.groups, self.issued))
        self.groups += 1

    def cover(self, n: int) -> list[tuple[int, int]]:
        """Take out all groups but the n newest: they are waited for."""
        return [self.pending.popleft() for _ in range(len(self.pending) - n)]

    def has_committed(self, operation: Wgmma) -> bool:
        """Whether a group holds an operation."""
        return bool(self.groups) and (not self.pending or operation.order <= self.pending[-1][1])


class Warpgroup:
    """Four warps, and the operations that they have issued and that are not done.

    dimension, scratch    of the clocks: the count of operations, a row for what a warp knows as it issues one
    done       how many operations are done
    """

    def __init__(self, cta: Cta, number: int):
        clocks = cta.clocks
        self.cta, self.number = cta, number
        self.warps = [Warp(self, place) for place in range(WARPS)]
        self.dimension, self.scratch = clocks.new_dimension(), clocks.new_row()
        self.done = 0
        self.operations: dict[int, Wgmma] = {}
        self._rows: dict[int, int] = {}  # by group: a row of the clocks with what the warps knew at issue
        self._free: list[int] = []
        self._waited: dict[int, int] = {}  # by group: how many warps have waited for it

    def lanes(self, warp: Warp) -> list[SimThread]:
        """The threads of one of its warps."""
        return self.cta.together.lanes(self.number * WARPS + warp.place)

    def row_of(self, group: int) -> int:
        """The row that collects for a group."""
        if group not in self._rows:
            self._rows[group] = self._free.pop() if self._free else self.cta.clocks.new_row()
        return self._rows[group]

    def learn(self, lanes: Iterable[SimThread], covered: list[tuple[int, int]]) -> None:
        """The lanes of a warp have waited for some groups."""
        rows = [lane.row for lane in lanes]
        clocks = self.cta.clocks
        for group, last in covered:
            if group in self._rows:
                row = self._rows[group]
                clocks.learn(row, self.dimension, last)
                clocks.tell_all(rows, row)
            self._waited[group] = self._waited.get(group, 0) + 1
            if self._waited[group] == WARPS:
                self._forget(group)

    def _forget(self, group: int) -> None:
        del self._waited[group]
        if group in self._rows:
            row = self._rows.pop(group)
            self.cta.clocks.clear(row)
            self._free.append(row)

    def finished(self, operation: Wgmma) -> list[Warp]:
        """An operation is done. Returns the warps whose wait is over."""
        self.done = operation.order
        del self.operations[operation.order]
        return [warp for warp in self.warps if 0 < warp.until <= self.done]


@dataclass
class WgmmaWait(Wait):
    """For operations of a warpgroup, up to one: all four warps have to issue them."""

    group: Warpgroup
    until: int

    @property
    def missing(self) -> int:
        """How many warps have not issued the oldest operation that is waited for."""
        oldest = self.group.operations.get(self.group.done + 1)
        return WARPS if oldest is None else WARPS - len(oldest.warps)
