"""Copies in flight: a load, a store, a cp.async, and the arrive that waits for cp.async.

A copy is issued by a thread and lands later, in parts, when the scheduler says so. What it does to memory is asked of
tmalab.reference at that moment, so a source that is overwritten too early really gives wrong bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tmalab import reference
from tmalab.simulator.memory import WINDOW

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread
    from tmalab.tensor_map import TensorMap


class Copy:
    """A copy that one thread issued. `number` tells it from all others of the run; `place` is the line's number."""

    def __init__(self, thread: SimThread):
        self.cta: Cta = thread.cta
        self.thread = thread
        self.number = thread.run.next_copy(self)
        self.place = thread.run.place_number()

    @property
    def can_move(self) -> bool:
        """Whether it can make progress now."""
        return True

    @property
    def awaited(self) -> bool:
        """Whether a thread is waiting for it."""
        return False

    def move(self) -> bool:
        """Make progress. Returns whether it is done."""
        raise NotImplementedError

    def known_by(self, clock: np.ndarray) -> bool:
        """Whether all that it does is before what a clock has seen."""
        raise NotImplementedError


class Load(Copy):
    """cp.async.bulk.tensor from global to shared memory: lands piece by piece, and credits its barrier."""

    def __init__(
        self,
        thread: SimThread,
        tensor_map: TensorMap,
        coordinates: tuple[int, ...],
        destination: int,
        barrier: Barrier | None,
        footprint: reference.LoadFootprint,
    ):
        super().__init__(thread)
        self.tensor_map, self.coordinates, self.address, self.barrier = tensor_map, coordinates, destination, barrier
        self.footprint = footprint
        self.landed = 0  # bytes
        self.tick: int | None = None  # of its barrier: who knows this phase knows that it has landed
        self._pieces: tuple[np.ndarray, np.ndarray] | None = None
        if barrier is not None:
            barrier.loads.append(self)

    @property
    def bytes(self) -> int:
        return self.footprint.transaction_bytes

    @property
    def awaited(self) -> bool:
        return self.barrier is not None and bool(self.barrier.waiting)

    def move(self) -> bool:
        """Some pieces land, in any order, and are credited together."""
        run = self.cta.run
        if self._pieces is None:
            self._pieces = self._fetch()
        addresses, data = self._pieces
        count = run.policy.some_of(len(addresses))
        self.cta.memory.put(addresses[:count], data[:count])
        self._pieces = addresses[count:], data[count:]
        self.landed += count * addresses.shape[1]
        done = count == len(addresses)
        if self.barrier is not None:
            self._credit(count * addresses.shape[1], done)
        run.note(self.thread, "load_lands", self.barrier, self.landed, copy=self)
        return done

    def known_by(self, clock: np.ndarray) -> bool:
        return self.tick is not None and clock[self.barrier.dimension] >= self.tick

    def _fetch(self) -> tuple[np.ndarray, np.ndarray]:
        run, tensor_map = self.cta.run, self.tensor_map
        memory = run.memory.bytes[tensor_map.global_address - run.memory.base :]
        pieces = reference.load_pieces(tensor_map, self.coordinates, memory, self.address, WINDOW)
        order = list(range(len(pieces.addresses)))
        if run.policy.landing == "mixed":
            run.policy.shuffle(order)
        return pieces.addresses[order], pieces.data[order]

    def _credit(self, bytes: int, done: bool) -> None:
        barrier = self.barrier
        if self not in barrier.credited:
            barrier.credited.append(self)
        if done:
            barrier.loads.remove(self)
            self.tick = barrier.machine.phase + 1
            self.cta.copies.landed(self)
        self.cta.mbarriers.credit(barrier, bytes)


class Store(Copy):
    """cp.async.bulk.tensor from shared to global memory: reads its source at one moment, writes at another.

    Its end is known by `order` in `dimension`.
    """

    def __init__(
        self,
        thread: SimThread,
        tensor_map: TensorMap,
        coordinates: tuple[int, ...],
        source: int,
        footprint: reference.StoreFootprint,
    ):
        super().__init__(thread)
        self.tensor_map, self.coordinates, self.address, self.footprint = tensor_map, coordinates, source, footprint
        self.order = self.dimension = 0  # the how manyth of its thread
        self._read: np.ndarray | None = None

    @property
    def bytes(self) -> int:
        return int((self.footprint.global_stops - self.footprint.global_starts).sum())

    @property
    def source_read(self) -> bool:
        return self._read is not None

    @property
    def awaited(self) -> bool:
        return self.cta.bulk_groups.awaits(self)

    def move(self) -> bool:
        """First the source is read, then global memory is written."""
        run = self.cta.run
        done = self._read is not None
        if done:
            memory = run.memory.bytes[self.tensor_map.global_address - run.memory.base :]
            reference.store(self.tensor_map, self.coordinates, self._read, memory, self.address)
            run.memory.look_again()
        else:
            self._read = self.cta.memory.bytes[: self.address + self.tensor_map.shared_bytes].copy()
        run.note(self.thread, "store_written" if done else "store_read", None, None, copy=self)
        self.cta.bulk_groups.moved(self, done)
        return done

    def known_by(self, clock: np.ndarray) -> bool:
        return clock[self.dimension] >= self.order


class CpAsync(Copy):
    """cp.async: 4, 8 or 16 bytes for one thread. Its end is known by `order` in `dimension`."""

    def __init__(self, thread: SimThread, destination: int, source: int, bytes: int):
        super().__init__(thread)
        self.address, self.source, self.bytes = destination, source, bytes
        self.order = self.dimension = 0  # the how manyth of its thread

    @property
    def awaited(self) -> bool:
        return self.cta.cp_async_groups.awaits(self)

    def move(self) -> bool:
        start = self.source - self.cta.run.memory.base
        data = self.cta.run.memory.bytes[start : start + self.bytes]
        self.cta.memory.put(np.arange(self.address, self.address + self.bytes), data)
        self.cta.cp_async_groups.landed(self)
        return True

    def known_by(self, clock: np.ndarray) -> bool:
        return clock[self.dimension] >= self.order


class LateArrive(Copy):
    """cp.async.mbarrier.arrive: an arrive once all earlier cp.async of the thread have landed."""

    def __init__(self, thread: SimThread, barrier: Barrier, dimension: int, order: int):
        super().__init__(thread)
        self.barrier, self.dimension, self.order = barrier, dimension, order

    @property
    def can_move(self) -> bool:
        return not self.cta.cp_async_groups.in_flight_until(self.thread, self.order)

    @property
    def awaited(self) -> bool:
        return bool(self.barrier.waiting)

    def move(self) -> bool:
        self.cta.mbarriers.arrive_for(self.barrier, self.thread, self.dimension, self.order)
        return True


def chosen(copies: list[Any], policy: Any) -> Copy | None:
    """The copy that makes progress next: landing late, the first that somebody waits for."""
    movable = [copy for copy in copies if copy.can_move]
    if not movable:
        return None
    if policy.landing == "latest":
        return next((copy for copy in movable if copy.awaited), movable[0])
    return policy.one_of(movable)
