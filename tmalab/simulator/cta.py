"""A CTA, and its cluster: threads, memory and units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tmalab.simulator.arrays import Array
from tmalab.simulator.bulk_groups import BulkGroups
from tmalab.simulator.cluster_barrier import ClusterBarrier
from tmalab.simulator.copy_engine import CopyEngine
from tmalab.simulator.cp_async import CpAsyncGroups
from tmalab.simulator.cta_barriers import CtaBarriers
from tmalab.simulator.fences import Fences
from tmalab.simulator.maps import Maps
from tmalab.simulator.memory import WINDOW, SharedMemory
from tmalab.simulator.naming import barrier_name, cta_name
from tmalab.simulator.peers import Peers
from tmalab.simulator.register_pool import RegisterPool
from tmalab.simulator.remote_mbarriers import ClusterMbarriers
from tmalab.simulator.threads import Dim3, SimThread, len_of
from tmalab.simulator.tiles import Tiles
from tmalab.simulator.together import Together
from tmalab.simulator.warp_matrices import WarpMatrices
from tmalab.simulator.warps import Warps
from tmalab.simulator.wgmma import TensorCore
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.company import Company
    from tmalab.simulator.loads import Load
    from tmalab.simulator.memory import SharedLayout
    from tmalab.simulator.simulation import Simulation


class Cta:
    """One CTA.

    number      its linear number in the grid; `index3` its x, y, z
    rank        its rank in the cluster
    rows        its threads' rows in the company's clocks, from `first_row` on
    space       its shared memory, as the clocks call it
    """

    run: Simulation
    cluster: Cluster
    clocks: Any  # Clocks, with peers ClusterClocks
    first_row: int
    mbarriers: ClusterMbarriers
    copies: CopyEngine
    bulk_groups: BulkGroups
    cp_async_groups: CpAsyncGroups
    fences: Fences
    barriers: CtaBarriers
    maps: Maps
    threads: list[SimThread]

    def __init__(self, cluster: Cluster, index3: Dim3, rank: int):
        run = cluster.run
        self.run, self.cluster, self.clocks, self.index3, self.rank = run, cluster, cluster.clocks, index3, rank
        grid = run.launch.grid
        self.number = index3.x + grid[0] * (index3.y + grid[1] * index3.z)
        place = cluster.place * len_of(run.launch.cluster) + rank
        self.first_row = 1 + place * len_of(run.launch.block)
        self.rows = slice(self.first_row, self.first_row + len_of(run.launch.block))
        self.space, self.note_offset = f"shared {place}", place * WINDOW
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
        return name if self.cluster.company.alone else text("hazards.of-cta", name=name, cta=self.name)

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
    """CTAs that reach each other's shared memory and meet in the cluster barrier. What it shares with other clusters
    that run at the same time is its company's.

    place   its number in the company; `number`: that of the company, as accesses are recorded
    """

    layout: SharedLayout
    barrier: ClusterBarrier

    def __init__(self, company: Company, place: int, first: Dim3):
        self.company, self.run, self.place, self.number = company, company.run, place, company.number
        self.clocks, self.shadow, self.layout = company.clocks, company.shadow, company.layout
        self.in_flight, self.finished = company.in_flight, company.finished
        self.look_at_elements_of, self.has_unknown_copies = company.look_at_elements_of, company.has_unknown_copies
        shape = self.run.launch.cluster
        self.has_peers = len_of(shape) > 1
        self.multicasts: dict[int, dict[int, Sequence[Load]]] = {}  # by barrier and issuing thread: the last ones
        self.barrier = ClusterBarrier(self)
        self.ctas: list[Cta] = []
        for rank in range(len_of(shape)):
            within = Dim3.at(rank, shape)
            self.ctas.append(Cta(self, Dim3(*(a + b for a, b in zip(first, within))), rank))

    @property
    def threads(self) -> list[SimThread]:
        return [thread for cta in self.ctas for thread in cta.threads]
