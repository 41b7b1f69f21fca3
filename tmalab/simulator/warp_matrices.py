"""ldmatrix and stmatrix: the lanes of a warp exchange the places of rows, then each accesses its own elements.

Element pairs are accessed as 32-bit words, transposed ones as two 16-bit words, so that the log has what each lane did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tmalab.faults import TmaFault
from tmalab.simulator.accumulators import Words
from tmalab.simulator.context import current_thread
from tmalab.simulator.together import Lanes
from tmalab.texts import text

if TYPE_CHECKING:
    from tmalab.simulator.arrays import Array
    from tmalab.simulator.cta import Cta
    from tmalab.simulator.threads import SimThread

ROW = 16  # bytes: 8 elements
SIDE = 8  # of a matrix


class WarpMatrices:
    """The matrices that warps of one CTA load and store. The methods are the instructions."""

    def __init__(self, cta: Cta):
        self._cta = cta
        self._parts: dict[int, Array] = {}

    def load(self, place: int, count: int, transposed: bool) -> int | tuple[int, ...]:
        """ldmatrix: a register for each matrix."""
        thread = current_thread()
        rows = self._rows(thread, f"ldmatrix_x{count}{'_trans' if transposed else ''}", place, count)
        words = [self._load(thread, rows[number * SIDE :], transposed) for number in range(count)]
        return words[0] if count == 1 else Words.loaded(words, thread.wgmma.fences(thread))

    def store(self, place: int, values: tuple[int, ...], transposed: bool) -> None:
        """stmatrix: a register for each matrix."""
        thread, count = current_thread(), len(values)
        rows = self._rows(thread, f"stmatrix_x{count}{'_trans' if transposed else ''}", place, count)
        for number, value in enumerate(values):
            self._store(thread, rows[number * SIDE :], value & 0xFFFFFFFF, transposed)

    def _rows(self, thread: SimThread, operation: str, place: int, count: int) -> list[int]:
        """The addresses of the rows that the lanes name, 8 for each matrix."""
        if place % ROW and thread.lane < count * SIDE:
            raise TmaFault("misaligned_address", text("simulator.matrix-row", address=hex(place), size=ROW))
        places = self._cta.together.meet(thread, operation, _listed, place)
        rows = (places + places[-1:] * SIDE * count)[: count * SIDE]
        self._check(thread, rows[thread.lane] if thread.lane < len(rows) else rows[0])
        return rows

    def _check(self, thread: SimThread, address: int) -> None:
        """A row that leaves its array."""
        allocation = self._cta.memory.allocation(address)
        if allocation is None or address + ROW > allocation.stop:
            stop = address + ROW
            thread.tell("out-of-bounds", copy_address=address, copy_stop=stop, allocation=allocation)

    def _load(self, thread: SimThread, rows: list[int], transposed: bool) -> int:
        if not transposed:
            return self._part(4)[_pair(thread, rows) // 4]
        low, high = (self._part(2)[address // 2] for address in _column(thread, rows))
        return low | high << 16

    def _store(self, thread: SimThread, rows: list[int], value: int, transposed: bool) -> None:
        if not transposed:
            self._part(4)[_pair(thread, rows) // 4] = value
            return
        for half, address in enumerate(_column(thread, rows)):
            self._part(2)[address // 2] = value >> 16 * half & 0xFFFF

    def _part(self, size: int) -> Array:
        """The shared window as words of so many bytes."""
        if size not in self._parts:
            self._cta.cluster.look_at_elements_of(size)
            memory, dtype = self._cta.memory, np.dtype(f"u{size}")
            self._parts[size] = memory.part(0, dtype, memory.bytes.size // size)
        return self._parts[size]


def _pair(thread: SimThread, rows: list[int]) -> int:
    """The address of a lane's two neighbours in a row."""
    return rows[thread.lane // 4] + thread.lane % 4 * 4


def _column(thread: SimThread, rows: list[int]) -> Iterator[int]:
    """The addresses of a lane's two neighbours in a column."""
    return (rows[thread.lane % 4 * 2 + half] + thread.lane // 4 * 2 for half in range(2))


def _listed(lanes: Lanes) -> list[int]:
    return list(lanes.values())
