"""Copies from shared to global memory, which belong to the bulk groups of their thread: stores and reductions.

A store reads its source at one moment and writes at another. A reduction does the same, and combines what it has read
with what it finds there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tmalab import reference
from tmalab.bulk import combined
from tmalab.simulator.copies import Copy

if TYPE_CHECKING:
    from tmalab.simulator.threads import SimThread
    from tmalab.tensor_map import TensorMap


class Store(Copy):
    """A copy out of the shared memory of its thread's CTA. Its end is known by `order` in `dimension`."""

    role = "store"
    combines = False  # with what global memory holds

    def __init__(self, thread: SimThread, source: int, source_bytes: int, footprint: reference.StoreFootprint):
        super().__init__(thread)
        self.address, self.footprint = source, footprint
        self.order = self.dimension = 0  # the how manyth of its thread
        self._source_bytes = source_bytes
        self._read: np.ndarray | None = None

    @property
    def bytes(self) -> int:
        return int((self.footprint.global_stops - self.footprint.global_starts).sum())

    @property
    def awaited(self) -> bool:
        return self.cta.bulk_groups.awaits(self)

    def move(self) -> bool:
        """First the source is read, then global memory is written."""
        run = self.cta.run
        done = self._read is not None
        if self._read is not None:
            self._write(self._read)
            run.memory.look_again()
        else:
            self._read = self.cta.memory.bytes[: self.address + self._source_bytes].copy()
        run.note(self.thread, "store_written" if done else "store_read", None, None, copy=self)
        self.cta.bulk_groups.moved(self, done)
        return done

    @property
    def end(self) -> tuple[int, int]:
        return self.dimension, self.order

    def _write(self, shared: np.ndarray) -> None:
        """Put what was read into global memory; shared[address] is the source's first byte."""
        raise NotImplementedError


class TensorStore(Store):
    """cp.async.bulk.tensor from shared to global memory."""

    def __init__(
        self,
        thread: SimThread,
        source: int,
        footprint: reference.StoreFootprint,
        tensor_map: TensorMap,
        coordinates: tuple[int, ...],
    ):
        super().__init__(thread, source, tensor_map.shared_bytes, footprint)
        self.tensor_map, self.coordinates = tensor_map, coordinates

    @property
    def _memory(self) -> np.ndarray:
        return self.cta.run.memory.bytes[self.tensor_map.global_address - self.cta.run.memory.base :]

    def _write(self, shared: np.ndarray) -> None:
        reference.store(self.tensor_map, self.coordinates, shared, self._memory, self.address)


class TensorReduction(TensorStore):
    """cp.reduce.async.bulk.tensor."""

    role = "reduction"
    combines = True

    def __init__(self, thread, source, footprint, tensor_map, coordinates, op: str):
        super().__init__(thread, source, footprint, tensor_map, coordinates)
        self.op = op

    def _write(self, shared: np.ndarray) -> None:
        reference.reduce(self.op, self.tensor_map, self.coordinates, shared, self._memory, self.address)


class BulkStore(Store):
    """cp.async.bulk from shared to global memory: contiguous bytes."""

    def __init__(self, thread: SimThread, source: int, footprint: reference.StoreFootprint):
        super().__init__(thread, source, int(footprint.global_stops[0] - footprint.global_starts[0]), footprint)

    @property
    def _target(self) -> slice:
        base = self.cta.run.memory.base
        return slice(int(self.footprint.global_starts[0]) - base, int(self.footprint.global_stops[0]) - base)

    def _write(self, shared: np.ndarray) -> None:
        self.cta.run.memory.bytes[self._target] = shared[self.address :]


class BulkReduction(BulkStore):
    """cp.reduce.async.bulk from shared to global memory."""

    role = "reduction"
    combines = True

    def __init__(self, thread: SimThread, source: int, footprint: reference.StoreFootprint, op: str, type: str):
        super().__init__(thread, source, footprint)
        self._op, self._type = op, type

    def _write(self, shared: np.ndarray) -> None:
        memory = self.cta.run.memory.bytes
        memory[self._target] = combined(self._op, self._type, memory[self._target], shared[self.address :])
