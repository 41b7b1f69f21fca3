"""A CTA, and the cluster of CTAs that runs together: threads, memory and units, and the clocks that order them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab.simulator.arrays import Array
from tmalab.simulator.bulk_groups import BulkGroups
from tmalab.simulator.clocks import Clocks
from tmalab.simulator.cluster_barrier import ClusterBarrier
from tmalab.simulator.cluster_clocks import ClusterClocks
from tmalab.simulator.copies import LateArrive
from tmalab.simulator.copy_engine import CopyEngine
from tmalab.simulator.cp_async import CpAsyncGroups
from tmalab.simulator.cta_barriers import CtaBarriers
from tmalab.simulator.fences import Fences
from tmalab.simulator.maps import Maps
from tmalab.simulator.memory import WINDOW, SharedLayout, SharedMemory
from tmalab.simulator.naming import barrier_name, cta_name
from tmalab.simulator.peers import Peers
from tmalab.simulator.register_pool import RegisterPool
from tmalab.simulator.remote_mbarriers import ClusterMbarriers
from tmalab.simulator.shadow import Shadow
from tmalab.simulator.threads import Dim3, SimThread, len_of
from tmalab.simulator.tiles import Tiles
from tmalab.simulator.together import Together
from tmalab.simulator.warp_matrices import WarpMatrices
from tmalab.simulator.warps import Warps
from tmalab.simulator.wgmma import TensorCore
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.copies import Copy
    from tmalab.simulator.loads import Load
    from tmalab.simulator.simulation import Simulation

COARSE_GRAIN = 16  # bytes: the shadow looks closer as arrays of smaller elements come


class Cta:
    """One CTA.

    number      its linear number in the grid; `index3` its x, y, z
    rank        its rank in the cluster
    rows        its threads' rows in the cluster's clocks, from `first_row` on
    space       its shared memory, as the clocks call it
    """

    def __init__(self, cluster: Cluster, index3: Dim3, rank: int):
        run = cluster.run
        self.run, self.cluster, self.clocks, self.index3, self.rank = run, cluster, cluster.clocks, index3, rank
        grid = run.launch.grid
        self.number = index3.x + grid[0] * (index3.y + grid[1] * index3.z)
        self.first_row = 1 + rank * len_of(run.launch.block)
        self.rows = slice(self.first_row, self.first_row + len_of(run.launch.block))
        self.space, self.note_offset = f"shared {rank}", rank * WINDOW
        self.memory = SharedMemory(run.log.shared, cluster.layout, self.note_offset)
        self.peers, self.maps = Peers(self), Maps(self)
        self.mbarriers = ClusterMbarriers(self)
        self.copies, self.tiles = CopyEngine(self), Tiles(self)
        self.bulk_groups, self.cp_async_groups = BulkGroups(self), CpAsyncGroups(self)
        self.fences, self.barriers, self.warps = Fences(self), CtaBarriers(self), Warps(self)
        self.together, self.wgmma, self.matrices = Together(self), TensorCore(self), WarpMatrices(self)
        first = self.number * len_of(run.launch.block)
        self.threads = [SimThread(self, *at, first + at[0]) for at in enumerate(run.world.indices)]
        self.registers = RegisterPool(self)
        self.alive = len(self.threads)

    def name_of(self, address: int) -> str:
        """What the barrier at an address of the shared window is called."""
        return barrier_name(self.memory, address)

    def titled(self, name: str) -> str:
        """A name of something in this CTA, with the CTA where its cluster has several."""
        return name if not self.cluster.has_peers else text("hazards.of-cta", name=name, cta=self.name)

    @property
    def name(self) -> str:
        """`CTA 2`"""
        return cta_name(self.run.launch, self.number)

    def executed_after(self, dimension: int, tick: int) -> bool:
        """Whether one of its threads was executed after a tick of a dimension."""
        return self.clocks.executed_by_any(self.rows, dimension, tick)

    def live(self) -> Iterator[SimThread]:
        """The threads that have not exited."""
        return (thread for thread in self.threads if not thread.exited)

    def shared_array(self, shape: Any, dtype: Any, alignment: int | None) -> Array:
        """The shared array of the learner's line that is being executed."""
        source = self.run.source
        site = source.site()
        array = self.memory.arrays.get(site)
        if array is None:
            array = self.memory.array_of_site(site, shape, dtype, alignment, source.assigned_name)
            self.cluster.look_at_elements_of(array.itemsize)
        return array

    def exited(self, thread: SimThread) -> None:
        """A thread has come to its end."""
        self.alive -= 1
        self.bulk_groups.exited(thread)
        self.barriers.exited(thread)
        self.warps.exited(thread)
        self.together.exited(thread)
        self.wgmma.exited(thread)
        self.registers.exited(thread)
        self.cluster.barrier.exited(thread)
        self.run.scheduler.progress += 1
        if not self.alive:
            self.copies.exited()
            self.peers.exited()
            self.mbarriers.exited()


class Cluster:
    """The CTAs that are on the GPU together. They have their clocks in common."""

    def __init__(self, run: Simulation, number: int, first: Dim3):
        self.run, self.number = run, number
        shape, block = run.launch.cluster, run.launch.block
        ranks = len_of(shape)
        self.has_peers = ranks > 1
        self.clocks = (ClusterClocks if self.has_peers else Clocks)(ranks * len_of(block), run.launch.strict)
        strict = run.launch.strict
        self.shadow = Shadow("shared", ranks * WINDOW, COARSE_GRAIN, run.hazards.conflict, strict=strict)
        run.log.shared.shadow = self.shadow
        self.in_flight: list[Copy] = []  # copies that have not wholly landed, in the order of their issue
        self.multicasts: dict[int, dict[int, Sequence[Load]]] = {}  # by barrier and issuing thread: the last ones
        self._ends: dict[int, int] = {}  # dimension: the last tick in it of a copy that perhaps not all know to be done
        self.barrier, self.layout = ClusterBarrier(self), SharedLayout()
        self.ctas: list[Cta] = []
        for rank in range(ranks):
            within = Dim3.at(rank, shape)
            self.ctas.append(Cta(self, Dim3(*(a + b for a, b in zip(first, within))), rank))
        numbers = np.array([0] + [thread.number for thread in self.threads])
        run.log.begin(self.clocks, number, self._live_rows, numbers)

    @property
    def threads(self) -> list[SimThread]:
        return [thread for cta in self.ctas for thread in cta.threads]

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
