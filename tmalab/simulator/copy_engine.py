"""The copy engine of a CTA: checks what a thread issues, tells the shadow memory, and puts the copy in flight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tmalab import reference
from tmalab.faults import TmaFault
from tmalab.simulator.clocks import NEVER
from tmalab.simulator.context import current_thread
from tmalab.simulator.copies import Copy, CpAsync, Load, Store
from tmalab.simulator.memory import WINDOW
from tmalab.simulator.records import ASYNC, CP_ASYNC, record
from tmalab.tensor_map import TensorMap
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

CHUNK = 16  # bytes that a copy through a map moves as one
UNKNOWN_LOADS = 64  # loads that nobody is known to have waited for, before it is looked through them again


class CopyEngine:
    """What the threads of one CTA have copied. The methods are the instructions, for the thread that is running."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._loads: list[Load] = []  # that perhaps nobody has waited for

    def load(self, destination: int, tensor_map: TensorMap, coordinates: tuple[int, ...], bar: int) -> None:
        """cp.async.bulk.tensor, global to shared memory."""
        thread = current_thread()
        footprint = reference.load_footprint(tensor_map, coordinates, destination, WINDOW)
        self._check_extent(thread, tensor_map, destination, footprint.shared, footprint.global_stops)
        barrier = self._cta.mbarriers.for_copy(thread, bar)
        copy = Load(thread, tensor_map, coordinates, destination, barrier, footprint)
        self._loads.append(copy)
        dimension = barrier.dimension if barrier is not None else 0
        self._issue(copy, (dimension, NEVER), (dimension, NEVER), writes_shared=True)
        thread.run.note(thread, "load", barrier, copy.bytes, copy=copy)
        self._fly(copy)

    def store(self, tensor_map: TensorMap, coordinates: tuple[int, ...], source: int) -> None:
        """cp.async.bulk.tensor, shared to global memory."""
        thread = current_thread()
        footprint = reference.store_footprint(tensor_map, coordinates, source, WINDOW)
        self._check_extent(thread, tensor_map, source, footprint.shared, footprint.global_stops)
        copy = Store(thread, tensor_map, coordinates, source, footprint)
        groups = self._cta.bulk_groups.issue(copy)
        self._issue(copy, (groups.read, copy.order), (groups.written, copy.order), writes_shared=False)
        thread.run.note(thread, "store", None, copy.bytes, copy=copy)
        self._fly(copy)

    def prefetch(self, tensor_map: TensorMap, coordinates: tuple[int, ...]) -> None:
        """cp.async.bulk.prefetch.tensor changes no data; its coordinates are checked as a load's."""
        reference.check_load(tensor_map, coordinates, 0)

    def prefetch_map(self, tensor_map: TensorMap) -> None:
        """prefetch.tensormap changes no data."""

    def map_at(self, place: Array) -> TensorMap:
        """The map in the 128 bytes of global memory at an array's first element."""
        start = place.address - self._cta.run.memory.base
        return TensorMap.decode(self._cta.run.memory.bytes[start : start + 128].tobytes())

    def cp_async(self, destination: int, source: int, bytes: int) -> None:
        """cp.async: the copy of one thread, through the generic proxy."""
        thread = current_thread()
        for address, space in ((destination, "shared"), (source, "global")):
            if address % bytes:
                values = {"address": hex(address), "space": space, "size": bytes}
                raise TmaFault("misaligned_address", text("simulator.cp-async-alignment", **values))
        copy = CpAsync(thread, destination, source, bytes)
        self._cta.cp_async_groups.issue(copy)
        self._issue_cp_async(copy)
        self._fly(copy)

    def landed(self, copy: Load) -> None:
        """A load is complete: whoever waits for the phase of its last bytes knows of it."""
        cluster, run = self._cta.cluster, self._cta.run
        cluster.shadow.landed(self._shared_units(copy.footprint.shared), copy.number, copy.tick, wrote=True)
        run.log.world.shadow.landed(None, copy.number, copy.tick, wrote=False)

    def exited(self) -> None:
        """The CTA is gone: nothing may still be on its way into it."""
        self._forget_known_loads()
        if self._loads:
            self._cta.run.log.check()  # a read before the wait is the first thing to say
        for copy in self._loads:
            copy.thread.tell("exit-in-flight", copy=copy)

    # How it works.

    def _fly(self, copy: Copy) -> None:
        run = self._cta.run
        self._cta.cluster.in_flight.append(copy)
        self._cta.cluster.issued.append(copy)
        if len(self._loads) > UNKNOWN_LOADS:
            self._forget_known_loads()
        if run.policy.landing == "earliest":
            run.land(copy)
        copy.thread.give_way()

    def _issue(self, copy: Load | Store, read: tuple[int, int], written: tuple[int, int], writes_shared: bool) -> None:
        """Tell the shadow memories what the copy reads and writes, ordered after its issuer so far.

        `read`, `written`: the dimension and tick by which others will know that it has read or written.
        """
        thread, run = copy.thread, self._cta.run
        if not run.log.tracking:
            return
        thread.cut()
        run.log.check()
        shared, world = self._cta.cluster.shadow, run.log.world.shadow
        places = self._shared_units(copy.footprint.shared)
        base = run.memory.base
        rows = world.units(copy.footprint.global_starts - base, copy.footprint.global_stops - base)
        in_shared, in_world = (self._cta.clocks.issuing(thread.row, space) for space in ("shared::cta", "global"))
        reads, writes = self._record(copy, *read), self._record(copy, *written)
        if writes_shared:
            world.issue_read(rows, reads, in_world)
            shared.issue_write(places, writes, in_shared)
        else:
            shared.issue_read(places, reads, in_shared)
            world.issue_write(rows, writes, in_world)

    def _issue_cp_async(self, copy: CpAsync) -> None:
        thread, run = copy.thread, self._cta.run
        if not run.log.tracking:
            return
        thread.cut()
        run.log.check()
        made = record(
            copy.dimension, copy.order, self._cta.cluster.number, CP_ASYNC, copy.number, thread.number, copy.place
        )
        issuer = self._cta.clocks.issuing(thread.row, "shared::cta")
        shared, world = self._cta.cluster.shadow, run.log.world.shadow
        start = np.array([copy.source - run.memory.base])
        world.issue_read(world.units(start, start + copy.bytes), made, issuer)
        start = np.array([copy.address + self._cta.note_offset])
        shared.issue_write(shared.units(start, start + copy.bytes), made, issuer)

    def _record(self, copy: Copy, dimension: int, tick: int) -> np.ndarray:
        return record(dimension, tick, self._cta.cluster.number, ASYNC, copy.number, copy.thread.number, copy.place)

    def _shared_units(self, chunks: np.ndarray) -> np.ndarray:
        starts = chunks + self._cta.note_offset
        return self._cta.cluster.shadow.units(starts, starts + CHUNK)

    def _check_extent(
        self, thread: SimThread, tensor_map: TensorMap, address: int, chunks: np.ndarray, stops: np.ndarray
    ) -> None:
        """A tile that leaves its array, or a box that leaves its buffer."""
        allocation = self._cta.memory.allocation(address)
        stop = int(chunks.max()) + CHUNK if len(chunks) else address
        if stop > self._cta.memory.top:
            values = {"address": hex(address), "stop": hex(stop), "end": hex(self._cta.memory.top)}
            raise TmaFault("illegal_address", text("simulator.past-shared", **values))
        if allocation is None or stop > allocation.stop:
            thread.tell("out-of-bounds", copy_address=address, copy_stop=stop, allocation=allocation)
        end = self._cta.run.memory.buffer_stop(tensor_map.global_address)
        if end is None or (len(stops) and int(stops.max()) > end + -end % CHUNK):
            raise TmaFault("illegal_address", text("simulator.past-buffer", address=hex(tensor_map.global_address)))

    def _forget_known_loads(self) -> None:
        clocks, cta = self._cta.clocks, self._cta
        known = clocks.order[cta.first_row : cta.first_row + len(cta.threads)].max(axis=0)
        self._loads = [copy for copy in self._loads if copy.tick is None or known[copy.barrier.dimension] < copy.tick]
