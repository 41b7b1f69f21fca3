"""Copies that land in shared memory, piece by piece, and credit an mbarrier there: loads, and copies between CTAs.

Whoever waits for the phase in which the last piece is credited knows of the whole copy. A multicast is one load for
each CTA that it reaches, with one read of global memory in common.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tmalab import reference
from tmalab.bulk import combined
from tmalab.simulator.clocks import NEVER
from tmalab.simulator.copies import Copy
from tmalab.simulator.memory import WINDOW

if TYPE_CHECKING:
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.mbarrier_objects import Barrier
    from tmalab.simulator.threads import SimThread
    from tmalab.tensor_map import TensorMap

Pieces = tuple[np.ndarray, np.ndarray]  # shared addresses and data, of the same shape: (pieces, bytes of a piece)


class Target(NamedTuple):
    """Where a load lands: the CTA, the shared address there (bytes), and the barrier that it credits."""

    cta: Cta
    address: int
    barrier: Barrier | None


class Load(Copy):
    """A copy into the shared memory of `cta`, issued by a thread of that or of another CTA."""

    role = "load"
    lands_in_shared = True
    combines = False  # with what shared memory holds

    def __init__(self, thread: SimThread, target: Target, footprint: reference.LoadFootprint):
        super().__init__(thread, target.cta)
        self.address, self.barrier, self.footprint = target.address, target.barrier, footprint
        self.landed = 0  # bytes
        self.began = self.barrier.machine.phase if self.barrier is not None else 0  # the barrier's phase at its issue
        self.tick: int | None = None  # of its barrier: who knows this phase knows that it has landed
        self.read_tick: tuple[int, int] | None = None  # (dimension, tick) of a multicast's read of global memory
        self.mask: int | None = None  # of a multicast
        self.issued_after: np.ndarray | None = self.cta.clocks.executed(thread.row)  # until its barrier has told that
        self._pieces: Pieces | None = None
        if self.barrier is not None:
            self.barrier.loads.append(self)

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
            self._pieces = self._shuffled(self._fetch())
        addresses, data = self._pieces
        count = run.policy.some_of(len(addresses))
        self._put(addresses[:count], data[:count])
        done = count == len(addresses)
        self._pieces = (addresses[count:], data[count:]) if not done else None
        self.landed += count * addresses.shape[1]
        if self.barrier is not None:
            self._credit(count * addresses.shape[1], done)
        run.note(self.thread, "load_lands", self.barrier, self.landed, copy=self)
        return done

    @property
    def end(self) -> tuple[int, int]:
        return (self.barrier.dimension, self.tick) if self.tick is not None else (0, NEVER)

    def _fetch(self) -> Pieces:
        """The bytes at their source, as they are now."""
        raise NotImplementedError

    def _put(self, addresses: np.ndarray, data: np.ndarray) -> None:
        self.cta.memory.put(addresses, data)

    def _shuffled(self, pieces: Pieces) -> Pieces:
        addresses, data = pieces
        if self.cta.run.policy.landing != "mixed":
            return pieces
        order = list(range(len(addresses)))
        self.cta.run.policy.shuffle(order)
        return addresses[order], data[order]

    def _credit(self, bytes: int, done: bool) -> None:
        barrier = self.barrier
        if self not in barrier.credited:
            barrier.credited.append(self)
        if done:
            barrier.loads.remove(self)
            self.tick = barrier.machine.phase + 1
            self.cta.copies.landed(self)
            self._tell_barrier()
        self.cta.mbarriers.credit(barrier, bytes)

    def _tell_barrier(self) -> None:
        """What else the end of this copy shows: that a multicast has been read."""
        if self.read_tick is not None:
            self.cta.clocks.learn(self.barrier.collecting, *self.read_tick)


class TensorLoad(Load):
    """cp.async.bulk.tensor from global to shared memory."""

    def __init__(
        self,
        thread: SimThread,
        target: Target,
        footprint: reference.LoadFootprint,
        tensor_map: TensorMap,
        coordinates: tuple[int, ...],
        offsets: tuple[int, ...] | None,
    ):
        super().__init__(thread, target, footprint)
        self.tensor_map, self.coordinates, self.offsets = tensor_map, coordinates, offsets

    def _fetch(self) -> Pieces:
        memory = self.cta.run.memory.bytes[self.tensor_map.global_address - self.cta.run.memory.base :]
        return reference.load_pieces(self.tensor_map, self.coordinates, memory, self.address, WINDOW, self.offsets)


class BulkLoad(Load):
    """cp.async.bulk from global to shared memory: contiguous bytes."""

    def __init__(self, thread: SimThread, target: Target, footprint: reference.LoadFootprint, source: int):
        super().__init__(thread, target, footprint)
        self.source = source

    def _fetch(self) -> Pieces:
        start = self.source - self.cta.run.memory.base
        return contiguous(self.address, self.cta.run.memory.bytes[start : start + self.bytes])


class PeerCopy(Load):
    """cp.async.bulk from the shared memory of the issuing CTA to that of another one (or its own)."""

    role = "peer"

    def __init__(self, thread: SimThread, target: Target, footprint: reference.LoadFootprint, source: int):
        super().__init__(thread, target, footprint)
        self.source = source

    @property
    def what(self) -> tuple:
        return *super().what, self.thread.cta

    def _fetch(self) -> Pieces:
        return contiguous(self.address, self.thread.cta.memory.bytes[self.source : self.source + self.bytes])


class PeerReduction(PeerCopy):
    """cp.reduce.async.bulk from shared memory to that of another CTA: combined with what lies there."""

    combines = True

    def __init__(
        self, thread: SimThread, target: Target, footprint: reference.LoadFootprint, source: int, op: str, type: str
    ):
        super().__init__(thread, target, footprint, source)
        self._op, self._type = op, type

    def _put(self, addresses: np.ndarray, data: np.ndarray) -> None:
        found = self.cta.memory.bytes[addresses]
        super()._put(addresses, combined(self._op, self._type, found, data))


def contiguous(address: int, data: np.ndarray) -> Pieces:
    """Bytes that lie as they come, in the pieces that land together."""
    addresses = np.arange(address, address + len(data)).reshape(-1, PIECE)
    return addresses, data.reshape(-1, PIECE).copy()


PIECE = 16  # bytes of a copy without a map that land together
