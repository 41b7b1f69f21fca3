"""The CTAs that run together, with their clocks in common: those of one cluster, or of several.

Clusters of a grid run one after the other, since nothing orders them and each is checked by itself. Where CTAs of
different clusters hand something over through global memory, by atomics and fences, they have to run together: then as
many clusters as fit are one company.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.clocks import Clocks
from tmalab.simulator.cluster_clocks import ClusterClocks
from tmalab.simulator.copies import LateArrive
from tmalab.simulator.cta import Cluster
from tmalab.simulator.handovers import Handovers
from tmalab.simulator.memory import WINDOW, SharedLayout
from tmalab.simulator.shadow import Shadow
from tmalab.simulator.threads import len_of

if TYPE_CHECKING:
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.threads import Dim3, SimThread

COARSE_GRAIN = 16  # bytes: the shadow looks closer as arrays of smaller elements come
MOST_THREADS = 2048  # of clusters that run together: clocks grow with the square


class Company:
    """CTAs that run together. Clusters see of it what they share: clocks, shadow memory, copies in flight.

    number   as accesses are recorded; `alone`: whether it is a single CTA
    """

    clocks: Any  # Clocks, with peers ClusterClocks
    layout: SharedLayout

    def __init__(self, run: Simulation, number: int, firsts: list[Dim3]):
        self.run, self.number = run, number
        strict = run.launch.strict
        count = len(firsts) * len_of(run.launch.cluster)
        self.alone = count == 1
        self.clocks = (Clocks if self.alone else ClusterClocks)(count * len_of(run.launch.block), strict)
        before = run.log.shared.shadow
        grain = before.grain if before is not None else COARSE_GRAIN  # to look closer later takes 1 ms
        self.shadow = Shadow("shared", count * WINDOW, grain, run.hazards.conflict, strict=strict)
        self.shadow.cluster = number  # as accesses are recorded
        run.log.shared.shadow = self.shadow
        self.in_flight: list[Copy] = []  # copies that have not wholly landed, in the order of their issue
        self.layout, self.handovers = SharedLayout(), Handovers(self.clocks)
        self._ends: dict[int, int] = {}  # dimension: the last tick in it of a copy that perhaps not all know to be done
        self.clusters = [Cluster(self, place, first) for place, first in enumerate(firsts)]
        self.ctas: list[Cta] = [cta for cluster in self.clusters for cta in cluster.ctas]
        self.threads: list[SimThread] = [thread for cta in self.ctas for thread in cta.threads]
        numbers = np.array([0] + [thread.number for thread in self.threads])
        run.log.begin(self.clocks, number, self._live_rows, numbers)

    def cta(self, number: int) -> Cta:
        """A CTA by its number in the grid."""
        return next(cta for cta in self.ctas if cta.number == number)

    def look_at_elements_of(self, size: int) -> None:
        """Arrays with elements of this size (bytes) are used."""
        if size < self.shadow.grain:
            self.run.log.check()
            self.shadow.refine(size)

    def finished(self, copy: Copy) -> None:
        """A copy has wholly landed. What is kept of it does not grow with the number of copies."""
        self.in_flight.remove(copy)
        if copy.end is not None:
            dimension, tick = copy.end
            self._ends[dimension] = max(tick, self._ends.get(dimension, 0))

    def has_unknown_copies(self, meeting: list[int] | slice) -> bool:
        """Whether there is a copy that none of the rows which meet knows to be done."""
        if self._ends:
            known = self.clocks.known_to_any(meeting)
            self._ends = {dimension: tick for dimension, tick in self._ends.items() if known[dimension] < tick}
        return bool(self._ends) or any(not isinstance(copy, LateArrive) for copy in self.in_flight)

    def _live_rows(self) -> list[int]:
        return [thread.row for cta in self.ctas for thread in cta.threads if not thread.exited]
