"""Issuing a copy: what it will read and write is told to the shadow memories, ordered after its issuer so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tmalab.faults import TmaFault
from tmalab.simulator.clocks import NEVER
from tmalab.simulator.copies import Copy, CpAsync
from tmalab.simulator.loads import Load, PeerCopy, Target
from tmalab.simulator.mbarrier_rules import look_at_issue
from tmalab.simulator.reasons import UNORDERED
from tmalab.simulator.records import ASYNC, CP_ASYNC, REDUCTION, record
from tmalab.simulator.shadow import Shadow
from tmalab.simulator.stores import Store
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

CHUNK = 16  # bytes that a copy moves as one


class Issue:
    """How the copies of one CTA's threads are issued."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._reduced: dict[int, tuple[Copy, int]] = {}  # by shared address: the last reduction, its thread's segment
        self._multicasts: dict[tuple[int, int], tuple[int, int]] = {}  # (thread's row, barrier): a dimension, how many

    def _load(
        self,
        thread: SimThread,
        make: Callable[[Target], Load],
        targets: Sequence[Target],
        mask: int | None = None,
        map_place: int | None = None,
    ) -> None:
        """Issue a load into each target, which for a multicast are the CTAs of the mask."""
        copies = [make(target) for target in targets]
        if not copies:
            return
        for copy in copies:
            copy.cta.copies.expect(copy)
        if mask is not None:
            self._remember_multicast(thread, copies, mask)
            read = self._multicast_read(thread, copies[0])
            for copy in copies:
                copy.read_tick = read
        else:
            read = self._end(copies[0])
        for copy in copies:
            look_at_issue(copy)
        if thread.run.log.tracking:
            self._tell_shadows_of_load(thread, copies, read)
            if map_place is not None:
                self._cta.maps.used(thread, map_place, copies[0], read)
        for copy in copies:
            thread.run.note(thread, "load", copy.barrier, copy.bytes, copy=copy)
        self._fly(copies)

    def _remember_multicast(self, thread: SimThread, copies: Sequence[Load], mask: int) -> None:
        """For a report on a CTA that waits for bytes which a mask did not give it."""
        for copy in copies:
            copy.mask = mask
        if (barrier := copies[0].barrier) is not None:
            self._cta.cluster.multicasts.setdefault(barrier.address, {})[thread.row] = copies

    def _store(self, copy: Store, map_place: int | None = None) -> None:
        """Issue a store or a reduction."""
        thread, run = copy.thread, self._cta.run
        groups = self._cta.bulk_groups.issue(copy)
        if run.log.tracking:
            thread.cut()
            run.log.check()
            source = self._shared_units(self._cta, copy.footprint.shared)
            read = self._record(copy, groups.read, copy.order)
            self._cta.cluster.shadow.issue_read(source, read, self._cta.clocks.issuing(thread.row, self._cta.space))
            written = self._record(copy, groups.written, copy.order, REDUCTION if copy.combines else ASYNC)
            world, issuer = run.log.world.shadow, self._cta.clocks.issuing(thread.row, "global")
            units = self._world_units(copy)
            if copy.combines:
                world.issue_reduction(units, written, issuer)
                self._look_for_twin(copy, world, units, written)
            else:
                world.issue_write(units, written, issuer)
            if map_place is not None:
                self._cta.maps.used(thread, map_place, copy, (groups.read, copy.order))
        run.note(thread, copy.role, None, copy.bytes, copy=copy)
        self._fly([copy])

    def _issue_cp_async(self, copy: CpAsync) -> None:
        thread, run = copy.thread, self._cta.run
        if not run.log.tracking:
            return
        thread.cut()
        run.log.check()
        made = self._record(copy, copy.dimension, copy.order, CP_ASYNC)
        issuer = self._cta.clocks.issuing(thread.row, self._cta.space)
        shared, world = self._cta.cluster.shadow, run.log.world.shadow
        start = np.array([copy.source - run.memory.base])
        world.issue_read(world.units(start, start + copy.bytes), made, issuer)
        start = np.array([copy.address + self._cta.note_offset])
        shared.issue_write(shared.units(start, start + copy.bytes), made, issuer)

    def _fly(self, copies: Sequence[Copy]) -> None:
        run, cluster = self._cta.run, self._cta.cluster
        for copy in copies:
            cluster.in_flight.append(copy)
            if run.policy.landing == "earliest":
                run.land(copy)
        copies[0].thread.give_way()

    def _tell_shadows_of_load(self, thread: SimThread, copies: Sequence[Load], read: tuple[int, int]) -> None:
        run = self._cta.run
        thread.cut()
        run.log.check()
        first, shared, clocks = copies[0], self._cta.cluster.shadow, self._cta.clocks
        if isinstance(first, PeerCopy):
            source = first.source + self._cta.note_offset
            units = shared.units(np.array([source]), np.array([source + first.bytes]))
            shared.issue_read(units, self._record(first, *read), clocks.issuing(thread.row, self._cta.space))
        else:
            world = run.log.world.shadow
            issuer = clocks.issuing(thread.row, "global")
            world.issue_read(self._world_units(first), self._record(first, *read), issuer)
        for copy in copies:
            units = self._shared_units(copy.cta, copy.footprint.shared)
            issuer = clocks.issuing(thread.row, copy.cta.space)
            written = self._record(copy, *self._end(copy), REDUCTION if copy.combines else ASYNC)
            if copy.combines:
                shared.issue_reduction(units, written, issuer)
                self._look_for_twin(copy, shared, units, written)
            else:
                shared.issue_write(units, written, issuer)

    def _look_for_twin(self, copy: Store | Load, shadow: Shadow, units: np.ndarray, made: np.ndarray) -> None:
        """Reductions do not race with one another, but one and the same by two threads is a mistake."""
        thread, clocks = copy.thread, self._cta.clocks
        twin, segment = self._reduced.get(copy.address, (copy, 0))
        self._reduced[copy.address] = copy, clocks.segment(thread.row)
        if twin.thread is thread or (twin.place, twin.what) != (copy.place, copy.what):
            return
        if not clocks.executed_after(thread.row, twin.thread.row, segment):
            earlier = np.broadcast_to(self._record(twin, *self._end_of(twin), REDUCTION), units.shape)
            every = np.ones(len(units), bool)
            shadow.tell(UNORDERED, every, units, earlier, np.broadcast_to(made, units.shape), every)

    def _end_of(self, copy: Store | Load) -> tuple[int, int]:
        return (copy.dimension, copy.order) if isinstance(copy, Store) else self._end(copy)

    def _end(self, copy: Load) -> tuple[int, int]:
        """By which tick of which dimension the end of a load will be known: not yet."""
        return copy.barrier.dimension if copy.barrier is not None else 0, NEVER

    def _multicast_read(self, thread: SimThread, copy: Load) -> tuple[int, int]:
        """The same of a multicast's read of global memory, which the end of any of its loads shows.

        Multicasts of one thread on one barrier end in the order of its phases, so they are counted.
        """
        key = thread.row, copy.barrier.address if copy.barrier is not None else -1
        dimension, count = self._multicasts.get(key) or (self._cta.clocks.new_dimension(), 0)
        self._multicasts[key] = dimension, count + 1
        return self._multicasts[key]

    def _record(self, copy: Copy, dimension: int, tick: int, how: int = ASYNC) -> np.ndarray:
        return record(dimension, tick, self._cta.cluster.number, how, copy.number, copy.thread.number, copy.place)

    # Places.

    def _shared_units(self, cta: Cta, chunks: np.ndarray) -> np.ndarray:
        starts = chunks + cta.note_offset
        return self._cta.cluster.shadow.units(starts, starts + CHUNK)

    def _world_units(self, copy: Load | Store) -> np.ndarray:
        run, footprint = self._cta.run, copy.footprint
        starts, stops = footprint.global_starts - run.memory.base, footprint.global_stops - run.memory.base
        return run.log.world.shadow.units(starts, stops)

    def _check_tile(self, thread: SimThread, address: int, chunks: np.ndarray) -> None:
        """A tile in shared memory that leaves its array, or all arrays."""
        memory = self._cta.memory
        allocation = memory.allocation(address)
        stop = int(chunks.max()) + CHUNK if len(chunks) else address
        if stop > memory.top:
            values = {"address": hex(address), "stop": hex(stop), "end": hex(memory.top)}
            raise TmaFault("illegal_address", text("simulator.past-shared", **values))
        if allocation is None or stop > allocation.stop:
            thread.tell("out-of-bounds", copy_address=address, copy_stop=stop, allocation=allocation)
