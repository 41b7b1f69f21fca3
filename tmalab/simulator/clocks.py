"""Happens-before: vector clocks of the threads, barriers and groups of one cluster.

A clock is a row of ticks, one for each *dimension*: a thread's segments, a barrier's completed phases, a thread's bulk
stores. Whoever has tick n of a dimension knows all that happened up to it. Dimension 0 is the host, whose tick 0
everybody knows. Threads own the rows of their dimension; barriers and hand-overs have rows of their own, in which
they collect what is given to them.

There are several planes of the same rows:

    order        what a row is ordered after: release and acquire, barriers
    execution    the same, and what was merely executed before: relaxed waits, elect.sync. It equals `order` until used.
    a space      "shared 0" (that of the CTA of rank 0), ..., "global": the part of `order` that a fence has carried to
                 the asynchronous proxy. Nothing, until a fence is executed.
    "own " + a space    the part that each thread has carried itself, after its own accesses (strict runs only)

Clusters of several CTAs have more of them: see cluster_clocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ORDER, EXECUTION = "order", "execution"
NEVER = np.iinfo(np.int32).max  # a tick that nobody ever knows


class Issuer(NamedTuple):
    """Clocks of a thread at the moment when it issues a copy."""

    order: np.ndarray
    carried: np.ndarray  # to the asynchronous proxy, in the space that the copy accesses
    own: np.ndarray | None  # the part of that which each thread carried itself; None: not asked for
    narrow: np.ndarray | None = None  # `order`, and what too narrow a scope orders; None: the same


class Clocks:
    """The clocks of one cluster of `threads` threads, whose rows and dimensions are 1 .. threads."""

    COPIES_OF_ORDER: tuple[str, ...] = (EXECUTION,)  # planes that equal `order` until they are used

    def __init__(self, threads: int, strict: bool = False):
        self.threads, self._strict = threads, strict
        self.rows = self.dimensions = threads + 1
        self.planes = {ORDER: 0}
        self.matrix = np.zeros((1, self.rows + 8, self.dimensions + 8), np.int32)
        for thread in range(1, self.rows):
            self.matrix[0, thread, thread] = 1
        self._take_order()

    def new_row(self) -> int:
        """A row for somebody who collects, empty."""
        self.rows += 1
        self._grow()
        return self.rows - 1

    def new_dimension(self) -> int:
        """A dimension for something that is counted; its tick is 0 everywhere."""
        self.dimensions += 1
        self._grow()
        return self.dimensions - 1

    def join(self, into: int, source: int) -> None:
        """`into` learns all that `source` knows, in every plane."""
        matrix = self.matrix
        np.maximum(matrix[:, into], matrix[:, source], out=matrix[:, into])

    def join_common(self, into: int, one: int, other: int) -> None:
        """`into` learns what two rows both know, in every plane."""
        matrix = self.matrix
        np.maximum(matrix[:, into], np.minimum(matrix[:, one], matrix[:, other]), out=matrix[:, into])

    def meet(self, rows: list[int] | slice) -> None:
        """All of these learn what any of them knows, in every plane."""
        together = self.matrix[:, rows].max(axis=1)
        self.matrix[:, rows] = together[:, None]

    def gather(self, into: int, rows: list[int]) -> None:
        """`into` holds what any of these knows, and nothing else."""
        self.matrix[:, into] = self.matrix[:, rows].max(axis=1)

    def gather_common(self, into: int, rows: list[int]) -> None:
        """`into` holds what these threads do together: it is ordered after what all of them are, and after what each
        has done itself; fences of any of them count."""
        self.gather(into, rows)
        for plane in self._ordering():
            common = self.matrix[plane, rows].min(axis=0)
            common[rows] = self.matrix[plane, into, rows]
            self.matrix[plane, into] = common

    def tell_all(self, rows: list[int], source: int) -> None:
        """All of these learn what `source` knows, in every plane."""
        self.matrix[:, rows] = np.maximum(self.matrix[:, rows], self.matrix[:, [source]])

    def meet_in_execution(self, rows: list[int]) -> None:
        """These have been at one point of the program together, which orders no memory."""
        plane = self._plane(EXECUTION)
        self.matrix[plane, rows] = self.matrix[plane, rows].max(axis=0)

    def learn(self, row: int, dimension: int, tick: int) -> None:
        """`row` knows a dimension up to a tick."""
        for plane in self._executed():
            self.matrix[plane, row, dimension] = max(self.matrix[plane, row, dimension], tick)

    def learn_in_execution(self, row: int, source: int) -> None:
        """`row` was executed after what `source` knows, without being ordered after it."""
        plane = self._plane(EXECUTION)
        np.maximum(self.matrix[plane, row], self.matrix[plane, source], out=self.matrix[plane, row])

    def tick(self, row: int) -> None:
        """A new segment of a thread: what it does from now on is not known to those whom it has told."""
        for plane in self._executed():
            self.matrix[plane, row, row] += 1

    def tick_all(self, rows: list[int] | slice) -> None:
        """A new segment of each of these threads."""
        for plane in self._executed():
            if isinstance(rows, slice):  # 3 us for 256 threads, where a list takes 40
                np.einsum("ii->i", self.matrix[plane, rows, rows])[:] += 1
            else:
                self.matrix[plane, rows, rows] += 1

    def fence(self, row: int, spaces: tuple[str, ...]) -> None:
        """Carry all that a thread is ordered after, itself included, to the asynchronous proxy in some spaces."""
        for space in spaces:
            plane = self._plane(space)
            np.maximum(self.matrix[plane, row], self.matrix[0, row], out=self.matrix[plane, row])
            if self._strict:
                own = self._plane(f"own {space}")
                self.matrix[own, row, row] = self.matrix[0, row, row]

    def clear(self, row: int) -> None:
        """A collecting row starts again."""
        self.matrix[:, row] = 0

    def segment(self, thread: int) -> int:
        """The number of a thread's current segment."""
        return int(self.order[thread, thread])

    def executed_after(self, row: int, dimension: int, tick: int) -> bool:
        """Whether `row` was executed after a tick of a dimension."""
        return self.matrix[self.planes.get(EXECUTION, 0), row, dimension] >= tick

    def executed_by_any(self, rows: slice, dimension: int, tick: int) -> bool:
        """Whether one of some rows was executed after a tick of a dimension."""
        return bool((self.matrix[self.planes.get(EXECUTION, 0), rows, dimension] >= tick).any())

    def executed(self, row: int) -> np.ndarray:
        """A copy of what `row` was executed after."""
        return self.matrix[self.planes.get(EXECUTION, 0), row].copy()

    def learn_executed(self, row: int, clock: np.ndarray) -> None:
        """`row` was executed after all that a clock knew."""
        plane, width = self._plane(EXECUTION), len(clock)
        np.maximum(self.matrix[plane, row, :width], clock, out=self.matrix[plane, row, :width])

    def knows(self, row: int, dimension: int, tick: int) -> bool:
        """Whether `row` is ordered after a tick of a dimension."""
        return self.order[row, dimension] >= tick

    def carried(self, row: int, space: str) -> np.ndarray:
        """The ticks that fences have carried to the asynchronous proxy on the way to `row`, in a space."""
        plane = self.planes.get(space)
        return np.zeros_like(self.order[row]) if plane is None else self.matrix[plane, row]

    def issuing(self, row: int, space: str) -> Issuer:
        """What a copy that thread `row` issues is ordered after."""
        own = self.carried(row, f"own {space}") if self._strict else None
        return Issuer(self.order[row], self.carried(row, space), own)

    def known_to_all(self, rows: list[int]) -> np.ndarray:
        """The ticks that all of these rows know."""
        return self.order[rows].min(axis=0)

    def known_to_any(self, rows: list[int] | slice) -> np.ndarray:
        """The ticks that one of these rows knows."""
        return self.order[rows].max(axis=0)

    def _ordering(self) -> tuple[int, ...]:
        """The planes that say what a row is ordered after."""
        return (0,)

    def _executed(self) -> tuple[int, ...]:
        return (0,) if EXECUTION not in self.planes else (0, self.planes[EXECUTION])

    def _plane(self, name: str) -> int:
        if name not in self.planes:
            self.planes[name] = len(self.planes)
            first = self.matrix[0] if name in self.COPIES_OF_ORDER else np.zeros_like(self.matrix[0])
            self.matrix = np.concatenate([self.matrix, first[None]])
            self._take_order()
        return self.planes[name]

    def _grow(self) -> None:
        planes, rows, dimensions = self.matrix.shape
        if self.rows <= rows and self.dimensions <= dimensions:
            return
        larger = (planes, max(rows, self.rows * 5 // 4 + 8), max(dimensions, self.dimensions * 5 // 4 + 8))
        matrix = np.zeros(larger, np.int32)
        matrix[:, :rows, :dimensions] = self.matrix
        self.matrix = matrix
        self._take_order()

    def _take_order(self) -> None:
        self.order = self.matrix[0]
