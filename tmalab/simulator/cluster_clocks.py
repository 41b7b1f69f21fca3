"""Happens-before in a cluster of several CTAs: the planes that only such a cluster has.

narrow    `order`, and what releases and acquires at CTA scope order between CTAs: enough for a read before a later
          copy, for nothing that threads write
inits     the mbarrier_init that fence.mbarrier_init has released, of each thread that executed it
"""

from __future__ import annotations

import numpy as np

from tmalab.simulator.clocks import EXECUTION, Clocks, Issuer

NARROW, INITS = "narrow", "inits"


class ClusterClocks(Clocks):
    """The clocks of a cluster of several CTAs."""

    COPIES_OF_ORDER = (EXECUTION, NARROW)

    # Scopes.

    @property
    def has_narrow(self) -> bool:
        """Whether anything was ordered by too narrow a scope."""
        return NARROW in self.planes

    def learn_narrowly(self, row: int, source: int) -> None:
        """`row` learns what `source` knows by a release or an acquire whose scope does not reach that far."""
        for name in (NARROW, EXECUTION):
            plane = self._plane(name)
            np.maximum(self.matrix[plane, row], self.matrix[plane, source], out=self.matrix[plane, row])

    def narrow(self, row: int) -> np.ndarray:
        """What `row` is ordered after, by scopes wide or narrow."""
        return self.matrix[self.planes.get(NARROW, 0), row]

    def issuing(self, row: int, space: str) -> Issuer:
        issuer = super().issuing(row, space)
        return issuer._replace(narrow=self.narrow(row)) if self.has_narrow else issuer

    # Execution.

    def knows_start(self, row: int, threads: slice) -> bool:
        """Whether `row` was executed after anything that one of some threads did."""
        return bool(self.matrix[self.planes.get(EXECUTION, 0), row, threads].any())

    # Inits.

    def fence_inits(self, row: int) -> None:
        """What a thread has initialised is released to the cluster."""
        plane = self._plane(INITS)
        self.matrix[plane, row, row] = self.order[row, row]

    def give_inits(self, into: int, row: int) -> None:
        """`into` learns of the inits that a thread has released itself."""
        if INITS in self.planes:
            plane = self.planes[INITS]
            self.matrix[plane, into, row] = max(self.matrix[plane, into, row], self.matrix[plane, row, row])

    def knows_init(self, row: int, by: int, tick: int) -> bool:
        """Whether `row` knows of the inits of thread `by` in a segment, as released to the cluster."""
        return INITS in self.planes and bool(self.matrix[self.planes[INITS], row, by] >= tick)

    def _ordering(self) -> tuple[int, ...]:
        return (0, self.planes[NARROW]) if NARROW in self.planes else (0,)

    def _executed(self) -> tuple[int, ...]:
        return (0, *(self.planes[name] for name in self.COPIES_OF_ORDER if name in self.planes))
