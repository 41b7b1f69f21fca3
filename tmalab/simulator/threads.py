"""SimThread: one thread of the simulated GPU, with its indices, its row of the clocks, and the units of its CTA."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tmalab.simulator.errors import EndlessLoop, KernelStopped
from tmalab.simulator.maps import MapInMemory
from tmalab.simulator.source import Place

if TYPE_CHECKING:
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier, Refused, Waited
    from tmalab.simulator.register_pool import RegisterPool
    from tmalab.simulator.simulation import Simulation
    from tmalab.simulator.warp_matrices import WarpMatrices
    from tmalab.simulator.wgmma import TensorCore

WARP = 32


class Dim3(NamedTuple):
    """x, y, z, as `cuda.threadIdx` has them."""

    x: int
    y: int
    z: int

    @classmethod
    def at(cls, index: int, shape: tuple[int, int, int]) -> Dim3:
        """The place of number `index` in a shape, x fastest."""
        return cls(index % shape[0], index // shape[0] % shape[1], index // (shape[0] * shape[1]))


class SimThread:
    """One simulated thread. Instructions act through it: `thread.mbarriers`, `thread.copies`, ...

    index    its linear number in the CTA; `warp` and `lane` follow from it
    number   its number in the grid
    row      its row and dimension in the clocks of its cluster
    greenlet what it runs on, from its first step to its end
    waiting  what it waits for, or None
    """

    run: Simulation
    row: int
    idle: tuple[int, int, Any] = (0, 0, None)  # False answers in a row, progress then, the look of it

    def __init__(self, cta: Cta, index: int, index3: Dim3, number: int):
        self.cta, self.run, self.index, self.index3, self.number = cta, cta.run, index, index3, number
        self.warp, self.lane = index // WARP, index % WARP
        self.row = cta.first_row + index
        self.greenlet: Any = None
        self.waiting: Any = None
        self.exited = False
        self.refused: dict[int, Refused] = {}  # barrier address: the failing waits that returned False lately
        self.refusals = 0  # failing waits that return False before it may suspend again
        self.waits: dict[int, Waited] = {}  # barrier address: the last successful wait
        self.segments = 0  # segments with accesses so far
        self.mbarriers, self.copies, self.barriers = cta.mbarriers, cta.copies, cta.barriers
        self.bulk_groups, self.cp_async_groups, self.fences = cta.bulk_groups, cta.cp_async_groups, cta.fences
        self.cluster, self.maps = cta.cluster.barrier, cta.maps

    def live(self) -> None:
        """The whole life of the thread."""
        run = self.run
        try:
            run.begin_thread()
        except KernelStopped:
            pass
        except EndlessLoop as error:
            run.log.shorten()
            self.cut()
            run.failed(self, error)
        except KeyboardInterrupt:  # somebody wants all of it to stop
            raise
        except BaseException as error:
            self.cut()
            run.failed(self, error)
        else:
            run.log.exited(self)
            self.exited = True
            self.cta.exited(self)
        run.scheduler.ended(self)

    def __str__(self) -> str:
        return self.run.thread_name(self.number)

    @property
    def wgmma(self) -> TensorCore:
        """The tensor core."""
        return self.cta.wgmma

    @property
    def matrices(self) -> WarpMatrices:
        """ldmatrix and stmatrix."""
        return self.cta.matrices

    @property
    def registers(self) -> RegisterPool:
        """setmaxnreg."""
        return self.cta.registers

    # Segments and turns.

    def cut(self) -> None:
        """End the segment: the clock is about to change, or another thread to run."""
        self.run.log.cut(self)

    def release(self) -> None:
        """What this thread has told is told; a new segment begins."""
        self.cta.clocks.tick(self.row)

    def wait(self, wait: Any) -> Any:
        """Let others run until the scheduler comes back; returns what it says. The segment has been cut."""
        self.refusals = 0
        self.waiting = wait
        return self.run.scheduler.leave(self)

    def give_way(self) -> None:
        """A point at which another thread may run, as the seed has it."""
        if self.run.policy.preempts():
            self.cut()
            self.run.scheduler.stand_back(self)

    # What is no unit of its own.

    def elect_sync(self) -> bool:
        """elect.sync over the whole warp."""
        return self.cta.warps.elect(self)

    def mbarrier_array(self, n: int) -> Array:
        """The barriers of the calling place in the source."""
        return self.cta.shared_array((n, 1), "uint64", 8)

    def global_map(self, place: Array) -> MapInMemory:
        """The map in a 128-byte row of global memory."""
        return MapInMemory(place.address)

    def globaltimer(self) -> int:
        """Simulated nanoseconds: one a step."""
        return self.run.scheduler.steps

    def clock64(self) -> int:
        """Simulated cycles: one a step."""
        return self.run.scheduler.steps

    def bound(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A helper as this run executes it."""
        return self.run.bound(function)

    def has_seen(self, barrier: Barrier, phases: int) -> bool:
        """Whether it knows that so many phases of the barrier are complete."""
        return self.cta.clocks.knows(self.row, barrier.dimension, phases)

    def tell(self, name: str, **facts: Any) -> None:
        """This thread does something wrong, now."""
        self.run.hazards.tell(name, thread=self, **facts)

    def place(self) -> Place | None:
        """The learner's line at which this thread stands."""
        frame = self.greenlet.gr_frame if self.greenlet is not None else None
        return self.run.source.place(frame) if frame is not None else self.run.source.place()

    def out_of_bounds(self, array: Array, index: tuple, axis: int, kind: int) -> None:
        """An index outside an array: told, and the kernel goes on with garbage."""
        self.tell("out-of-bounds", array=array, index=index, axis=axis, kind=kind)


def len_of(shape: tuple[int, int, int]) -> int:
    """How many there are in a shape."""
    return shape[0] * shape[1] * shape[2]
